"""From edges to clocks: where the clock of a bus has its edge, and what the bus says there."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from freezeframe.capture.files.edges import Edges

__all__ = ["CLOCKING", "Clocks", "clocks_of", "new_state"]

CLOCKING = np.dtype(
    [
        ("watch", np.uint64),  # the clock, or without one all lines, any change of which counts
        ("watch_high", np.uint64),  # the same of `Edges.high`
        ("invert", np.uint64),  # the clock's bit where the falling edge counts
        ("both", np.uint64),  # the clock's bit where both do
        ("before", np.int64),  # 1: take what stands before the edge, 0: what stands with it
    ]
)

_STATE = np.dtype([("value", np.uint64), ("high", np.uint64), ("started", np.int64)])

# Sample of each edge of the clock, and the values of the low and the high 64 channels.
Clocks = tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64], npt.NDArray[np.uint64]]


def new_state() -> npt.NDArray[np.void]:
    """Return the state at the start of a stream: an array of one record."""
    return np.zeros(1, dtype=_STATE)


def clocks_of(
    edges: Edges,
    clocking: npt.NDArray[np.void],
    state: npt.NDArray[np.void],
    held: Clocks | None = None,
) -> Clocks:
    """Return the clocks of a piece, after those that the caller held back from the one before.

    Of a capture of up to 64 channels the high values are empty.
    """
    lead = 0 if held is None else len(held[0])
    count = lead + len(edges) + 1
    wide = edges.high is not None
    high = np.zeros(0, dtype=np.uint64) if edges.high is None else edges.high
    room = (
        np.empty(count, dtype=np.int64),
        np.empty(count, dtype=np.uint64),
        np.empty(count if wide else 0, dtype=np.uint64),
    )
    if held is not None:
        for column, kept in zip(room, held, strict=True):
            column[: len(kept)] = kept
    found = _clocks((edges.sample, edges.value, high), wide, clocking, state, room, lead)
    return room[0][:found], room[1][:found], room[2][:found]


@numba.njit(cache=True, nogil=True)
def _clocks(edges: Any, wide: bool, clocking: Any, state: Any, room: Any, count: int) -> int:
    """Fill ``room`` from place ``count`` on, one place longer than needed; return the new count."""
    sample, value, high = edges
    at, low_at, high_at = room
    c = clocking[0]
    watch, watch_high, invert, both, before = c.watch, c.watch_high, c.invert, c.both, c.before
    s = state[0]
    if s.started == 0 and len(sample):
        s.started = 1
        s.value = value[0]
        s.high = high[0] if wide else np.uint64(0)
    last = s.value
    last_high = s.high
    for i in range(len(sample)):
        now = value[i]
        hit = (now ^ last) & watch & ((now ^ invert) | both)
        # Written always and counted when it is a clock: no branch to predict.
        at[count] = sample[i]
        low_at[count] = last if before else now
        if wide:
            now_high = high[i]
            hit |= (now_high ^ last_high) & watch_high
            high_at[count] = last_high if before else now_high
            last_high = now_high
        count += hit != 0
        last = now
    s.value = last
    s.high = last_high
    return count
