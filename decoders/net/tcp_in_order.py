"""The segments of most captures: next in the stream of a connection that is known, and handed on where they lie.

A loop of its own, called as such, because what else can happen to a segment needs so much code that, compiled into
one, the loop is half as fast.

Source: RFC 9293, 3.1 (header).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from freezeframe.decoders.net.header_kernels import (
    TCP,
    big_4,
    big_8,
    byte,
    network_layer,
    transport_layer,
)
from freezeframe.decoders.net.tcp_connections import find, hash_of
from freezeframe.decoders.net.tcp_held import remember
from freezeframe.decoders.net.tcp_state import (
    ACKED,
    ACKED_PACKET,
    ACKED_PS,
    AUX,
    BASE,
    BASED,
    CONNECTION,
    DATA,
    FIN_AT,
    FIRST_HELD,
    HAS_DATA,
    KIND,
    LAST_PS,
    LAST_USED,
    LENGTH,
    NEXT,
    NUMBER,
    OFFSET,
    PACKETS,
    PAYLOAD_B,
    PIECE_PACKET,
    PIECE_POSITION,
    PIECE_PS,
    PIECES,
    SIDE,
    SLOT,
    STATE,
    STREAM_B,
    TCP_PACKETS,
    WIRE_B,
)

FIN_FLAG, SYN_FLAG, RST_FLAG, ACK_FLAG = 1, 2, 4, 16
FRAGMENT = -2
_WRAP = (1 << 32) - 1
_LARGEST_B = 1 << 20  # of a segment; hosts hand over up to 512 KB at a time


@njit(cache=True, nogil=True)
def segment_at(buffer, at, size, wire_B, linktype):  # type: ignore[no-untyped-def]
    """Return IP version, and where in the packet IP, TCP, the payload begin and the payload ends on the wire.

    Where there is no segment the payload's place is -1, and that of TCP `FRAGMENT` in the later part of one.
    """
    nothing = np.int64(-1)
    l3, kind = network_layer(buffer, at, size, linktype)
    if l3 < 0:
        return nothing, l3, nothing, nothing, nothing
    version, protocol, l4, end = transport_layer(buffer, at, l3, size, wire_B, kind)
    if protocol != TCP:
        return version, l3, nothing, nothing, nothing
    if l4 < 0:
        return version, l3, np.int64(FRAGMENT), nothing, nothing
    if l4 + 14 > min(size, end):
        return version, l3, nothing, nothing, nothing
    data = l4 + 4 * (byte(buffer, at + l4 + 12) >> 4)
    if data < l4 + 20 or not 0 <= end - data <= _LARGEST_B:
        data = nothing
    return version, l3, l4, data, end


@njit(cache=True, nogil=True)
def addresses_at(buffer, at, version):  # type: ignore[no-untyped-def]
    """Return source and destination as `header_kernels.COLUMNS` has them, two halves each."""
    if version == 4:
        return big_4(buffer, at + 12), np.int64(-1), big_4(buffer, at + 16), np.int64(-1)
    return (
        big_8(buffer, at + 8), big_8(buffer, at + 16), big_8(buffer, at + 24), big_8(buffer, at + 32)
    )  # fmt: skip


@njit(cache=True, nogil=True)
def acknowledge(state, s, ack, packet, t_ps):  # type: ignore[no-untyped-def]
    """Note how far the other side has the stream of side ``s``."""
    side = state.side
    ahead = (ack - side[s, BASE] - side[s, NEXT]) & _WRAP
    if ahead > _WRAP >> 1:
        return
    position = side[s, NEXT] + ahead
    if side[s, FIN_AT] >= 0:
        position = min(position, side[s, FIN_AT])
    if position > side[s, ACKED]:
        if position > side[s, NEXT] >= side[s, ACKED]:
            side[s, ACKED_PACKET], side[s, ACKED_PS] = packet, t_ps
        side[s, ACKED] = position


@njit(cache=True, nogil=True)
def follow_in_order(  # type: ignore[no-untyped-def]
    states, out, buffer, offset, captured, wire_B, times, linktype, first, begin, end
):  # fmt: skip
    """Follow packets of ``[begin, end)``; return which is the first that needs more than this."""
    state = states[0]
    connection, side, now = state.connection, state.side, state.now
    for i in range(begin, end):
        at, size = offset[i], captured[i]
        version, l3, l4, data, stop = segment_at(buffer, at, size, wire_B[i], linktype[i])
        if data < 0:
            if l4 == FRAGMENT:
                return i
            continue
        a, length = at + l4, stop - data
        if byte(buffer, a + 13) & (SYN_FLAG | RST_FLAG | FIN_FLAG) or stop > size:
            return i
        ports, seq = big_4(buffer, a), big_4(buffer, a + 4)
        src, src_low, dst, dst_low = addresses_at(buffer, at + l3, version)
        key = hash_of(src, src_low, dst, dst_low, ports)
        c, whose = find(state, key, version, src, src_low, dst, dst_low, ports)
        if c < 0:
            return i
        s, o, n = 2 * c + whose, 2 * c + 1 - whose, now[PIECES]
        position = side[s, NEXT]
        if (
            not side[s, STATE] & HAS_DATA or side[s, FIRST_HELD] >= 0 or side[s, FIN_AT] >= 0
            or (side[s, BASE] + position - seq) & _WRAP or n >= out.shape[1]
            or side[s, ACKED] > position + length or side[o, ACKED] > side[o, NEXT]
        ):  # fmt: skip
            return i
        if byte(buffer, a + 13) & ACK_FLAG and side[o, STATE] & BASED:
            missed = (big_4(buffer, a + 8) - side[o, BASE] - side[o, NEXT]) & _WRAP
            if 0 < missed <= _WRAP >> 1:
                return i
        connection[c, LAST_USED] = first + i
        now[TCP_PACKETS] += 1
        side[s, LAST_PS] = times[i]
        side[s, PACKETS] += 1
        side[s, WIRE_B] += wire_B[i]
        if length:
            number = connection[c, NUMBER]
            out[KIND, n], out[SIDE, n], out[AUX, n], out[SLOT, n] = DATA, whose, 0, c
            out[CONNECTION, n], out[PIECE_POSITION, n] = number, position
            out[OFFSET, n], out[LENGTH, n] = at + data, length
            out[PIECE_PACKET, n], out[PIECE_PS, n] = first + i, times[i]
            now[PIECES] = n + 1
            remember(state, 2 * number + whose, position, buffer, at + data, length)
            side[s, PAYLOAD_B] += length
            side[s, STREAM_B] += length
            side[s, NEXT] = position + length
        if byte(buffer, a + 13) & ACK_FLAG and side[o, STATE] & BASED:
            acknowledge(state, o, big_4(buffer, a + 8), first + i, times[i])
    return max(begin, end)
