"""Rows that the kernels write: FPDUs, events, and where payload lies that is wanted."""

from __future__ import annotations

import numpy as np
from numba import njit

from freezeframe.decoders.iwarp.rules import RULE_OF
from freezeframe.decoders.iwarp.state import HOLD_B, MOST_OUTSTANDING, ROOM_FOR_ONE

_TAGGED = np.uint8(0x80)
_TAGGED_END, _UNTAGGED_END = 16, 20
# Where fields of a header stand and their octets: int64, for which numba compiles `big` once and not for each value.
AT_STAG, AT_TO, AT_QUEUE, AT_MSN, AT_MO, TWO, FOUR, EIGHT = np.array([4, 8, 8, 12, 16, 2, 4, 8])


def rule_number(name: str) -> np.int64:
    """Return the number of a rule, of a type for which numba compiles a callee once and not for each value."""
    return np.int64(RULE_OF[name])


@njit(cache=True, nogil=True)
def is_full(s):  # type: ignore[no-untyped-def]
    """Tell whether the rows of one more piece might not fit; a piece of FPDUs ends early by itself."""
    return (
        s.counts[0] + ROOM_FOR_ONE > s.fpdus.size
        or s.counts[1] + 2 * MOST_OUTSTANDING > s.operations.size
        or s.counts[2] + ROOM_FOR_ONE > s.events.size
        or s.counts[8] + 1 > s.closed.size
        or (s.keeps_payload and s.counts[6] + ROOM_FOR_ONE > s.fragments.size)
        or (s.keeps_payload and s.counts[7] + 2 * HOLD_B > s.payload.size)
    )


@njit(cache=True, nogil=True)
def big(octets, at, size):  # type: ignore[no-untyped-def]
    """Return ``size`` octets as a number, the highest first."""
    value = np.uint64(0)
    for i in range(size):
        value = value << np.uint64(8) | np.uint64(octets[at + i])
    return value


@njit(cache=True, nogil=True)
def event(s, connection, half, side, rule, value, expected, packet, t_ps):  # type: ignore[no-untyped-def]
    """Write an event about the FPDU of a half that passes, or about the half where none does."""
    connection.events += 1
    if s.counts[2] >= s.events.size:
        return  # room is made before each step for all that a step can make
    row = s.events[s.counts[2]]
    s.counts[2] += 1
    row.t_ps = t_ps
    row.packet = packet
    row.connection = connection.number
    row.slot = connection.slot
    row.side = side
    row.position = half.begin
    row.fpdu = s.counts[3] if half.total > 0 else np.int64(-1)
    row.about = -1
    row.detail = 0
    row.rule = rule
    row.value = value
    row.expected = expected


@njit(cache=True, nogil=True)
def fpdu_row(s, connection, half, side, head, verdict, reason, flip, crc, packet, t_ps):  # type: ignore[no-untyped-def]
    """Write the row of an FPDU that has passed."""
    row = s.fpdus[s.counts[0]]
    s.counts[0] += 1
    tagged = head[2] & _TAGGED != 0
    end = _TAGGED_END if tagged else _UNTAGGED_END
    whole = half.size + 2 >= end and (half.missing == 0 or half.missing > 1)
    row.t_ps = t_ps
    row.t_begin_ps = half.t_ps
    row.packet = packet
    row.packet_begin = half.packet
    row.number = s.counts[3] + 1
    row.connection = connection.number
    row.slot = connection.slot
    row.side = side
    row.position = half.begin
    row.length = half.size
    row.markers = half.markers_in
    row.crc = crc
    row.crc_expected = half.crc
    row.verdict = verdict
    row.reason = reason
    row.flip = flip
    row.fragment = half.fragment_first
    row.read = whole
    row.control = head[2] if half.size > 0 else 0
    row.rdmap = head[3] if half.size > 1 else 0
    row.payload_B = max(np.int64(0), half.size + 2 - end)
    row.stag = big(head, AT_STAG, FOUR) if tagged else 0
    row.to = big(head, AT_TO, EIGHT) if tagged else np.uint64(0)
    row.invalidates = 0 if tagged else big(head, AT_STAG, FOUR)
    row.queue = 0 if tagged else big(head, AT_QUEUE, FOUR)
    row.msn = 0 if tagged else big(head, AT_MSN, FOUR)
    row.mo = 0 if tagged else big(head, AT_MO, FOUR)
    s.counts[3] += 1
    connection.rows[side] += 1


@njit(cache=True, nogil=True)
def fragment(s, half, buffer, at, size):  # type: ignore[no-untyped-def]
    """Keep octets of payload of the FPDU that passes."""
    n, offset = s.counts[6], s.counts[7]
    s.payload[offset : offset + size] = buffer[at : at + size]
    row = s.fragments[n]
    row.offset = offset
    row.length = size
    row.next = -1
    if half.fragment_first < 0:
        half.fragment_first = n
    else:
        s.fragments[half.fragment_last].next = n
    half.fragment_last = n
    s.counts[6] += 1
    s.counts[7] += size
