"""From samples to the items of a parallel bus in one pass: the same as by way of `clock_kernels`.

A wide bus is 5 or 8 B a sample, so that memory sets the pace: each 64 samples are looked at once,
the words are taken while they are in the nearest cache, and nothing else is written down.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from freezeframe.capture.files.plane_kernels import (
    LANES,
    count_ones,
    differs,
    lowest,
    moves,
    unit_at,
)
from freezeframe.capture.files.samples import Samples
from freezeframe.decoders.bus.clock_kernels import Clocks
from freezeframe.decoders.bus.clock_sample_kernels import (
    clock_plan,
    first_clock,
    put_together,
    runs_of,
)
from freezeframe.decoders.bus.packed_sample_kernels import (
    PackedLayout,
    packed_layout,
    packed_levels,
)

__all__ = ["SamplePlan", "Taken", "items_of_samples", "sample_plan"]

_ONE, _NONE = np.uint64(1), np.uint64(0)
_ALL = ~np.uint64(0)
_WORD_B = 8  # read at each clock, however small a sample is
_SLACK = 4 * LANES  # items that any 64 samples may have, and those before and after
_BLOCKS = 64  # of samples, whose items are in the nearest cache when they become words


class SamplePlan(NamedTuple):
    """How items are found and put together, the same for all pieces with the same channels.

    ``watch`` is the clock in a sample, or all lines any change of which counts; ``edge`` whether
    both edges count, whether the falling one does, whether what stands before it is taken;
    ``planes`` and ``runs`` are `runs_of` the channels and of the data lines; ``enable`` the bit that
    enables and what it is then, in a sample and among the channels, all 0 for always; ``place``
    that of the lowest data line; ``span_ps`` that of a sample where times are to be written, or 0;
    ``packed`` is None where samples are looked at as machine words; ``lift`` the shift to the right
    and the mask that make an item of a sample where its lines lie side by side, and whether there is
    more to do: then they leave it as it is; ``spare`` so many samples that eight bytes can be read
    of the one before them.
    """

    watch: np.uint64
    edge: tuple[bool, bool, bool]
    planes: tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]
    runs: npt.NDArray[np.uint64]
    enable: tuple[np.uint64, np.uint64, np.uint64, np.uint64]
    place: int
    span_ps: int
    clocking: npt.NDArray[np.void]
    packed: PackedLayout | None
    lift: tuple[np.uint64, np.uint64, bool]
    spare: int


class Taken(NamedTuple):
    """What one piece gives: so many ``items``, one a clock, and room for one behind the last.

    ``t_ps`` is filled only where a sample is a whole number of picoseconds; ``enabled`` is empty
    where there is no line that enables. ``last`` is the last clock as `Clocks` have it.
    """

    items: int
    sample: npt.NDArray[np.int64]
    value: npt.NDArray[np.uint64]
    t_ps: npt.NDArray[np.int64]
    enabled: npt.NDArray[np.bool_]
    last: Clocks


def sample_plan(
    bits: tuple[int, ...],
    clocking: npt.NDArray[np.void],
    *,
    place: int,
    enable: tuple[int, bool],
    span_ps: int,
    unit_B: int,
) -> SamplePlan:
    """Return the plan for channels that are these bits of a sample.

    Args:
        place: of the lowest data line among the channels.
        enable: the place of the line that enables, and whether it does when it is high.
        unit_B: bytes of a sample.
    """
    c = clocking[0]
    watch, planes = clock_plan(bits, int(c["watch"]) | int(c["watch_high"]) << LANES)
    # Of the high lines any change counts.
    edge = bool(c["both"] | c["watch_high"]), bool(c["invert"]), bool(c["before"])
    line, high = enable
    levels = (
        (1 << bits[line], high << bits[line], 1 << line, high << line)
        if bits[line] >= 0
        else (0, 0, 0, 0)
    )
    bit, level, channel, channel_level = map(np.uint64, levels)
    runs = runs_of(bits[place:])
    side_by_side = len(runs) == 2 and not runs[1, 1] and not runs[0, 2] and bits[line] < 0
    return SamplePlan(
        watch,
        edge,
        planes,
        runs,
        (bit, level, channel, channel_level),
        place,
        span_ps,
        clocking,
        packed_layout(unit_B, int(watch)),
        (runs[0, 0], runs[0, 1], False) if side_by_side else (_NONE, _ALL, True),
        (_WORD_B - 1) // unit_B,
    )


def items_of_samples(
    samples: Samples,
    plan: SamplePlan,
    state: npt.NDArray[np.void],
    held: Clocks | None,
    *,
    expected: int,
) -> Taken:
    """Return the items of a piece, after the clock that was held back from the one before.

    Args:
        state: of `clock_kernels`; it becomes that after the piece.
        expected: about how many items there are; more or fewer cost time, nothing else.
    """
    size = min(expected, len(samples)) + _SLACK
    room = _room(size, plan)
    last = _room_of_clocks(1)
    data = samples.data if plan.packed is None else samples.units
    piece = data, samples.begin_sample
    ended, block, count = _begin(piece, plan, state, held or _room_of_clocks(0), room, last)
    while not ended:
        # As many a sample as so far, and half as many again.
        more = count * len(samples) // max(block * LANES, 1) - count
        longer = _room(count + 3 * max(more, 0) // 2 + 2 * _SLACK, plan)
        for new, old in zip(longer, room, strict=True):
            new[: min(count, len(old))] = old[:count]
        room = longer
        ended, block, count = _go_on(piece, plan, room, last, block, count)
    return Taken(count, *room, last)


_Room = tuple[
    npt.NDArray[np.int64],
    npt.NDArray[np.uint64],
    npt.NDArray[np.int64],
    npt.NDArray[np.bool_],
]


def _room(size: int, plan: SamplePlan) -> _Room:
    """Return room for so many items: sample, item, time, and whether it is enabled."""
    return (
        np.empty(size, dtype=np.int64),
        np.empty(size, dtype=np.uint64),
        np.empty(size, dtype=np.int64),
        np.empty(size if plan.enable[0] else 0, dtype=np.bool_),
    )


def _room_of_clocks(size: int) -> Clocks:
    return np.empty(size, np.int64), np.empty(size, np.uint64), np.zeros(size, np.uint64)


@numba.njit(cache=True, nogil=True)
def _begin(
    piece: Any, plan: Any, state: Any, held: Any, room: Any, last: Any
) -> tuple[bool, int, int]:
    """Put the clock that was held back and the first sample, if it is one, before all others."""
    data, begin_sample = piece
    count = len(held[0])
    if count:
        last[0][0], last[1][0] = held[0][0], held[1][0]
        last[2][0] = held[2][0] if len(held[2]) else _NONE
        _put(plan, last, room, 0)
    if first_clock((data, begin_sample, True), plan[2], plan[7], state, last, 0):
        _put(plan, last, room, count)
        count += 1
    return _go_on(piece, plan, room, last, 0, count)


@numba.njit(cache=True, nogil=True)
def _put(plan: Any, clock: Any, room: Any, at: int) -> None:
    """Write an item that is there as channels."""
    _, _, _, _, enable, place, span_ps, _, _, _, _ = plan
    sample, value, t_ps, enabled = room
    low, high = clock[1][0], clock[2][0]
    sample[at] = clock[0][0]
    value[at] = low >> np.uint64(place) | high << np.uint64(LANES - place)
    t_ps[at] = sample[at] * span_ps
    if len(enabled):
        enabled[at] = low & enable[2] == enable[3]


@numba.njit(cache=True, nogil=True)
def _go_on(
    piece: Any, plan: Any, room: Any, last: Any, block: int, count: int
) -> tuple[bool, int, int]:
    """Fill ``room`` from place ``count`` on with the items from block ``block`` of 64 samples on.

    The very first sample is left out. ``last`` becomes the last clock.

    Returns:
        Whether that was all, else the block to go on with when there is room; and the next place.
    """
    data, begin_sample = piece
    watch, edge, planes, runs, enable, _, span_ps, _, packed, lift, spare = plan
    blocks = (len(data) + LANES - 1) // LANES
    whole = (len(data) - spare) // LANES
    begin = count
    # The end of the last item needs a place too.
    while block < blocks and count + LANES < len(room[0]):
        done = count
        if 0 < block < whole:
            free = (len(room[0]) - 1 - count) // LANES
            stop = min(block + min(free, _BLOCKS), whole)
            span = begin_sample, block, stop
            count = _take_blocks(data, watch, packed, (edge, lift, span_ps), room, span, count)
            block = stop
        else:
            first, end = max(block * LANES, 1), min((block + 1) * LANES, len(data))
            span = begin_sample, first, end
            count = _take_few(data, watch, (edge, lift, span_ps), room, span, count)
            block += 1
        if lift[2]:
            _turn(runs, enable, room, done, count)
    if count > begin:
        at = room[0][count - 1]
        levels = unit_at(data, at - begin_sample - (1 if edge[2] else 0))
        last[0][0] = at
        last[1][0] = put_together(levels, planes[0])
        last[2][0] = put_together(levels, planes[1])
    return block >= blocks, block, count


@numba.njit(cache=True, nogil=True)
def _take_blocks(
    data: Any, watch: Any, packed: Any, how: Any, room: Any, span: Any, count: int
) -> int:
    """Write sample index, time and item of the clocks in whole blocks, not in the first of the piece.

    Nothing is called for a block: even to count who holds an array would cost more than the block.

    Args:
        data: samples; behind the last block there are so many more that eight bytes can be read of
            each in it.
        how: whether both edges count, whether the falling one does, whether what stands before it
            is taken; how the item is lifted out of a sample, above which stand bytes of the next;
            and what its index is multiplied with for the time.
        room: places for samples, items and times, from ``count`` on.
        span: the index of the first of ``data`` in the capture, the first block and the one after
            the last.
    Returns:
        The next place.
    """
    begin_sample, begin, stop = span
    (both, falls, before), (right, mask, _), span_ps = how
    sample, value, t_ps, _ = room
    raw = data.reshape(-1).view(np.uint8)
    unit_B = np.uint64(data.shape[1] if data.ndim == 2 else data.itemsize)
    unwanted = _ALL if falls else _NONE
    back = unit_B if before else _NONE
    # Unsigned: numba looks whether a signed one counts from the end.
    first: Any = np.uint64(begin * LANES)
    first_B: Any = first * unit_B
    offset = np.uint64(begin_sample)
    earlier = np.uint64(unit_at(data, begin * LANES - 1) & watch != 0)
    here: Any = np.uint64(count)
    for _ in range(begin, stop):
        if data.ndim == 1 and both:
            clocks = moves(data, first, watch)
        else:
            if data.ndim == 2:  # noqa: SIM108  # numba makes code for one of the two only
                levels = packed_levels(raw, packed, first_B)
            else:
                levels = differs(data, first, watch, _NONE)
            clocks = levels ^ (levels << _ONE | earlier)
            if not both:
                clocks &= levels ^ unwanted
            earlier = levels >> np.uint64(LANES - 1)
        # So many turns, not "while there are some": the processor need not wait for the answer.
        stop_at = here + np.uint64(count_ones(clocks))
        for at in range(here, stop_at):
            place = np.uint64(lowest(clocks))
            clocks &= clocks - _ONE
            sample[at] = offset + first + place
            value[at] = _word_at(raw, first_B + place * unit_B - back) >> right & mask
        here = stop_at
        first += np.uint64(LANES)
        first_B += unit_B * np.uint64(LANES)
    for at in range(np.uint64(count), here):
        t_ps[at] = sample[at] * span_ps
    return np.int64(here)  # type: ignore[return-value]  # numba's int64 is an int


@numba.njit(cache=True, nogil=True)
def _word_at(raw: Any, at_B: Any) -> Any:
    """Return the eight bytes from ``at_B`` on, the first lowest."""
    word = _NONE
    for byte in range(_WORD_B):
        word |= np.uint64(raw[at_B + np.uint64(byte)]) << np.uint64(8 * byte)
    return word


@numba.njit(cache=True, nogil=True)
def _take_few(data: Any, watch: Any, how: Any, room: Any, span: Any, count: int) -> int:
    """Write the clocks among the samples ``span[1]`` to ``span[2]``, which may be any."""
    begin_sample, first, end = span
    (both, falls, before), (right, mask, _), span_ps = how
    sample, value, t_ps, _ = room
    for i in range(first, end):
        level = unit_at(data, i) & watch
        if level != unit_at(data, i - 1) & watch and (both or (level != 0) != falls):
            sample[count] = begin_sample + i
            t_ps[count] = sample[count] * span_ps
            value[count] = unit_at(data, i - 1 if before else i) >> right & mask
            count += 1
    return count


@numba.njit(cache=True, nogil=True)
def _turn(runs: Any, enable: Any, room: Any, begin: int, end: int) -> None:
    """Turn samples in the places ``begin`` to ``end`` of ``room`` into items."""
    _, value, _, enabled = room
    first, stop = np.uint64(begin), np.uint64(end)  # as in `_take_whole`
    if len(enabled):
        for i in range(first, stop):
            enabled[i] = value[i] & enable[0] == enable[1]
    right, mask, left = runs[0, 0], runs[0, 1], runs[0, 2]
    right_2, mask_2, left_2 = runs[1, 0], runs[1, 1], runs[1, 2]
    if len(runs) > 2:
        for i in range(first, stop):
            value[i] = put_together(value[i], runs)
    else:
        for i in range(first, stop):
            low = (value[i] >> right & mask) << left
            value[i] = low | (value[i] >> right_2 & mask_2) << left_2
