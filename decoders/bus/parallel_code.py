"""A parallel bus piece by piece: its items, from edges or straight from samples, and their tables."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges, sample_span_ps, samples_to_ps
from freezeframe.capture.files.samples import Samples
from freezeframe.decoders.bus.parallel_kernels import (
    LAYOUT,
    TIMING_ROW,
    ItemRoom,
    items,
    near_changes,
    new_timing,
    new_word,
    no_timed,
)
from freezeframe.decoders.bus.parallel_sample_kernels import items_of_samples, sample_plan
from freezeframe.decoders.bus.parallel_tables import Items, item_table, timed_table, word_table
from freezeframe.decoders.clocked import Clocked, clocking
from freezeframe.decoders.contract import OptionValues
from freezeframe.decoders.serial.rows import record_of

_MAX_BITS = 64  # of a word
_CLK, _ENABLE, _DATA = 0, 1, 2  # places of channels; d0 to d63 from _DATA on
_SLACK = 256  # items that any 64 samples may have, and those before and after


class ParallelState:
    """What is carried from piece to piece: the kernels' records and the last item."""

    def __init__(self, options: OptionValues) -> None:
        self.clocked = Clocked()
        self.word = new_word()
        self.timing = new_timing()
        self.held = _room(0, enable=True)  # the last item, whose end is not known
        self.density = 0.0  # items a sample in the piece before
        self.timed = no_timed()  # rows that one to come may stand before


def decode_parallel(
    piece: Edges | Samples, options: OptionValues, state: ParallelState, last: bool
) -> dict[str, pa.Table]:
    """Decode a piece of a capture, in either form, with the channels clk, enable, d0 to d63.

    Without a clock every change of a data line is one.

    Raises:
        InputError: there is no data line, or a word would be wider than 64 bits.
    """
    bits = _width(piece.channels, options)
    near = None
    if piece.channels[_CLK] and any(_limits(options)):
        piece = piece.edges() if isinstance(piece, Samples) else piece
        near = _near_changes(piece, options, state)
    piece_items = _items(piece, bits, options, state, last)
    rate_hz = piece.samplerate_hz
    if near is None:
        table = item_table(piece_items)
    else:
        horizon = None if last else _horizon(piece.end_sample, options, state)
        table, state.timed = timed_table(piece_items, near, state.timed, horizon, rate_hz)
    return {
        "parallel.items": table,
        "parallel.words": word_table(piece_items, options, state.word, rate_hz, last),
    }


def _width(channels: tuple[str, ...], options: OptionValues) -> int:
    low, high = _masks(channels)
    bits = (high << 64 | low).bit_length() - _DATA
    if bits <= 0:
        raise InputError("decoder parallel: no data line has a probe; say d0=PROBE, d1=PROBE, ...")
    if bits * options.integer("word_items") > _MAX_BITS:
        raise InputError(
            f"decoder parallel: {options.integer('word_items')} items of {bits} bits are more than "
            f"the {_MAX_BITS} bits of a word"
        )
    return bits


@lru_cache(maxsize=16)
def _masks(channels: tuple[str, ...]) -> tuple[int, int]:
    """Return the data lines among the low and among the high channels."""
    there = sum(1 << place for place, probe in enumerate(channels) if probe) >> _DATA << _DATA
    return there & (1 << 64) - 1, there >> 64


def _watched(channels: tuple[str, ...]) -> int:
    """Return the clock, or without one the data lines, any change of which counts."""
    low, high = _masks(channels)
    return 1 << _CLK if channels[_CLK] else high << 64 | low


def _edge(channels: tuple[str, ...], options: OptionValues) -> tuple[bool, bool, bool]:
    """Return whether both edges count, whether the falling one does, whether data is taken before."""
    if not channels[_CLK]:
        return True, False, False
    edge = options.text("clock_edge")
    return edge == "both", edge == "falling", options.text("take") == "before"


def _clocking(channels: tuple[str, ...], options: OptionValues) -> npt.NDArray[np.void]:
    return _clocking_of(channels, _edge(channels, options))


@lru_cache(maxsize=16)
def _clocking_of(channels: tuple[str, ...], edge: tuple[bool, bool, bool]) -> npt.NDArray[np.void]:
    both, falling, before = edge
    return clocking(_watched(channels), both=both, falling=falling, before=before)


@lru_cache(maxsize=16)
def _layout(channels: tuple[str, ...], enable_high: bool, span_ps: int) -> np.void:
    """Return where the items are among the channels, a record of LAYOUT."""
    low, high = _masks(channels)
    bit = 1 << _ENABLE if channels[_ENABLE] else 0
    return record_of(
        LAYOUT,
        mask=low,
        mask_high=high,
        place=_DATA,
        bit=bit,
        level=bit if enable_high else 0,
        span_ps=span_ps,
    )


def _items(
    piece: Edges | Samples, bits: int, options: OptionValues, state: ParallelState, last: bool
) -> Items:
    """Return the items whose end is known; the last one waits for the next clock."""
    end, rate_hz = piece.end_sample, piece.samplerate_hz
    span_ps = sample_span_ps(rate_hz, end)
    if isinstance(piece, Samples):
        room, count = _of_samples(piece, span_ps, options, state)
    else:
        room, count = _room(len(piece) + 2, enable=bool(piece.channels[_ENABLE])), 0
        count = _hold(state.held, room)
        count = _of_clocks(piece, span_ps, options, state, room, count)
    if last and count:
        room.sample[count] = end
        room.t_ps[count] = end * span_ps
        count += 1
    elif count:
        state.held = ItemRoom._make(column[count - 1 : count].copy() for column in room)
    ends = max(count - 1, 0)
    sample = room.sample[:count]
    t_ps = room.t_ps[:count] if span_ps else samples_to_ps(sample, rate_hz, latest=end)
    enabled = room.enabled[:ends] if piece.channels[_ENABLE] else None
    source = piece.channels[_CLK] or next(filter(None, piece.channels[_DATA:]))
    return Items(sample, t_ps, room.value[:ends], enabled, bits, source)


def _room(size: int, *, enable: bool) -> ItemRoom:
    # One block of memory, as the allocator keeps a large one for the next piece: to be given new pages
    # for three columns takes twice as long as to fill them.
    sample, value, t_ps = np.empty((3, size), dtype=np.int64)
    enabled = np.empty(size if enable else 0, dtype=np.bool_)
    return ItemRoom(sample, value.view(np.uint64), t_ps, enabled)


def _hold(held: ItemRoom, room: ItemRoom) -> int:
    """Put the item that waits first in the room; return how many that are."""
    for column, kept in zip(room, held, strict=True):
        column[: len(kept)] = kept
    return len(held.sample)


def _of_clocks(
    piece: Edges | Samples,
    span_ps: int,
    options: OptionValues,
    state: ParallelState,
    room: ItemRoom,
    count: int,
    until_sample: int | None = None,
) -> int:
    """Fill the room from place ``count`` on by way of the clocked stage; return the next place.

    Args:
        until_sample: take the clocks before it alone.
    """
    layout = _layout(piece.channels, options.text("enable_level") == "high", span_ps)
    for clocks in state.clocked.parts(piece, _clocking(piece.channels, options)):
        stop = None if until_sample is None else int(np.searchsorted(clocks.sample, until_sample))
        count = items(clocks.cut(0, stop), layout, room, count)
    return count


def _of_samples(
    samples: Samples, span_ps: int, options: OptionValues, state: ParallelState
) -> tuple[ItemRoom, int]:
    """Return what the items of a piece fill, and how many there are; the room is longer."""
    high = options.text("enable_level") == "high"
    plan = sample_plan(
        samples.bits,
        _watched(samples.channels),
        _edge(samples.channels, options),
        _DATA,
        (_ENABLE, high),
        span_ps,
        samples.unit_B,
    )
    enable = bool(samples.channels[_ENABLE])
    room = _room(int(state.density * len(samples) * 1.02) + _SLACK, enable=enable)
    count = _hold(state.held, room)
    if not len(samples):
        return room, count
    begin = samples.begin_sample
    # Whether the first sample is a clock depends on the piece before. That the last one is beside it leaves the stage
    # with the lines at the end of the piece.
    count = _of_clocks(samples.ends(), span_ps, options, state, room, count, begin + 1)
    data = samples.data if plan.packed is None else samples.units
    block, count = items_of_samples(data, begin, plan, room, 0, count)
    while block * 64 < len(samples):
        # As many a sample as so far, and half as many again.
        more = count * len(samples) // max(block * 64, 1) - count
        longer = _room(count + 3 * max(more, 0) // 2 + 2 * _SLACK, enable=enable)
        for new, old in zip(longer, room, strict=True):
            new[: min(count, len(old))] = old[:count]
        room = longer
        block, count = items_of_samples(data, begin, plan, room, block, count)
    state.density = count / len(samples)
    return room, count


def _limits(options: OptionValues) -> tuple[int, int]:
    return options.integer("setup_samples"), options.integer("hold_samples")


def _near_changes(
    edges: Edges, options: OptionValues, state: ParallelState
) -> npt.NDArray[np.void]:
    rows = np.zeros(2 * len(edges), dtype=TIMING_ROW)
    wide = edges.high is not None
    planes = edges.sample, edges.value, np.zeros(0, np.uint64) if edges.high is None else edges.high
    low, high = _masks(edges.channels)
    how = _clocking(edges.channels, options)
    data = np.uint64(low), np.uint64(high)
    return rows[: near_changes(planes, wide, how, data, _limits(options), state.timing, rows)]


def _horizon(end_sample: int, options: OptionValues, state: ParallelState) -> int:
    """Return the sample before which no row begins that is still to come.

    The item of the last clock is, and so is an error about a change that the next clock may be too
    near to.
    """
    changed_at = int(state.timing["changed_at"][0])
    near = end_sample - changed_at < options.integer("setup_samples")
    held: list[int] = state.held.sample.tolist()
    return min([end_sample, *([changed_at] if near else []), *held])
