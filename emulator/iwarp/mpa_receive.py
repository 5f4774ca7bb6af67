"""MPA, the receiving half, compiled: from the socket to where each octet belongs.

The header of an FPDU comes into a small stage; once the upper layer has said where its payload goes, the socket places
it there itself, in the same call that brings the CRC and the beginning of the next FPDU. So only what lay in the stage
is copied: at most 256 octets of an FPDU, and 2,048 of one that follows a long one, which often spares a call.

Source: RFC 5044, 4.1 to 4.4 and 8; recvmsg(2).
"""

from __future__ import annotations

import errno
import socket
from typing import Any

import numpy as np
from numba import njit

from freezeframe.emulator.iwarp.c_functions import extend, memmove, recvmsg
from freezeframe.emulator.iwarp.mpa_send import AGAIN, BROKEN, Octets, Words, last_errno

# Words of `rx`.
(FD, POSITION, MARKERS, CRC, FIRST, LEFT, STAGED, STAGE_END, ERRNO, CALLS, BODY_B, HEADER, SUM, LENGTH, INSIDE, MARKS,
 MARK_FIRST, FPDUS, SHORT, SUMMED, STRICT, MOST_B, AT_ONCE) = range(23)  # fmt: skip
RX_WORDS = 24
# Places in the array of words: `rx`, struct msghdr, words of the layer above, the pieces.
UPPER, MESSAGE, PIECES = 24, 56, 64

# Places in `memory`.
HEAD, TAIL, MARK = 0, 32, 64
STAGE, STAGE_B, SMALL_B = 1024, 2048, 256
CONTROL, CONTROL_B = 4096, 256
SINK, SINK_B = 8192, 1 << 16
LONG_B = 1 << 14
"""Where so much of an FPDU is to come, the whole stage is offered beyond it, else `SMALL_B` of it."""
MEMORY_B = SINK + SINK_B

MOST_PIECES = 512
WORDS = PIECES + 2 * MOST_PIECES
TAGGED_B, UNTAGGED_B = 14, 18

# Bits of `STRICT`: what is refused though it is right (`quirks`).
(STRICT_MARKERS, STRICT_PIECES, STRICT_MANY, STRICT_DDP, STRICT_EMPTY, STRICT_SEGMENTS, STRICT_RDMAP) = (
    1, 2, 4, 8, 16, 32, 64,
)  # fmt: skip
_MANY = 8

READY, CLOSED = 10, 11
LENGTH_WRONG, CRC_WRONG, MARKER_WRONG = 20, 21, 22

_EINTR, _EAGAIN = errno.EINTR, errno.EAGAIN
_DONT_WAIT = socket.MSG_DONTWAIT


@njit(nogil=True, cache=True)
def _markers_within(position: int, data_B: int) -> Any:
    before = -position % 512
    return 1 + (data_B - before - 1) // 508 if data_B > before else 0


@njit(nogil=True, cache=True)
def head(rx: Words, memory: Octets) -> Any:
    """Look at what is staged of the next FPDU.

    Returns:
        READY with ULPDU_Length and the DDP header at ``HEAD``, ULPDU_Length in ``LENGTH``, all of it taken from the
        stage; AGAIN where more octets are needed; LENGTH_WRONG.
    """
    staged = rx[STAGE_END] - rx[STAGED]
    stage = STAGE + rx[STAGED]
    first = 4 if rx[MARKERS] and rx[POSITION] % 512 == 0 else 0
    if staged < first + 2:
        return AGAIN
    length = np.int64(memory[stage + first]) << 8 | memory[stage + first + 1]
    rx[LENGTH] = length
    if length < TAGGED_B or length > rx[MOST_B]:
        return LENGTH_WRONG
    if staged < first + 3:
        return AGAIN
    header_B = TAGGED_B if memory[stage + first + 2] & 0x80 else UNTAGGED_B
    if length < header_B:
        return LENGTH_WRONG
    wanted = 2 + header_B
    markers = _markers_within(rx[POSITION], wanted) if rx[MARKERS] else 0
    if staged < wanted + 4 * markers:
        return AGAIN
    rx[MARKS], rx[MARK_FIRST] = 0, rx[POSITION] + (-rx[POSITION] % 512)
    rx[HEADER] = rx[POSITION] + first
    done, at = 0, 0
    while done < wanted:
        if rx[MARKERS] and (rx[POSITION] + at) % 512 == 0:
            for place in range(4):
                memory[MARK + 4 * rx[MARKS] + place] = memory[stage + at + place]
            rx[MARKS] += 1
            at += 4
        memory[HEAD + done] = memory[stage + at]
        done += 1
        at += 1
    rx[SUM] = 0
    if rx[CRC]:
        rx[SUM] = extend(np.uint32(0), np.uintp(memory.ctypes.data + stage), np.uintp(at))
    rx[STAGED] += at
    rx[POSITION] += at
    return READY


@njit(nogil=True, cache=True)
def _await(rx: Words, memory: Octets, iov: Words, address: int, length: int) -> None:
    """Append octets to those that are to come, with the markers that fall before and into them."""
    while length > 0:
        size = length
        if rx[MARKERS]:
            if rx[POSITION] % 512 == 0:
                at = 2 * rx[LEFT]
                iov[at], iov[at + 1] = memory.ctypes.data + MARK + 4 * rx[MARKS], 4
                rx[MARKS] += 1
                rx[POSITION] += 4
                rx[LEFT] += 1
                rx[BODY_B] += 4
            size = min(size, 512 - rx[POSITION] % 512)
        at = 2 * rx[LEFT]
        iov[at], iov[at + 1] = address, size
        rx[LEFT] += 1
        rx[POSITION] += size
        rx[BODY_B] += size
        address += size
        length -= size


@njit(nogil=True, cache=True)
def body(rx: Words, memory: Octets, iov: Words, address: int, length: int) -> None:
    """Say where the payload goes; what is staged of it goes there now."""
    rx[FIRST], rx[LEFT], rx[BODY_B], rx[INSIDE] = 0, 0, 0, 1
    _await(rx, memory, iov, address, length)
    _await(rx, memory, iov, memory.ctypes.data + TAIL, (-2 - rx[LENGTH]) % 4)
    _await(rx, memory, iov, memory.ctypes.data + TAIL + 4, 4)
    rx[SUMMED] = rx[LEFT] - 1  # all pieces but the CRC itself
    while rx[LEFT] > 0 and rx[STAGED] < rx[STAGE_END]:
        size = min(iov[2 * rx[FIRST] + 1], rx[STAGE_END] - rx[STAGED])
        stage = memory.ctypes.data + STAGE + rx[STAGED]
        memmove(np.uintp(iov[2 * rx[FIRST]]), np.uintp(stage), np.uintp(size))
        rx[STAGED] += size
        _came(rx, iov, size)


@njit(nogil=True, cache=True)
def _came(rx: Words, iov: Words, size: int) -> None:
    """Count octets of the first piece as there; they are in the cache now, so the sum is made at once."""
    at = 2 * rx[FIRST]
    if rx[CRC] and rx[FIRST] < rx[SUMMED]:
        rx[SUM] = extend(np.uint32(rx[SUM]), np.uintp(iov[at]), np.uintp(size))
    rx[BODY_B] -= size
    iov[at] += size
    iov[at + 1] -= size
    if iov[at + 1] == 0:
        rx[FIRST] += 1
        rx[LEFT] -= 1


@njit(nogil=True, cache=True)
def fill(rx: Words, memory: Octets, iov: Words, message: Words, wait: bool) -> Any:
    """Receive once: into the pieces that are to come, and beyond them into the stage.

    Returns:
        READY; AGAIN where nothing is there, or nothing came within the socket's time limit; CLOSED; BROKEN, and why in
        ``ERRNO``.
    """
    left = rx[STAGE_END] - rx[STAGED]
    if rx[STAGED] > 0:
        place = memory.ctypes.data + STAGE
        memmove(np.uintp(place), np.uintp(place + rx[STAGED]), np.uintp(left))
        rx[STAGED], rx[STAGE_END] = 0, left
    end = 2 * (rx[FIRST] + rx[LEFT])
    room = (STAGE_B if rx[BODY_B] >= LONG_B else SMALL_B) - left
    iov[end], iov[end + 1] = memory.ctypes.data + STAGE + left, room
    message[2] = iov.ctypes.data + 16 * rx[FIRST]
    message[3] = rx[LEFT] + 1
    got = -1
    while got < 0:
        rx[CALLS] += 1
        got = recvmsg(
            np.intc(rx[FD]), np.uintp(message.ctypes.data), np.intc(0 if wait else _DONT_WAIT)
        )
        if got < 0:
            rx[ERRNO] = last_errno(message)
            if rx[ERRNO] != _EINTR:
                return AGAIN if rx[ERRNO] == _EAGAIN else BROKEN
    if got == 0:
        return CLOSED
    rx[SHORT] = got < rx[BODY_B] + room
    rx[AT_ONCE] = 0
    while rx[LEFT] > 0 and got > 0:
        size = min(got, iov[2 * rx[FIRST] + 1])
        got -= size
        _came(rx, iov, size)
    rx[STAGE_END] += got
    return READY


@njit(nogil=True, cache=True)
def too_strict(rx: Words) -> Any:
    """Whether this end refuses how octets come: a header in pieces that did not all come, or many FPDUs at once."""
    in_pieces = not rx[INSIDE] and rx[STAGED] < rx[STAGE_END] and rx[SHORT]
    return (rx[STRICT] & STRICT_PIECES and in_pieces) or (
        rx[STRICT] & STRICT_MANY and rx[AT_ONCE] > _MANY
    )


@njit(nogil=True, cache=True)
def verdict(rx: Words, memory: Octets) -> Any:
    """Judge an FPDU that is whole: READY, CRC_WRONG, or MARKER_WRONG."""
    rx[INSIDE] = 0
    rx[FPDUS] += 1
    rx[AT_ONCE] += 1
    if rx[CRC]:
        said = np.int64(0)
        for place in range(4):
            said |= np.int64(memory[TAIL + 4 + place]) << (8 * place)
        if said != rx[SUM]:
            return CRC_WRONG
    for mark in range(rx[MARKS]):
        at = MARK + 4 * mark
        said = (np.int64(memory[at + 2]) << 8 | memory[at + 3]) & ~3
        if said != max(rx[MARK_FIRST] + 512 * mark - rx[HEADER], 0):
            return MARKER_WRONG
        if rx[STRICT] & STRICT_MARKERS and (memory[at] or memory[at + 1]):
            return MARKER_WRONG
    return READY
