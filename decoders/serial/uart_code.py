"""UART: one line of asynchronous characters of 5 to 9 bits.

Source: the asynchronous frame of ITU-T V.4 and TIA-232.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges, join
from freezeframe.capture.files.samples import Samples
from freezeframe.decoders.columns import (
    by_column,
    end_to_end,
    event_schema,
    names,
    span_table,
)
from freezeframe.decoders.contract import OptionValues, Texts
from freezeframe.decoders.cursor import line_of
from freezeframe.decoders.serial.rows import record_of
from freezeframe.decoders.serial.uart_baud import (
    LEAST_PULSES,
    PulseMeter,
    standard_rate,
)
from freezeframe.decoders.serial.uart_kernels import (
    ERRORS,
    PARITIES,
    ROW,
    SETTINGS,
    close,
    frames,
    new_state,
)

_ROWS_AT_ONCE = 4096
_LEAST_SAMPLES_A_BIT = 2  # with fewer, a bit may lie between two samples
_SAMPLES_AT_ONCE = 1 << 18  # that are looked at for pulses, until the rate is measured
_BY_FRAMES = 4  # times as many wrong frames make the longer one of two bit times the worse


@cache
def uart_schema() -> pa.Schema:
    """Return the columns of UART frames and errors, in the order of their end.

    ``kind`` is ``frame`` or ``error``, and then ``error`` says which; an error about a frame stands
    after it and repeats its values. Before all of them stands one of kind ``baud`` where the rate was
    measured. ``baud`` is the rate of all rows. ``t_ps`` and ``sample`` of a frame are the falling edge
    of its start bit. ``parity`` is the bit as received. -1 stands for what is not there; the two
    verdicts are null then.
    """
    places = ("sample", "data_sample", "data_end_sample", "end_sample")
    return event_schema(
        {
            "data": pa.int16(),
            "parity": pa.int8(),
            "parity_ok": pa.bool_(),
            "stop_ok": pa.bool_(),
            "baud": pa.int32(),
            **dict.fromkeys(places, pa.int64()),
        }
    )


class UartState:
    """A line between pieces: the kernel's record, and its rate or what to measure it by."""

    def __init__(self, options: OptionValues) -> None:
        self.record = new_state()[0]
        self.baud = options.integer("baud")  # 0 until it is measured
        self.rate_row: pa.Table | None = None  # says what was measured, until it is given
        self.meter: PulseMeter | None = None
        self.held: list[Edges] = []
        if not self.baud:
            self.meter = PulseMeter(options.flag("invert"))

    def measured(self, edges: Edges, options: OptionValues, last: bool) -> Edges | None:
        """Return all edges so far when the rate is known with this piece; None where it is not."""
        if self.meter is None:
            return None  # the rate cannot be measured
        self.meter.feed(edges)
        self.held.append(edges)
        if not (last or self.meter.enough):
            return None
        meter, self.meter = self.meter, None
        whole = join(self.held)
        self.held = []
        # No second try: where it began would depend on where pieces end.
        if not edges.samplerate_hz:
            raise InputError(_NO_RATE)
        rates = [bit.baud for bit in meter.bit_times(edges.samplerate_hz)]
        if len(rates) > 1:
            looked_at = meter.looked_at(whole)
            shares = [_wrong_share(looked_at, options, baud) for baud in rates]
            # The longest bit time stays unless frames are clearly better with a shorter one.
            shares[1:] = [_BY_FRAMES * share for share in shares[1:]]
            rates = [rates[shares.index(min(shares))]]
        if rates:
            self.baud = rates[0]
            self.rate_row = _fact(whole, 0, (0, meter.first_change), self.baud)
        elif meter.changes:
            code = ERRORS.index("few-pulses" if meter.changes <= LEAST_PULSES else "no-baud")
            self.rate_row = _fact(whole, code, (meter.first_change, meter.last_change), -1)
        return whole


def decode_uart(
    piece: Edges | Samples, options: OptionValues, state: UartState, last: bool
) -> pa.Table:
    """Decode a piece of a capture, which has the one channel of the line.

    Raises:
        InputError: the baud rate leaves fewer than 2 samples a bit.
    """
    if state.baud:
        return _frame_table(piece, options, state, last)
    if isinstance(piece, Edges):
        return _joined(_measured(piece, options, state, last), piece)
    # As edges, of which a line that is slow has few: samples would have to be held until it is known.
    done = 0
    tables: list[pa.Table] = []
    while state.meter is not None and done < len(piece):
        part = piece.cut(done, done + _SAMPLES_AT_ONCE)
        done += len(part)
        tables += _measured(part.edges(), options, state, last and done == len(piece))
    if state.baud and done < len(piece):
        tables.append(_frame_table(piece.cut(done, len(piece)), options, state, last))
    elif not len(piece):
        tables += _measured(piece.edges(), options, state, last)
    return _joined(tables, piece)


def _measured(edges: Edges, options: OptionValues, state: UartState, last: bool) -> list[pa.Table]:
    """Take a piece of a line whose rate is not known; return what it tells, and its rows when it is."""
    whole = state.measured(edges, options, last)
    rate_row, state.rate_row = state.rate_row, None
    tables = [] if rate_row is None else [rate_row]
    if state.baud and whole is not None:
        tables.append(_frame_table(whole, options, state, last))
    return tables


def _joined(tables: list[pa.Table], piece: Edges | Samples) -> pa.Table:
    if len(tables) > 1:
        return pa.concat_tables(tables)
    return tables[0] if tables else _table(_rows(0), piece, -1)


def _frame_table(
    piece: Edges | Samples, options: OptionValues, state: UartState, last: bool
) -> pa.Table:
    option = _settings(piece.samplerate_hz, options, state.baud)
    columns = [by_column(rows) for rows in _frame_rows(piece, option, state.record)]
    if last or not columns:
        rows = np.empty(2, dtype=ROW)
        count = close(piece.end_sample, option, state.record, rows) if last else 0
        columns.append(by_column(rows[:count]))
    return _table(end_to_end(columns), piece, state.baud)


def _frame_rows(
    piece: Edges | Samples, option: np.void, record: np.void
) -> Iterator[npt.NDArray[np.void]]:
    """Give the rows of a piece, some at a time; they are overwritten by the next."""
    rows = np.empty(_ROWS_AT_ONCE, dtype=ROW)
    line = line_of(piece, invert=bool(option["invert"]), before=int(record["level"]))
    place = 0 if line.before < 0 else -1
    while place < len(piece):
        place, count = frames(line, place, option, record, rows)
        yield rows[:count]


def _rows(count: int) -> Mapping[str, npt.NDArray[np.int64]]:
    """Return rows in which nothing is known, by column."""
    return {name: np.full(count, -1, dtype=np.int64) for name in ROW.names or ()}


def _fact(piece: Edges, error: int, place: tuple[int, int], baud: int) -> pa.Table:
    """Return the one row that says which rate was measured, or why none."""
    rows = _rows(1)
    rows["error"][0] = error
    rows["sample"][0], rows["end_sample"][0] = place
    return _table(rows, piece, baud, fact=not error)


def _wrong_share(edges: Edges, options: OptionValues, baud: int) -> float:
    """Return how many frames of a hundred are wrong at this rate, and starts that are none."""
    settings = _settings(edges.samplerate_hz, options, baud)
    counts = np.zeros(len(ERRORS), dtype=np.int64)
    for rows in _frame_rows(edges, settings, new_state()[0]):
        counts += np.bincount(rows["error"], minlength=len(ERRORS))
    # One more wrong than there are: of two rates without an error the first is taken.
    return 100 * float(counts[1:].sum() + 1) / (float(counts[0]) + 1)


def uart_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of `uart_schema` into words."""
    if row["kind"] == "error":
        error = str(row["error"])
        long = f"{row['source']}: {error}: {_ERROR_TEXTS[error]}{_seen(error, row)}"
        return Texts("!", error, long)
    if row["kind"] == "baud":
        baud = row["baud"]
        meant = standard_rate(baud)
        off = f", {100 * (baud / meant - 1):+.1f} % off {meant}" if meant not in (0, baud) else ""
        text = f"{baud} Bd, measured{off}"
        return Texts(f"{baud} Bd", text, f"{row['source']}: {text}")
    data = row["data"]
    value = f"{data:02x}"
    char = f" {chr(data)!r}" if 0x20 <= data < 0x7F else ""
    wrong = [name for name in ("parity", "stop") if row[f"{name}_ok"] is False]
    verdict = f", bad {' and '.join(wrong)}" if wrong else ""
    return Texts(value, f"{value}{char}", f"{row['source']}: 0x{value}{char}{verdict}")


def _seen(error: str, row: Mapping[str, Any]) -> str:
    """Return what the line should have said and what it said, where both are known."""
    if error == "bad-parity" and row["parity"] >= 0:
        about = f" of {row['data']:#04x}" if row["data"] >= 0 else ""
        return f": expected {1 - row['parity']}{about}, seen {row['parity']}"
    return ": expected 1, seen 0" if error == "bad-stop" else ""


_ERROR_TEXTS = {
    "bad-start": "the line fell, but was high again in the middle of the start bit",
    "bad-parity": "the parity bit is not that of the data",
    "bad-stop": "the stop bit is 0: another baud rate, another number of bits, or a break",
    "break": "the line was low for a whole frame or longer",
    "cut-frame": "the capture ends inside the frame",
    "few-pulses": "the line changes too seldom to measure its rate; say baud=",
    "no-baud": "no bit time of 3 samples or more fits the pulses of this line; say baud=, or invert=yes",
}

_NO_RATE = (
    "decoder uart: the capture has no sample rate, and bits are told by their time; give it with "
    "--samplerate, for example --samplerate 12MHz"
)


def _settings(samplerate_hz: int, options: OptionValues, baud: int) -> np.void:
    if not samplerate_hz:
        raise InputError(_NO_RATE)
    if samplerate_hz < _LEAST_SAMPLES_A_BIT * baud:
        raise InputError(
            f"decoder uart: option baud={baud}: {samplerate_hz} samples a second are "
            f"{samplerate_hz / baud:.2f} a bit; at least {_LEAST_SAMPLES_A_BIT} are needed"
        )
    parity = options.text("parity")
    # Halves of bits: start, data, parity, stop.
    halves = 2 * (1 + options.integer("bits") + (parity != "none")) + round(
        2 * options.number("stop")
    )
    return record_of(
        SETTINGS,
        samplerate_hz=samplerate_hz,
        baud=baud,
        bits=options.integer("bits"),
        parity=PARITIES.index(parity),
        break_samples=-(-halves * samplerate_hz // (2 * baud)),
        half_down=samplerate_hz // (2 * baud),
        half_up=-(-samplerate_hz // (2 * baud)),
        msb_first=options.text("order") == "msb-first",
        invert=options.flag("invert"),
    )


def _table(
    rows: Mapping[str, npt.NDArray[np.int64]],
    piece: Edges | Samples,
    baud: int,
    *,
    fact: bool = False,
) -> pa.Table:
    return span_table(
        uart_schema(),
        rows,
        piece.channels[0],
        piece.samplerate_hz,
        data=rows["value"],
        kind=names((rows["error"] != 0).astype(np.int32) + 2 * fact, ("frame", "error", "baud")),
        baud=np.full(len(rows["sample"]), baud, dtype=np.int32),
        error=names(rows["error"], ERRORS),
    )
