"""SPI: words in both directions and the transfers they make, with up to four chip selects.

Source: Motorola SPI Block Guide V04.01, 4.3 (clock phase and polarity).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.count_text import plural
from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.samples import Samples
from freezeframe.decoders.clocked import Clocked, clocking
from freezeframe.decoders.columns import names, octets, one_name, sampled_schema, span_table, whole
from freezeframe.decoders.contract import OptionValues, Texts
from freezeframe.decoders.serial.rows import joined, record_of
from freezeframe.decoders.serial.spi_kernels import close, words
from freezeframe.decoders.serial.spi_room import WordRoom
from freezeframe.decoders.serial.spi_rows import (
    ERROR_ROW,
    ERRORS,
    SETTINGS,
    TRANSFER_ROW,
    WordColumns,
    new_state,
)
from freezeframe.decoders.serial.spi_wide import MOST_NUMBER_BITS, WideBits, wide_schema

_ROWS_AT_ONCE = 4096
_CLK = 1  # the mask of clk
_LINES = {"mosi": 2, "miso": 1}  # their places among the channels
_FIRST_SELECT = 3  # place of cs among the channels
_US_PER_S = 10**6


@cache
def word_schema() -> pa.Schema:
    """Return the columns of SPI words and errors, in the order of their last bit.

    ``kind`` is ``word`` or ``error``, and then ``error`` says which. ``select`` is the number of
    the chip select (0 for cs, 1 for cs1; -1 without), ``transfer`` that of the transfer in the
    capture (-1 outside). ``t_ps`` and ``sample`` are where the first bit was sampled, the end is
    one bit after the last was. An error about a word that was cut has its ``bits`` so far. -1
    stands for what is not there.
    """
    return sampled_schema(
        {
            "select": pa.int8(),
            "transfer": pa.int64(),
            "mosi": pa.int64(),
            "miso": pa.int64(),
            "bits": pa.int8(),
        }
    )


@cache
def transfer_schema() -> pa.Schema:
    """Return the columns of SPI transfers, from select to deselect, in the order of their end.

    ``kind`` is ``transfer``, or ``error`` (``cut-transfer``) for one that the capture's end cuts.
    ``mosi`` and ``miso`` hold the words (empty for a line that is not there), ``word_sample`` where
    the first bit of each was sampled, ``word_end_sample`` one bit after its last. ``whole`` says
    that both ends are in the capture.
    """
    return sampled_schema(
        {
            "select": pa.int8(),
            "transfer": pa.int64(),
            "whole": pa.bool_(),
            "words": pa.int64(),
            "mosi": pa.list_(pa.int64()),
            "miso": pa.list_(pa.int64()),
            "word_sample": pa.list_(pa.int64()),
            "word_end_sample": pa.list_(pa.int64()),
            "samplerate_hz": pa.int64(),
        }
    )


@cache
def wide_word_schema() -> pa.Schema:
    """Return the columns of words of more than 63 bits: those of `word_schema`, the values as bytes."""
    return wide_schema(word_schema())


@cache
def wide_transfer_schema() -> pa.Schema:
    """Return the columns of transfers of words of more than 63 bits, as `wide_word_schema`."""
    return wide_schema(transfer_schema())


class SpiState:
    """What is carried from piece to piece: the kernel's record, and the words of a transfer that
    is open."""

    def __init__(self, options: OptionValues) -> None:
        self.clocked = Clocked()
        self.record = new_state()
        # Room for rows, kept: allocating it costs more than decoding a small piece.
        self.rows = np.zeros(_ROWS_AT_ONCE, TRANSFER_ROW), np.zeros(_ROWS_AT_ONCE, ERROR_ROW)
        self.transfers = 0  # given so far
        self.wide = WideBits() if options.integer("word_bits") > MOST_NUMBER_BITS else None
        self.room = WordRoom(wide=self.wide is not None)


def decode_spi(
    piece: Edges | Samples, options: OptionValues, state: SpiState, last: bool
) -> dict[str, pa.Table]:
    """Decode a piece of a capture with the channels clk, miso, mosi, cs, cs1, cs2, cs3.

    Raises:
        InputError: there is neither MISO nor MOSI.
    """
    option, record = _settings(piece, options), state.record[0]
    word_bits = options.integer("word_bits")
    # Every second sample can be a bit; up to a word less one is carried in.
    columns = state.room.columns((len(piece) // 2 + 1 + word_bits) // word_bits + 1)
    transfers: list[npt.NDArray[np.void]] = []
    errors: list[npt.NDArray[np.void]] = []
    first_word = int(record["words"])
    how = clocking(_CLK, falling=bool(option["falling"]), marked=int(option["selects"]))
    for clocks in state.clocked.parts(piece, how):
        if state.wide is not None:
            state.wide.take(clocks, falling=bool(option["falling"]))
        left = clocks
        while len(left.sample):
            consumed, ended, wrong = words(
                left, option, record, state.room.first_word, columns, state.rows
            )
            left = left.cut(consumed)
            if ended:
                transfers.append(state.rows[0][:ended].copy())
            if wrong:
                errors.append(state.rows[1][:wrong].copy())
    if last:
        rows = np.zeros(1, TRANSFER_ROW), np.zeros(3, ERROR_ROW)
        ended, wrong = close(piece.end_sample, option, record, rows)
        transfers.append(rows[0][:ended])
        errors.append(rows[1][:wrong])
    count = int(record["words"]) - first_word
    wrong_rows = joined(errors, ERROR_ROW)
    wrong_lines = {line: wrong_rows[line] for line in _LINES}
    values: dict[str, npt.NDArray[np.object_]] = {}
    if state.wide is not None:
        lsb_first = options.text("order") == "lsb-first"
        sizes = np.full(count, word_bits)
        begins = columns.begin[first_word - state.room.first_word :][:count]
        values = {n: state.wide.words(begins, sizes, b, lsb_first) for n, b in _LINES.items()}
        wrong_lines = {
            line: state.wide.words(wrong_rows["sample"], wrong_rows["bits"], bit, lsb_first)
            for line, bit in _LINES.items()
        }
        state.wide.forget(int(record["bits"]))
    held, made = state.room.take(count, values)
    return {
        "spi.words": _word_table(made, first_word, wrong_rows, wrong_lines, piece, word_bits),
        "spi.transfers": _transfer_table(held, joined(transfers, TRANSFER_ROW), state, piece),
    }


def spi_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of `word_schema` or `transfer_schema` into words."""
    chip = "" if row["select"] <= 0 else f" select {row['select']}"
    if row["kind"] == "error":
        error = str(row["error"])
        return Texts("!", error, f"{row['source']}{chip}: {error}: {_ERROR_TEXTS[error]}")
    if row["kind"] == "transfer":
        size = plural(row["words"], "word")
        lines = [
            f"{line} {' '.join(_word_text(word, 2) for word in row[line.lower()])}"
            for line in ("MOSI", "MISO")
            if row[line.lower()]
        ]
        normal = ", ".join(lines) or "no word"
        cut = "" if row["whole"] else ", begun before the capture"
        return Texts(size, normal, f"{row['source']}{chip}: {size}, {normal}{cut}")
    digits = -(-row["bits"] // 4)
    mosi, miso = row["mosi"], row["miso"]
    out, back = _word_text(mosi, digits), _word_text(miso, digits)
    normal = f"MOSI {out} MISO {back}"
    return Texts(f"{out}/{back}", normal, f"{row['source']}{chip}: {normal}")


def _word_text(word: int | bytes | None, digits: int) -> str:
    """Return a word in at least so many hexadecimal digits, ``-`` for none."""
    if word is None or (isinstance(word, int) and word < 0):
        return "-"
    return f"{word if isinstance(word, int) else int.from_bytes(word, 'big'):0{digits}X}"


_ERROR_TEXTS = {
    "cut-word": "the transfer or the capture ends inside a word",
    "wrong-idle": "the clock is not at its idle level when the chip is selected: another mode",
    "several-selected": "more than one chip is selected; the words count for the first",
    "cut-transfer": "the capture ends while the chip is selected",
}


def _settings(piece: Edges | Samples, options: OptionValues) -> np.void:
    if not piece.channels[1] and not piece.channels[2]:
        raise InputError(
            "decoder spi: neither miso nor mosi has a probe; say miso=PROBE or mosi=PROBE"
        )
    mode = options.integer("mode")
    selects = sum(1 << bit for bit in range(_FIRST_SELECT, 7) if piece.channels[bit])
    gap = options.number("gap_us")
    gap_samples = 0
    if gap and not selects:
        if not piece.samplerate_hz:
            raise InputError(
                f"decoder spi: option gap_us={gap:g}: the capture has no sample rate; give it with --samplerate"
            )
        gap_samples = max(1, round(gap * piece.samplerate_hz / _US_PER_S))
    return record_of(
        SETTINGS,
        falling=mode in (1, 2),
        idle=mode >> 1,
        word_bits=options.integer("word_bits"),
        lsb_first=options.text("order") == "lsb-first",
        selects=selects,
        active_low=selects if options.text("select") == "active-low" else 0,
        gap_samples=gap_samples,
    )


def _word_table(
    made: WordColumns,
    first_word: int,
    errors: npt.NDArray[np.void],
    error_lines: Mapping[str, npt.NDArray[Any]],
    piece: Edges | Samples,
    word_bits: int,
) -> pa.Table:
    count = len(made.begin)
    wide = made.mosi.dtype == object
    nothing = None if wide else -1
    empty = np.full(count, nothing, dtype=made.mosi.dtype)
    columns: dict[str, Any] = {
        "sample": made.begin,
        "end_sample": made.end,
        "mosi": made.mosi if piece.channels[2] else empty,
        "miso": made.miso if piece.channels[1] else empty,
        "transfer": made.transfer,
        "select": made.select,
        "bits": np.full(count, word_bits, dtype=np.int16 if wide else np.int8),
        "error": np.zeros(count, dtype=np.int32),
    }
    if len(errors):
        for line, channel in _LINES.items():
            if not piece.channels[channel]:
                error_lines[line][:] = nothing
        places = errors["before"] - first_word
        columns = {
            name: np.insert(column, places, error_lines.get(name, errors[name]))
            for name, column in columns.items()
        }
    columns["kind"] = (
        names((columns["error"] != 0).astype(np.int32), ("word", "error"))
        if len(errors)
        else one_name("word", count)
    )
    columns["error"] = names(columns["error"], ERRORS) if len(errors) else one_name("", count)
    for line in _LINES if wide else ():
        columns[line] = octets(columns[line].tolist(), pa.binary())
    schema = wide_word_schema() if wide else word_schema()
    return span_table(schema, columns, piece.channels[0], piece.samplerate_hz)


def _transfer_table(
    held: WordColumns,
    transfers: npt.NDArray[np.void],
    state: SpiState,
    piece: Edges | Samples,
) -> pa.Table:
    count = len(transfers)
    begin, end, mosi, miso = (column if count else column[:0] for column in held[:4])
    offsets = np.zeros(1, dtype=np.int32)
    if count:
        next_word = int(transfers["first_word"][-1] + transfers["words"][-1])
        firsts = np.append(transfers["first_word"], next_word)
        offsets = (firsts - state.room.first_word).astype(np.int32)
        state.room.forget(next_word)
    if not state.record["open"][0]:
        state.room.forget(int(state.record["words"][0]))
    none = np.zeros(count + 1, dtype=np.int32)
    nothing = mosi[:0]
    lists = {
        "mosi": (offsets, mosi) if piece.channels[2] else (none, nothing),
        "miso": (offsets, miso) if piece.channels[1] else (none, nothing),
        "word_sample": (offsets, begin),
        "word_end_sample": (offsets, end),
    }
    lists_of_words = {
        name: pa.ListArray.from_arrays(
            whole(at),
            octets(values.tolist(), pa.binary()) if values.dtype == object else whole(values),
        )
        for name, (at, values) in lists.items()
    }
    first_transfer = state.transfers
    state.transfers += count
    return span_table(
        transfer_schema() if state.wide is None else wide_transfer_schema(),
        transfers,
        piece.channels[0],
        piece.samplerate_hz,
        kind=names((transfers["error"] != 0).astype(np.int32), ("transfer", "error")),
        error=names(transfers["error"], ERRORS),
        select=transfers["select"]
        if any(piece.channels[_FIRST_SELECT:])
        else np.full(count, -1, dtype=np.int8),
        transfer=np.arange(first_transfer, state.transfers),
        samplerate_hz=np.full(count, piece.samplerate_hz),
        **lists_of_words,
    )
