"""SPI: words in both directions and the transfers they make, with up to four chip selects.

Source: Motorola SPI Block Guide V04.01, 4.3 (clock phase and polarity).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.errors import InputError
from freezeframe.capture.files._edge_kernels import count_changes
from freezeframe.capture.files.edges import Edges, samples_to_ps
from freezeframe.capture.files.samples import Samples
from freezeframe.decoders.columns import event_schema, names, one_name, table, whole
from freezeframe.decoders.contract import OptionValues, Texts
from freezeframe.decoders.serial.spi_kernels import close, words
from freezeframe.decoders.serial.spi_rows import (
    ERROR_ROW,
    ERRORS,
    SETTINGS,
    TRANSFER_ROW,
    new_state,
)
from freezeframe.decoders.serial.spi_sample_kernels import words_of_samples

__all__ = [
    "SpiState",
    "decode_spi",
    "decode_spi_samples",
    "spi_texts",
    "transfer_schema",
    "word_schema",
]

_ROWS_AT_ONCE = 4096
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
    return event_schema(
        {
            "select": pa.int8(),
            "transfer": pa.int64(),
            "mosi": pa.int64(),
            "miso": pa.int64(),
            "bits": pa.int8(),
            "sample": pa.int64(),
            "end_sample": pa.int64(),
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
    return event_schema(
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
            "sample": pa.int64(),
            "end_sample": pa.int64(),
        }
    )


class SpiState:
    """What is carried from piece to piece: the kernel's record, and the words of a transfer that
    is open."""

    def __init__(self, options: OptionValues) -> None:
        self.record = new_state()
        # Room for rows, kept: clearing it anew costs more than decoding a small piece.
        self.rows = np.zeros(_ROWS_AT_ONCE, TRANSFER_ROW), np.zeros(_ROWS_AT_ONCE, ERROR_ROW)
        self.transfers = 0  # given so far
        self.held: list[tuple[npt.NDArray[np.int64], ...]] = []
        self.held_from = 0  # number of the first word that is held


def decode_spi(
    edges: Edges, options: OptionValues, state: SpiState, last: bool
) -> dict[str, pa.Table]:
    """Decode a piece of a capture; ``edges`` has the channels clk, miso, mosi, cs, cs1, cs2, cs3.

    Raises:
        InputError: there is neither MISO nor MOSI.
    """
    settings = _settings(edges, options)

    def step(done: int, found: Any) -> tuple[int, int, int]:
        left = edges.sample[done:], edges.value[done:]
        return words(left, settings, state.record, found, state.rows)

    return _decoded(edges, step, len(edges), settings, state, last)


def decode_spi_samples(
    samples: Samples, options: OptionValues, state: SpiState, last: bool
) -> dict[str, pa.Table]:
    """Decode a piece of a capture, as `decode_spi` does, straight from its samples.

    Raises:
        InputError: there is neither MISO nor MOSI.
    """
    settings = _settings(samples, options)
    if settings["gap_samples"][0]:
        return decode_spi(samples.edges(), options, state, last)
    masks = samples.masks()

    def step(done: int, found: Any) -> tuple[int, int, int]:
        left = samples.data[done:], samples.begin_sample + done
        return words_of_samples(left, masks, settings, state.record, found, state.rows)

    clock_edges = count_changes(samples.data, masks[0], np.uint64(0))
    return _decoded(samples, step, clock_edges, settings, state, last)


def _decoded(
    piece: Edges | Samples,
    step: Callable[[int, Any], tuple[int, int, int]],
    clock_edges: int,
    settings: npt.NDArray[np.void],
    state: SpiState,
    last: bool,
) -> dict[str, pa.Table]:
    """Take steps until the piece is used up, and make the tables.

    Args:
        step: decodes from an edge or sample on, into columns with room for all words; returns how
            many it consumed, and the transfers and errors in ``state.rows``.
        clock_edges: at least as many as there are.
    """
    word_bits = int(settings["word_bits"][0])
    # An edge of the clock in each direction makes a bit; up to a word less one is carried in.
    room = (clock_edges // 2 + 1 + word_bits) // word_bits + 1
    columns = tuple(np.empty(room, dtype=np.int64) for _ in range(5))
    select = np.empty(room, dtype=np.int8)
    filled = np.zeros(1, dtype=np.int64)
    found = (*columns, select, filled)
    transfers = [np.zeros(0, dtype=TRANSFER_ROW)]
    errors = [np.zeros(0, dtype=ERROR_ROW)]
    first_word = int(state.record["words"][0])
    done = 0
    while done < len(piece):
        consumed, ended, wrong = step(done, found)
        done += consumed
        transfers.append(state.rows[0][:ended].copy())
        errors.append(state.rows[1][:wrong].copy())
    if last:
        rows = np.zeros(1, TRANSFER_ROW), np.zeros(3, ERROR_ROW)
        ended, wrong = close(piece.end_sample, settings, state.record, rows)
        transfers.append(rows[0][:ended])
        errors.append(rows[1][:wrong])
    count = int(filled[0])
    made = (*(column[:count] for column in columns), select[:count])
    return {
        "spi.words": _word_table(made, first_word, np.concatenate(errors), piece, word_bits),
        "spi.transfers": _transfer_table(
            _held_words(state, made, first_word), np.concatenate(transfers), state, piece
        ),
    }


def spi_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of `word_schema` or `transfer_schema` into words."""
    chip = "" if row["select"] <= 0 else f" select {row['select']}"
    if row["kind"] == "error":
        error = str(row["error"])
        return Texts("!", error, f"{row['source']}{chip}: {error}: {_ERROR_TEXTS[error]}")
    if row["kind"] == "transfer":
        size = f"{row['words']} words"
        lines = [
            f"{line} {' '.join(f'{word:02X}' for word in row[line.lower()])}"
            for line in ("MOSI", "MISO")
            if row[line.lower()]
        ]
        normal = ", ".join(lines) or "no word"
        cut = "" if row["whole"] else ", begun before the capture"
        return Texts(size, normal, f"{row['source']}{chip}: {size}, {normal}{cut}")
    digits = -(-row["bits"] // 4)
    mosi, miso = row["mosi"], row["miso"]
    out = f"{mosi:0{digits}X}" if mosi >= 0 else "-"
    back = f"{miso:0{digits}X}" if miso >= 0 else "-"
    normal = f"MOSI {out} MISO {back}"
    return Texts(f"{out}/{back}", normal, f"{row['source']}{chip}: {normal}")


_ERROR_TEXTS = {
    "cut-word": "the transfer or the capture ends inside a word",
    "wrong-idle": "the clock is not at its idle level when the chip is selected: another mode",
    "several-selected": "more than one chip is selected; the words count for the first",
    "cut-transfer": "the capture ends while the chip is selected",
}


def _settings(edges: Edges | Samples, options: OptionValues) -> npt.NDArray[np.void]:
    if not edges.channels[1] and not edges.channels[2]:
        raise InputError(
            "decoder spi: neither miso nor mosi has a probe; say miso=PROBE or mosi=PROBE"
        )
    mode = options.integer("mode")
    selects = sum(1 << bit for bit in range(_FIRST_SELECT, 7) if edges.channels[bit])
    gap = options.number("gap_us")
    settings = np.zeros(1, dtype=SETTINGS)
    settings["falling"] = mode in (1, 2)
    settings["idle"] = mode >> 1
    settings["word_bits"] = options.integer("word_bits")
    settings["lsb_first"] = options.text("order") == "lsb-first"
    settings["selects"] = selects
    settings["active_low"] = selects if options.text("select") == "active-low" else 0
    if gap and not selects:
        settings["gap_samples"] = max(1, round(gap * edges.samplerate_hz / _US_PER_S))
    return settings


def _word_table(
    made: tuple[Any, ...],
    first_word: int,
    errors: npt.NDArray[np.void],
    edges: Edges | Samples,
    word_bits: int,
) -> pa.Table:

    count = len(made[0])
    empty = np.full(count, -1, dtype=np.int64)
    columns: dict[str, Any] = {
        "sample": made[0],
        "end_sample": made[1],
        "mosi": made[2] if edges.channels[2] else empty,
        "miso": made[3] if edges.channels[1] else empty,
        "transfer": made[4],
        "select": made[5],
        "bits": np.full(count, word_bits, dtype=np.int8),
        "error": np.zeros(count, dtype=np.int32),
    }
    if len(errors):
        for line, channel in (("miso", 1), ("mosi", 2)):
            if not edges.channels[channel]:
                errors[line] = -1
        places = errors["before"] - first_word
        columns = {
            name: np.insert(column, places, errors[name]) for name, column in columns.items()
        }
    columns["t_ps"] = samples_to_ps(columns["sample"], edges.samplerate_hz)
    columns["t_end_ps"] = samples_to_ps(columns["end_sample"], edges.samplerate_hz)
    columns["source"] = one_name(edges.channels[0], len(columns["sample"]))
    columns["kind"] = (
        names((columns["error"] != 0).astype(np.int32), ("word", "error"))
        if len(errors)
        else one_name("word", count)
    )
    columns["error"] = names(columns["error"], ERRORS) if len(errors) else one_name("", count)
    return table(word_schema(), columns)


def _held_words(
    state: SpiState, made: tuple[Any, ...], first_word: int
) -> list[tuple[npt.NDArray[np.int64], ...]]:
    """Return what is held and what is new, as begin, end, MOSI and MISO columns in pieces."""
    if not state.held:
        state.held_from = first_word
    return [*state.held, made[:4]]


def _transfer_table(
    pieces: list[tuple[npt.NDArray[np.int64], ...]],
    transfers: npt.NDArray[np.void],
    state: SpiState,
    edges: Edges | Samples,
) -> pa.Table:

    count = len(transfers)
    if count:
        begin, end, mosi, miso = (
            np.concatenate(column) if len(pieces) > 1 else column[0]
            for column in zip(*pieces, strict=True)
        )
        firsts = transfers["first_word"] - state.held_from
        offsets = np.append(firsts, firsts[-1:] + transfers["words"][-1:]).astype(np.int32)
        next_word = int(transfers["first_word"][-1] + transfers["words"][-1])
        kept = next_word - state.held_from
        pieces = [(begin[kept:], end[kept:], mosi[kept:], miso[kept:])]
        state.held_from = next_word
    else:
        begin = end = mosi = miso = np.zeros(0, dtype=np.int64)
        offsets = np.zeros(1, dtype=np.int32)
    state.held = pieces if state.record["open"][0] else []
    none = np.zeros(count + 1, dtype=np.int32)
    nothing = np.zeros(0, dtype=np.int64)
    lists = {
        "mosi": (offsets, mosi) if edges.channels[2] else (none, nothing),
        "miso": (offsets, miso) if edges.channels[1] else (none, nothing),
        "word_sample": (offsets, begin),
        "word_end_sample": (offsets, end),
    }
    columns: dict[str, Any] = {
        name: pa.ListArray.from_arrays(whole(at), whole(values))
        for name, (at, values) in lists.items()
    }
    columns.update(
        t_ps=samples_to_ps(transfers["sample"], edges.samplerate_hz),
        source=one_name(edges.channels[0], count),
        kind=names((transfers["error"] != 0).astype(np.int32), ("transfer", "error")),
        t_end_ps=samples_to_ps(transfers["end_sample"], edges.samplerate_hz),
        error=names(transfers["error"], ERRORS),
        select=transfers["select"]
        if any(edges.channels[_FIRST_SELECT:])
        else np.full(count, -1, dtype=np.int8),
        transfer=np.arange(state.transfers, state.transfers + count),
        whole=transfers["whole"] == 1,
        words=transfers["words"],
        samplerate_hz=np.full(count, edges.samplerate_hz),
        sample=transfers["sample"],
        end_sample=transfers["end_sample"],
    )
    state.transfers += count
    return table(transfer_schema(), columns)
