"""The start of a connection: the Request and the Reply of MPA, found after any octets of a streaming mode before them.

Source: RFC 5044, 7.1 (frames and rules); RFC 6581, 6 and 9 (revision 2, enhanced data).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from freezeframe.decoders.iwarp.hold_kernels import drop_front, hold_octets, release
from freezeframe.decoders.iwarp.message_kernels import untrusted
from freezeframe.decoders.iwarp.mpa_kernels import begin_fpdu
from freezeframe.decoders.iwarp.private_kernels import keep_private
from freezeframe.decoders.iwarp.rdmap_kernels import ENHANCED, PEER_TO_PEER
from freezeframe.decoders.iwarp.rows import TWO, big, event, rule_number
from freezeframe.decoders.iwarp.state import (
    AWAITS_REPLY,
    FPDUS,
    MOST_PRIVATE_B,
    SEARCH,
    SKIP,
    STARTUP,
)

FRAME_B, ENHANCED_B = 20, 4
LONGEST_FRAME_B = FRAME_B + MOST_PRIVATE_B
REQUEST, REPLY = 0, 1
_REQUEST_KEY = np.frombuffer(b"MPA ID Req Frame", np.uint8)
_REPLY_KEY = np.frombuffer(b"MPA ID Rep Frame", np.uint8)
_KEY_B, _SIMILAR_B = 16, 12
_MARKERS, _CRC, _REJECT = 0x80, 0x40, 0x20
_LAST_REVISION = 2
_RDMAC = 0

_KEY = rule_number("mpa-key")
_PRIVATE = rule_number("mpa-private-data-length")
_REVISION = rule_number("mpa-revision")
_TWO_REQUESTS = rule_number("mpa-two-requests")
_TWO_REPLIES = rule_number("mpa-two-replies")
_MISMATCH = rule_number("mpa-enhanced-mismatch")
_SHORT = rule_number("mpa-enhanced-short")
_MODEL = rule_number("mpa-model-mismatch")
_NO_RTR = rule_number("mpa-no-rtr-offered")
_RTR = rule_number("mpa-rtr-not-offered")
_ORD = rule_number("mpa-ord-over-ird")
_DIFFERS = rule_number("tcp-retransmit-differs")
_REJECTED = rule_number("rejected")
_U0 = np.uint64(0)


@njit(cache=True, nogil=True)
def matching(octets, at, size, key):  # type: ignore[no-untyped-def]
    """Return how many of the first 16 octets are those of a key, as far as they are there."""
    count = 0
    for i in range(min(_KEY_B, size)):
        count += octets[at + i] == key[i]
    return count


@njit(cache=True, nogil=True)
def find_frame(octets, begin, end):  # type: ignore[no-untyped-def]
    """Return where a Request or a Reply begins, or may begin at the end of the octets; ``end`` for nowhere."""
    for at in range(begin, end):
        if octets[at] != 0x4D:  # M
            continue
        there = min(_KEY_B, end - at)
        if (
            matching(octets, at, there, _REQUEST_KEY) == there
            or matching(octets, at, there, _REPLY_KEY) == there
        ):
            return np.int64(at)
    return np.int64(end)


@njit(cache=True, nogil=True)
def looks_like_a_frame(octets, at, size):  # type: ignore[no-untyped-def]
    """Tell whether octets are nearly the key of a Request or a Reply."""
    if size < _KEY_B:
        return False
    best = max(matching(octets, at, size, _REQUEST_KEY), matching(octets, at, size, _REPLY_KEY))
    return _SIMILAR_B <= best < _KEY_B


@njit(cache=True, nogil=True)
def frame_size(octets, at, end):  # type: ignore[no-untyped-def]
    """Return the octets of the frame that begins at ``at``; 0 where not enough of it is there to tell."""
    if end - at < FRAME_B:
        return np.int64(0)
    return FRAME_B + np.int64(big(octets, at + 18, TWO))


@njit(cache=True, nogil=True)
def take_frame(s, slot, side, octets, at, size, packet, t_ps):  # type: ignore[no-untyped-def]
    """Take a whole frame, or one whose length cannot be; set what both halves do from here on.

    The half's position is that of the frame's first octet; it is moved after the frame.
    """
    connection, half, peer = (
        s.connections[slot],
        s.halves[2 * slot + side],
        s.halves[2 * slot + 1 - side],
    )
    which = REQUEST if octets[at + 9] == _REQUEST_KEY[9] else REPLY
    half.begin = half.position
    private_B = size - FRAME_B
    flags, revision = np.int64(octets[at + 16]), np.int64(octets[at + 17])
    connection.started = 1
    connection.frame_flags[which] = flags
    connection.revision[which] = revision
    connection.private_B[which] = private_B if private_B <= MOST_PRIVATE_B else -1
    if which == REQUEST:
        connection.request_packet = packet
        connection.crc = 1 if flags & _CRC else -1
    else:
        connection.reply_packet = packet
    half.position += size
    for who in range(2):
        this = s.halves[2 * slot + who]
        if this.differs_B > 0:  # before it was known that this is iWARP
            begin, this.begin = this.begin, this.differs_at
            event(
                s,
                connection,
                this,
                who,
                _DIFFERS,
                np.uint64(this.differs_B),
                _U0,
                this.differs_packet,
                this.differs_ps,
            )
            this.begin = begin
            this.differs_B = 0
    if private_B > MOST_PRIVATE_B:
        event(s, connection, half, side, _PRIVATE, np.uint64(private_B), _U0, packet, t_ps)
        half.mode = SKIP
        peer.mode = SKIP
        return
    keep_private(s, connection, which, octets, at + FRAME_B, private_B)
    ok = _check_frame(s, slot, side, which, flags, revision, private_B, packet, t_ps)
    if which == REQUEST:
        if not ok:
            half.mode = AWAITS_REPLY
            connection.initiator = side
            return
        if peer.mode == AWAITS_REPLY:
            event(s, connection, half, side, _TWO_REQUESTS, _U0, _U0, packet, t_ps)
            half.mode = SKIP
            peer.mode = SKIP
            return
        connection.initiator = side
        half.mode = AWAITS_REPLY
        return
    missed = connection.midstream or half.behind or not peer.syn
    if connection.initiator == side or (connection.initiator < 0 and not missed):
        event(s, connection, half, side, _TWO_REPLIES, _U0, _U0, packet, t_ps)
        half.mode = SKIP
        peer.mode = SKIP
        return
    _establish(s, slot, side, packet, t_ps)


@njit(cache=True, nogil=True)
def _check_frame(s, slot, side, which, flags, revision, private_B, packet, t_ps):  # type: ignore[no-untyped-def]
    """Report what is wrong in a frame; False where the connection cannot begin with it."""
    connection, half = s.connections[slot], s.halves[2 * slot + side]
    asked = connection.initiator >= 0
    if revision > _LAST_REVISION:
        event(
            s,
            connection,
            half,
            side,
            _REVISION,
            np.uint64(revision),
            np.uint64(_LAST_REVISION),
            packet,
            t_ps,
        )
        return False
    if which == REPLY and asked and revision != connection.revision[0]:
        expected = np.uint64(max(0, connection.revision[0]))
        event(s, connection, half, side, _REVISION, np.uint64(revision), expected, packet, t_ps)
        return True
    enhanced = flags & ENHANCED and revision == _LAST_REVISION
    if which == REPLY and asked and not flags & _REJECT:
        theirs = connection.frame_flags[0] & ENHANCED and connection.revision[0] == _LAST_REVISION
        if (enhanced != 0) != (theirs != 0):
            event(s, connection, half, side, _MISMATCH, _U0, _U0, packet, t_ps)
            return True
    if not enhanced:
        return True
    if private_B < ENHANCED_B:
        event(
            s,
            connection,
            half,
            side,
            _SHORT,
            np.uint64(private_B),
            np.uint64(ENHANCED_B),
            packet,
            t_ps,
        )
        return True
    page = s.private[connection.private_page[which]]
    first = np.int64(big(page, np.int64(0), TWO))
    second = np.int64(big(page, TWO, TWO))
    connection.ird[which] = first & 0x3FFF
    connection.ord[which] = second & 0x3FFF
    model = (first >> 15) << 3 | (first >> 14 & 1) << 2 | (second >> 15) << 1 | (second >> 14 & 1)
    connection.model[which] = model
    if which == REPLY and flags & _REJECT:
        return True
    if model & PEER_TO_PEER and model & 7 == 0:
        event(s, connection, half, side, _NO_RTR, _U0, _U0, packet, t_ps)
    if which == REPLY and asked:
        theirs = np.int64(connection.model[0])
        if (model ^ theirs) & PEER_TO_PEER:
            event(s, connection, half, side, _MODEL, _U0, _U0, packet, t_ps)
        elif model & PEER_TO_PEER and model & 7 and model & theirs & 7 == 0:
            event(
                s,
                connection,
                half,
                side,
                _RTR,
                np.uint64(model & 7),
                np.uint64(theirs & 7),
                packet,
                t_ps,
            )
        if (
            connection.ord[1] > connection.ird[0]
            and connection.ord[1] != 0x3FFF
            and connection.ird[0] != 0x3FFF
        ):
            event(
                s, connection, half, side, _ORD, np.uint64(connection.ord[1]),
                np.uint64(connection.ird[0]), packet, t_ps,
            )  # fmt: skip
    return True


@njit(cache=True, nogil=True)
def _establish(s, slot, side, packet, t_ps):  # type: ignore[no-untyped-def]
    """Begin FPDUs in both directions after a Reply of ``side``, unless it rejects."""
    connection, half, peer = (
        s.connections[slot],
        s.halves[2 * slot + side],
        s.halves[2 * slot + 1 - side],
    )
    if connection.frame_flags[1] & _REJECT:
        connection.rejected = 1
        event(s, connection, half, side, _REJECTED, _U0, _U0, packet, t_ps)
        half.mode = SKIP
        peer.mode = SKIP
        return
    seen = connection.initiator >= 0
    connection.initiator = 1 - side
    both = connection.frame_flags[1] | connection.frame_flags[0]
    connection.crc = 1 if both & _CRC else (0 if seen else -1)
    connection.version = 0 if connection.revision[1] == _RDMAC else 1
    peer.markers = 1 if connection.frame_flags[1] & _MARKERS else 0
    if not seen:
        for this in (half, peer):
            this.mode = SEARCH
            this.known = 0
        untrusted(s, slot, 1 - side)
        return
    peer.replay = 0 if peer.hold >= 0 else -1  # FPDUs that came before this Reply
    half.markers = 1 if connection.frame_flags[0] & _MARKERS else 0
    for this in (half, peer):
        this.start = this.position
        this.known = 1
        this.reads_known = 1
        this.mode = FPDUS
        begin_fpdu(this)


@njit(cache=True, nogil=True)
def take_start(s, slot, side, octets, at, size, packet, t_ps):  # type: ignore[no-untyped-def]
    """Look for the Request or the Reply; what is before it is the ULP's own, of a streaming mode.

    Returns:
        How many octets were taken: up to the end of the frame, where there is one.
    """
    half = s.halves[2 * slot + side]
    if half.hold >= 0:
        if hold_octets(s, half, octets, at, size, packet, t_ps):
            take_held_start(s, slot, side, packet, t_ps)
        else:
            release(s, half)
            half.mode = SKIP
        return size
    end = at + size
    if _may_become_a_key(s, slot, side, octets, at, size):
        if not hold_octets(s, half, octets, at, size, packet, t_ps):
            half.mode = SKIP
        return size
    _check_key(s, slot, side, octets, at, size, packet, t_ps)
    begin = find_frame(octets, at, end)
    if half.mode == STARTUP and begin == end:
        for near in range(at + 1, end - _KEY_B + 1):
            if octets[near] == _REQUEST_KEY[0] and half.mode == STARTUP:
                _check_key(s, slot, side, octets, np.int64(near), end - near, packet, t_ps)
    if half.mode != STARTUP or begin == end:
        half.position += size
        return size
    half.position += begin - at
    whole = frame_size(octets, begin, end)
    if whole == 0 or (whole <= LONGEST_FRAME_B and begin + whole > end):
        if not hold_octets(s, half, octets, begin, end - begin, packet, t_ps):
            half.mode = SKIP
        return size
    take_frame(s, slot, side, octets, begin, whole, packet, t_ps)
    return min(begin + whole, end) - at


@njit(cache=True, nogil=True)
def take_held_start(s, slot, side, packet, t_ps):  # type: ignore[no-untyped-def]
    """Look for a frame in what is held; what follows it in the hold is to be replayed."""
    half = s.halves[2 * slot + side]
    octets, there = s.holds[half.hold], s.hold_size[half.hold]
    if _may_become_a_key(s, slot, side, octets, np.int64(0), there):
        return
    _check_key(s, slot, side, octets, np.int64(0), there, packet, t_ps)
    place = find_frame(octets, np.int64(0), there)
    if half.mode != STARTUP or place == there:
        half.position += there
        release(s, half)
        return
    if place > 0:
        drop_front(s, half, place)
        there -= place
    whole = frame_size(octets, np.int64(0), there)
    if whole == 0 or (whole <= LONGEST_FRAME_B and whole > there):
        return
    take_frame(s, slot, side, octets, np.int64(0), whole, packet, t_ps)
    if whole < there:
        half.replay = whole
    else:
        release(s, half)


@njit(cache=True, nogil=True)
def _may_become_a_key(s, slot, side, octets, at, size):  # type: ignore[no-untyped-def]
    """Tell whether fewer octets than a key has are nearly one so far, where a frame may be due."""
    half, peer = s.halves[2 * slot + side], s.halves[2 * slot + 1 - side]
    if size >= _KEY_B or not (half.position == 0 or peer.mode == AWAITS_REPLY):
        return False
    best = max(matching(octets, at, size, _REQUEST_KEY), matching(octets, at, size, _REPLY_KEY))
    return 4 * best >= 3 * size


@njit(cache=True, nogil=True)
def _check_key(s, slot, side, octets, at, size, packet, t_ps):  # type: ignore[no-untyped-def]
    """Report a frame whose key is nearly one, at the start of a segment."""
    connection, half, peer = (
        s.connections[slot],
        s.halves[2 * slot + side],
        s.halves[2 * slot + 1 - side],
    )
    if looks_like_a_frame(octets, at, size):
        half.begin = half.position
        event(s, connection, half, side, _KEY, _U0, _U0, packet, t_ps)
        connection.started = 1
        half.mode = SKIP
        peer.mode = SKIP
