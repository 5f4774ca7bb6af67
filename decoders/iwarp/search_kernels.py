"""Find FPDUs again: in a capture that begins in the middle, after a gap, after damage to the chain of lengths.

A place is taken where a header is plausible and the sum over its length is right; where no sum is in force, where three
plausible headers follow each other. Whether there are markers, and where, is found with it.

Source: RFC 5044, 4.3 (what a marker points to), 4.1 (lengths); iWARP has no other mark.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from freezeframe.decoders.iwarp.crc32c import crc32c_more, swapped
from freezeframe.decoders.iwarp.hold_kernels import drop_front, held, hold_octets, release
from freezeframe.decoders.iwarp.message_kernels import untrusted
from freezeframe.decoders.iwarp.mpa_kernels import begin_fpdu, plausible
from freezeframe.decoders.iwarp.rdmap_kernels import QUEUE_OF
from freezeframe.decoders.iwarp.rows import FOUR, big, event, rule_number
from freezeframe.decoders.iwarp.startup_kernels import LONGEST_FRAME_B, find_frame, frame_size
from freezeframe.decoders.iwarp.state import AWAITS_REPLY, FPDUS, HOLD_B, HOLD_PARTS, SKIP, STARTUP

MARKER_STEP_B = 512
_CHAIN_WITHOUT_SUMS = 3
_GIVE_UP_B = 1 << 20
_RESYNCHRONIZED = rule_number("resynchronized")
FOUND, NOT_FOUND, MORE, GUESSED = 1, 0, 2, 3


@njit(cache=True, nogil=True)
def _length(octets, at, marker):  # type: ignore[no-untyped-def]
    """Return the octets of the FPDU with its header at ``at``, markers inside with it; ``marker``: of one, or -1."""
    size = np.int64(octets[at]) << 8 | np.int64(octets[at + 1])
    left = 6 + size + ((-(2 + size)) & 3)
    if marker < 0:
        return left
    place, total = at, np.int64(0)
    while left > 0:
        run = (marker - place) % MARKER_STEP_B
        if run == 0:
            place += 4
            total += 4
            run = np.int64(MARKER_STEP_B - 4)
        run = min(run, left)
        place += run
        total += run
        left -= run
    return total


@njit(cache=True, nogil=True)
def _is_right(octets, at, size, before):  # type: ignore[no-untyped-def]
    """Tell whether the last four octets are the sum of the others, and of a marker ``before`` the header."""
    seen = np.uint32(0)
    for i in range(4):
        seen |= np.uint32(octets[at + size - 4 + i]) << np.uint32(8 * i)
    begin = at - 4 if before else at
    crc = crc32c_more(np.uint32(0), octets, begin, at + size - 4 - begin)
    return seen == crc or seen == swapped(crc)


@njit(cache=True, nogil=True)
def find_chain(octets, size, markers, phase, summed, version, flush):  # type: ignore[no-untyped-def]
    """Find the first FPDU in ``size`` octets.

    Args:
        markers: 1 with, 0 without, -1 not known; ``phase``: the place of a marker modulo 512, -1 not known.
        summed: 0 where no sum is in force.
        flush: no more octets come, so what is there must do.
    Returns:
        FOUND, NOT_FOUND, MORE, or GUESSED: found, and that there are no markers is not proven; the place, a marker
        right before the header counted with it; markers; a marker's
        place or -1.
    """
    none = np.int64(-1)
    wait = False
    for at in range(size - 19):
        if not plausible(octets, at, size, version):
            continue
        if markers == 1 and phase >= 0:
            if (phase - at) & 3 or (phase - at) % MARKER_STEP_B == 0:
                continue
            marker = at + (phase - at) % MARKER_STEP_B
            verdict = _try(
                octets, at, size, marker, (at - 4 - phase) % MARKER_STEP_B == 0 and at >= 4, summed
            )
            if verdict == FOUND:
                before = (at - 4 - phase) % MARKER_STEP_B == 0 and at >= 4
                return FOUND, np.int64(at - 4 if before else at), 1, np.int64(marker)
            wait = wait or verdict == MORE
            continue
        if markers != 0:
            marker = _marker_in(octets, at, size)
            if marker >= 0:
                before = at >= 4 and (at - 4 - marker) % MARKER_STEP_B == 0
                verdict = _try(octets, at, size, marker, before, summed)
                if verdict == FOUND:
                    return FOUND, np.int64(at - 4 if before else at), 1, marker
                wait = wait or verdict == MORE
        if markers != 1:
            verdict, found = _follow(octets, at, size, markers, summed, version, flush)
            if verdict in (FOUND, GUESSED):
                return verdict, np.int64(at), 1 if found >= 0 else 0, found
            wait = wait or verdict == MORE
    return (MORE if wait and not flush else NOT_FOUND), none, 0, none


@njit(cache=True, nogil=True)
def _marker_in(octets, at, size):  # type: ignore[no-untyped-def]
    """Return the place of a marker in this FPDU that points to its header, within 512 octets; -1 for none."""
    for distance in range(4, MARKER_STEP_B + 1, 4):
        if at + distance + 4 > size:
            break
        if big(octets, at + distance, FOUR) == distance:
            inside = distance < _length(octets, at, np.int64(at + distance))
            return np.int64(at + distance) if inside else np.int64(-1)
    return np.int64(-1)


@njit(cache=True, nogil=True)
def _try(octets, at, size, marker, before, summed):  # type: ignore[no-untyped-def]
    total = _length(octets, at, marker)
    if at + total > size:
        return MORE
    if summed == 0:
        return FOUND if big(octets, marker, FOUR) == np.uint64(marker - at) else NOT_FOUND
    return FOUND if _is_right(octets, at, total, before) else NOT_FOUND


@njit(cache=True, nogil=True)
def _follow(octets, at, size, markers, summed, version, flush):  # type: ignore[no-untyped-def]
    """Follow a chain without markers until it is sure that there are none; return the verdict, and where one came."""
    place, count, wanted = np.int64(at), 0, 1 if summed != 0 else _CHAIN_WITHOUT_SUMS
    while True:
        convinced = count >= wanted
        if place > at and markers < 0 and size - place >= 8 and big(octets, place, FOUR) == 0:
            return FOUND, place  # a marker between two FPDUs
        if convinced and (markers == 0 or place - at > MARKER_STEP_B + 4):
            return FOUND, np.int64(-1)
        if place + 20 > size or not plausible(octets, place, size, version):
            if place + 20 > size:
                return (GUESSED if flush and convinced else MORE), np.int64(-1)
            return NOT_FOUND, np.int64(-1)
        total = _length(octets, place, np.int64(-1))
        if place + total > size:
            return (GUESSED if flush and convinced else MORE), np.int64(-1)
        if summed == 0 and not _is_strict(octets, place):
            return NOT_FOUND, np.int64(-1)
        if summed != 0 and not _is_right(octets, place, total, False):
            if count and markers < 0:
                marker = _marker_in(octets, place, size)
                verdict = (
                    _try(octets, place, size, marker, False, summed) if marker >= 0 else NOT_FOUND
                )
                if verdict != NOT_FOUND:
                    return verdict, marker
            # Without any sum in force only a long chain of lengths convinces.
            if not _is_unsummed(octets, place, total) or not _is_strict(octets, place):
                return NOT_FOUND, np.int64(-1)
            wanted = _CHAIN_WITHOUT_SUMS
        place += total
        count += 1


@njit(cache=True, nogil=True)
def _is_strict(octets, at):  # type: ignore[no-untyped-def]
    """Tell whether in a header of 20 octets without a marker also that is right which a receiver need not check."""
    if octets[at + 2] & 0x3C or octets[at + 3] & 0x30:
        return False
    return octets[at + 2] & 0x80 or big(octets, at + 8, FOUR) == QUEUE_OF[octets[at + 3] & 15]


@njit(cache=True, nogil=True)
def _is_unsummed(octets, at, total):  # type: ignore[no-untyped-def]
    """Tell whether the place of the sum holds zeros: a sender that was told to make none."""
    return big(octets, at + total - 4, FOUR) == 0


@njit(cache=True, nogil=True)
def take_searched(s, slot, side, octets, at, size, now, packet, t_ps):  # type: ignore[no-untyped-def]
    """Add octets to a search; the oldest are given up where they are too many.

    ``now``: search in them where enough are new; else what comes before them is taken first.
    """
    half = s.halves[2 * slot + side]
    there = held(s, half)
    if there == 0:
        half.searched = 0
    crowded = there > 0 and s.hold_next[half.hold] == HOLD_PARTS
    if there + size > HOLD_B or crowded:
        out = min(there, max(size, np.int64(there // 2 if crowded else HOLD_B // 2)))
        drop_front(s, half, out)
        half.skipped += out
        half.searched = 0
    if half.count == 0 and half.skipped > _GIVE_UP_B:
        half.position += held(s, half) + size
        release(s, half)
        half.mode = SKIP
    elif not hold_octets(s, half, octets, at, size, packet, t_ps):
        half.position += size
        half.skipped += size
    elif now and held(s, half) >= half.searched:
        search(s, slot, side, np.int64(0))


@njit(cache=True, nogil=True)
def search(s, slot, side, flush):  # type: ignore[no-untyped-def]
    """Search in what is held; what is found is to be replayed."""
    connection, half = s.connections[slot], s.halves[2 * slot + side]
    if half.hold < 0:
        return
    hold = half.hold
    octets, there = s.holds[hold], s.hold_size[hold]
    packet, t_ps = s.hold_parts[hold, 0, 1], s.hold_parts[hold, 0, 2]
    awaited = connection.initiator < 0 or s.halves[2 * slot + 1 - side].mode == AWAITS_REPLY
    if awaited and half.count == 0:
        place = find_frame(octets, np.int64(0), there)
        whole = frame_size(octets, place, there)
        if whole > 0 and place + whole <= there:
            half.position += place
            half.mode = STARTUP
            half.replay = place
            return
    phase = np.int64(-1)
    if half.markers > 0 and half.start >= 0:
        phase = (half.start - half.position) & 511
    unknown = half.markers < 0 or half.guessed
    known = np.int64(-1) if unknown else np.int64(half.markers)
    verdict, place, markers, marker = find_chain(
        octets,
        there,
        known,
        phase,
        np.int64(connection.crc),
        np.int64(connection.version),
        flush,
    )
    if verdict not in (FOUND, GUESSED):
        half.searched = there + there // 8 + 1 if verdict == MORE else 2 * there
        if awaited and there < LONGEST_FRAME_B:
            half.searched = there + 1  # a frame may be awaited
        return
    half.skipped += place
    if markers and half.start < 0:
        half.start = ((half.position + marker) & (MARKER_STEP_B - 1)) - MARKER_STEP_B
    half.position += place
    half.mode = FPDUS
    half.marker_got = 0
    half.suspect = 0
    half.guessed = unknown and verdict == GUESSED
    half.markers = markers
    begin_fpdu(half)
    if half.skipped > 0:
        half.known = 0
        untrusted(s, slot, side)
        event(
            s,
            connection,
            half,
            side,
            _RESYNCHRONIZED,
            np.uint64(half.skipped),
            np.uint64(0),
            packet,
            t_ps,
        )
    half.skipped = 0
    half.replay = place
