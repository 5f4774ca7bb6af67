"""RDMAP: what a segment is, whether it may be, and the operations that end with it.

Source: RFC 5040, 4 (headers), 5 (operations), 7 (errors); RFC 6581, 9 (RTR, IRD, ORD); RFC 7306, 5 and 6.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from freezeframe.decoders.iwarp.message_kernels import (
    message_of,
    message_there,
    take_tagged,
    take_untagged,
)
from freezeframe.decoders.iwarp.read_kernels import answered, ask, find_asked
from freezeframe.decoders.iwarp.rows import (
    AT_MO,
    AT_MSN,
    AT_QUEUE,
    AT_STAG,
    AT_TO,
    EIGHT,
    FOUR,
    big,
    event,
    rule_number,
)
from freezeframe.decoders.iwarp.state import BAD, RESPONSES, WRITES

WRITE, READ_REQUEST, READ_RESPONSE, SEND, SEND_SE_INVALIDATE, TERMINATE = 0, 1, 2, 3, 6, 7
IMMEDIATE, IMMEDIATE_SE, ATOMIC_REQUEST, ATOMIC_RESPONSE = 8, 9, 10, 11
_SEND_INVALIDATE = 4
_LAST_QUEUE = 3
_TERMINATES = 2
_TAGGED, _LAST = 0x80, 0x40
READ_REQUEST_B, IMMEDIATE_B, ATOMIC_REQUEST_B, ATOMIC_RESPONSE_B = 28, 8, 52, 12
_PAYLOAD_AT = 20  # in the FPDU, of an untagged segment
ENHANCED, PEER_TO_PEER, RTR_SEND, RTR_WRITE, RTR_READ = 0x10, 8, 4, 2, 1
ANY_DEPTH = 0x3FFF

QUEUE_OF = np.array([-1, 1, -1, 0, 0, 0, 0, 2, 0, 0, 1, 3, -2, -2, -2, -2])
"""The queue of each opcode; -1 tagged, -2 reserved."""

_DDP_TAGGED = rule_number("ddp-version-tagged")
_DDP_UNTAGGED = rule_number("ddp-version-untagged")
_DDP_QUEUE = rule_number("ddp-queue")
_VERSION = rule_number("rdmap-version")
_OPCODE = rule_number("rdmap-opcode")
_WRONG_BUFFER = rule_number("rdmap-tagged")
_QUEUE = rule_number("rdmap-queue")
_READ_REQUEST = rule_number("rdmap-read-request")
_SOURCE_WRAP = rule_number("rdmap-read-source-wrap")
_SINK_WRAP = rule_number("rdmap-read-sink-wrap")
_ORD = rule_number("rdmap-ord")
_UNASKED = rule_number("rdmap-response-unasked")
_RESPONSE_STAG = rule_number("rdmap-response-stag")
_RESPONSE_TO = rule_number("rdmap-response-to")
_RESPONSE_LENGTH = rule_number("rdmap-response-length")
_IMMEDIATE = rule_number("rdmap-immediate-length")
_ATOMIC = rule_number("rdmap-atomic-length")
_TERMINATE = rule_number("rdmap-terminate")
_AFTER_TERMINATE = rule_number("rdmap-after-terminate")
_TERMINATED = rule_number("terminated")
_RESPONDER_FIRST = rule_number("mpa-responder-first")
_INITIATOR_EARLY = rule_number("mpa-initiator-early")
_RTR_MISSING = rule_number("mpa-rtr-missing")

_U0 = np.uint64(0)


@njit(cache=True, nogil=True)
def take_segment(s, slot, side, packet, t_ps):  # type: ignore[no-untyped-def]
    """Take the segment of an FPDU whose header can be trusted: report what it breaks, write the operation it ends."""
    connection, half = s.connections[slot], s.halves[2 * slot + side]
    head = s.heads[half.head]
    control, rdmap = np.int64(head[2]), np.int64(head[3])
    tagged, last, opcode = control & _TAGGED != 0, control & _LAST != 0, rdmap & 15
    _check_turn(s, slot, side, head, opcode, tagged, packet, t_ps)
    if half.terminated:
        event(s, connection, half, side, _AFTER_TERMINATE, _U0, _U0, packet, t_ps)
        return
    payload = half.size - (14 if tagged else 18)
    version = control & 3
    if connection.version < 0 and version <= 1:
        connection.version = version
    rule, value, expected = np.int64(-1), _U0, _U0
    lane = np.int64(-1)
    if version != connection.version:
        rule = np.int64(_DDP_TAGGED if tagged else _DDP_UNTAGGED)
        value, expected = np.uint64(version), np.uint64(connection.version)
    queue = np.int64(0 if tagged else big(head, AT_QUEUE, FOUR))
    if tagged:
        lane = np.int64(RESPONSES if opcode == READ_RESPONSE else WRITES)
        stag, to = np.uint32(big(head, AT_STAG, FOUR)), big(head, AT_TO, EIGHT)
        began = message_of(s, slot, side, lane).open == 0
        broken, seen, wanted = take_tagged(s, slot, side, lane, opcode, stag, to, payload, last)
    elif queue <= _LAST_QUEUE:
        lane, stag, to, began = queue, np.uint32(0), _U0, False
        broken, seen, wanted = take_untagged(
            s, slot, side, queue, opcode, np.uint32(big(head, AT_MSN, FOUR)), np.uint32(big(head, AT_MO, FOUR)),
            payload, last,
        )  # fmt: skip
    else:
        stag, to, began = np.uint32(0), _U0, False
        broken, seen, wanted = np.int64(_DDP_QUEUE), np.uint64(queue), _U0
    if rule < 0:
        rule, value, expected = broken, seen, wanted
    if rule < 0:
        rule, value, expected = _check_control(connection, rdmap, opcode, tagged, queue)
    if rule >= 0:
        event(s, connection, half, side, rule, value, expected, packet, t_ps)
    if lane < 0 or QUEUE_OF[opcode] != (-1 if tagged else queue):
        return
    if opcode == READ_RESPONSE:
        _check_response(s, slot, side, stag, to, payload, began, last, packet, t_ps, rule < 0)
    elif last:
        _end_message(s, slot, side, head, lane, opcode, payload, packet, t_ps, rule < 0)


@njit(cache=True, nogil=True)
def _check_control(connection, rdmap, opcode, tagged, queue):  # type: ignore[no-untyped-def]
    version = rdmap >> 6
    if version != connection.version:
        return np.int64(_VERSION), np.uint64(version), np.uint64(connection.version)
    belongs = QUEUE_OF[opcode]
    if belongs == -2:
        return np.int64(_OPCODE), np.uint64(opcode), _U0
    if (belongs == -1) != tagged:
        return np.int64(_WRONG_BUFFER), np.uint64(opcode), np.uint64(1 if tagged else 0)
    if not tagged and belongs != queue:
        return np.int64(_QUEUE), np.uint64(queue), np.uint64(belongs)
    return np.int64(-1), _U0, _U0


@njit(cache=True, nogil=True)
def _check_turn(s, slot, side, head, opcode, tagged, packet, t_ps):  # type: ignore[no-untyped-def]
    """Check who may send first, and what."""
    connection, half = s.connections[slot], s.halves[2 * slot + side]
    if half.early:
        half.early = 0
        event(s, connection, half, side, _INITIATOR_EARLY, _U0, _U0, packet, t_ps)
    if connection.initiator < 0 or half.count != 1 or not half.known:
        return
    if side != connection.initiator:
        first = s.halves[2 * slot + connection.initiator]
        if first.count == 0 and first.known and not half.behind:
            event(s, connection, half, side, _RESPONDER_FIRST, _U0, _U0, packet, t_ps)
        return
    agreed = connection.model[0] & connection.model[1] & 7
    if not connection.model[0] & connection.model[1] & PEER_TO_PEER or agreed == 0:
        return
    if opcode == TERMINATE:
        return
    empty = half.size == (14 if tagged else 18)
    ready = (
        (agreed & RTR_SEND and opcode == SEND and empty)
        or (agreed & RTR_WRITE and opcode == WRITE and empty)
        or (agreed & RTR_READ and opcode == READ_REQUEST and big(head, _PAYLOAD_AT + 12, FOUR) == 0)
    )
    if not ready:
        event(s, connection, half, side, _RTR_MISSING, np.uint64(opcode), _U0, packet, t_ps)


@njit(cache=True, nogil=True)
def _end_message(s, slot, side, head, lane, opcode, payload, packet, t_ps, sound):  # type: ignore[no-untyped-def]
    connection, half = s.connections[slot], s.halves[2 * slot + side]
    message = message_of(s, slot, side, lane)
    size = np.int64(message.octets)
    if opcode == READ_REQUEST:
        _ask_read(s, slot, side, head, size, packet, t_ps, sound)
        return
    if opcode == ATOMIC_REQUEST:
        if size != ATOMIC_REQUEST_B and sound:
            event(
                s,
                connection,
                half,
                side,
                _ATOMIC,
                np.uint64(size),
                np.uint64(ATOMIC_REQUEST_B),
                packet,
                t_ps,
            )
        _ask(s, slot, side, head, np.int64(ATOMIC_REQUEST), packet, t_ps, sound)
        return
    if opcode == ATOMIC_RESPONSE:
        if size != ATOMIC_RESPONSE_B and sound:
            event(
                s,
                connection,
                half,
                side,
                _ATOMIC,
                np.uint64(size),
                np.uint64(ATOMIC_RESPONSE_B),
                packet,
                t_ps,
            )
        _answer_atomic(s, slot, side, packet, t_ps, sound)
        return
    if opcode == TERMINATE:
        _terminate(s, slot, side, head, payload, packet, t_ps)
        half.terminated = 1
    elif opcode in (IMMEDIATE, IMMEDIATE_SE) and size != IMMEDIATE_B and sound:
        event(
            s,
            connection,
            half,
            side,
            _IMMEDIATE,
            np.uint64(size),
            np.uint64(IMMEDIATE_B),
            packet,
            t_ps,
        )
    row = _operation(s, connection, side, opcode, message, packet, t_ps)
    row.size = size
    row.to = message.to if lane == WRITES else _U0
    row.stag = message.stag
    if opcode in (_SEND_INVALIDATE, SEND_SE_INVALIDATE):
        row.stag = np.uint32(big(head, AT_STAG, FOUR))
    row.msn = message.msn


@njit(cache=True, nogil=True)
def _operation(s, connection, side, opcode, message, packet, t_ps):  # type: ignore[no-untyped-def]
    """Return the row of an operation, filled with what all have."""
    row = s.operations[s.counts[1]]
    s.counts[1] += 1
    row.t_ps = message.t_ps
    row.t_end_ps = t_ps
    row.t_answer_ps = -1
    row.packet = message.packet
    row.packet_end = packet
    row.connection = connection.number
    row.slot = connection.slot
    row.side = side
    row.opcode = opcode
    row.segments = message.segments
    row.to = _U0
    row.stag = np.uint32(0)
    row.source_to = _U0
    row.source_stag = np.uint32(0)
    row.answered = 0
    row.whole = 1
    return row


@njit(cache=True, nogil=True)
def _depth(connection, side):  # type: ignore[no-untyped-def]
    """Return how many reads a side may have outstanding by the negotiation; -1 where nothing was said."""
    both = connection.frame_flags[0] & connection.frame_flags[1] & ENHANCED
    if (
        connection.initiator < 0
        or not both
        or connection.revision[0] != 2
        or connection.revision[1] != 2
    ):
        return np.int64(-1)
    mine, others = (0, 1) if side == connection.initiator else (1, 0)
    depth = np.int64(-1)
    if connection.ord[mine] != ANY_DEPTH:
        depth = np.int64(connection.ord[mine])
    if connection.ird[others] != ANY_DEPTH and (depth < 0 or connection.ird[others] < depth):
        depth = np.int64(connection.ird[others])
    return depth


@njit(cache=True, nogil=True)
def _ask_read(s, slot, side, head, size, packet, t_ps, sound):  # type: ignore[no-untyped-def]
    connection, half = s.connections[slot], s.halves[2 * slot + side]
    if size != READ_REQUEST_B:
        if sound:
            event(
                s,
                connection,
                half,
                side,
                _READ_REQUEST,
                np.uint64(size),
                np.uint64(READ_REQUEST_B),
                packet,
                t_ps,
            )
        s.halves[2 * slot + side].reads_known = 0
        return
    wanted = big(head, _PAYLOAD_AT + 12, FOUR)
    sink, source = big(head, _PAYLOAD_AT + 4, EIGHT), big(head, _PAYLOAD_AT + 20, EIGHT)
    if wanted > 0 and sound:
        if source + wanted < source and source + wanted != 0:
            event(s, connection, half, side, _SOURCE_WRAP, source, wanted, packet, t_ps)
        elif sink + wanted < sink and sink + wanted != 0:
            event(s, connection, half, side, _SINK_WRAP, sink, wanted, packet, t_ps)
    _ask(s, slot, side, head, np.int64(READ_REQUEST), packet, t_ps, sound)


@njit(cache=True, nogil=True)
def _ask(s, slot, side, head, opcode, packet, t_ps, sound):  # type: ignore[no-untyped-def]
    """Put a request on the list of its half; more than were negotiated is a breach."""
    connection, half = s.connections[slot], s.halves[2 * slot + side]
    at = ask(s, half)
    if at < 0:
        return
    read = s.reads[at]
    read.opcode = opcode
    read.msn = np.uint32(big(head, AT_MSN, FOUR))
    read.t_ps = half.t_ps
    read.packet = half.packet
    read.answered_ps = -1
    if opcode == READ_REQUEST:
        read.stag = np.uint32(big(head, np.int64(_PAYLOAD_AT), FOUR))
        read.to = big(head, _PAYLOAD_AT + 4, EIGHT)
        read.size = np.uint32(big(head, _PAYLOAD_AT + 12, FOUR))
        read.source_stag = np.uint32(big(head, _PAYLOAD_AT + 16, FOUR))
        read.source_to = big(head, _PAYLOAD_AT + 20, EIGHT)
    else:
        read.stag = np.uint32(0)
        read.to = _U0
        read.size = np.uint32(8)
        read.source_stag = np.uint32(big(head, _PAYLOAD_AT + 8, FOUR))
        read.source_to = big(head, _PAYLOAD_AT + 12, EIGHT)
    depth = _depth(connection, side)
    if depth >= 0 and half.reads > depth and half.reads_known and sound and not half.behind:
        event(
            s, connection, half, side, _ORD, np.uint64(half.reads), np.uint64(depth), packet, t_ps
        )


@njit(cache=True, nogil=True)
def _check_response(s, slot, side, stag, to, payload, began, last, packet, t_ps, sound):  # type: ignore[no-untyped-def]
    """Match a Read Response with its request, when it begins and when it ends."""
    connection, half, asker = (
        s.connections[slot],
        s.halves[2 * slot + side],
        s.halves[2 * slot + 1 - side],
    )
    message = message_of(s, slot, side, np.int64(RESPONSES))
    empty = message.octets == 0 and last
    which = np.int64(asker.reads_first) if asker.reads else np.int64(-1)
    while which >= 0 and s.reads[which].opcode != READ_REQUEST:
        which = np.int64(s.reads[which].next)
    if began and not empty and not asker.reads_known:
        exact = find_asked(s, asker, message.stag, message.to)
        if exact >= 0:
            while asker.reads_first != exact:  # their responses were not seen
                answered(s, asker, np.int64(asker.reads_first))
            which = exact
    if began:
        message.packet = half.packet
    if which < 0:
        if asker.reads_known and sound and began:
            event(s, connection, half, side, _UNASKED, np.uint64(stag), to, packet, t_ps)
        if last:
            row = _operation(s, connection, side, np.int64(READ_RESPONSE), message, packet, t_ps)
            row.size = np.int64(message.octets)
            row.stag = message.stag
            row.to = message.to
            row.whole = 0
        return
    read = s.reads[which]
    if began:
        read.answered_ps = half.t_ps
        if not empty and asker.reads_known and sound:
            if stag != read.stag:
                event(
                    s,
                    connection,
                    half,
                    side,
                    _RESPONSE_STAG,
                    np.uint64(stag),
                    np.uint64(read.stag),
                    packet,
                    t_ps,
                )
            elif to != read.to:
                event(s, connection, half, side, _RESPONSE_TO, to, read.to, packet, t_ps)
    if not last:
        return
    size = np.int64(message.octets)
    if size != read.size and asker.reads_known and sound:
        event(
            s,
            connection,
            half,
            side,
            _RESPONSE_LENGTH,
            np.uint64(size),
            np.uint64(read.size),
            packet,
            t_ps,
        )
    _answer(s, slot, side, which, size, np.int64(message.segments), packet, t_ps)


@njit(cache=True, nogil=True)
def _answer(s, slot, side, which, size, segments, packet, t_ps):  # type: ignore[no-untyped-def]
    """Write the operation of a request that has its response, as one of the side that asked."""
    connection, asker = s.connections[slot], s.halves[2 * slot + 1 - side]
    read = s.reads[which]
    row = _operation(
        s, connection, 1 - side, np.int64(read.opcode), read_message(s, slot, side), packet, t_ps
    )
    row.t_ps = read.t_ps
    row.t_answer_ps = read.answered_ps
    row.packet = read.packet
    row.size = size
    row.segments = segments
    row.stag = read.stag
    row.to = read.to
    row.source_stag = read.source_stag
    row.source_to = read.source_to
    row.msn = read.msn
    row.answered = 1
    answered(s, asker, which)


@njit(cache=True, nogil=True)
def read_message(s, slot, side):  # type: ignore[no-untyped-def]
    """Return the lane of Read Responses of a side."""
    return message_of(s, slot, side, np.int64(RESPONSES))


@njit(cache=True, nogil=True)
def _answer_atomic(s, slot, side, packet, t_ps, sound):  # type: ignore[no-untyped-def]
    connection, half, asker = (
        s.connections[slot],
        s.halves[2 * slot + side],
        s.halves[2 * slot + 1 - side],
    )
    which = np.int64(asker.reads_first) if asker.reads else np.int64(-1)
    while which >= 0 and s.reads[which].opcode != ATOMIC_REQUEST:
        which = np.int64(s.reads[which].next)
    if which < 0:
        if asker.reads_known and sound:
            event(s, connection, half, side, _UNASKED, _U0, _U0, packet, t_ps)
        return
    s.reads[which].answered_ps = half.t_ps
    _answer(s, slot, side, which, np.int64(8), np.int64(1), packet, t_ps)


@njit(cache=True, nogil=True)
def _terminate(s, slot, side, head, payload, packet, t_ps):  # type: ignore[no-untyped-def]
    """Report a Terminate with what it says, and look for the FPDU that it is about."""
    connection, half = s.connections[slot], s.halves[2 * slot + side]
    if payload < 4:
        event(s, connection, half, side, _TERMINATE, np.uint64(payload), _U0, packet, t_ps)
        return
    at = _PAYLOAD_AT
    layer, etype, code = np.int64(head[at]) >> 4, np.int64(head[at]) & 15, np.int64(head[at + 1])
    has_length, has_header, has_read = (
        head[at + 2] & 0x80 != 0,
        head[at + 2] & 0x40 != 0,
        head[at + 2] & 0x20 != 0,
    )
    needs = np.int64(4)
    if has_length or has_header:
        needs += 2
    if has_header and payload >= needs + 1:
        needs += 14 if head[at + needs] & _TAGGED else 18
    elif has_header:
        needs += 14
    if has_read:
        needs += READ_REQUEST_B
    event(
        s,
        connection,
        half,
        side,
        _TERMINATED,
        np.uint64(layer),
        np.uint64(etype << 8 | code),
        packet,
        t_ps,
    )
    about = _about(s, connection, side, head, at + 6 if has_header else -1)
    s.events[s.counts[2] - 1].about = about
    if payload < needs or (has_header and not has_length) or not _is_known(layer, etype, code):
        event(
            s,
            connection,
            half,
            side,
            _TERMINATE,
            np.uint64(layer),
            np.uint64(etype << 8 | code),
            packet,
            t_ps,
        )


@njit(cache=True, nogil=True)
def _is_known(layer, etype, code):  # type: ignore[no-untyped-def]
    """Tell whether the RFC has this layer, type and code."""
    if layer == 0:
        if etype == 0:
            return True
        if etype == 1:
            return code <= 4 or code in (9, 0xFF)
        return etype == 2 and (5 <= code <= 9 or code == 0xFF)
    if layer == 1:
        if etype == 0:
            return code == 0
        if etype == 1:
            return code <= 4
        return etype == 3 or (etype == 2 and 1 <= code <= 6)
    return layer == 2 and etype == 0 and 1 <= code <= 7


@njit(cache=True, nogil=True)
def _about(s, connection, side, head, at):  # type: ignore[no-untyped-def]
    """Return the number of the peer's FPDU with the header at ``at``, or its last with a wrong sum; -1 for none."""
    for place in range(s.counts[0] - 1, -1, -1):
        row = s.fpdus[place]
        if row.connection != connection.number or row.side == side:
            continue
        if at < 0:
            if row.verdict == BAD:
                return row.number
            continue
        if row.control != head[at] or row.rdmap != head[at + 1]:
            continue
        if head[at] & _TAGGED:
            same = row.stag == big(head, at + 2, FOUR) and row.to == big(head, at + 6, EIGHT)
        else:
            same = (
                row.queue == big(head, at + 6, FOUR)
                and row.msn == big(head, at + 10, FOUR)
                and row.mo == big(head, at + 14, FOUR)
            )
        if same:
            return row.number
    return np.int64(-1)


@njit(cache=True, nogil=True)
def end_unanswered(s, slot, side, packet, t_ps):  # type: ignore[no-untyped-def]
    """Write the requests of a side that never had a response, and forget them."""
    connection, half = s.connections[slot], s.halves[2 * slot + side]
    message = message_there(s, slot, 1 - side, np.int64(RESPONSES))
    while half.reads > 0:
        read = s.reads[half.reads_first]
        row = _operation(s, connection, side, np.int64(read.opcode), message, packet, t_ps)
        row.t_ps = read.t_ps
        row.t_end_ps = read.t_ps
        row.packet = read.packet
        row.packet_end = read.packet
        row.size = 0
        row.segments = 0
        row.stag = read.stag
        row.to = read.to
        row.source_stag = read.source_stag
        row.source_to = read.source_to
        row.msn = read.msn
        row.whole = 0
        answered(s, half, np.int64(half.reads_first))
