"""CRCs of link packets in one pass over 64-bit words: CRC-32/ISO-HDLC and the CRC-16 of a header.

Source: docs/formats.md section 3; catalogue of parametrised CRC algorithms.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

Words = npt.NDArray[np.uint64]

CRC32_START = np.uint32(0xFFFFFFFF)
"""The remainder before the first word; the CRC is the last remainder, inverted."""


def _crc32_tables() -> npt.NDArray[np.uint32]:
    """Return ``(16, 256)``: table k advances a byte that stands k bytes before the end ("slicing by 16").

    Source: M. Kounavis, F. Berry, "A systematic approach to building high performance
    software-based CRC generators", 2005.
    """
    byte = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        byte = np.where(
            byte & 1, byte >> np.uint32(1) ^ np.uint32(0xEDB88320), byte >> np.uint32(1)
        )
    tables = [byte]
    for _ in range(15):
        tables.append(tables[-1] >> np.uint32(8) ^ byte[tables[-1] & np.uint32(255)])
    return np.array(tables, dtype=np.uint32)


def _crc16_tables() -> npt.NDArray[np.uint16]:
    """Return ``(14, 256)``: table k is the share of byte k of a header's 14; the CRC is their sum.

    A CRC is linear, so 14 independent look-ups replace a chain of 14. The share of the start value is in table 0.
    """
    byte = np.arange(256, dtype=np.uint16) << np.uint16(8)
    for _ in range(8):
        byte = np.where(
            byte & np.uint16(0x8000), byte << np.uint16(1) ^ np.uint16(0x1021), byte << np.uint16(1)
        )
    tables = np.zeros((14, 256), dtype=np.uint16)
    tables[13] = byte
    start = 0xFFFF
    for k in reversed(range(13)):  # one byte more of zeros behind each
        tables[k] = tables[k + 1] << np.uint16(8) ^ byte[tables[k + 1] >> np.uint16(8)]
    for _ in range(14):
        start = (start << 8 & 0xFFFF) ^ int(byte[start >> 8])
    tables[0] ^= np.uint16(start)
    return tables


T32 = _crc32_tables()
_T16 = _crc16_tables()


@njit(cache=True, inline="always")
def crc32_word(crc: np.uint32, x: np.uint64) -> np.uint32:
    """Return the remainder after one more word."""
    m = np.uint64(255)
    x = x ^ np.uint64(crc)
    after: np.uint32 = (
        (T32[7, x & m] ^ T32[6, x >> np.uint64(8) & m])
        ^ (T32[5, x >> np.uint64(16) & m] ^ T32[4, x >> np.uint64(24) & m])
    ) ^ (
        (T32[3, x >> np.uint64(32) & m] ^ T32[2, x >> np.uint64(40) & m])
        ^ (T32[1, x >> np.uint64(48) & m] ^ T32[0, x >> np.uint64(56)])
    )
    return after


@njit(cache=True, inline="always")
def crc32_two(crc: np.uint32, x: np.uint64, y: np.uint64) -> np.uint32:
    """Return the remainder after two more words."""
    # The look-ups of y do not wait for crc: 310 instead of 250 Mword/s (bench_trace.py).
    m = np.uint64(255)
    x = x ^ np.uint64(crc)
    after: np.uint32 = (
        (T32[15, x & m] ^ T32[14, x >> np.uint64(8) & m])
        ^ (T32[13, x >> np.uint64(16) & m] ^ T32[12, x >> np.uint64(24) & m])
        ^ (
            (T32[11, x >> np.uint64(32) & m] ^ T32[10, x >> np.uint64(40) & m])
            ^ (T32[9, x >> np.uint64(48) & m] ^ T32[8, x >> np.uint64(56)])
        )
    ) ^ crc32_word(np.uint32(0), y)
    return after


@njit(cache=True)
def crc32(words: Words) -> np.uint32:
    """Return the CRC-32/ISO-HDLC of uint64 words, least significant byte first."""
    crc = CRC32_START
    i = 0
    while i + 1 < words.size:
        crc = crc32_two(crc, words[i], words[i + 1])
        i += 2
    if i < words.size:
        crc = crc32_word(crc, words[i])
    return crc ^ CRC32_START


@njit(cache=True)
def crc16_header(header: np.uint64, address: np.uint64) -> np.uint16:
    """Return the CRC-16/IBM-3740 over bytes 0-5 of ``header`` and the eight of ``address``, both uint64."""
    m = np.uint64(255)
    crc = np.uint16(0)
    for k in range(6):
        crc ^= _T16[k, header >> np.uint64(8 * k) & m]
    for k in range(8):
        crc ^= _T16[6 + k, address >> np.uint64(8 * k) & m]
    return crc
