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
_VLAN, _SERVICE_VLAN = 0x8100, 0x88A8
_IPV4, _IPV6, _ARP = 0x0800, 0x86DD, 0x0806
_ICMP, _TCP, _UDP, _ICMP6 = 1, 6, 17, 58

COLUMNS = (
    "dst", "src", "vlan", "ethertype", "l3", "ip_version", "ip_protocol", "ip_id", "ip_length", "ip_src", "ip_dst",
    "ip_src_low", "ip_dst_low", "l4", "src_port", "dst_port", "tcp_seq", "tcp_flags", "icmp_type", "icmp_code",
    "arp_operation",
)  # fmt: skip
"""Each int64, -1 where a packet has none. ``l3``, ``l4``: where these headers begin, in bytes of the frame.

Addresses of IPv6 are two halves of 64 bits, as bit patterns; ``ip_src_low`` and ``ip_dst_low`` the lower ones.
"""


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
    """Write the columns of `COLUMNS`, ``(21, n)`` that hold -1, from frames without preamble."""
    for i in range(offset.size):
        at, size = offset[i], length[i]
        if size < 14:
            continue
        out[0, i] = _big(buffer, at, 6)
        out[1, i] = _big(buffer, at + 6, 6)
        head = 12
        kind = _big(buffer, at + head, 2)
        while (kind in (_VLAN, _SERVICE_VLAN)) and size >= head + 6:
            out[2, i] = _big(buffer, at + head + 2, 2) & 0xFFF
            head += 4
            kind = _big(buffer, at + head, 2)
        out[3, i] = kind
        l3 = head + 2
        out[4, i] = l3
        rest = size - l3
        protocol = np.int64(-1)
        l4 = np.int64(-1)
        if kind == _IPV4 and rest >= 20 and buffer[at + l3] >> 4 == 4:
            out[5, i] = 4
            protocol = np.int64(buffer[at + l3 + 9])
            out[7, i] = _big(buffer, at + l3 + 4, 2)
            out[8, i] = _big(buffer, at + l3 + 2, 2)
            out[9, i] = _big(buffer, at + l3 + 12, 4)
            out[10, i] = _big(buffer, at + l3 + 16, 4)
            if _big(buffer, at + l3 + 6, 2) & 0x1FFF == 0:
                l4 = l3 + np.int64(4) * np.int64(buffer[at + l3] & 15)
        elif kind == _IPV6 and rest >= 40 and buffer[at + l3] >> 4 == 6:
            out[5, i] = 6
            protocol = np.int64(buffer[at + l3 + 6])
            out[8, i] = _big(buffer, at + l3 + 4, 2)
            out[9, i] = _big(buffer, at + l3 + 8, 8)
            out[11, i] = _big(buffer, at + l3 + 16, 8)
            out[10, i] = _big(buffer, at + l3 + 24, 8)
            out[12, i] = _big(buffer, at + l3 + 32, 8)
            l4 = np.int64(l3 + 40)
        elif kind == _ARP and rest >= 8:
            out[20, i] = _big(buffer, at + l3 + 6, 2)
        out[6, i] = protocol
        if l4 < 0 or l4 >= size:
            continue
        out[13, i] = l4
        left = size - l4
        if (protocol in (_TCP, _UDP)) and left >= 4:
            out[14, i] = _big(buffer, at + l4, 2)
            out[15, i] = _big(buffer, at + l4 + 2, 2)
        if protocol == _TCP and left >= 14:
            out[16, i] = _big(buffer, at + l4 + 4, 4)
            out[17, i] = np.int64(buffer[at + l4 + 13])
        if (protocol in (_ICMP, _ICMP6)) and left >= 2:
            out[18, i] = np.int64(buffer[at + l4])
            out[19, i] = np.int64(buffer[at + l4 + 1])
