"""Headers of packets: where those of IP and of what it carries begin, and the columns of all their fields.

Card taps and files of packets go through the same loop.

Source: IEEE 802.3-2018, 3.1; IEEE 802.1Q-2018, 9.5; RFC 791, 8200, 9293, 768, 792, 826;
https://www.tcpdump.org/linktypes.html.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from freezeframe.capture.packets.block import (
    ETHERNET,
    IPV4,
    IPV6,
    LOOP,
    NULL,
    RAW,
    RAW_BSD,
    SLL,
    SLL2,
)

_VLAN, _SERVICE_VLAN, _OLD_SERVICE_VLAN = 0x8100, 0x88A8, 0x9100
_MOST_LENGTH = 1500  # a type field up to here is a length
_IPV4, _IPV6, _ARP = 0x0800, 0x86DD, 0x0806
_ICMP, TCP, _UDP, _ICMP6 = 1, 6, 17, 58
_HOP_BY_HOP, _ROUTING, _FRAGMENT, _AUTHENTICATION, _OPTIONS, _MOBILITY = 0, 43, 44, 51, 60, 135

COLUMNS = (
    "dst", "src", "vlan", "vlan_inner", "ethertype", "llc_length", "l3", "ip_version", "ip_protocol", "ip_id",
    "ip_length", "ip_src", "ip_dst", "ip_src_low", "ip_dst_low", "l4", "src_port", "dst_port", "tcp_seq", "tcp_flags",
    "icmp_type", "icmp_code", "arp_operation",
)  # fmt: skip
"""Each int64, -1 where a packet has none. ``l3``, ``l4``: where these headers begin, in bytes of the frame.

Of VLAN tags the outermost two. A frame with a length in place of a type has ``llc_length``. ``ip_protocol``: of IPv6
that behind its extension headers. Addresses of IPv6 are two halves of 64 bits, as bit patterns; ``ip_src_low`` and
``ip_dst_low`` the lower ones.
"""
(
    DST, SRC, VLAN, VLAN_INNER, ETHERTYPE, LLC_LENGTH, L3, IP_VERSION, IP_PROTOCOL, IP_ID,
    IP_LENGTH, IP_SRC, IP_DST, IP_SRC_LOW, IP_DST_LOW, L4, SRC_PORT, DST_PORT, TCP_SEQ, TCP_FLAGS,
    ICMP_TYPE, ICMP_CODE, ARP_OPERATION,
) = range(len(COLUMNS))  # fmt: skip


@njit(cache=True, nogil=True)
def byte(buffer, at):  # type: ignore[no-untyped-def]
    return np.int64(buffer[np.uint64(at)])


@njit(cache=True, nogil=True)
def big_2(buffer, at):  # type: ignore[no-untyped-def]
    """Return 2 bytes, most significant first."""
    a = np.uint64(at)
    return np.int64(buffer[a]) << 8 | np.int64(buffer[a + np.uint64(1)])


@njit(cache=True, nogil=True)
def big_4(buffer, at):  # type: ignore[no-untyped-def]
    return big_2(buffer, at) << 16 | big_2(buffer, at + 2)


@njit(cache=True, nogil=True)
def big_6(buffer, at):  # type: ignore[no-untyped-def]
    return big_4(buffer, at) << 16 | big_2(buffer, at + 4)


@njit(cache=True, nogil=True)
def big_8(buffer, at):  # type: ignore[no-untyped-def]
    return big_4(buffer, at) << 32 | big_4(buffer, at + 4)


@njit(cache=True, nogil=True)
def network_layer(buffer, at, size, linktype):  # type: ignore[no-untyped-def]
    """Return where the network layer of a packet begins, counted from ``at``, and its EtherType; -1 for none.

    A frame with a length in place of a type has that in place of the EtherType.
    """
    if linktype == ETHERNET:
        head = 12
    elif linktype == SLL:
        head = 14
    elif linktype == SLL2:
        if size < 20:
            return np.int64(-1), np.int64(-1)
        kind, l3 = big_2(buffer, at), np.int64(20)
        while kind in (_VLAN, _SERVICE_VLAN, _OLD_SERVICE_VLAN) and size >= l3 + 4:
            kind = big_2(buffer, at + l3 + 2)
            l3 += 4
        return l3, kind
    elif linktype in (RAW, RAW_BSD, IPV4, IPV6, NULL, LOOP):
        # The loopback's own word is in the byte order of the capturing host, and its values differ between systems.
        l3 = np.int64(4 if linktype in (NULL, LOOP) else 0)
        if size <= l3:
            return np.int64(-1), np.int64(-1)
        version = byte(buffer, at + l3) >> 4
        return l3, np.int64(_IPV4 if version == 4 else _IPV6 if version == 6 else -1)
    else:
        return np.int64(-1), np.int64(-1)
    if size < head + 2:
        return np.int64(-1), np.int64(-1)
    kind = big_2(buffer, at + head)
    while kind in (_VLAN, _SERVICE_VLAN, _OLD_SERVICE_VLAN) and size >= head + 6:
        head += 4
        kind = big_2(buffer, at + head)
    return np.int64(head + 2), kind


@njit(cache=True, nogil=True)
def transport_layer(buffer, at, l3, size, wire_B, kind):  # type: ignore[no-untyped-def]
    """Return IP version, protocol, where its header begins, and where the packet ends on the wire.

    Version 0: no IP. The header's place is -1 where it is not in the packet: in a fragment that is not the first,
    and where the packet is cut before it. What lies behind the packet's own length is padding of the frame; length 0
    is what a host hands to a card that cuts segments itself. The end may lie behind ``size``.
    """
    nothing = np.int64(0), np.int64(-1), np.int64(-1), wire_B
    if kind == _IPV4:
        if size - l3 < 20 or byte(buffer, at + l3) >> 4 != 4:
            return nothing
        header_B = 4 * (byte(buffer, at + l3) & 15)
        if header_B < 20:
            return nothing
        length = big_2(buffer, at + l3 + 2)
        end = l3 + length if length else wire_B
        first = big_2(buffer, at + l3 + 6) & 0x1FFF == 0
        l4 = l3 + header_B if first else np.int64(-1)
        return np.int64(4), byte(buffer, at + l3 + 9), l4, end
    if kind != _IPV6 or size - l3 < 40 or byte(buffer, at + l3) >> 4 != 6:
        return nothing
    length = big_2(buffer, at + l3 + 4)
    end = l3 + 40 + length if length else wire_B
    known = min(size, end)
    following = byte(buffer, at + l3 + 6)
    l4 = np.int64(l3 + 40)
    while following in (_HOP_BY_HOP, _ROUTING, _FRAGMENT, _AUTHENTICATION, _OPTIONS, _MOBILITY):
        if l4 + 8 > known:
            return np.int64(6), np.int64(-1), np.int64(-1), end
        extension, following = following, byte(buffer, at + l4)
        if extension == _FRAGMENT:
            if big_2(buffer, at + l4 + 2) >> 3:
                return np.int64(6), following, np.int64(-1), end
            l4 += 8
        elif extension == _AUTHENTICATION:
            l4 += 4 * (byte(buffer, at + l4 + 1) + 2)
        else:
            l4 += 8 * (byte(buffer, at + l4 + 1) + 1)
    return np.int64(6), following, l4, end


@njit(cache=True, nogil=True)
def parse_headers(buffer, offset, length, linktype, out):  # type: ignore[no-untyped-def]
    """Write the columns of `COLUMNS`, ``(23, n)`` that hold -1, from packets without preamble and FCS."""
    for i in range(offset.size):
        at, size = offset[i], length[i]
        l3, kind = network_layer(buffer, at, size, linktype[i])
        if linktype[i] == ETHERNET and size >= 14:
            out[DST, i] = big_6(buffer, at)
            out[SRC, i] = big_6(buffer, at + 6)
        elif linktype[i] == SLL and size >= 16 and big_2(buffer, at + 4) == 6:
            out[SRC, i] = big_6(buffer, at + 6)
        elif linktype[i] == SLL2 and size >= 20 and byte(buffer, at + 11) == 6:
            out[SRC, i] = big_6(buffer, at + 12)
        if l3 < 0:
            continue
        out[L3, i] = l3
        _vlan_tags(buffer, at, l3, linktype[i], out, i)
        if 0 <= kind <= _MOST_LENGTH:
            out[LLC_LENGTH, i] = kind
            continue
        out[ETHERTYPE, i] = kind
        if kind == _ARP and size - l3 >= 8:
            out[ARP_OPERATION, i] = big_2(buffer, at + l3 + 6)
        version, protocol, l4, end = transport_layer(buffer, at, l3, size, size, kind)
        if not version:
            continue
        _addresses(buffer, at + l3, version, out, i)
        out[IP_PROTOCOL, i] = protocol
        end = min(end, size)
        if l4 < 0 or l4 >= end:
            continue
        out[L4, i] = l4
        left = end - l4
        if (protocol in (TCP, _UDP)) and left >= 4:
            out[SRC_PORT, i] = big_2(buffer, at + l4)
            out[DST_PORT, i] = big_2(buffer, at + l4 + 2)
        if protocol == TCP and left >= 14:
            out[TCP_SEQ, i] = big_4(buffer, at + l4 + 4)
            out[TCP_FLAGS, i] = byte(buffer, at + l4 + 13)
        if (protocol in (_ICMP, _ICMP6)) and left >= 2:
            out[ICMP_TYPE, i] = byte(buffer, at + l4)
            out[ICMP_CODE, i] = byte(buffer, at + l4 + 1)


@njit(cache=True, nogil=True)
def _vlan_tags(buffer, at, l3, linktype, out, i):  # type: ignore[no-untyped-def]
    """Write the identifiers of the outermost two tags; ``l3`` says how many there are."""
    first = 14 if linktype == ETHERNET else 16 if linktype == SLL else 20
    if linktype not in (ETHERNET, SLL, SLL2):
        return
    for tag in range(min((l3 - first) // 4, 2)):
        out[VLAN + tag, i] = big_2(buffer, at + first + 4 * tag) & 0xFFF


@njit(cache=True, nogil=True)
def _addresses(buffer, at, version, out, i):  # type: ignore[no-untyped-def]
    """Write what the fixed part of an IP header says."""
    out[IP_VERSION, i] = version
    if version == 4:
        out[IP_ID, i] = big_2(buffer, at + 4)
        out[IP_LENGTH, i] = big_2(buffer, at + 2)
        out[IP_SRC, i] = big_4(buffer, at + 12)
        out[IP_DST, i] = big_4(buffer, at + 16)
        return
    out[IP_LENGTH, i] = big_2(buffer, at + 4)
    out[IP_SRC, i] = big_8(buffer, at + 8)
    out[IP_SRC_LOW, i] = big_8(buffer, at + 16)
    out[IP_DST, i] = big_8(buffer, at + 24)
    out[IP_DST_LOW, i] = big_8(buffer, at + 32)
