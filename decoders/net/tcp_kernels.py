"""The loop over packets that follows TCP: each side's bytes in order, once, with what is missing stated.

Source: RFC 9293, 3.4 (sequence numbers), 3.5 (opening), 3.6 (closing), 3.8.4 (keep-alives), 3.8.6.1 (zero-window
probes).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from freezeframe.decoders.net.header_kernels import big_4, byte
from freezeframe.decoders.net.tcp_connections import add, find, hash_of, least_recent, remove
from freezeframe.decoders.net.tcp_held import (
    differs_from_past,
    hold,
    pages_for,
    remember,
    take_first_held,
)
from freezeframe.decoders.net.tcp_in_order import (
    ACK_FLAG,
    FIN_FLAG,
    FRAGMENT,
    RST_FLAG,
    SYN_FLAG,
    acknowledge,
    addresses_at,
    follow_in_order,
    segment_at,
)
from freezeframe.decoders.net.tcp_state import (
    ACK_PS,
    ACKED,
    ACKED_PACKET,
    ACKED_PS,
    AGAIN,
    AT_END,
    AUX,
    BASE,
    BASED,
    CLOSED,
    CONNECTION,
    CUT,
    CUT_B,
    DATA,
    DIFFERENT,
    DIFFERS,
    EARLY,
    FIN,
    FIN_AT,
    FIN_SEEN,
    FIRST_HELD,
    FIRST_PS,
    FRAGMENTS,
    FREE_PAGES,
    GAP,
    GAPS,
    HAS_DATA,
    HOLE_AFTER,
    HOLE_BEFORE,
    HOLES_BEGIN,
    HOLES_END,
    KIND,
    LAST_PS,
    LAST_USED,
    LEAST_RECENT,
    LENGTH,
    LIVE,
    LOST,
    LOST_B,
    MOST_CONNECTIONS,
    NEXT,
    NUMBER,
    OFFSET,
    OVERFLOW,
    PACKETS,
    PAYLOAD_B,
    PIECE_PACKET,
    PIECE_POSITION,
    PIECE_PS,
    PIECES,
    POSITION,
    REPEATED,
    REPEATED_B,
    REPLACED,
    RESET,
    RESETS,
    RST,
    SAY_AGAIN,
    SIDE,
    SLOT,
    STATE,
    STREAM_B,
    SYN,
    SYN_PS,
    SYN_SEEN,
    TCP_PACKETS,
    WIRE_B,
)

_WRAP = 1 << 32
_NO = np.int64(0)  # of a type for which numba compiles a callee once, as constants of `tcp_state`
_OLDEST_AGAIN = 1 << 30  # the largest window: what is older is ahead, by a gap of more than 2 GB
# What came after its acknowledgement may only have been captured late: packets of several queues change places.
_PATIENCE_PACKETS, _PATIENCE_PS = 256, 10_000_000_000
_LARGEST_LOST_B = 1 << 20  # before a RST, whose sequence number may be anything
RUN = 256  # packets, before the loop for those in order has its turn again
_SPLITS = 64  # pages beyond its own that a segment may need, as it fills holes between held ones


@njit(cache=True, nogil=True)
def _put(state, out, kind, s, position, offset, length, packet, t_ps, aux):  # type: ignore[no-untyped-def]
    n = state.now[PIECES]
    if n >= out.shape[1]:
        state.now[OVERFLOW] += 1
        return
    state.now[PIECES] = n + 1
    out[KIND, n], out[SIDE, n], out[AUX, n], out[SLOT, n] = kind, s & 1, aux, s >> 1
    out[CONNECTION, n], out[PIECE_POSITION, n] = state.connection[s >> 1, NUMBER], position
    out[OFFSET, n], out[LENGTH, n], out[PIECE_PACKET, n], out[PIECE_PS, n] = (
        offset,
        length,
        packet,
        t_ps,
    )


@njit(cache=True, nogil=True)
def _gap(state, out, s, length, packet, t_ps, why):  # type: ignore[no-untyped-def]
    side = state.side
    _put(state, out, GAP, s, side[s, NEXT], _NO, length, packet, t_ps, why)
    side[s, NEXT] += length
    if why == LOST:
        side[s, GAPS] += 1
        side[s, LOST_B] += length
    else:
        side[s, CUT_B] += length


@njit(cache=True, nogil=True)
def _deliver(state, out, buffer, s, at, size, length, packet, t_ps):  # type: ignore[no-untyped-def]
    """Hand on the next ``length`` bytes of a stream, of which the first ``size`` are there."""
    side = state.side
    position = side[s, NEXT]
    side[s, STATE] |= HAS_DATA
    if size > 0:
        behind = side[s ^ 1, ACKED] > side[s ^ 1, NEXT] or side[s ^ 1, FIRST_HELD] >= 0
        _put(state, out, DATA, s, position, at, size, packet, t_ps, np.int64(behind))
        owner = 2 * state.connection[s >> 1, NUMBER] + (s & 1)
        remember(state, owner, position, buffer, at, size)
        side[s, NEXT] = position + size
        side[s, STREAM_B] += size
    if size < length:
        _gap(state, out, s, length - size, packet, t_ps, CUT)


@njit(cache=True, nogil=True)
def _end_if_reached(state, out, s, packet, t_ps):  # type: ignore[no-untyped-def]
    side = state.side
    if side[s, FIN_AT] >= 0 and side[s, NEXT] >= side[s, FIN_AT] and not side[s, STATE] & FIN_SEEN:
        side[s, STATE] |= FIN_SEEN
        _put(state, out, FIN, s, side[s, FIN_AT], _NO, _NO, packet, t_ps, _NO)


@njit(cache=True, nogil=True)
def _leave_holes(state, s):  # type: ignore[no-untyped-def]
    """Take a side out of the list of those with a hole, which is sorted by the age of the hole."""
    before, after = state.side[s, HOLE_BEFORE], state.side[s, HOLE_AFTER]
    if before < 0 and after < 0 and state.now[HOLES_BEGIN] != s:
        return
    if before >= 0:
        state.side[before, HOLE_AFTER] = after
    else:
        state.now[HOLES_BEGIN] = after
    if after >= 0:
        state.side[after, HOLE_BEFORE] = before
    else:
        state.now[HOLES_END] = before
    state.side[s, HOLE_BEFORE] = state.side[s, HOLE_AFTER] = -1


@njit(cache=True, nogil=True)
def _enter_holes(state, s):  # type: ignore[no-untyped-def]
    last = state.now[HOLES_END]
    state.side[s, HOLE_BEFORE], state.side[s, HOLE_AFTER] = last, -1
    if last >= 0:
        state.side[last, HOLE_AFTER] = s
    else:
        state.now[HOLES_BEGIN] = s
    state.now[HOLES_END] = s


@njit(cache=True, nogil=True)
def _release(state, out, buffer, s):  # type: ignore[no-untyped-def]
    """Hand on what is held and follows now."""
    side = state.side
    while side[s, FIRST_HELD] >= 0 and state.held[side[s, FIRST_HELD], POSITION] <= side[s, NEXT]:
        at, size, length, packet, t_ps = take_first_held(state, s, buffer)
        _deliver(state, out, buffer, s, at, size, length, packet, t_ps)
    _leave_holes(state, s)
    if side[s, FIRST_HELD] >= 0:
        _enter_holes(state, s)


@njit(cache=True, nogil=True)
def _give_up(state, out, buffer, s, packet, t_ps):  # type: ignore[no-untyped-def]
    """State the first hole of a side as lost, and go on behind it."""
    side = state.side
    to = side[s, FIN_AT] if side[s, FIRST_HELD] < 0 else state.held[side[s, FIRST_HELD], POSITION]
    if to > side[s, NEXT]:
        _gap(state, out, s, to - side[s, NEXT], packet, t_ps, LOST)
    _release(state, out, buffer, s)
    _end_if_reached(state, out, s, packet, t_ps)
    side[s, ACKED_PACKET], side[s, ACKED_PS] = packet, t_ps


@njit(cache=True, nogil=True)
def _flush(state, out, buffer, s, packet, t_ps):  # type: ignore[no-untyped-def]
    """Give up all holes of a side."""
    side = state.side
    while side[s, FIRST_HELD] >= 0 or side[s, FIN_AT] > side[s, NEXT]:
        _give_up(state, out, buffer, s, packet, t_ps)


@njit(cache=True, nogil=True)
def _position(side, s, seq):  # type: ignore[no-untyped-def]
    """Return the position in the stream of a sequence number, which is near the next."""
    ahead = (seq - side[s, BASE] - side[s, NEXT] + _OLDEST_AGAIN) % _WRAP
    return side[s, NEXT] + ahead - _OLDEST_AGAIN


@njit(cache=True, nogil=True)
def _miss_end(state, out, s, end, packet, t_ps):  # type: ignore[no-untyped-def]
    """State as lost what a side sent at its end, up to ``end``; one more than was seen may be a FIN that was not."""
    side = state.side
    if side[s, STATE] & BASED and side[s, FIN_AT] < 0 and end > side[s, NEXT] + 1:
        _gap(state, out, s, end - side[s, NEXT], packet, t_ps, LOST)


@njit(cache=True, nogil=True)
def _close(state, out, buffer, c, why, packet, t_ps):  # type: ignore[no-untyped-def]
    for s in range(2 * c, 2 * c + 2):
        _flush(state, out, buffer, s, packet, t_ps)
        _miss_end(state, out, s, state.side[s, ACKED], packet, t_ps)
    _put(state, out, CLOSED, 2 * c, state.side[2 * c, NEXT], _NO, _NO, packet, t_ps, why)
    remove(state, c)


@njit(cache=True, nogil=True)
def _again(state, out, s, position, length, packet, t_ps):  # type: ignore[no-untyped-def]
    """Count a segment with bytes that were there before."""
    state.side[s, REPEATED] += 1
    state.side[s, REPEATED_B] += length
    if state.now[SAY_AGAIN]:
        _put(state, out, AGAIN, s, position, _NO, length, packet, t_ps, _NO)


@njit(cache=True, nogil=True)
def _payload(state, out, buffer, s, position, at, size, length, packet, t_ps):  # type: ignore[no-untyped-def]
    """Put a segment in its place: hand it on, hold it, or compare it with what was there before."""
    side = state.side
    if position < 0:  # before the first byte that was seen: there is no place for it
        before = min(length, -position)
        position += before
        at += before
        length -= before
        size = max(np.int64(0), size - before)
    if length > 0 and position < side[s, NEXT]:
        old = min(length, side[s, NEXT] - position)
        # The byte of a keep-alive stands for nothing.
        if length > 1 or position < side[s, NEXT] - 1:
            owner = 2 * state.connection[s >> 1, NUMBER] + (s & 1)
            _again(state, out, s, position, old, packet, t_ps)
            both = min(size, old)
            if differs_from_past(state, owner, position, buffer, at, both):
                side[s, DIFFERENT] += 1
                _put(state, out, DIFFERS, s, position, at, both, packet, t_ps, _NO)
        position += old
        at += old
        length -= old
        size = max(np.int64(0), size - old)
    if length == 0:
        return
    first = side[s, FIRST_HELD]
    if position == side[s, NEXT] and (
        first < 0 or position + length <= state.held[first, POSITION]
    ):
        _deliver(state, out, buffer, s, at, size, length, packet, t_ps)
        if first >= 0:
            _release(state, out, buffer, s)
        return
    while state.now[FREE_PAGES] < pages_for(size) + _SPLITS and state.now[HOLES_BEGIN] >= 0:
        _give_up(state, out, buffer, state.now[HOLES_BEGIN], packet, t_ps)
    if position < side[s, NEXT]:  # its own hole was the oldest
        _payload_rest(state, out, buffer, s, position, at, size, length, packet, t_ps)
        return
    if position > side[s, NEXT]:
        side[s, EARLY] += 1
    had = side[s, FIRST_HELD] >= 0
    again, differs = hold(state, s, position, buffer, at, size, length, packet, t_ps)
    if again:
        _again(state, out, s, position, again, packet, t_ps)
    if differs:
        side[s, DIFFERENT] += 1
        _put(state, out, DIFFERS, s, position, at, size, packet, t_ps, _NO)
    if side[s, FIRST_HELD] >= 0 and state.held[side[s, FIRST_HELD], POSITION] <= side[s, NEXT]:
        _release(state, out, buffer, s)
    elif not had and side[s, FIRST_HELD] >= 0:
        _enter_holes(state, s)


@njit(cache=True, nogil=True)
def _payload_rest(state, out, buffer, s, position, at, size, length, packet, t_ps):  # type: ignore[no-untyped-def]
    """Hand on what of a segment is new after its own hole was given up; what came before it is not touched."""
    side = state.side
    old = min(length, side[s, NEXT] - position)
    if old < length and side[s, FIRST_HELD] < 0:
        left = max(np.int64(0), size - old)
        _deliver(state, out, buffer, s, at + old, left, length - old, packet, t_ps)


@njit(cache=True, nogil=True)
def _begin(  # type: ignore[no-untyped-def]
    state, out, buffer, c, whose, key, version, src, src_low, dst, dst_low, ports, flags, seq, packet, t_ps
):  # fmt: skip
    """Return slot and side of a packet that may begin a connection: unknown until now, or with a SYN."""
    side = state.side
    if c >= 0 and flags & SYN_FLAG:
        s = 2 * c + whose
        same = side[s, BASE] == (seq + 1) % _WRAP
        if not side[s, STATE] & BASED or same:
            return c, whose
        if not side[s, STATE] & (SYN_SEEN | HAS_DATA) and side[s, FIRST_HELD] < 0:
            side[s, STATE] &= ~BASED  # what was taken for its beginning held no byte
            return c, whose
        _close(state, out, buffer, c, REPLACED, packet, t_ps)
        c = np.int64(-1)
    if c < 0:
        if state.now[LIVE] >= MOST_CONNECTIONS:
            _close(state, out, buffer, least_recent(state), LEAST_RECENT, packet, t_ps)
        if flags & SYN_FLAG and flags & ACK_FLAG:  # from the end that was asked
            back = (ports & 0xFFFF) << 16 | ports >> 16
            return add(state, key, version, dst, dst_low, src, src_low, back, packet), np.int64(1)
        return add(state, key, version, src, src_low, dst, dst_low, ports, packet), np.int64(0)
    return c, whose


@njit(cache=True, nogil=True)
def _segment(state, out, buffer, s, at, size, length, flags, seq, ack, wire_B, packet, t_ps):  # type: ignore[no-untyped-def]
    """Follow one segment of side ``s``; its payload of ``length`` bytes begins at ``at``, ``size`` of it are there."""
    side = state.side
    if not side[s, PACKETS]:
        side[s, FIRST_PS] = t_ps
    side[s, LAST_PS] = t_ps
    side[s, PACKETS] += 1
    side[s, WIRE_B] += wire_B
    side[s, PAYLOAD_B] += length
    if flags & SYN_FLAG:
        seq = (seq + 1) % _WRAP
        if not side[s, STATE] & SYN_SEEN:
            side[s, STATE] |= BASED | SYN_SEEN
            side[s, BASE], side[s, SYN_PS], side[s, ACKED] = seq, t_ps, 0
            _put(state, out, SYN, s, _NO, _NO, _NO, packet, t_ps, _NO)
    elif (
        not side[s, STATE] & (SYN_SEEN | HAS_DATA)
        and side[s, FIRST_HELD] < 0
        and not flags & RST_FLAG
    ):
        if side[s, BASE] != seq:  # what was acknowledged is counted from elsewhere
            side[s, ACKED] = 0
        side[s, STATE] |= BASED
        side[s, BASE] = seq  # no byte was seen before
    if flags & ACK_FLAG and side[s ^ 1, STATE] & BASED:
        acknowledge(state, s ^ 1, ack, packet, t_ps)
        if (
            side[s, STATE] & side[s ^ 1, STATE] & SYN_SEEN
            and not side[s, ACK_PS]
            and not flags & SYN_FLAG
        ):
            side[s, ACK_PS] = t_ps
    if flags & RST_FLAG:
        _flush(state, out, buffer, s, packet, t_ps)
        _flush(state, out, buffer, s ^ 1, packet, t_ps)
        reached = _position(side, s, seq) if side[s, STATE] & BASED else np.int64(0)
        if reached > side[s, NEXT] + _LARGEST_LOST_B or side[s, FIN_AT] >= 0:
            reached = np.int64(0)
        _miss_end(state, out, s, max(reached, side[s, ACKED]), packet, t_ps)
        _miss_end(state, out, s ^ 1, side[s ^ 1, ACKED], packet, t_ps)
        side[s, STATE] |= RESET
        side[s, RESETS] += 1
        unsure = np.int64(reached > side[s, NEXT])
        _put(state, out, RST, s, side[s, NEXT], _NO, _NO, packet, t_ps, unsure)
        return
    position = _position(side, s, seq)
    if length:
        _payload(state, out, buffer, s, position, at, size, length, packet, t_ps)
    if flags & FIN_FLAG:
        if side[s, FIN_AT] < 0 and position + length >= side[s, NEXT]:
            side[s, FIN_AT] = position + length
        side[s, STATE] |= HAS_DATA
    if side[s, FIN_AT] >= 0:
        _end_if_reached(state, out, s, packet, t_ps)


@njit(cache=True, nogil=True)
def _give_up_acknowledged(state, out, buffer, c, packet, t_ps):  # type: ignore[no-untyped-def]
    """Give up the holes of a connection whose bytes the other side has, and had long enough."""
    side = state.side
    for s in range(2 * c, 2 * c + 2):
        while side[s, ACKED] > side[s, NEXT] and (
            side[s, FIRST_HELD] >= 0 or side[s, FIN_AT] > side[s, NEXT]
        ):
            waited = packet - side[s, ACKED_PACKET] > _PATIENCE_PACKETS
            if not waited and t_ps - side[s, ACKED_PS] <= _PATIENCE_PS:
                break
            _give_up(state, out, buffer, s, packet, t_ps)


@njit(cache=True, nogil=True)
def _slow(state, out, buffer, at, size, wire_B, t_ps, linktype, packet):  # type: ignore[no-untyped-def]
    """Follow a packet of any kind."""
    version, l3, l4, data, end = segment_at(buffer, at, size, wire_B, linktype)
    if data < 0:
        if l4 == FRAGMENT:
            state.now[FRAGMENTS] += 1
        return
    a = at + l4
    ports, seq, ack = big_4(buffer, a), big_4(buffer, a + 4), big_4(buffer, a + 8)
    flags = byte(buffer, a + 13)
    src, src_low, dst, dst_low = addresses_at(buffer, at + l3, version)
    key = hash_of(src, src_low, dst, dst_low, ports)
    c, whose = find(state, key, version, src, src_low, dst, dst_low, ports)
    if c < 0 or flags & SYN_FLAG:
        c, whose = _begin(
            state, out, buffer, c, whose, key, version, src, src_low, dst, dst_low, ports, flags, seq, packet, t_ps
        )  # fmt: skip
    state.connection[c, LAST_USED] = packet
    state.now[TCP_PACKETS] += 1
    s, length = 2 * c + whose, end - data
    there = max(np.int64(0), min(size, end) - data)
    _segment(state, out, buffer, s, at + data, there, length, flags, seq, ack, wire_B, packet, t_ps)
    _give_up_acknowledged(state, out, buffer, c, packet, t_ps)


@njit(cache=True, nogil=True)
def follow(states, out, buffer, offset, captured, wire_B, times, linktype, first, begin):  # type: ignore[no-untyped-def]
    """Follow some packets from ``begin`` on, of any kind; return where it stopped. Rows of ``out`` are written."""
    state = states[0]
    end, i = min(begin + RUN, offset.size), begin
    while i < end:
        _slow(
            state, out, buffer, offset[i], captured[i], wire_B[i], times[i], linktype[i], first + i
        )
        i = follow_in_order(
            states, out, buffer, offset, captured, wire_B, times, linktype, first, i + 1, end
        )
    return i


@njit(cache=True, nogil=True)
def close_all(states, out, buffer, most, packet, t_ps):  # type: ignore[no-untyped-def]
    """Close all connections, or ``most`` of them, the least recently used first."""
    state = states[0]
    for _ in range(min(most, state.now[LIVE])):
        _close(state, out, buffer, least_recent(state), AT_END, packet, t_ps)
