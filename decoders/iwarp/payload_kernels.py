"""Payload of FPDUs, gathered from the fragments in which it came."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def payload_offsets(rows, fragments):  # type: ignore[no-untyped-def]
    """Return where each row's payload begins, ``(n + 1,)``."""
    offsets = np.zeros(rows.size + 1, np.int64)
    for i in range(rows.size):
        total, at = np.int64(0), rows[i].fragment
        while at >= 0:
            total += fragments[at].length
            at = fragments[at].next
        offsets[i + 1] = offsets[i] + total
    return offsets


@njit(cache=True, nogil=True)
def put_payload(rows, fragments, payload, offsets, out):  # type: ignore[no-untyped-def]
    """Write each row's payload to its place."""
    for i in range(rows.size):
        to, at = offsets[i], rows[i].fragment
        while at >= 0:
            begin, size = fragments[at].offset, fragments[at].length
            out[to : to + size] = payload[begin : begin + size]
            to += size
            at = fragments[at].next
