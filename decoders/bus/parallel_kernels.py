"""Kernels of the parallel bus: clocks to items, items to words, and changes too near to the clock."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

# Where an item is among the channels at a clock: the data lines among the low and the high 64, the
# place of the lowest; the line that enables and its level when it does, both 0 for always; and the
# picoseconds of a sample, or 0 where times are not to be written.
LAYOUT = np.dtype(
    [
        ("mask", np.uint64),
        ("mask_high", np.uint64),
        ("place", np.uint64),
        ("bit", np.uint64),
        ("level", np.uint64),
        ("span_ps", np.int64),
    ]
)

WORD_ROW = np.dtype(
    [
        ("sample", np.int64),
        ("end_sample", np.int64),
        ("word", np.uint64),
        ("items", np.int64),  # fewer than a word has: it was cut
    ]
)

_WORD = np.dtype([("items", np.int64), ("sample", np.int64), ("word", np.uint64)])

TIMING_ROW = np.dtype([("clock", np.int64), ("change", np.int64), ("hold", np.int64)])

# An item, or an error about the timing, which is then 1 for setup and 2 for hold.
TIMED_ROW = np.dtype(
    [("sample", np.int64), ("end_sample", np.int64), ("value", np.int64), ("error", np.int64)]
)

_TIMING = np.dtype(
    [
        ("value", np.uint64),
        ("high", np.uint64),
        ("started", np.int64),
        ("changed_at", np.int64),  # the last change of a data line
        ("clocked_at", np.int64),  # the last clock
        ("reported", np.int64),  # 1: that a change came too soon after it was given already
    ]
)
_NEVER = -(1 << 62)


class ItemRoom(NamedTuple):
    """Room for items, one a clock: sample, value, time, and whether the bus was enabled.

    ``enabled`` is empty where there is no line that enables.
    """

    sample: npt.NDArray[np.int64]
    value: npt.NDArray[np.uint64]
    t_ps: npt.NDArray[np.int64]
    enabled: npt.NDArray[np.bool_]


def new_word() -> npt.NDArray[np.void]:
    """Return the state of `words` at the start of a stream."""
    return np.zeros(1, dtype=_WORD)


def new_timing() -> npt.NDArray[np.void]:
    """Return the state of `near_changes` at the start of a stream."""
    state = np.zeros(1, dtype=_TIMING)
    state["changed_at"] = state["clocked_at"] = _NEVER
    return state


def no_timed() -> npt.NDArray[np.void]:
    """Return no row of items and errors: what is held back at the start of a stream."""
    return np.zeros(0, dtype=TIMED_ROW)


@njit(cache=True, nogil=True)
def items(clocks: Any, layout: Any, room: Any, first: int) -> int:
    """Write the item of each of `Clocks` from place ``first`` of an `ItemRoom` on; return the next.

    ``layout`` is a record of LAYOUT.
    """
    sample, low, high = clocks
    place, mask, mask_high = layout.place, layout.mask, layout.mask_high
    at = np.uint64(first)
    for i in range(np.uint64(len(sample))):
        room.sample[at] = sample[i]
        room.t_ps[at] = sample[i] * layout.span_ps
        room.value[at] = (low[i] & mask) >> place
        if len(high):
            room.value[at] |= (high[i] & mask_high) << np.uint64(64 - place)
        if len(room.enabled):
            room.enabled[at] = low[i] & layout.bit == layout.level
        at += np.uint64(1)
    return np.int64(at)  # type: ignore[return-value]  # numba's int64 is an int


@njit(cache=True, nogil=True)
def words(clocks: Any, ends: Any, layout: Any, state: Any, rows: Any) -> int:
    """Join items to words; a clock without enable ends a word early.

    Args:
        clocks: sample, item and whether it is enabled, of each clock.
        ends: the sample at which each clock's item ends.
        layout: items a word, bits an item, 1 when the first item is the highest.
        rows: room for a row for each clock, and one more.
    Returns:
        Rows filled.
    """
    at, item, enabled = clocks
    size, bits, big = layout
    s = state[0]
    count = 0
    for i in range(len(at)):
        if not enabled[i]:
            count += close_word(at[i], s, rows[count : count + 1])
            continue
        if s.items == 0:
            s.sample = at[i]
            s.word = np.uint64(0)
        if big:
            # Of a single item of 64 bits there is nothing to shift.
            s.word = item[i] if s.items == 0 else s.word << np.uint64(bits) | item[i]
        else:
            s.word |= item[i] << np.uint64(bits * s.items)
        s.items += 1
        if s.items == size:
            count += close_word(ends[i], s, rows[count : count + 1])
    return count


@njit(cache=True, nogil=True)
def close_word(end: int, s: Any, rows: Any) -> int:
    """End the word that is open, at sample ``end``; return how many rows that gives."""
    if s.items == 0:
        return 0
    rows[0].sample = s.sample
    rows[0].end_sample = end
    rows[0].word = s.word
    rows[0].items = s.items
    s.items = 0
    return 1


@njit(cache=True, nogil=True)
def near_changes(
    edges: Any, wide: bool, clocking: Any, data: Any, limits: Any, state: Any, rows: Any
) -> int:
    """Find data lines that change too soon before a clock, or too soon after one.

    A change in the very sample of the clock is before it where the decoder takes what stands with
    the edge, and after it where it takes what stands before.

    Args:
        data: the lines among the low and the high channels.
        limits: samples for which data must stand before a clock (setup) and after one (hold).
        rows: room for two rows an edge.
    """
    sample, value, high = edges
    mask, mask_high = data
    setup, hold = limits
    c = clocking[0]
    s = state[0]
    if s.started == 0 and len(sample):
        s.started = 1
        s.value = value[0]
        s.high = high[0] if wide else np.uint64(0)
    count = 0
    for i in range(len(sample)):
        changed = value[i] ^ s.value
        moved = changed & mask
        if wide:
            moved |= (high[i] ^ s.high) & mask_high
            s.high = high[i]
        hit = changed & c.watch & ((value[i] ^ c.falling) | c.both)
        s.value = value[i]
        at = sample[i]
        if moved and not c.before:
            s.changed_at = at
        if hit:
            if setup > 0 and at - s.changed_at < setup:
                rows[count].clock = at
                rows[count].change = s.changed_at
                rows[count].hold = 0
                count += 1
            s.clocked_at = at
            s.reported = 0
        if moved:
            s.changed_at = at
            # With the edge itself is not after it, unless what stands before counts.
            after = at > s.clocked_at or c.before
            if hold > 0 and after and not s.reported and at - s.clocked_at < hold:
                rows[count].clock = s.clocked_at
                rows[count].change = at
                rows[count].hold = 1
                count += 1
                s.reported = 1
    return count
