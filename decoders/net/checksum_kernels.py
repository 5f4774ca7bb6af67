"""The loops over the bytes of packets that check them: Internet checksums, the frame check sequence, and what else the
table of packets has of a header.

Source: RFC 1071 (checksum), 9293 3.1, 768, 4443 2.3, 8200 8.1; IEEE 802.3-2018, 3.2.9 (FCS).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from freezeframe.capture.packets.block import SLL, SLL2
from freezeframe.decoders.net.header_kernels import (
    IP_PROTOCOL,
    IP_VERSION,
    L3,
    L4,
    TCP,
    big_2,
    big_4,
    byte,
    transport_layer,
)
from freezeframe.decoders.trace.crc_kernels import T32

MORE_COLUMNS = (
    "ip_ttl", "fragment", "tcp_ack", "tcp_window", "payload_B", "ip_sum", "sum", "fcs", "fcs_ok", "direction",
)  # fmt: skip
"""Each int64, -1 where a packet has none. ``ip_sum``, ``sum`` (of what IP carries): a verdict, see below.
``payload_B``: what UDP or TCP carry, on the wire; else what IP carries."""
IP_TTL, FRAGMENT, TCP_ACK, TCP_WINDOW, PAYLOAD_B, IP_SUM, SUM, FCS, FCS_OK, DIRECTION = range(10)

UNKNOWN, WRONG, GOOD, OFFLOADED, ABSENT = -1, 0, 1, 2, 3
IN, OUT = 1, 2
_ICMP, _UDP, _ICMP6 = 1, 17, 58
_START = np.uint32(0xFFFFFFFF)
_IPV4, _IPV6 = 0x0800, 0x86DD


@njit(cache=True, nogil=True)
def words_sum(buffer, at, size):  # type: ignore[no-untyped-def]
    """Return the sum of big-endian words of 16 bits, not folded; an odd byte is padded with zero.

    Eight bytes at a time, least significant first: the sum of swapped words is the swapped sum (RFC 1071, 2 B).
    """
    end, swapped = at + size, np.int64(0)
    while at + 8 <= end:
        swapped += _little_4(buffer, at) + _little_4(buffer, at + 4)
        at += 8
    swapped = folded(swapped)
    total = swapped >> 8 | (swapped & 0xFF) << 8
    while at + 2 <= end:
        total += big_2(buffer, at)
        at += 2
    if at < end:
        total += byte(buffer, at) << 8
    return total


@njit(cache=True, nogil=True)
def _little_4(buffer, at):  # type: ignore[no-untyped-def]
    return (
        byte(buffer, at)
        | byte(buffer, at + 1) << 8
        | byte(buffer, at + 2) << 16
        | byte(buffer, at + 3) << 24
    )


@njit(cache=True, nogil=True)
def folded(total):  # type: ignore[no-untyped-def]
    """Return a sum with its carries added in, in 16 bits."""
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


@njit(cache=True, nogil=True)
def crc32_at(buffer, at, size):  # type: ignore[no-untyped-def]
    """Return the CRC-32/ISO-HDLC of bytes that begin anywhere."""
    crc, end = _START, at + size
    while at + 8 <= end:
        first = np.uint32(crc ^ np.uint32(_little_4(buffer, at)))
        crc = (
            T32[7, first & 0xFF] ^ T32[6, first >> 8 & 0xFF] ^ T32[5, first >> 16 & 0xFF] ^ T32[4, first >> 24]
            ^ T32[3, byte(buffer, at + 4)] ^ T32[2, byte(buffer, at + 5)]
            ^ T32[1, byte(buffer, at + 6)] ^ T32[0, byte(buffer, at + 7)]
        )  # fmt: skip
        at += 8
    while at < end:
        crc = np.uint32(crc >> np.uint32(8)) ^ T32[0, (np.int64(crc) ^ byte(buffer, at)) & 0xFF]
        at += 1
    return np.int64(np.uint32(crc ^ _START))


@njit(cache=True, nogil=True)
def _transport_sum(buffer, at, l3, l4, end, version, protocol):  # type: ignore[no-untyped-def]
    """Return the verdict on the checksum of TCP, UDP or ICMP in a packet that is there whole."""
    length, a = end - l4, at + l4
    if protocol == TCP:
        field = 16
    elif protocol == _UDP:
        field = 6
    elif protocol == _ICMP or (protocol == _ICMP6 and version == 6):
        field = 2
    else:
        return UNKNOWN
    if length < field + 2:
        return UNKNOWN
    has = big_2(buffer, a + field)
    if protocol == _UDP and has == 0:
        return ABSENT
    pseudo = np.int64(0)
    if protocol != _ICMP:
        pseudo = protocol + words_sum(
            buffer, at + l3 + (12 if version == 4 else 8), 8 if version == 4 else 32
        )
    whole = folded(words_sum(buffer, a, length) + pseudo + (length if protocol != _ICMP else 0))
    if whole == 0xFFFF:
        return GOOD
    # A host that leaves the sum to its card writes that of the pseudo-header there.
    if protocol in (TCP, _UDP) and has in (folded(pseudo + length), folded(pseudo)):
        return OFFLOADED
    return WRONG


@njit(cache=True, nogil=True)
def check_packets(buffer, offset, captured, length, wire_B, linktype, fcs_B, headers, out):  # type: ignore[no-untyped-def]
    """Write the columns of `MORE_COLUMNS`, ``(10, n)`` that hold -1.

    Args:
        captured, length: captured bytes, and those without the check sequence where that is there.
        wire_B: bytes on the wire, with the check sequence.
        fcs_B: bytes of check sequence on the wire, below 1 where that is not known.
        headers: what `parse_headers` wrote.
    """
    for i in range(offset.size):
        at, size = offset[i], length[i]
        if captured[i] - size == 4:
            out[FCS, i] = _little_4(buffer, at + size)
            out[FCS_OK, i] = crc32_at(buffer, at, size) == out[FCS, i]
        if linktype[i] in (SLL, SLL2) and size >= 16:
            kind = big_2(buffer, at) if linktype[i] == SLL else byte(buffer, at + 10)
            out[DIRECTION, i] = OUT if kind == 4 else IN if kind < 3 else -1
        version = headers[IP_VERSION, i]
        if version < 0:
            continue
        l3, l4, protocol = headers[L3, i], headers[L4, i], headers[IP_PROTOCOL, i]
        a = at + l3
        whole_B = wire_B[i] - max(np.int64(0), fcs_B[i])
        _, _, begins, end = transport_layer(
            buffer, at, l3, size, whole_B, np.int64(_IPV4 if version == 4 else _IPV6)
        )
        fragment = begins < 0 and protocol >= 0
        if version == 4:
            out[IP_TTL, i] = byte(buffer, a + 8)
            header_B = 4 * (byte(buffer, a) & 15)
            if l3 + header_B <= size:
                good = folded(words_sum(buffer, a, header_B)) == 0xFFFF
                zero = big_2(buffer, a + 10) == 0
                out[IP_SUM, i] = GOOD if good else OFFLOADED if zero else WRONG
            fragment = big_2(buffer, a + 6) & 0x3FFF != 0
        else:
            out[IP_TTL, i] = byte(buffer, a + 7)
        out[FRAGMENT, i] = fragment
        if l4 < 0:
            continue
        data = l4
        if protocol == TCP and l4 + 20 <= size:
            out[TCP_ACK, i] = big_4(buffer, at + l4 + 8)
            out[TCP_WINDOW, i] = big_2(buffer, at + l4 + 14)
        if protocol == TCP and l4 + 13 <= size:
            data = l4 + 4 * (byte(buffer, at + l4 + 12) >> 4)
        elif protocol == _UDP:
            data = l4 + 8
        out[PAYLOAD_B, i] = max(np.int64(0), end - data)
        if not fragment and end <= size and end > l4:
            out[SUM, i] = _transport_sum(buffer, at, l3, l4, end, version, protocol)
