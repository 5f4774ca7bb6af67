"""Octets that are held until more of them came: a cut MPA frame, FPDUs before the Reply, the search for a chain.

A hold keeps which packet brought which of its octets, so that what is found in it names its packet.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from freezeframe.decoders.iwarp.state import HOLD_B, HOLD_PARTS

_FREE = 4
NOTHING = np.int64(-1)


@njit(cache=True, nogil=True)
def hold_octets(s, half, buffer, at, size, packet, t_ps):  # type: ignore[no-untyped-def]
    """Add octets at the end of a half's hold; False where they or their packets do not fit, or none is free."""
    if half.hold < 0:
        free = s.counts[_FREE]
        if free < 0:
            return False
        s.counts[_FREE] = s.hold_next[free]
        half.hold = free
        s.hold_size[free] = 0
        s.hold_next[free] = 0  # while it is used: the number of its parts
    hold = half.hold
    begin = s.hold_size[hold]
    parts = s.hold_next[hold]
    if begin + size > HOLD_B or parts == HOLD_PARTS:
        return False
    s.holds[hold, begin : begin + size] = buffer[at : at + size]
    s.hold_size[hold] = begin + size
    s.hold_parts[hold, parts, 0] = begin
    s.hold_parts[hold, parts, 1] = packet
    s.hold_parts[hold, parts, 2] = t_ps
    s.hold_next[hold] = parts + 1
    return True


@njit(cache=True, nogil=True)
def held(s, half):  # type: ignore[no-untyped-def]
    """Return how many octets a half holds."""
    return np.int64(0) if half.hold < 0 else s.hold_size[half.hold]


@njit(cache=True, nogil=True)
def release(s, half):  # type: ignore[no-untyped-def]
    """Give the hold of a half back."""
    if half.hold >= 0:
        give_back(s, np.int64(half.hold))
        half.hold = -1


@njit(cache=True, nogil=True)
def give_back(s, hold):  # type: ignore[no-untyped-def]
    """Make a hold free."""
    s.hold_next[hold] = s.counts[_FREE]
    s.counts[_FREE] = hold


@njit(cache=True, nogil=True)
def drop_front(s, half, size):  # type: ignore[no-untyped-def]
    """Forget the first octets of a hold."""
    hold = half.hold
    left = s.hold_size[hold] - size
    for i in range(left):
        s.holds[hold, i] = s.holds[hold, size + i]
    s.hold_size[hold] = left
    kept = 0
    parts = s.hold_next[hold]
    for part in range(parts):
        end = s.hold_parts[hold, part + 1, 0] if part + 1 < parts else left + size
        if end <= size:
            continue
        s.hold_parts[hold, kept, 0] = max(np.int64(0), s.hold_parts[hold, part, 0] - size)
        s.hold_parts[hold, kept, 1] = s.hold_parts[hold, part, 1]
        s.hold_parts[hold, kept, 2] = s.hold_parts[hold, part, 2]
        kept += 1
    s.hold_next[hold] = kept
    half.position += size
