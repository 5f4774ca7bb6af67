"""Where the first and the last octets of an FPDU are kept until it is whole: most halves wait for none."""

from __future__ import annotations

from numba import njit

_FREE, _USED = 14, 15


@njit(cache=True, nogil=True)
def take_head(s, half):  # type: ignore[no-untyped-def]
    """Return the place of the FPDU that is passing in a half, which is taken when it begins."""
    if half.head == 0:
        place = s.counts[_FREE]
        if place > 0:
            s.counts[_FREE] = s.head_next[place]
        else:
            s.counts[_USED] += 1
            place = s.counts[_USED]
        half.head = place
    return half.head


@njit(cache=True, nogil=True)
def release_head(s, half):  # type: ignore[no-untyped-def]
    """Give the place back."""
    if half.head > 0:
        s.head_next[half.head] = s.counts[_FREE]
        s.counts[_FREE] = half.head
        half.head = 0
