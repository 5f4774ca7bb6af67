"""CAN and CAN FD piece by piece: bit rates, the kernel, and its rows as a table.

Source: ISO 11898-1:2015.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges, join
from freezeframe.decoders.columns import (
    byte_strings,
    event_schema,
    names,
    span_table,
)
from freezeframe.decoders.contract import OptionValues, Texts
from freezeframe.decoders.serial.can_bitrate import LEAST_SAMPLES, Score, measured_rates
from freezeframe.decoders.serial.can_kernels import (
    ERRORS,
    FRACTION,
    LONGEST_B,
    RATE,
    ROW,
    SETTINGS,
    close,
    frames,
    in_good_tail,
    new_state,
)
from freezeframe.decoders.serial.rows import Part, edge_parts, joined_with_octets
from freezeframe.decoders.serial.uart_baud import LEAST_PULSES, PulseMeter

_POINTS = (70.0, 45.0)  # %, the first where none is given
_FEW_SAMPLES = 4  # of a bit
_EDGES_AT_ONCE = 1 << 14
_KINDS = ("frame", "remote", "overload", "bitrate", "error")


@cache
def can_schema() -> pa.Schema:
    """Return the columns of CAN frames and errors, in the order of their begin.

    ``kind`` is ``frame``, ``remote``, ``overload`` (a flag), ``bitrate`` (what was measured, before all
    others) or ``error``, and then ``error`` says which; an error about a frame stands after it and repeats
    its values, a frame that breaks off before its CRC has no other row. ``id`` has 11 bits, or 29 where
    ``extended``. ``fd``, ``brs``, ``esi`` are those of CAN FD. ``dlc`` is as sent, ``data`` what came.
    ``stuff_count`` are the four bits before the CRC of CAN FD. ``ack``: a receiver answered. Of
    ``bad-crc`` and ``bad-stuff-count`` ``expected`` is what the frame should have, ``seen`` what it has.
    ``*_sample`` are where the parts begin. -1 stands for what is not there, null for a verdict.
    """
    places = ("sample", *(f"{name}_sample" for name in ("id", "dlc", "data", "crc", "ack", "end")))
    return event_schema(
        {
            "id": pa.int32(),
            **dict.fromkeys(("extended", "fd", "brs", "esi"), pa.bool_()),
            "dlc": pa.int8(),
            "data": pa.binary(),
            "stuff_count": pa.int8(),
            "crc": pa.int32(),
            "crc_ok": pa.bool_(),
            "ack": pa.bool_(),
            "bitrate": pa.int32(),
            "fast_bitrate": pa.int32(),
            "expected": pa.int32(),
            "seen": pa.int32(),
            **dict.fromkeys(places, pa.int64()),
        }
    )


class CanState:
    """A line between pieces: the kernel's record, and its rates or what to measure them by."""

    def __init__(self, options: OptionValues) -> None:
        self.record = new_state()[0]
        self.rates = (options.integer("nominal_bitrate"), options.integer("fast_bitrate"))
        self.meter = None if all(self.rates) else PulseMeter(options.flag("invert"))
        self.point = options.number("sample_point") or _POINTS[0]
        self.held: list[Edges] = []


def decode_can(edges: Edges, options: OptionValues, state: CanState, last: bool) -> pa.Table:
    """Decode a piece of a capture, which has the one channel of the line.

    Raises:
        InputError: a bit rate leaves fewer than 2 samples a bit.
    """
    _check(options, edges.samplerate_hz)
    tables = []
    if state.meter is not None:
        state.meter.feed(edges)
        state.held.append(edges)
        if not (last or state.meter.enough):
            return _table([], edges, (-1, -1))
        edges = join(state.held)
        state.held = []
        tables.append(_measured(edges, options, state))
    if all(state.rates):
        parts = list(_frames(edges, options, state.rates, state.point, state.record))
        if last:
            rows, data = np.zeros(4, dtype=ROW), np.zeros(LONGEST_B, dtype=np.uint8)
            count, _ = close(edges.end_sample, state.record, rows, data)
            parts.append((rows[:count], data))
        tables.append(_table(parts, edges, state.rates))
    return pa.concat_tables(tables) if tables else _table([], edges, (-1, -1))


def _check(options: OptionValues, samplerate_hz: int) -> None:
    for name in ("nominal_bitrate", "fast_bitrate"):
        rate = options.integer(name)
        if samplerate_hz < LEAST_SAMPLES * rate:
            raise InputError(
                f"decoder can: option {name}={rate}: {samplerate_hz} samples a second are "
                f"{samplerate_hz / rate:.2f} a bit; at least {LEAST_SAMPLES} are needed"
            )


def _measured(edges: Edges, options: OptionValues, state: CanState) -> pa.Table:
    """Measure the rates by the first edges, whatever the pieces are, and return the row that says so."""
    meter, state.meter = state.meter, None
    assert meter is not None
    rows = np.full(1, -1, dtype=np.int64).repeat(len(ROW.names or ())).view(ROW)
    rows["bytes"] = rows["error"] = 0
    rows["kind"] = RATE
    rows["sample"], rows["end_sample"] = 0, max(0, meter.first_change)
    head = meter.looked_at(edges)

    def score(nominal: int, fast: int, point: float = state.point) -> Score:
        record = new_state()[0]
        parts = _frames(head, options, (nominal, fast), point, record)
        rows = np.concatenate([rows for rows, _ in parts])
        whole = rows[rows["error"] == 0]
        # A frame is written at its end, and the last edge is before that.
        good = int((whole["crc_ok"] == 1).sum()) + int(in_good_tail(record))
        return Score(good, int((rows["error"] != 0).sum()), int((rows["brs"] == 1).sum()))

    pulses = [bit.baud for bit in meter.bit_times(edges.samplerate_hz)]
    found = measured_rates(edges.samplerate_hz, pulses, state.rates, score) if len(head) else None
    if found is None:
        state.rates = (0, 0)
        few = meter.changes <= LEAST_PULSES
        rows["error"] = ERRORS.index("few-edges" if few else "no-bitrate")
        rows["sample"], rows["end_sample"] = max(0, meter.first_change), max(0, meter.last_change)
        return _table([(rows[: int(meter.changes > 0)], np.zeros(0, np.uint8))], edges, (-1, -1))
    state.rates = found
    if found[1] * _FEW_SAMPLES > edges.samplerate_hz and not options.number("sample_point"):
        state.point = max(_POINTS, key=lambda point: score(*found, point).merit)
    return _table([(rows, np.zeros(0, np.uint8))], edges, found)


def _frames(
    edges: Edges, options: OptionValues, rates: tuple[int, int], point: float, record: np.void
) -> list[Part]:
    settings = np.zeros(1, dtype=SETTINGS)[0]
    settings["invert"] = options.flag("invert")
    for prefix, rate in zip(("", "fast_"), rates, strict=True):
        bit = FRACTION * edges.samplerate_hz / rate
        settings[f"{prefix}bit"] = round(bit)
        settings[f"{prefix}point"] = round(bit * point / 100)
    parts = []
    for sample, value, until in edge_parts(edges, _EDGES_AT_ONCE):
        rows = np.empty(2 * len(sample) + 8, dtype=ROW)
        data = np.empty(len(sample) + 2 * LONGEST_B, dtype=np.uint8)
        count, used = frames(sample, value, until, settings, record, rows, data)
        parts.append((rows[:count].copy(), data[:used]))
    return parts


def _table(parts: list[Part], edges: Edges, rates: tuple[int, int]) -> pa.Table:
    rows, data = joined_with_octets(parts, ROW)
    kind = np.where(rows["error"] != 0, len(_KINDS) - 1, rows["kind"])
    return span_table(
        can_schema(),
        rows,
        edges.channels[0],
        edges.samplerate_hz,
        kind=names(kind, _KINDS),
        error=names(rows["error"], ERRORS),
        data=byte_strings(data, rows["first_byte"], rows["bytes"]),
        bitrate=np.full(len(rows), rates[0]),
        fast_bitrate=np.full(len(rows), rates[1]),
    )


def can_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of `can_schema` into words."""
    source, kind = row["source"], row["kind"]
    if kind == "bitrate":
        fast = "" if row["fast_bitrate"] == row["bitrate"] else f", {row['fast_bitrate']} in data"
        text = f"{row['bitrate']} bit/s{fast}"
        return Texts(f"{row['bitrate']}", text, f"{source}: {text}, measured")
    if kind == "overload":
        return Texts("OL", "overload flag", f"{source}: overload flag: a node asks for a pause")
    identifier = (
        "?" if row["id"] < 0 else f"{row['id']:08x}" if row["extended"] else f"{row['id']:03x}"
    )
    if kind == "error":
        error = str(row["error"])
        about = "" if row["id"] < 0 else f" ({identifier})"
        seen = f": expected {row['expected']:#x}, seen {row['seen']:#x}" if row["seen"] >= 0 else ""
        return Texts("!", error, f"{source}: {error}{about}: {_ERROR_TEXTS[error]}{seen}")
    form = "remote" if kind == "remote" else "FD" if row["fd"] else "data"
    value = "" if kind == "remote" else f" {row['data'].hex(' ')}".rstrip()
    normal = f"{identifier} {form}{value}"
    ack = {True: "acknowledged", False: "not acknowledged", None: "no acknowledge slot"}[row["ack"]]
    more = ", fast" if row["brs"] else ""
    more += ", sender error passive" if row["esi"] else ""
    return Texts(identifier, normal, f"{source}: {normal}, DLC {row['dlc']}{more}, {ack}")


_ERROR_TEXTS = {
    "bad-start": "the line was dominant for less than the begin of a bit",
    "bad-stuff": "six equal bits in a frame: an error flag of a node, or the sender stopped",
    "bad-fixed-stuff": "a fixed stuff bit of CAN FD is the same as the bit before it",
    "bad-stuff-count": "the count of stuff bits of CAN FD is not that of the frame",
    "bad-crc": "the CRC is not that of the frame",
    "bad-form": "a delimiter or the end of the frame is dominant",
    "no-ack": "no node acknowledged, and an error flag follows",
    "error-flag": "a node broke the frame off",
    "reserved": "a reserved bit of CAN FD is recessive: CAN XL or a protocol of its own",
    "cut-frame": "the capture begins or ends inside the frame",
    "few-edges": "the line changes too seldom to measure its bit rate; say nominal_bitrate=",
    "no-bitrate": "no frame has a right CRC at any usual bit rate; say nominal_bitrate=, or invert=yes",
}
