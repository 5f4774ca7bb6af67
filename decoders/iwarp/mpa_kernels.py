"""The octets of one half of a connection, taken apart into FPDUs: markers taken out, sums made, in pieces of any size.

Nothing of an FPDU is kept but its headers and its end; the sum runs along. So a connection costs the same whatever the
FPDUs' lengths, and a whole FPDU within one piece is summed in place.

Source: RFC 5044, 4.1 (FPDU), 4.2 and 4.3 (markers), 4.4 (CRC).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from freezeframe.decoders.iwarp.crc32c import crc32c_more, flipped_bit, swapped
from freezeframe.decoders.iwarp.head_kernels import release_head, take_head
from freezeframe.decoders.iwarp.message_kernels import untrusted
from freezeframe.decoders.iwarp.rdmap_kernels import QUEUE_OF
from freezeframe.decoders.iwarp.rows import event, fpdu_row, fragment, rule_number
from freezeframe.decoders.iwarp.state import (
    BAD,
    CUT,
    DAMAGED,
    FLIPPED,
    FLIPPED_IN_CRC,
    GOOD,
    HEAD_B,
    NO_REASON,
    OFF,
    SEARCH,
    SWAPPED,
    WITHOUT_MARKERS,
    ZERO,
)

MARKER_STEP_B, MARKER_B = 512, 4
_LONGEST_ULPDU = 64_768
_TAGGED = np.uint8(0x80)
TAGGED_B, UNTAGGED_B = 14, 18
_CRC = rule_number("mpa-crc")
_MARKER = rule_number("mpa-marker")
_LENGTH = rule_number("mpa-length")
_PAD = rule_number("mpa-pad")
_U0 = np.uint64(0)
_UNSUMMED = 3  # FPDUs
_CARRIERS = (
    1,
    7,
    10,
)  # opcodes whose payload says something: Read Request, Terminate, atomic request


@njit(cache=True, nogil=True)
def octets_of(ulpdu_B):  # type: ignore[no-untyped-def]
    """Return the octets of an FPDU without its markers."""
    return np.int64(2) + ulpdu_B + ((-(2 + ulpdu_B)) & 3) + 4


@njit(cache=True, nogil=True)
def plausible(octets, at, end, version):  # type: ignore[no-untyped-def]
    """Tell whether a header of an FPDU may stand here; of one that is not all there, as far as it is."""
    if end - at < 4:
        return False
    control, rdmap = np.int64(octets[at + 2]), np.int64(octets[at + 3])
    wanted = 1 if version < 0 else version
    if control & 3 != wanted or rdmap >> 6 != wanted:
        return False
    belongs = QUEUE_OF[rdmap & 15]
    tagged = control & 0x80 != 0
    if belongs == -2 or (belongs == -1) != tagged:
        return False
    size = np.int64(octets[at]) << 8 | np.int64(octets[at + 1])
    return (14 if tagged else 18) <= size <= _LONGEST_ULPDU


@njit(cache=True, nogil=True)
def begin_fpdu(half):  # type: ignore[no-untyped-def]
    """Forget the FPDU that has passed."""
    half.got = 0
    half.total = 0
    half.size = 0
    half.crc = 0
    half.crc_plain = 0
    half.markers_in = 0
    half.marker_bad = -1
    half.missing = 0
    half.begin = half.position
    half.fragment_first = -1
    half.fragment_last = -1


@njit(cache=True, nogil=True)
def take_octets(s, number, octets, at, size, absent, packet, t_ps):  # type: ignore[no-untyped-def]
    """Take octets that come next in a half, up to the end of the FPDU they are in; return how many.

    The FPDU is whole when ``got`` of the half is its ``total``. ``absent``: the capture does not have them; where the
    length of the FPDU is not known either, none is taken.
    """
    half = s.halves[number]
    if absent:
        if half.total == 0:
            return np.int64(0)
        half.missing = half.missing or _missing(half, s.heads[half.head])
    elif half.got == 0 and half.marker_got == 0 and half.markers_in == 0:
        half.packet = packet
        half.t_ps = t_ps
        half.begin = half.position
        half.last_packet = packet
        half.last_ps = t_ps
    # Early octets are handed on with what was missing before them: the latest packet completes an FPDU.
    half.last_packet = max(half.last_packet, packet)
    half.last_ps = max(half.last_ps, t_ps)
    place = take_head(s, half)
    end = at + size
    left = size
    while left > 0:
        at = end - left
        run = left
        if half.markers > 0:
            into = (half.position - half.start) & (MARKER_STEP_B - 1)
            if into < MARKER_B:
                take = min(left, MARKER_B - into)
                _take_marker(half, octets, at, take, into, absent)
                left -= take
                continue
            run = min(left, MARKER_STEP_B - into)
        if half.total == 0:
            if half.got == 0:
                half.head_at = half.position
            take = min(run, 2 - half.got)
            for i in range(take):
                s.heads[place, half.got + i] = octets[at + i]
            if take == 2 and run > 2:  # its length and what follows in one sum
                half.size = np.int64(octets[at]) << 8 | np.int64(octets[at + 1])
                half.total = octets_of(half.size)
            else:
                _sum(half, octets, at, take)
                half.got += take
                half.position += take
                left -= take
                if half.got == 2:
                    half.size = np.int64(s.heads[place, 0]) << 8 | np.int64(s.heads[place, 1])
                    half.total = octets_of(half.size)
                continue
        take = min(run, half.total - half.got)
        if not absent:
            _take_run(s, half, place, octets, at, take)
        half.got += take
        half.position += take
        left -= take
        if half.got == half.total:
            break
    return size - left


@njit(cache=True, nogil=True)
def _missing(half, head):  # type: ignore[no-untyped-def]
    """Return 2 where the header of an FPDU is there as far as it says anything, else 1; before octets are missed."""
    header_B = 2 + (TAGGED_B if head[2] & _TAGGED else UNTAGGED_B)
    if half.got >= min(HEAD_B, 2 + half.size):
        return 2
    carries = half.got >= 4 and head[3] & 15 in _CARRIERS
    return 2 if half.got >= header_B and not carries else 1


@njit(cache=True, nogil=True)
def _take_run(s, half, place, octets, at, take):  # type: ignore[no-untyped-def]
    """Keep and sum octets of an FPDU between two markers."""
    got = half.got
    for i in range(got, min(got + take, HEAD_B)):
        s.heads[place, i] = octets[at + i - got]
    summed = min(take, half.total - 4 - got)
    if summed > 0:
        _sum(half, octets, at, summed)
    tail = 2 + half.size
    for i in range(max(got, tail), got + take):
        s.tails[place, i - tail] = octets[at + i - got]
    if s.keeps_payload and got + take > 2:
        # What of it is payload: the header's length shows in its third octet.
        header_B = 2 + (TAGGED_B if s.heads[place, 2] & _TAGGED else UNTAGGED_B)
        begin, end = max(got, header_B), min(got + take, tail)
        if begin < end:
            fragment(s, half, octets, at + begin - got, end - begin)


@njit(cache=True, nogil=True)
def _sum(half, buffer, at, size):  # type: ignore[no-untyped-def]
    half.crc = crc32c_more(half.crc, buffer, at, size)
    if half.markers > 0:
        half.crc_plain = crc32c_more(half.crc_plain, buffer, at, size)


@njit(cache=True, nogil=True)
def _take_marker(half, octets, at, take, into, absent):  # type: ignore[no-untyped-def]
    """Take octets of a marker, from its octet ``into`` on; a marker after the CRC opens the next FPDU."""
    if not absent:
        half.crc = crc32c_more(half.crc, octets, at, take)
        for i in range(take):
            half.marker = np.uint32(half.marker << np.uint32(8)) | np.uint32(octets[at + i])
    half.position += take
    half.marker_got = (into + take) & 3
    if into + take < MARKER_B:
        return
    half.markers_in += 1
    points = np.int64(half.marker & np.uint32(0xFFFC))
    expected = half.position - MARKER_B - half.head_at if half.got > 0 else np.int64(0)
    if points != expected and half.marker_bad < 0:
        half.marker_bad = points
        half.marker_expected = expected


@njit(cache=True, nogil=True)
def judge(s, slot, side, packet, t_ps):  # type: ignore[no-untyped-def]
    """Judge a whole FPDU and make its row; return whether its segment can be taken as it is."""
    half = s.halves[2 * slot + side]
    connection = s.connections[slot]
    head, tail = s.heads[half.head], s.tails[half.head]
    pad = half.total - 6 - half.size
    crc = np.uint32(0)
    for i in range(3, -1, -1):
        crc = np.uint32(crc << np.uint32(8)) | np.uint32(tail[pad + i])
    verdict, reason, flip = GOOD, NO_REASON, np.int64(-1)
    if connection.crc < 0 and not half.missing:
        if crc == half.crc or crc == swapped(half.crc):
            connection.crc = 1
        else:  # a wrong sum, or none: several one after the other are none
            connection.unsummed += 1
            connection.crc = 0 if connection.unsummed == _UNSUMMED else -1
    if half.missing:
        verdict = CUT
    elif connection.crc == 0 or (connection.crc < 0 and not half.guessed):
        verdict = OFF
    elif crc != half.crc:
        verdict = BAD
        reason, flip = _reason(half, crc, half.total - 4 + MARKER_B * half.markers_in)
    if half.guessed and verdict in (BAD, CUT):  # there are markers after all, or no chain
        half.guessed = 0
        half.markers = -1
        half.mode = SEARCH
        half.skipped = half.total
        untrusted(s, slot, side)
        return False
    if half.guessed and verdict == GOOD and half.total > MARKER_STEP_B + MARKER_B:
        half.guessed = 0
    # After a wrong sum only what cannot have been hit is trusted.
    known = connection.crc >= 0 or half.missing > 0
    trusted = verdict != BAD or reason in (FLIPPED_IN_CRC, SWAPPED, WITHOUT_MARKERS, ZERO)
    if reason == FLIPPED and flip >= 8 * (MARKER_B * half.markers_in + HEAD_B):
        trusted = True
    trusted = trusted and known
    header_B = TAGGED_B if head[2] & _TAGGED else UNTAGGED_B
    fpdu_row(s, connection, half, side, head, verdict, reason, flip, np.uint32(crc), packet, t_ps)
    half.count += 1
    connection.octets[side] += max(np.int64(0), half.size - header_B)
    if verdict == BAD:
        connection.bad[side] += 1
        event(s, connection, half, side, _CRC, np.uint64(crc), np.uint64(half.crc), packet, t_ps)
        s.events[s.counts[2] - 1].detail = (flip + 1) << 8 | reason
    if half.marker_bad >= 0 and trusted and not half.missing:
        points, expected = np.uint64(half.marker_bad), np.uint64(half.marker_expected)
        event(s, connection, half, side, _MARKER, points, expected, packet, t_ps)
    if not trusted:
        if not known:
            half.suspect = 1 - plausible(head, np.int64(0), np.int64(4), connection.version)
        if half.suspect:  # twice in a row: the chain of lengths is lost
            half.mode = SEARCH
            half.known = 0
        half.suspect = 1 - half.suspect if known else 0
        untrusted(s, slot, side)
        return False
    half.suspect = 0
    if half.missing == 1:
        untrusted(s, slot, side)
        return False
    if half.size < header_B or half.size > _LONGEST_ULPDU:
        event(s, connection, half, side, _LENGTH, np.uint64(half.size), _U0, packet, t_ps)
    if verdict != CUT:
        for i in range(pad):
            if tail[i]:
                event(s, connection, half, side, _PAD, _U0, _U0, packet, t_ps)
                break
    return half.size >= header_B


@njit(cache=True, nogil=True)
def _reason(half, crc, summed_B):  # type: ignore[no-untyped-def]
    """Return why a sum may be wrong, and the bit of the FPDU that was flipped, -1 where it was not one."""
    if crc == 0:
        return ZERO, np.int64(-1)
    if crc == swapped(half.crc):
        return SWAPPED, np.int64(-1)
    if half.markers_in > 0 and crc == half.crc_plain:
        return WITHOUT_MARKERS, np.int64(-1)
    difference = np.uint32(crc ^ half.crc)
    if difference & np.uint32(difference - np.uint32(1)) == 0:
        bit = np.int64(0)
        while difference >> np.uint32(bit) != 1:
            bit += 1
        return FLIPPED_IN_CRC, 8 * summed_B + bit
    bit = flipped_bit(difference, summed_B)
    return (FLIPPED, bit) if bit >= 0 else (DAMAGED, bit)


@njit(cache=True, nogil=True)
def finish_cut(s, slot, side, packet, t_ps):  # type: ignore[no-untyped-def]
    """Make the row of an FPDU that the stream ends in, where its length is known."""
    half = s.halves[2 * slot + side]
    if half.total > 0:
        half.missing = half.missing or _missing(half, s.heads[half.head])
        verdict, reason, none = np.int64(CUT), np.int64(NO_REASON), np.int64(-1)
        connection, head = s.connections[slot], s.heads[half.head]
        fpdu_row(s, connection, half, side, head, verdict, reason, none, np.uint32(0), packet, t_ps)
    begin_fpdu(half)
    release_head(s, half)
