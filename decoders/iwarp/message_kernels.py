"""DDP: the messages of a half, lane by lane, and what their segments must continue.

A wrong number is reported once: what comes next may go on from the number that was expected or from the one that came.

Source: RFC 5041, 4 (headers), 5.1 (untagged), 5.2 (tagged).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from freezeframe.decoders.iwarp.rows import rule_number
from freezeframe.decoders.iwarp.state import LANES, RESPONSES, WRITES

_FREE, _USED = 12, 13
_LAST_QUEUE = 3
_NONE = np.int64(-1)
_MSN = rule_number("ddp-msn")
_MO = rule_number("ddp-mo")
_TO = rule_number("ddp-to")
_TO_WRAP = rule_number("ddp-to-wrap")
_STAG_CHANGES = rule_number("ddp-stag-changes")
_INTERLEAVED = rule_number("ddp-interleaved")
_LENGTH = rule_number("ddp-message-length")
_OPCODE_CHANGES = rule_number("rdmap-opcode-changes")
_MESSAGE_OCTETS = np.uint64(1) << np.uint64(32)


@njit(cache=True, nogil=True)
def message_of(s, slot, side, lane):  # type: ignore[no-untyped-def]
    """Return the record of a lane, which is made when it is used first."""
    half = s.halves[2 * slot + side]
    if half.lanes[lane] == 0:
        place = s.counts[_FREE]
        if place > 0:
            s.counts[_FREE] = s.messages[place].free
        else:
            s.counts[_USED] += 1
            place = s.counts[_USED]
        half.lanes[lane] = place
        message = s.messages[place]
        message.open = 0
        message.known = half.from_first if lane <= _LAST_QUEUE else 0
        message.msn_next = 1  # a message sequence number begins at 1 (RFC 5041, 4.3)
        message.msn_other = 1
    return s.messages[half.lanes[lane]]


@njit(cache=True, nogil=True)
def message_there(s, slot, side, lane):  # type: ignore[no-untyped-def]
    """Return the record of a lane to look at; one that is not open where the lane was not used."""
    return s.messages[s.halves[2 * slot + side].lanes[lane]]


@njit(cache=True, nogil=True)
def release_lanes(s, half):  # type: ignore[no-untyped-def]
    """Give the records of all lanes back."""
    for lane in range(LANES):
        place = half.lanes[lane]
        if place > 0:
            s.messages[place].free = s.counts[_FREE]
            s.counts[_FREE] = place
            half.lanes[lane] = 0


@njit(cache=True, nogil=True)
def untrusted(s, slot, side):  # type: ignore[no-untyped-def]
    """Expect nothing any more of a half of which something was missed: what comes next is taken as it comes."""
    half = s.halves[2 * slot + side]
    half.from_first = 0
    for lane in range(LANES):
        if half.lanes[lane] > 0:
            message = s.messages[half.lanes[lane]]
            message.open = 0
            message.known = 0
    s.halves[2 * slot + side].reads_known = 0
    s.halves[2 * slot + 1 - side].reads_known = 0


@njit(cache=True, nogil=True)
def _begin(message, half, opcode, msn, stag, to):  # type: ignore[no-untyped-def]
    message.open = 1
    message.opcode = opcode
    message.msn = msn
    message.stag = stag
    message.to = to
    message.octets = 0
    message.segments = 0
    message.t_ps = half.t_ps
    message.packet = half.packet


@njit(cache=True, nogil=True)
def take_untagged(s, slot, side, queue, opcode, msn, mo, payload, last):  # type: ignore[no-untyped-def]
    """Take a segment into the lane of its queue; return the rule it breaks, -1 for none, and the two numbers."""
    half = s.halves[2 * slot + side]
    message = message_of(s, slot, side, queue)
    rule, value, expected = _NONE, np.uint64(0), np.uint64(0)
    offset = np.uint64(mo)
    goes_on = message.open == 1
    if goes_on and msn != message.msn:
        if msn == np.uint32(message.msn + np.uint32(1)) and mo == 0:
            rule, value, expected = _INTERLEAVED, np.uint64(msn), np.uint64(message.msn)
            goes_on = False
            message.msn_next = msn
            message.msn_other = msn
        else:
            rule, value, expected = _MSN, np.uint64(msn), np.uint64(message.msn)
            goes_on = mo != 0
    if not goes_on:
        if rule < 0 and message.known and msn not in (message.msn_next, message.msn_other):
            rule, value, expected = _MSN, np.uint64(msn), np.uint64(message.msn_next)
        elif rule != _INTERLEAVED and rule < 0:
            message.msn_next = msn
        wanted = message.msn_next if message.known else msn
        _begin(message, half, opcode, msn, np.uint32(0), np.uint64(0))
        message.next = np.uint64(0) if message.known else offset
        message.other = message.next
        message.msn_next = np.uint32(wanted + np.uint32(1))
        message.msn_other = np.uint32(msn + np.uint32(1))
    elif opcode != message.opcode and rule < 0:
        rule, value, expected = _OPCODE_CHANGES, np.uint64(opcode), np.uint64(message.opcode)
    if offset + np.uint64(payload) >= _MESSAGE_OCTETS:
        if rule < 0:
            rule, value, expected = _LENGTH, offset + np.uint64(payload), np.uint64(0)
        message.next = offset + np.uint64(payload)
        message.other = message.next
    else:
        if offset not in (message.next, message.other) and rule < 0:
            rule, value, expected = _MO, offset, message.next
        held = message.next if offset != message.other else offset
        message.next = held + np.uint64(payload)
        message.other = offset + np.uint64(payload)
    message.octets += np.uint64(payload)
    message.segments += 1
    if last:
        message.open = 0
    message.known = 1
    return rule, value, expected


@njit(cache=True, nogil=True)
def take_tagged(s, slot, side, lane, opcode, stag, to, payload, last):  # type: ignore[no-untyped-def]
    """Take a segment into the lane of Writes or of Responses; return as `take_untagged`."""
    half = s.halves[2 * slot + side]
    message = message_of(s, slot, side, lane)
    across = message_there(s, slot, side, np.int64(RESPONSES if lane == WRITES else WRITES))
    rule, value, expected = _NONE, np.uint64(0), np.uint64(0)
    end = to + np.uint64(payload)
    if not message.open and across.open:
        if stag == across.stag and to == across.next:
            rule, value, expected = _OPCODE_CHANGES, np.uint64(opcode), np.uint64(across.opcode)
            message = across
        else:
            rule, value, expected = _INTERLEAVED, np.uint64(stag), np.uint64(across.stag)
            across.open = 0
    if message.open:
        if stag != message.stag and rule < 0:
            if to == message.next:
                rule, value, expected = _STAG_CHANGES, np.uint64(stag), np.uint64(message.stag)
            else:
                rule, value, expected = _INTERLEAVED, np.uint64(stag), np.uint64(message.stag)
                message.open = 0
        elif to not in (message.next, message.other) and rule < 0:
            rule, value, expected = _TO, to, message.next
    if not message.open:
        _begin(message, half, opcode, np.uint32(0), stag, to)
        message.next = to
        message.other = to
    if payload > 0 and end < to and end != 0:
        rule, value, expected = _TO_WRAP, to, np.uint64(payload)
    if message.octets + np.uint64(payload) >= _MESSAGE_OCTETS and rule < 0:
        rule, value, expected = _LENGTH, message.octets + np.uint64(payload), np.uint64(0)
    held = message.next if to != message.other else to
    message.next = held + np.uint64(payload)
    message.other = to + np.uint64(payload)
    message.octets += np.uint64(payload)
    message.segments += 1
    if last:
        message.open = 0
    message.known = 1
    return rule, value, expected
