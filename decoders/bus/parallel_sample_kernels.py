"""From samples to the items of a parallel bus in one pass, as `parallel_kernels.items` gives them of clocks.

A wide bus is 5 or 8 B a sample, so that memory sets the pace: each 64 samples are looked at once, the
items are taken while they are in the nearest cache, and nothing else is written down. By way of the
clocked stage 8-bit words came at half the rate, 32-bit words at three quarters of it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from freezeframe.capture.files.plane_kernels import (
    LANES,
    count_ones,
    differs,
    fetch,
    lowest,
    moves,
    unit_at,
)
from freezeframe.decoders.bus.packed_sample_kernels import (
    PackedLayout,
    packed_layout,
    packed_levels,
)
from freezeframe.decoders.clocked import together, together_runs

_ONE, _NONE = np.uint64(1), np.uint64(0)
_ALL = ~np.uint64(0)
_WORD_B = 8  # read at each clock, however small a sample is
_BLOCKS = 64  # of samples, whose items are in the nearest cache when they become words
_AHEAD_B = np.uint64(3072)  # of samples: the processor itself looks ahead within 4 KiB alone
_LINE_B = np.uint64(64)  # of a cache


class SamplePlan(NamedTuple):
    """Where in a sample the lines are, and which edges count.

    ``watch`` is the clock, or all lines any change of which counts; ``both`` whether both edges do,
    ``falling`` whether the falling one does, ``before`` whether the lines are read right before the
    edge; ``right`` and ``mask`` lift the item out of a sample where its lines lie side by side, else
    they leave it as it is for ``runs`` (``turned``); ``bit`` is the line that enables, ``level`` what
    it is then, both 0 for always; ``span_ps`` that of a sample where times are to be written, or 0;
    ``packed`` is None where samples are looked at as machine words; ``spare`` so many samples that
    eight bytes can be read of the one before them.
    """

    watch: np.uint64
    both: bool
    falling: bool
    before: bool
    right: np.uint64
    mask: np.uint64
    turned: bool
    runs: npt.NDArray[np.uint64]
    bit: np.uint64
    level: np.uint64
    span_ps: int
    packed: PackedLayout | None
    spare: int


@lru_cache(maxsize=16)
def sample_plan(
    bits: tuple[int, ...],
    watched: int,
    edge: tuple[bool, bool, bool],
    data: int,
    enable: tuple[int, bool],
    span_ps: int,
    unit_B: int,
) -> SamplePlan:
    """Return the plan for channels that are these bits of a sample.

    Args:
        watched: the clock among the channels, or all lines any change of which counts.
        edge: whether both edges count, the falling one does, the lines are read before it.
        data: the place of the lowest data line among the channels.
        enable: the place of the line that enables, and whether it does when it is high.
        unit_B: bytes of a sample.
    """
    watch = sum(1 << bit for n, bit in enumerate(bits) if watched >> n & 1 and bit >= 0)
    line, high = enable
    enables = bits[line] >= 0
    runs = together_runs(bits[data:])
    side_by_side = len(runs) == 2 and not runs[1, 1] and not runs[0, 2] and not enables
    return SamplePlan(
        np.uint64(watch),
        *edge,
        right=runs[0, 0] if side_by_side else _NONE,
        mask=runs[0, 1] if side_by_side else _ALL,
        turned=not side_by_side,
        runs=runs,
        bit=np.uint64(1 << bits[line] if enables else 0),
        level=np.uint64(high << bits[line] if enables else 0),
        span_ps=span_ps,
        packed=packed_layout(unit_B, watch),
        spare=(_WORD_B - 1) // unit_B,
    )


@njit(cache=True, nogil=True)
def items_of_samples(
    data: Any, begin_sample: int, plan: Any, room: Any, block: int, count: int
) -> tuple[int, int]:
    """Fill `ItemRoom` from place ``count`` on with the items from block ``block`` of 64 samples on.

    The very first sample is left out: whether it is a clock depends on the one before it.

    Returns:
        The block to go on with when there is room, and the next place.
    """
    blocks = (len(data) + LANES - 1) // LANES
    whole = (len(data) - plan.spare) // LANES
    # The end of the last item needs a place too.
    while block < blocks and count + LANES < len(room.sample):
        first = count
        if 0 < block < whole:
            free = (len(room.sample) - 1 - count) // LANES
            stop = min(block + min(free, _BLOCKS), whole)
            count = _take_blocks(data, begin_sample, plan, room, (block, stop), count)
            block = stop
        else:
            span = max(block * LANES, 1), min((block + 1) * LANES, len(data))
            count = _take_few(data, begin_sample, plan, room, span, count)
            block += 1
        if plan.turned:
            _turn(plan, room, first, count)
    return block, count


@njit(cache=True, nogil=True)
def _take_blocks(
    data: Any, begin_sample: int, plan: Any, room: Any, span: tuple[int, int], count: int
) -> int:
    """Write sample index, time and item of the clocks in whole blocks, not in the first of the piece.

    Nothing is called for a block: even to count who holds an array would cost more than the block.

    Args:
        data: samples; after the last block there are so many more that eight bytes can be read of
            each in it.
        span: the first block and the one after the last.
    Returns:
        The next place.
    """
    sample, value, t_ps = room.sample, room.value, room.t_ps
    watch, both, packed = plan.watch, plan.both, plan.packed
    right, mask = plan.right, plan.mask
    raw = data.reshape(-1).view(np.uint8)
    unit_B = np.uint64(data.shape[1] if data.ndim == 2 else data.itemsize)
    unwanted = _ALL if plan.falling else _NONE
    back = unit_B if plan.before else _NONE
    # Unsigned: numba looks whether a signed one counts from the end.
    first: Any = np.uint64(span[0] * LANES)
    first_B: Any = first * unit_B
    offset = np.uint64(begin_sample)
    earlier = np.uint64(unit_at(data, span[0] * LANES - 1) & watch != 0)
    here: Any = np.uint64(count)
    for _ in range(span[0], span[1]):
        if data.ndim == 1:
            # Of units of 5 bytes the processor itself asks early enough.
            for line_B in range(_NONE, unit_B * _LINE_B, _LINE_B):
                fetch(raw, first_B + _AHEAD_B + line_B)
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
        t_ps[at] = sample[at] * plan.span_ps
    return np.int64(here)  # type: ignore[return-value]  # numba's int64 is an int


@njit(cache=True, nogil=True)
def _word_at(raw: Any, at_B: Any) -> Any:
    """Return the eight bytes from ``at_B`` on, the first lowest."""
    word = _NONE
    for byte in range(_WORD_B):
        word |= np.uint64(raw[at_B + np.uint64(byte)]) << np.uint64(8 * byte)
    return word


@njit(cache=True, nogil=True)
def _take_few(
    data: Any, begin_sample: int, plan: Any, room: Any, span: tuple[int, int], count: int
) -> int:
    """Write the clocks among the samples ``[span[0], span[1])``, which may be any but the first."""
    for i in range(span[0], span[1]):
        level = unit_at(data, i) & plan.watch
        rises = level != 0
        if level != unit_at(data, i - 1) & plan.watch and (plan.both or rises != plan.falling):
            room.sample[count] = begin_sample + i
            room.t_ps[count] = room.sample[count] * plan.span_ps
            taken = unit_at(data, i - 1 if plan.before else i)
            room.value[count] = taken >> plan.right & plan.mask
            count += 1
    return count


@njit(cache=True, nogil=True)
def _turn(plan: Any, room: Any, begin: int, end: int) -> None:
    """Turn samples in the places ``begin`` to ``end`` of ``room`` into items."""
    value, enabled, runs = room.value, room.enabled, plan.runs
    first, stop = np.uint64(begin), np.uint64(end)  # as in `_take_blocks`
    if len(enabled):
        for i in range(first, stop):
            enabled[i] = value[i] & plan.bit == plan.level
    right, mask, left = runs[0, 0], runs[0, 1], runs[0, 2]
    right_2, mask_2, left_2 = runs[1, 0], runs[1, 1], runs[1, 2]
    if len(runs) > 2:
        for i in range(first, stop):
            value[i] = together(value[i], runs)
    else:
        for i in range(first, stop):
            low = (value[i] >> right & mask) << left
            value[i] = low | (value[i] >> right_2 & mask_2) << left_2
