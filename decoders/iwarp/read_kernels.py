"""Requests that wait for their responses: a list for each half that asks, in the order of asking.

Source: RFC 5040, 5.2 (reads are answered in order, at most IRD at once); RFC 7306, 5 (atomics count with them).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from freezeframe.decoders.iwarp.state import MOST_OUTSTANDING

_NONE = np.int32(-1)
_FREE, _USED = 5, 9


@njit(cache=True, nogil=True)
def ask(s, half):  # type: ignore[no-untyped-def]
    """Return the record of a new request of this half, at the end of its list; -1 where no record is free."""
    if half.reads >= MOST_OUTSTANDING:
        answered(s, half, np.int64(half.reads_first))
        half.reads_known = 0
    at = s.counts[_FREE]
    if at >= 0:
        s.counts[_FREE] = s.reads[at].next
    elif s.counts[_USED] < s.reads.size:
        at = s.counts[_USED]
        s.counts[_USED] += 1
    else:
        half.reads_known = 0
        return np.int64(-1)
    s.reads[at].next = _NONE
    if half.reads == 0:
        half.reads_first = at
    else:
        s.reads[half.reads_last].next = at
    half.reads_last = at
    half.reads += 1
    return np.int64(at)


@njit(cache=True, nogil=True)
def find_asked(s, half, stag, to):  # type: ignore[no-untyped-def]
    """Return the first request to this sink, -1 for none."""
    at = half.reads_first
    for _ in range(half.reads):
        if s.reads[at].stag == stag and s.reads[at].to == to:
            return np.int64(at)
        at = s.reads[at].next
    return np.int64(-1)


@njit(cache=True, nogil=True)
def answered(s, half, which):  # type: ignore[no-untyped-def]
    """Take a request out of its list."""
    at, before = half.reads_first, _NONE
    for _ in range(half.reads):
        following = s.reads[at].next
        if at == which:
            if before == _NONE:
                half.reads_first = following
            else:
                s.reads[before].next = following
            if half.reads_last == at:
                half.reads_last = before
            half.reads -= 1
            s.reads[at].next = s.counts[_FREE]
            s.counts[_FREE] = at
            return
        before, at = at, following
