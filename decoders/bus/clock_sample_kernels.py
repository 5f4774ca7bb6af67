"""From samples to clocks, 64 samples at once: the same as `clock_kernels` gives from edges."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from freezeframe.capture.files.edges import PLANE_CHANNELS
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

__all__ = [
    "clock_plan",
    "clocks_of_samples",
    "first_clock",
    "put_together",
    "runs_of",
]

_ONE, _NONE = np.uint64(1), np.uint64(0)
_ALL = ~np.uint64(0)


def clocks_of_samples(
    samples: Samples,
    clocking: npt.NDArray[np.void],
    state: npt.NDArray[np.void],
    held: Clocks | None = None,
) -> Clocks:
    """Return the clocks of a piece, as `clocks_of` does, with the same settings and state."""
    wide = any(samples.channels[PLANE_CHANNELS:])
    watched = int(clocking["watch"][0]) | int(clocking["watch_high"][0]) << PLANE_CHANNELS
    watch, runs = clock_plan(samples.bits, watched)
    # Of the high lines any change counts.
    both = bool(clocking["both"][0] | clocking["watch_high"][0])
    hits = np.empty(-(-len(samples) // LANES), dtype=np.uint64)
    found = _find(samples.data, watch, (both, bool(clocking["invert"][0])), hits)
    lead = 0 if held is None else len(held[0])
    # The first sample of the piece may be a clock too.
    count = lead + found + 1
    room = (
        np.empty(count, dtype=np.int64),
        np.empty(count, dtype=np.uint64),
        np.empty(count if wide else 0, dtype=np.uint64),
    )
    if held is not None:
        for column, kept in zip(room, held, strict=True):
            column[: len(kept)] = kept
    piece = samples.data, samples.begin_sample, wide
    count = lead + first_clock(piece, runs, clocking, state, room, lead)
    count = _take(piece, hits, clocking, runs, room, count)
    return room[0][:count], room[1][:count], room[2][:count]


@lru_cache(maxsize=64)
def clock_plan(
    bits: tuple[int, ...], watched: int
) -> tuple[np.uint64, tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]]:
    """Return the bits of a sample that the watched channels are, and `runs_of` both planes."""
    watch = 0
    for place, bit in enumerate(bits):
        if watched >> place & 1 and bit >= 0:
            watch |= 1 << bit
    return np.uint64(watch), (runs_of(bits[:PLANE_CHANNELS]), runs_of(bits[PLANE_CHANNELS:]))


def runs_of(bits: tuple[int, ...]) -> npt.NDArray[np.uint64]:
    """Return how the channels are put together from a sample, ``(n, 3)``: a shift to the right, a
    mask, a shift to the left for each run of channels that lie side by side in both; n at least 2."""
    runs: list[list[int]] = []
    for place, bit in enumerate(bits):
        if bit < 0:
            continue
        if runs and bit == runs[-1][0] + runs[-1][1] and place == runs[-1][2] + runs[-1][1]:
            runs[-1][1] += 1
        else:
            runs.append([bit, 1, place])
    plan = [(bit, (1 << size) - 1, place) for bit, size, place in runs]
    return np.array(plan + [(0, 0, 0)] * (2 - len(plan)), dtype=np.uint64)


@numba.njit(cache=True, nogil=True)
def _find(data: Any, watch: Any, edge: tuple[bool, bool], hits: Any) -> int:
    """Write the plane of clocks for each 64 samples, but for the very first sample; count them.

    Args:
        watch: the clock, or all lines any change of which counts.
        edge: whether both edges count, and whether the falling one does.
    """
    both, falls = edge
    falling = _ALL if falls else _NONE
    count = 0
    before = _NONE  # the clock in the sample before
    for block in range(len(hits)):
        i = block * LANES
        if both and i and i + LANES <= len(data):
            clocks = moves(data, i, watch)
        elif not both and i + LANES <= len(data):
            levels = differs(data, i, watch, _NONE)
            clocks = (levels ^ (levels << _ONE | before)) & (levels ^ falling)
            before = levels >> np.uint64(LANES - 1)
        else:
            clocks = _NONE
            for place in range(max(i, 1), min(i + LANES, len(data))):
                level = np.uint64(data[place]) & watch
                changed = level != np.uint64(data[place - 1]) & watch
                if changed and (both or (level != 0) != falls):
                    clocks |= _ONE << np.uint64(place - i)
        if block == 0:
            clocks &= ~_ONE
        hits[block] = clocks
        count += count_ones(clocks)
    return count


@numba.njit(cache=True, nogil=True)
def first_clock(piece: Any, runs: Any, clocking: Any, state: Any, room: Any, at: int) -> int:
    """Take the first sample, which is a clock or not by the piece before; return 1 for a clock.

    The state becomes that after the piece.
    """
    data, begin_sample, wide = piece
    low_runs, high_runs = runs
    c = clocking[0]
    s = state[0]
    if len(data) == 0:
        return 0
    low = put_together(unit_at(data, 0), low_runs)
    high = put_together(unit_at(data, 0), high_runs)
    hit = _NONE
    if s.started:
        hit = (low ^ s.value) & c.watch & ((low ^ c.invert) | c.both)
        hit |= (high ^ s.high) & c.watch_high
    if hit:
        room[0][at] = begin_sample
        room[1][at] = s.value if c.before else low
        if wide:
            room[2][at] = s.high if c.before else high
    s.started = 1
    s.value = put_together(unit_at(data, len(data) - 1), low_runs)
    s.high = put_together(unit_at(data, len(data) - 1), high_runs)
    return 1 if hit else 0


@numba.njit(cache=True, nogil=True)
def _take(piece: Any, hits: Any, clocking: Any, runs: Any, room: Any, begin: int) -> int:
    """Fill ``room`` from place ``begin`` on with the clocks that were found; return the next place.

    Indices are unsigned: numba looks whether a signed one counts from the end.
    """
    data, begin_sample, wide = piece
    at, low_at, high_at = room
    low_runs, high_runs = runs
    few = len(low_runs) == 2
    right, mask, left = low_runs[0, 0], low_runs[0, 1], low_runs[0, 2]
    right_2, mask_2, left_2 = low_runs[1, 0], low_runs[1, 1], low_runs[1, 2]
    back = _ONE if clocking[0].before else _NONE
    count = np.uint64(begin)
    for block in range(len(hits)):
        clocks = hits[block]
        first = np.uint64(block * LANES)
        # So many turns, not "while there are some": the processor need not wait for the answer.
        end = count + np.uint64(count_ones(clocks))
        for i in range(count, end):
            place = first + np.uint64(lowest(clocks))
            clocks &= clocks - _ONE
            taken = np.uint64(data[place - back])
            at[i] = begin_sample + np.int64(place)
            if few:
                low_at[i] = (taken >> right & mask) << left | (taken >> right_2 & mask_2) << left_2
            else:
                low_at[i] = put_together(taken, low_runs)
            if wide:
                high_at[i] = put_together(taken, high_runs)
        count = end
    return np.int64(count)  # type: ignore[return-value]  # numba's int64 is an int


@numba.njit(cache=True, nogil=True)
def put_together(sample: Any, runs: Any) -> Any:
    value = _NONE
    for run in range(len(runs)):
        value |= (sample >> runs[run, 0] & runs[run, 1]) << runs[run, 2]
    return value
