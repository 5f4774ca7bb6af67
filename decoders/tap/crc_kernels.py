"""The loop over the bytes of packets that makes the CRC-32 of each.

Source: IEEE 802.3-2018, 3.2.9.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from freezeframe.decoders.trace.crc_kernels import T32, crc32_two, crc32_word

_START = np.uint32(0xFFFFFFFF)


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
