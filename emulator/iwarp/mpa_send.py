"""MPA, the sending half, compiled: ULPDUs become FPDUs as a list of pieces of memory, and the list goes to the socket.

Payload is never copied here: its pieces lie in the user's memory. Headers, markers, padding and CRCs lie in `heads`,
in order, so that a CRC and the header after it are one piece.

Source: RFC 5044, 4.1 to 4.4; sendmsg(2).
"""

from __future__ import annotations

import errno
import socket
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from freezeframe.emulator.iwarp.c_functions import errno_at, extend, memmove, sendmsg

Words = npt.NDArray[np.int64]
Octets = npt.NDArray[np.uint8]

MOST_PIECES = 1024  # IOV_MAX
HEADS_B = 1 << 15

# Words of `tx`.
FD, POSITION, MARKERS, CRC, FIRST, LEFT, CURSOR, ERRNO, CALLS, FLAGS, HEADER, SUM = range(12)
TX_WORDS = 16
# Places in the array of words: `tx`, words of the layer above, struct msghdr, the pieces.
UPPER, MESSAGE, PIECES = 16, 32, 40
WORDS = PIECES + 2 * MOST_PIECES

DONE, AGAIN, BROKEN = range(3)

_EINTR, _EAGAIN = errno.EINTR, errno.EAGAIN
NO_SIGNAL = getattr(socket, "MSG_NOSIGNAL", 0)


@njit(nogil=True, cache=True, inline="always")
def last_errno(message: Words) -> Any:
    """Return errno of this thread."""
    message[7] = 0
    memmove(np.uintp(message.ctypes.data + 56), errno_at(), np.uintp(4))
    return message[7]


@njit(nogil=True, cache=True)
def _put(tx: Words, iov: Words, address: int, length: int) -> None:
    """Append a piece; one that goes on where the last ended makes that longer."""
    end = tx[FIRST] + tx[LEFT]
    if tx[LEFT] > 0 and iov[2 * end - 2] + iov[2 * end - 1] == address:
        iov[2 * end - 1] += length
    else:
        iov[2 * end], iov[2 * end + 1] = address, length
        tx[LEFT] += 1
    tx[POSITION] += length


@njit(nogil=True, cache=True)
def _cover(tx: Words, address: int, length: int) -> None:
    if tx[CRC]:
        tx[SUM] = extend(np.uint32(tx[SUM]), np.uintp(address), np.uintp(length))


@njit(nogil=True, cache=True)
def _put_marker(tx: Words, iov: Words, heads: Octets) -> None:
    at = tx[CURSOR]
    pointer = 0 if tx[HEADER] < 0 else tx[POSITION] - tx[HEADER]
    heads[at], heads[at + 1] = 0, 0
    heads[at + 2], heads[at + 3] = pointer >> 8, pointer & 0xFF
    tx[CURSOR] += 4
    _cover(tx, heads.ctypes.data + at, 4)
    _put(tx, iov, heads.ctypes.data + at, 4)


@njit(nogil=True, cache=True)
def _emit(tx: Words, iov: Words, heads: Octets, address: int, length: int) -> None:
    """Append octets that the CRC covers, with the markers that fall before and into them."""
    while length > 0:
        size = length
        if tx[MARKERS]:
            if tx[POSITION] % 512 == 0:
                _put_marker(tx, iov, heads)
            size = min(size, 512 - tx[POSITION] % 512)
        _cover(tx, address, size)
        _put(tx, iov, address, size)
        address += size
        length -= size


@njit(nogil=True, cache=True)
def has_room(tx: Words, payload_B: int) -> Any:
    """Whether the pieces and heads of one more FPDU fit in; always true where there is none yet."""
    markers = (payload_B + 64) // 508 + 2 if tx[MARKERS] else 0
    return (
        tx[FIRST] + tx[LEFT] + 2 * markers + 4 <= MOST_PIECES
        and tx[CURSOR] + 4 * markers + 64 <= HEADS_B
    )


@njit(nogil=True, cache=True)
def frame(tx: Words, iov: Words, heads: Octets, header_B: int, address: int, length: int) -> None:
    """Append an FPDU: a header of the upper layer that stands in ``heads``, two octets after ``CURSOR``, and payload.

    Args:
        header_B: octets of that header.
        address, length: the payload.
    """
    at = tx[CURSOR]
    ulpdu_B = header_B + length
    heads[at], heads[at + 1] = ulpdu_B >> 8, ulpdu_B & 0xFF
    tx[CURSOR] += 2 + header_B
    tx[SUM], tx[HEADER] = 0, -1
    if tx[MARKERS] and tx[POSITION] % 512 == 0:
        _put_marker(tx, iov, heads)
    tx[HEADER] = tx[POSITION]
    _emit(tx, iov, heads, heads.ctypes.data + at, 2 + header_B)
    _emit(tx, iov, heads, address, length)
    pad = (-2 - ulpdu_B) % 4
    at = tx[CURSOR]
    heads[at : at + pad] = 0
    tx[CURSOR] += pad
    _emit(tx, iov, heads, heads.ctypes.data + at, pad)
    if tx[MARKERS] and tx[POSITION] % 512 == 0:  # before the CRC: still of this FPDU
        _put_marker(tx, iov, heads)
    at = tx[CURSOR]
    tx[CURSOR] += 4
    for place in range(4):
        heads[at + place] = (tx[SUM] >> (8 * place)) & 0xFF
    _put(tx, iov, heads.ctypes.data + at, 4)


@njit(nogil=True, cache=True)
def flush(tx: Words, iov: Words, message: Words, flags: int) -> Any:
    """Hand what was appended to the socket.

    Returns:
        DONE; AGAIN where it takes no more now, or not within its time limit; BROKEN, and why in ``ERRNO``.
    """
    while tx[LEFT] > 0:
        message[2] = iov.ctypes.data + 16 * tx[FIRST]
        message[3] = tx[LEFT]
        tx[CALLS] += 1
        sent = sendmsg(np.intc(tx[FD]), np.uintp(message.ctypes.data), np.intc(flags | NO_SIGNAL))
        if sent < 0:
            tx[ERRNO] = last_errno(message)
            if tx[ERRNO] == _EINTR:
                continue
            return AGAIN if tx[ERRNO] == _EAGAIN else BROKEN
        while sent > 0:
            at = 2 * tx[FIRST]
            size = min(sent, iov[at + 1])
            iov[at] += size
            iov[at + 1] -= size
            sent -= size
            if iov[at + 1] == 0:
                tx[FIRST] += 1
                tx[LEFT] -= 1
    tx[FIRST], tx[CURSOR] = 0, 0
    return DONE
