"""Private data of the Request and the Reply, kept in chains of small pages until a connection ends.

Most have little or none; room for the longest of both in each slot would be 70 MB.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from freezeframe.decoders.iwarp.state import MOST_PRIVATE_B, PRIVATE_PAGE_B

_FREE, _USED = 10, 11
_NONE = np.int32(0)  # page 0 is never used, so that a record of zeros has none


@njit(cache=True, nogil=True)
def keep_private(s, connection, which, octets, at, size):  # type: ignore[no-untyped-def]
    """Keep the private data of a frame in place of what was kept of one before."""
    release_private(s, connection, which)
    end, before = at + size, np.int64(0)
    while at < end:
        page = s.counts[_FREE]
        if page != _NONE:
            s.counts[_FREE] = s.private_next[page]
        else:
            s.counts[_USED] += 1
            page = s.counts[_USED]
        s.private_next[page] = _NONE
        if before == _NONE:
            connection.private_page[which] = page
        else:
            s.private_next[before] = page
        before = page
        part = min(end - at, np.int64(PRIVATE_PAGE_B))
        for i in range(part):
            s.private[page, i] = octets[at + i]
        at += part


@njit(cache=True, nogil=True)
def hand_over_private(s, connection, row):  # type: ignore[no-untyped-def]
    """Copy the private data of a connection that ends into its row, and free the pages."""
    for which in range(2):
        page, to = np.int64(connection.private_page[which]), which * MOST_PRIVATE_B
        while page != _NONE:
            for i in range(PRIVATE_PAGE_B):
                row[to + i] = s.private[page, i]
            to += PRIVATE_PAGE_B
            page = np.int64(s.private_next[page])
        release_private(s, connection, which)


@njit(cache=True, nogil=True)
def release_private(s, connection, which):  # type: ignore[no-untyped-def]
    """Free the pages of a frame."""
    page = np.int64(connection.private_page[which])
    connection.private_page[which] = _NONE
    while page != _NONE:
        after = np.int64(s.private_next[page])
        s.private_next[page] = s.counts[_FREE]
        s.counts[_FREE] = page
        page = after
