"""Pieces of TCP streams, through what each half is doing: start, wait for the Reply, FPDUs, search, nothing.

All layers are called from here, one after the other, and not by each other: numba compiles what a function calls into
it, again on each level. What a half held until more was known is taken before anything else, as if it came now.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from freezeframe.decoders.iwarp.end_kernels import end_connection, end_half
from freezeframe.decoders.iwarp.head_kernels import release_head
from freezeframe.decoders.iwarp.hold_kernels import give_back, held, hold_octets, release
from freezeframe.decoders.iwarp.message_kernels import untrusted
from freezeframe.decoders.iwarp.mpa_kernels import begin_fpdu, judge, take_octets
from freezeframe.decoders.iwarp.open_kernels import open_connection, open_half
from freezeframe.decoders.iwarp.rdmap_kernels import take_segment
from freezeframe.decoders.iwarp.rows import event, is_full, rule_number
from freezeframe.decoders.iwarp.search_kernels import search, take_searched
from freezeframe.decoders.iwarp.startup_kernels import take_start
from freezeframe.decoders.iwarp.state import AWAITS_REPLY, FPDUS, SEARCH, SKIP, STARTUP
from freezeframe.decoders.net.tcp_state import CLOSED, DATA, DIFFERS, FIN, GAP, LOST, RST, SYN

_GAP = rule_number("stream-gap")
_DIFFERS = rule_number("tcp-retransmit-differs")
_U0 = np.uint64(0)


@njit(cache=True, nogil=True)
def take_pieces(state, pieces, buffer, begin, inside):  # type: ignore[no-untyped-def]
    """Take pieces from number ``begin`` on, of that one what is after ``inside`` octets; return where to go on.

    Returns:
        The piece and the octets of it that were taken, where the rows might not fit; else the number of pieces.
    """
    s = state[0]
    hold = np.int64(-1)  # what is taken again, from its octet `again` on, of which half
    part, again, again_side = np.int64(0), np.int64(0), np.int64(0)
    for i in range(begin, pieces.kind.size):
        if is_full(s):
            return np.int64(i), inside
        slot, side, kind = (
            np.int64(pieces.slot[i]),
            np.int64(pieces.side[i]),
            np.int64(pieces.kind[i]),
        )
        connection = s.connections[slot]
        if not connection.followed or connection.number != pieces.connection[i]:
            open_connection(
                s,
                slot,
                pieces.connection[i],
                side,
                np.int64(kind == SYN),
                pieces.packet[i],
                pieces.t_ps[i],
            )
        if kind == DATA and pieces.aux[i]:  # requests may come after their responses
            s.halves[2 * slot + 1 - side].reads_known = 0
            s.halves[2 * slot + side].behind = 1
        left = pieces.length[i] - inside if kind in (DATA, GAP) else np.int64(0)
        noted = inside > 0 or kind == DATA
        inside = np.int64(0)
        while True:
            packet, t_ps, octets, absent = (
                pieces.packet[i],
                pieces.t_ps[i],
                buffer,
                np.int64(kind == GAP),
            )
            at, size, this = pieces.offset[i] + pieces.length[i] - left, left, side
            if hold < 0:
                for one in (1 - side, side):
                    half = s.halves[2 * slot + one]
                    if hold < 0 and half.replay >= 0:
                        hold, part, again, again_side = (
                            np.int64(half.hold),
                            np.int64(0),
                            half.replay,
                            one,
                        )
                        half.hold = -1
                        half.replay = -1
            if hold >= 0:
                parts = s.hold_next[hold]
                if part == parts:
                    give_back(s, hold)
                    hold = np.int64(-1)
                    if s.halves[2 * slot + again_side].mode == SEARCH:
                        search(s, slot, again_side, np.int64(0))
                    continue
                octets, absent, this = s.holds[hold], np.int64(0), again_side
                packet, t_ps = s.hold_parts[hold, part, 1], s.hold_parts[hold, part, 2]
                at = max(again, s.hold_parts[hold, part, 0])
                size = (
                    s.hold_parts[hold, part + 1, 0] if part + 1 < parts else s.hold_size[hold]
                ) - at
                if size <= 0:
                    part += 1
                    continue
            elif not noted:
                if _flush(s, slot, side, kind):
                    continue
                noted = True
                if kind == GAP:
                    _note_gap(s, slot, side, pieces.length[i], pieces.aux[i], packet, t_ps)
                else:
                    _note(
                        s,
                        slot,
                        side,
                        kind,
                        pieces.aux[i],
                        pieces.position[i],
                        pieces.length[i],
                        packet,
                        t_ps,
                    )
                continue
            elif left == 0:
                break
            elif is_full(s):
                return np.int64(i), pieces.length[i] - left
            half = s.halves[2 * slot + this]
            taken = np.int64(0)
            if half.mode == FPDUS:
                taken = take_octets(s, 2 * slot + this, octets, at, size, absent, packet, t_ps)
                if half.total > 0 and half.got == half.total:
                    if judge(s, slot, this, half.last_packet, half.last_ps):
                        take_segment(s, slot, this, half.last_packet, half.last_ps)
                    begin_fpdu(half)
                    release_head(s, half)
            elif half.mode == STARTUP and not absent:
                taken = take_start(s, slot, this, octets, at, size, packet, t_ps)
            elif half.mode == SEARCH and not absent:
                taken = size
                take_searched(s, slot, this, octets, at, size, np.int64(hold < 0), packet, t_ps)
            elif half.mode == AWAITS_REPLY and not absent:
                taken = size
                _hold_early(s, slot, this, octets, at, size, packet, t_ps)
            if absent and taken == 0:
                taken = size
                _lose(s, slot, this, size)
            elif half.mode == SKIP and taken == 0:
                taken = size
                half.position += size
            if hold >= 0:
                again = at + taken
            else:
                left -= taken
    return np.int64(pieces.kind.size), np.int64(0)


@njit(cache=True, nogil=True)
def _flush(s, slot, side, kind):  # type: ignore[no-untyped-def]
    """Search to their end what the halves hold that a gap or an end concerns; return whether there is more to take."""
    more = False
    for this in range(2):
        half = s.halves[2 * slot + this]
        concerned = this == side or kind in (RST, CLOSED)
        if concerned and kind not in (SYN, DIFFERS) and half.mode == SEARCH:
            search(s, slot, this, np.int64(1))
            more = more or half.replay >= 0
    return more


@njit(cache=True, nogil=True)
def _note_gap(s, slot, side, size, why, packet, t_ps):  # type: ignore[no-untyped-def]
    """Count octets that the capture does not have, and report those that were lost."""
    connection, half = s.connections[slot], s.halves[2 * slot + side]
    connection.gap_B[side] += size
    if why == LOST and (connection.started or half.count > 0):
        begin = half.begin
        half.begin = half.position + (held(s, half) if half.mode == SEARCH else np.int64(0))
        event(s, connection, half, side, _GAP, np.uint64(size), _U0, packet, t_ps)
        half.begin = begin


@njit(cache=True, nogil=True)
def _note(s, slot, side, kind, why, position, length, packet, t_ps):  # type: ignore[no-untyped-def]
    """Take what is no octets: SYN, FIN, RST, the end of following, a retransmission that differs."""
    connection, half = s.connections[slot], s.halves[2 * slot + side]
    if kind == SYN:
        if half.count == 0 and half.position == 0 and half.hold < 0:
            open_half(s, 2 * slot + side, np.int64(1))
    elif kind == DIFFERS:
        if connection.started or half.count > 0:
            begin = half.begin
            half.begin = position
            event(s, connection, half, side, _DIFFERS, np.uint64(length), _U0, packet, t_ps)
            half.begin = begin
        elif half.differs_B == 0:
            half.differs_at, half.differs_B = position, length
            half.differs_packet, half.differs_ps = packet, t_ps
    else:
        for this in range(2):
            if kind != FIN or this == side:
                end_half(
                    s, slot, this, kind, this == side and (kind == FIN or not why), packet, t_ps
                )
        if kind == CLOSED:
            end_connection(s, slot, why, packet, t_ps)


@njit(cache=True, nogil=True)
def _hold_early(s, slot, side, octets, at, size, packet, t_ps):  # type: ignore[no-untyped-def]
    """Hold what an initiator sends before the Reply that says how to read it."""
    half = s.halves[2 * slot + side]
    if s.halves[2 * slot + 1 - side].syn and not half.behind:
        half.early = 1  # reported with its first FPDU
    if not hold_octets(s, half, octets, at, size, packet, t_ps):
        release(s, half)
        half.mode = SKIP


@njit(cache=True, nogil=True)
def _lose(s, slot, side, size):  # type: ignore[no-untyped-def]
    """Go on after octets that the capture does not have, where no known length bridges them."""
    half = s.halves[2 * slot + side]
    there = held(s, half)
    half.position += there + size
    if half.mode == SKIP:
        return
    half.skipped += there + size
    release(s, half)
    half.known = 0
    half.syn = 0
    half.marker_got = 0
    untrusted(s, slot, side)
    begin_fpdu(half)
    release_head(s, half)
    if half.mode == STARTUP:
        s.connections[slot].midstream = 1
    peer = s.halves[2 * slot + 1 - side]
    if peer.mode == AWAITS_REPLY:  # the Reply may be among what is lost
        peer.mode = SEARCH
        peer.known = 0
        peer.early = 0
        peer.searched = 0
        untrusted(s, slot, 1 - side)
    half.mode = SEARCH
