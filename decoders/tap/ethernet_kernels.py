"""The loops over the bytes of packets: CRC-32 of each, and the columns of Ethernet headers.

Source: IEEE 802.3-2018, 3.1, 3.2.9; IEEE 802.1Q-2018, 9.5; RFC 791, 8200, 9293, 768, 792, 826.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from freezeframe.decoders.trace.crc_kernels import T32, crc32_two, crc32_word

Bytes = npt.NDArray[np.uint8]
Int64 = npt.NDArray[np.int64]

_START = np.uint32(0xFFFFFFFF)
_VLAN, _SERVICE_VLAN, _OLD_SERVICE_VLAN = 0x8100, 0x88A8, 0x9100
_MOST_LENGTH = 1500  # a type field up to here is a length
_IPV4, _IPV6, _ARP = 0x0800, 0x86DD, 0x0806
_ICMP, _TCP, _UDP, _ICMP6 = 1, 6, 17, 58
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
def _crc32_rest(crc, words, word, size):  # type: ignore[no-untyped-def]
    """Return the CRC-32/ISO-HDLC after ``size`` more bytes, which begin with a word; ``crc``: the remainder so far."""
    last = word + (size >> 3)
    while word + 1 < last:
        crc = crc32_two(crc, words[word], words[word + 1])
        word += 2
    if word < last:
        crc = crc32_word(crc, words[word])
        word += 1
    rest = size & 7
    if rest:
        x = words[word] ^ np.uint64(crc)
        crc = crc >> np.uint32(8 * rest) if rest < 4 else np.uint32(0)
        for place in range(rest):
            crc ^= T32[rest - 1 - place, x >> np.uint64(8 * place) & np.uint64(0xFF)]
    return crc ^ _START


@njit(cache=True, nogil=True)
def crc32_each(words, offset, length, out):  # type: ignore[no-untyped-def]
    """Write the CRC-32/ISO-HDLC of each packet; each begins with a word.

    Two packets at a time: one remainder waits for its look-ups, and so do not both.
    """
    for i in range(0, offset.size - 1, 2):
        one, two = offset[i] >> 3, offset[i + 1] >> 3
        both = min(length[i], length[i + 1]) >> 4
        a, b = _START, _START
        for _ in range(both):
            a = crc32_two(a, words[one], words[one + 1])
            b = crc32_two(b, words[two], words[two + 1])
            one += 2
            two += 2
        out[i] = _crc32_rest(a, words, one, length[i] - 16 * both)
        out[i + 1] = _crc32_rest(b, words, two, length[i + 1] - 16 * both)
    if offset.size & 1:
        out[-1] = _crc32_rest(_START, words, offset[-1] >> 3, length[-1])


@njit(cache=True, nogil=True)
def _big(buffer, at, size):  # type: ignore[no-untyped-def]
    value = np.uint64(0)
    for place in range(size):
        value = value << np.uint64(8) | np.uint64(buffer[at + place])
    return np.int64(value)


@njit(cache=True, nogil=True)
def parse_headers(buffer, offset, length, out):  # type: ignore[no-untyped-def]
    """Write the columns of `COLUMNS`, ``(23, n)`` that hold -1, from frames without preamble and FCS."""
    for i in range(offset.size):
        at, size = offset[i], length[i]
        if size < 14:
            continue
        out[DST, i] = _big(buffer, at, 6)
        out[SRC, i] = _big(buffer, at + 6, 6)
        head = 12
        kind = _big(buffer, at + head, 2)
        while kind in (_VLAN, _SERVICE_VLAN, _OLD_SERVICE_VLAN) and size >= head + 6:
            place = VLAN if head == 12 else VLAN_INNER
            if head <= 16:
                out[place, i] = _big(buffer, at + head + 2, 2) & 0xFFF
            head += 4
            kind = _big(buffer, at + head, 2)
        l3 = head + 2
        out[L3, i] = l3
        if kind <= _MOST_LENGTH:
            out[LLC_LENGTH, i] = kind
            continue
        out[ETHERTYPE, i] = kind
        l4, end = np.int64(-1), size
        if kind == _IPV4:
            l4, end = _ipv4(buffer, at, l3, size, out, i)
        elif kind == _IPV6:
            l4, end = _ipv6(buffer, at, l3, size, out, i)
        elif kind == _ARP and size - l3 >= 8:
            out[ARP_OPERATION, i] = _big(buffer, at + l3 + 6, 2)
        if l4 < 0 or l4 >= end:
            continue
        out[L4, i] = l4
        protocol, left = out[IP_PROTOCOL, i], end - l4
        if (protocol in (_TCP, _UDP)) and left >= 4:
            out[SRC_PORT, i] = _big(buffer, at + l4, 2)
            out[DST_PORT, i] = _big(buffer, at + l4 + 2, 2)
        if protocol == _TCP and left >= 14:
            out[TCP_SEQ, i] = _big(buffer, at + l4 + 4, 4)
            out[TCP_FLAGS, i] = np.int64(buffer[at + l4 + 13])
        if (protocol in (_ICMP, _ICMP6)) and left >= 2:
            out[ICMP_TYPE, i] = np.int64(buffer[at + l4])
            out[ICMP_CODE, i] = np.int64(buffer[at + l4 + 1])


@njit(cache=True, nogil=True)
def _ipv4(buffer, at, l3, size, out, i):  # type: ignore[no-untyped-def]
    """Write the columns of an IPv4 header; return where the next one begins, -1 for none, and where the packet ends.

    What lies behind the packet's own length is padding of the frame.
    """
    header_B = np.int64(4) * np.int64(buffer[at + l3] & 15) if size > l3 else np.int64(0)
    if size - l3 < 20 or buffer[at + l3] >> 4 != 4 or header_B < 20:
        return np.int64(-1), size
    out[IP_VERSION, i] = 4
    out[IP_PROTOCOL, i] = np.int64(buffer[at + l3 + 9])
    out[IP_ID, i] = _big(buffer, at + l3 + 4, 2)
    length = _big(buffer, at + l3 + 2, 2)
    out[IP_LENGTH, i] = length
    out[IP_SRC, i] = _big(buffer, at + l3 + 12, 4)
    out[IP_DST, i] = _big(buffer, at + l3 + 16, 4)
    # Length 0 is what a host hands to a card that cuts segments itself.
    end = min(size, l3 + length) if length else size
    first = _big(buffer, at + l3 + 6, 2) & 0x1FFF == 0
    return l3 + header_B if first else np.int64(-1), end


@njit(cache=True, nogil=True)
def _ipv6(buffer, at, l3, size, out, i):  # type: ignore[no-untyped-def]
    """Write the columns of an IPv6 header; return as `_ipv4`, behind the extension headers."""
    if size - l3 < 40 or buffer[at + l3] >> 4 != 6:
        return np.int64(-1), size
    out[IP_VERSION, i] = 6
    length = _big(buffer, at + l3 + 4, 2)
    out[IP_LENGTH, i] = length
    out[IP_SRC, i] = _big(buffer, at + l3 + 8, 8)
    out[IP_SRC_LOW, i] = _big(buffer, at + l3 + 16, 8)
    out[IP_DST, i] = _big(buffer, at + l3 + 24, 8)
    out[IP_DST_LOW, i] = _big(buffer, at + l3 + 32, 8)
    end = min(size, l3 + 40 + length) if length else size
    following = np.int64(buffer[at + l3 + 6])
    l4 = np.int64(l3 + 40)
    while following in (_HOP_BY_HOP, _ROUTING, _FRAGMENT, _AUTHENTICATION, _OPTIONS, _MOBILITY):
        if l4 + 8 > end:
            return np.int64(-1), end
        kind, following = following, np.int64(buffer[at + l4])
        if kind == _FRAGMENT:
            if _big(buffer, at + l4 + 2, 2) >> 3:
                out[IP_PROTOCOL, i] = following
                return np.int64(-1), end
            l4 += 8
        elif kind == _AUTHENTICATION:
            l4 += 4 * (np.int64(buffer[at + l4 + 1]) + 2)
        else:
            l4 += 8 * (np.int64(buffer[at + l4 + 1]) + 1)
    out[IP_PROTOCOL, i] = following
    return l4, end
