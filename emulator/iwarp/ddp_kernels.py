"""DDP and what RDMAP asks of each segment, compiled: messages cut into segments, segments placed where they belong.

Checks stand in the order of RFC 5041, 7: what fails first is what the Terminate says. What fails is placed nowhere: its
payload goes to the sink, and the CRC is judged first, for a damaged header is no breach.

Source: RFC 5041, 4 to 7; RFC 5040, 4.1, 5.2 and 7; RFC 6581, 9.2; RFC 7306, 5 and 6.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from freezeframe.emulator.iwarp import mpa_receive as mpa
from freezeframe.emulator.iwarp.layout import (
    ATOMIC_QUEUE,
    READ_QUEUE,
    SEND_QUEUE,
    TAGGED_B,
    TERMINATE_QUEUE,
    UNTAGGED_B,
)
from freezeframe.emulator.iwarp.mpa_receive import (
    CONTROL,
    CONTROL_B,
    HEAD,
    LENGTH,
    SHORT,
    SINK,
    STAGE_END,
    STAGED,
)
from freezeframe.emulator.iwarp.mpa_send import (
    AGAIN,
    BROKEN,
    CURSOR,
    DONE,
    LEFT,
    MESSAGE,
    PIECES,
    UPPER,
    Octets,
    Words,
    flush,
    frame,
    has_room,
)

# Words of `out`, of the message that is being sent.
ADDRESS, LENGTH_OUT, SENT, ENDED, OPCODE, QUEUE, STAG, TO, MULPDU, VERSION_OUT, NEXT = range(11)
TAGGED = -1
"""``QUEUE`` of a tagged message; ``TO`` is the MSN of the others, ``STAG`` what they invalidate."""
# Columns of a list of tagged messages; ``NEXT`` is the row that is sent next.
PART_ADDRESS, PART_LENGTH, PART_TO = range(3)

# Words of `ddp`. Four of MSN, MO and OPEN, one a queue; OPEN is the opcode of a message begun, or -1.
MSN, MO, OPEN = 0, 4, 8
(VERSION, DOMAIN, RECEIVE_HEAD, RECEIVE_TAIL, READ_HEAD, READ_TAIL, READ_DONE, PENDING, EVENTS, WRITES, WRITES_TELL,
 RTR, CONTROL_LENGTH, OCTETS, FIRST_TELL, TOLERATED) = range(12, 28)  # fmt: skip

# Columns of the tables: registered memory, posted receives, reads that wait for their response, what happened.
(REGION_ADDRESS, REGION_LENGTH, REGION_RIGHTS, REGION_STAG, REGION_BASE, REGION_DOMAIN) = range(6)
REGION_COLUMNS = 6
ROW_ADDRESS, ROW_LENGTH, ROW_STAG, ROW_TO = range(4)
ROW_COLUMNS = 4
DEPTH = 4096
"""Rows of the rings of receives and reads."""
EVENT_OPCODE, EVENT_LENGTH, EVENT_ROW, EVENT_INVALIDATES, EVENT_STAG, EVENT_TO = range(6)
EVENT_COLUMNS = 6
MOST_EVENTS = 256

REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC = 1, 2, 4

# What `receive` returns, beside those of mpa_receive.
HAPPENED, CONTROLLED, BREACH, SILENT, IDLE = 30, 31, 32, 33, 34

_WRITE, _READ_REQUEST, _READ_RESPONSE = 0, 1, 2
_TERMINATE, _ATOMIC_REQUEST, _ATOMIC_RESPONSE = 7, 10, 11


def cause(layer: int, etype: int, code: int) -> np.int64:
    """Return what a Terminate says as one number, never 0; of a type for which `_refuse` is compiled once."""
    return np.int64(1 << 16 | layer << 12 | etype << 8 | code)


_RDMAP_VERSION, _OPCODE = cause(0, 2, 5), cause(0, 2, 6)
_BAD_STAG, _BOUNDS, _STREAM, _WRAP, _TAGGED_VERSION = [cause(1, 1, code) for code in range(5)]
_BAD_QUEUE, _NO_BUFFER, _BAD_MSN, _BAD_MO = [cause(1, 2, code) for code in range(1, 5)]
_LONG, _UNTAGGED_VERSION = cause(1, 2, 5), cause(1, 2, 6)
_CRC, _MARKER, _RTR = cause(2, 0, 2), cause(2, 0, 3), cause(2, 0, 7)

# Where fields of a header stand and their octets, of a type for which `_number` is compiled once.
_AT_STAG, _AT_TO, _AT_QUEUE, _AT_MSN, _AT_MO, _FOUR, _EIGHT = np.array([2, 6, 6, 10, 14, 4, 8])


@njit(nogil=True, cache=True)
def _put_number(heads: Octets, at: int, size: int, value: int) -> None:
    for place in range(size):
        heads[at + place] = (value >> (8 * (size - 1 - place))) & 0xFF


@njit(nogil=True, cache=True)
def send_message(  # type: ignore[no-untyped-def]
    words, heads, flags, opcode, queue, stag, to, address, length
):
    """Set the message in ``out``, and `send_some` of it."""
    out = words[UPPER:MESSAGE]
    out[ADDRESS], out[LENGTH_OUT], out[SENT], out[ENDED] = address, length, 0, 0
    out[OPCODE], out[QUEUE], out[STAG], out[TO] = opcode, queue, stag, to
    return send_some(words, heads, flags)


@njit(nogil=True, cache=True)
def send_some(words: Words, heads: Octets, flags: int) -> Any:
    """Go on with the message in ``out``: as many segments as there are, as far as the socket takes them.

    Returns:
        as `mpa_send.flush`; DONE once all of it is with the socket.
    """
    tx, out = words[:UPPER], words[UPPER:MESSAGE]
    message, iov = words[MESSAGE:PIECES], words[PIECES:]
    tagged, version = out[QUEUE] == TAGGED, out[VERSION_OUT]
    header_B = TAGGED_B if tagged else UNTAGGED_B
    while True:
        if tx[LEFT] > 0:
            status = flush(tx, iov, message, flags)
            if status != DONE:
                return status
        if out[ENDED]:
            return DONE
        most = out[MULPDU] - header_B
        while not out[ENDED] and has_room(tx, min(most, out[LENGTH_OUT] - out[SENT])):
            piece = min(most, out[LENGTH_OUT] - out[SENT])
            at = tx[CURSOR] + 2
            heads[at], heads[at + 1] = tagged << 7 | version, version << 6 | out[OPCODE]
            _put_number(heads, at + 2, 4, out[STAG])
            if tagged:
                _put_number(heads, at + 6, 8, out[TO] + out[SENT])
            else:
                _put_number(heads, at + 6, 4, out[QUEUE])
                _put_number(heads, at + 10, 4, out[TO])
                _put_number(heads, at + 14, 4, out[SENT])
            if out[SENT] + piece == out[LENGTH_OUT]:
                heads[at] |= 0x40
                out[ENDED] = 1
            frame(tx, iov, heads, header_B, out[ADDRESS] + out[SENT], piece)
            out[SENT] += piece


@njit(nogil=True, cache=True)
def send_list(words, heads, flags, opcode, stag, parts):  # type: ignore[no-untyped-def]
    """Send the rest of the message in ``out``, then the tagged messages of ``parts`` from ``NEXT`` on, each by itself.

    Returns:
        as `send_some`; DONE once all of the list is with the socket.
    """
    out = words[UPPER:MESSAGE]
    status = send_some(words, heads, flags)
    while status == DONE and out[NEXT] < len(parts):
        part = parts[out[NEXT]]
        out[NEXT] += 1
        status = send_message(
            words, heads, flags, opcode, np.int64(TAGGED), stag, part[PART_TO], part[PART_ADDRESS],
            part[PART_LENGTH],
        )  # fmt: skip
    return status


@njit(nogil=True, cache=True)
def _number(memory: Octets, at: int, size: int) -> Any:
    value = np.int64(0)
    for i in range(size):
        value = value << 8 | memory[HEAD + 2 + at + i]
    return value


@njit(nogil=True, cache=True)
def _refuse(ddp: Words, memory: Octets, why: np.int64) -> Any:
    ddp[PENDING] = why
    return memory.ctypes.data + SINK


@njit(nogil=True, cache=True)
def _place_tagged(ddp, memory, regions, reads, opcode, last, size, strict):  # type: ignore[no-untyped-def]
    """Return the address of a tagged segment's payload; see `_place`."""
    stag, to = _number(memory, _AT_STAG, _FOUR), np.uint64(_number(memory, _AT_TO, _EIGHT))
    if opcode == _READ_RESPONSE:
        if ddp[READ_HEAD] == ddp[READ_TAIL]:
            return _refuse(ddp, memory, _OPCODE)
        row = ddp[READ_HEAD] % DEPTH
        done, wanted = ddp[READ_DONE], reads[row, ROW_LENGTH]
        if wanted > 0 or size > 0:
            if stag != reads[row, ROW_STAG]:
                return _refuse(ddp, memory, _BAD_STAG)
            if to != np.uint64(reads[row, ROW_TO]) + np.uint64(done):
                return _refuse(ddp, memory, _BOUNDS)
        if done + size > wanted or (last and done + size < wanted):
            return _refuse(ddp, memory, _BOUNDS)
        return reads[row, ROW_ADDRESS] + done
    if (
        size == 0 and not strict & mpa.STRICT_EMPTY
    ):  # RFC 5041, 5.2: neither STag nor TO is looked at
        return memory.ctypes.data + SINK
    index = stag >> 8
    if index >= len(regions) or regions[index, REGION_STAG] != stag:
        return _refuse(ddp, memory, _BAD_STAG)
    if regions[index, REGION_DOMAIN] != ddp[DOMAIN]:
        return _refuse(ddp, memory, _STREAM)
    # DDP has no code for rights that are missing: to this stream the STag is no buffer it may write.
    if not regions[index, REGION_RIGHTS] & REMOTE_WRITE:
        return _refuse(ddp, memory, _BAD_STAG)
    if to + np.uint64(size) < to and to + np.uint64(size) != np.uint64(0):
        return _refuse(ddp, memory, _WRAP)
    offset = to - np.uint64(regions[index, REGION_BASE])
    length = np.uint64(regions[index, REGION_LENGTH])
    if offset > length or np.uint64(size) > length - offset:
        return _refuse(ddp, memory, _BOUNDS)
    return regions[index, REGION_ADDRESS] + np.int64(offset)


@njit(nogil=True, cache=True)
def _place_untagged(ddp, memory, receives, opcode, size):  # type: ignore[no-untyped-def]
    """Return the address of an untagged segment's payload; see `_place`."""
    queue, msn = _number(memory, _AT_QUEUE, _FOUR), _number(memory, _AT_MSN, _FOUR)
    mo = _number(memory, _AT_MO, _FOUR)
    if queue > ATOMIC_QUEUE:
        return _refuse(ddp, memory, _BAD_QUEUE)
    if msn != ddp[MSN + queue]:
        return _refuse(ddp, memory, _BAD_MSN)
    address, room = memory.ctypes.data + CONTROL, np.int64(CONTROL_B)
    if queue == SEND_QUEUE:
        if ddp[RTR] and ddp[FIRST_TELL] and size == 0:
            return address  # a Send that says no more than that its sender is ready
        if ddp[RECEIVE_HEAD] == ddp[RECEIVE_TAIL]:
            return _refuse(ddp, memory, _NO_BUFFER)
        row = ddp[RECEIVE_HEAD] % DEPTH
        address, room = receives[row, ROW_ADDRESS], receives[row, ROW_LENGTH]
    if mo != ddp[MO + queue]:
        return _refuse(ddp, memory, _BAD_MO)
    if mo + size > room:
        return _refuse(ddp, memory, _LONG)
    if ddp[OPEN + queue] >= 0 and ddp[OPEN + queue] != opcode:
        return _refuse(ddp, memory, _OPCODE)
    wanted = SEND_QUEUE
    if opcode in (_READ_REQUEST, _ATOMIC_REQUEST):
        wanted = READ_QUEUE
    elif opcode == _TERMINATE:
        wanted = TERMINATE_QUEUE
    elif opcode == _ATOMIC_RESPONSE:
        wanted = ATOMIC_QUEUE
    if queue != wanted:
        return _refuse(ddp, memory, _OPCODE)
    return address + mo


@njit(nogil=True, cache=True)
def _place(ddp, rx, memory, regions, receives, reads):  # type: ignore[no-untyped-def]
    """Return where the payload of the segment whose header was read belongs; a breach is in ``PENDING``, else 0."""
    control, rdmap = np.int64(memory[HEAD + 2]), np.int64(memory[HEAD + 3])
    tagged, last, opcode = control & 0x80 != 0, control & 0x40 != 0, rdmap & 15
    size = rx[LENGTH] - (TAGGED_B if tagged else UNTAGGED_B)
    ddp[PENDING] = 0
    if control & 3 != ddp[VERSION]:
        return _refuse(ddp, memory, _TAGGED_VERSION if tagged else _UNTAGGED_VERSION)
    if tagged:
        address = _place_tagged(ddp, memory, regions, reads, opcode, last, size, rx[mpa.STRICT])
        if opcode not in (_WRITE, _READ_RESPONSE):
            address = _refuse(ddp, memory, _OPCODE)
    else:
        address = _place_untagged(ddp, memory, receives, opcode, size)
        if not ddp[PENDING] and (opcode in (_WRITE, _READ_RESPONSE) or opcode > _ATOMIC_RESPONSE):
            address = _refuse(ddp, memory, _OPCODE)
    if rdmap >> 6 != ddp[VERSION] and (not ddp[PENDING] or ddp[PENDING] >> 12 & 15 == 0):
        address = _refuse(ddp, memory, _RDMAP_VERSION)
    if rx[mpa.STRICT]:
        if rx[mpa.STRICT] & mpa.STRICT_DDP and control & 0x3C:
            address = _refuse(ddp, memory, _UNTAGGED_VERSION)
        if rx[mpa.STRICT] & mpa.STRICT_RDMAP and rdmap & 0x30:
            address = _refuse(ddp, memory, _RDMAP_VERSION)
        if rx[mpa.STRICT] & mpa.STRICT_SEGMENTS and not tagged and not last:
            address = _refuse(ddp, memory, _LONG)
    if ddp[RTR] and ddp[FIRST_TELL]:
        # The first FPDU of an initiator of the peer-to-peer model: bit 1 a Send, 2 a Write, 4 a Read of no length.
        kind = 1 if opcode == 3 else 2 if opcode == _WRITE else 4 if opcode == _READ_REQUEST else 0
        if not ddp[RTR] & kind or (kind != 4 and size > 0):
            address = _refuse(ddp, memory, _RTR)
    return address


@njit(nogil=True, cache=True)
def _deliver(ddp, rx, memory, events):  # type: ignore[no-untyped-def]
    """Count a segment that is placed and right; return 1 where its message is whole and goes up, 2 if at once."""
    control, opcode = np.int64(memory[HEAD + 2]), np.int64(memory[HEAD + 3]) & 15
    last = control & 0x40 != 0
    if control & 0x80:
        size = rx[LENGTH] - TAGGED_B
        stag, to = _number(memory, _AT_STAG, _FOUR), _number(memory, _AT_TO, _EIGHT)
        ddp[OCTETS] += size
        event = events[ddp[EVENTS]]
        if opcode == _READ_RESPONSE:
            ddp[READ_DONE] += size
            if not last:
                return 0
            event[EVENT_ROW], event[EVENT_LENGTH] = ddp[READ_HEAD], ddp[READ_DONE]
            ddp[READ_HEAD] += 1
            ddp[READ_DONE] = 0
        else:
            ddp[WRITES] += last
            if not (last and ddp[WRITES_TELL]):
                return 0
            event[EVENT_LENGTH] = size
        event[EVENT_OPCODE], event[EVENT_STAG], event[EVENT_TO] = opcode, stag, to
        return 1
    size, queue = rx[LENGTH] - UNTAGGED_B, _number(memory, _AT_QUEUE, _FOUR)
    ddp[OCTETS] += size
    ddp[MO + queue] += size
    if not last:
        ddp[OPEN + queue] = opcode
        return 0
    length = ddp[MO + queue]
    ddp[MSN + queue] = (ddp[MSN + queue] + 1) & 0xFFFFFFFF
    ddp[MO + queue], ddp[OPEN + queue] = 0, -1
    if queue != SEND_QUEUE:
        ddp[CONTROL_LENGTH] = length
        return 2
    if ddp[RTR] and ddp[FIRST_TELL]:
        return 0
    event = events[ddp[EVENTS]]
    event[EVENT_OPCODE], event[EVENT_LENGTH], event[EVENT_ROW] = opcode, length, ddp[RECEIVE_HEAD]
    event[EVENT_INVALIDATES] = _number(memory, _AT_STAG, _FOUR)
    ddp[RECEIVE_HEAD] += 1
    return 1


@njit(nogil=True, cache=True)
def receive(words, memory, regions, rows, events):  # type: ignore[no-untyped-def]
    """Receive and place segments until something is to be told.

    It waits for octets only while there is nothing to tell; then it tells what has happened once the socket is drained.

    Returns:
        HAPPENED: ``EVENTS`` rows of ``events`` are filled; none of them where the first FPDU was awaited.
        CONTROLLED: the same, and after them a message of queue 1, 2 or 3 stands at ``CONTROL``, its header at ``HEAD``.
        BREACH: the same, and then the peer did what ``PENDING`` says, by the segment whose header stands at ``HEAD``.
        CLOSED, BROKEN: the same, and then the connection ended; ``INSIDE`` or staged octets mean inside an FPDU.
        SILENT: the same, and then the peer fell silent inside an FPDU. IDLE: nothing came in the time of the socket.
    """
    rx, ddp = words[: mpa.UPPER], words[mpa.UPPER : mpa.MESSAGE]
    message, iov = words[mpa.MESSAGE : mpa.PIECES], words[mpa.PIECES :]
    receives, reads = rows[:DEPTH], rows[DEPTH:]
    ddp[EVENTS] = 0
    status = mpa.READY
    while True:
        if not rx[mpa.INSIDE]:
            status = mpa.head(rx, memory)
            if status == mpa.READY:
                address = _place(ddp, rx, memory, regions, receives, reads)
                control = memory[HEAD + 2]
                header_B = TAGGED_B if control & 0x80 else UNTAGGED_B
                mpa.body(rx, memory, iov, address, rx[LENGTH] - header_B)
            elif status == mpa.LENGTH_WRONG or (rx[mpa.STRICT] and mpa.too_strict(rx)):
                ddp[PENDING] = _MARKER
                return BREACH
        if rx[mpa.INSIDE] and rx[mpa.LEFT] == 0:
            status = mpa.verdict(rx, memory)
            if status != mpa.READY:
                ddp[PENDING] = _CRC if status == mpa.CRC_WRONG else _MARKER
            told = 0
            if not ddp[PENDING]:
                told = _deliver(ddp, rx, memory, events)
            elif ddp[PENDING] != ddp[TOLERATED]:
                return BREACH
            ddp[EVENTS] += told == 1
            if told == 2:
                return CONTROLLED
            if ddp[EVENTS] == MOST_EVENTS or ddp[FIRST_TELL]:
                return HAPPENED
            if rx[STAGED] < rx[STAGE_END]:
                continue
        if ddp[EVENTS] and rx[SHORT]:
            return HAPPENED
        status = mpa.fill(rx, memory, iov, message, ddp[EVENTS] == 0)
        if status == AGAIN:
            if ddp[EVENTS]:
                return HAPPENED
            return SILENT if rx[mpa.INSIDE] or rx[STAGED] < rx[STAGE_END] else IDLE
        if status in (mpa.CLOSED, BROKEN):
            return status
