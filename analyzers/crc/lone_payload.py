"""What can be said of a damaged payload from one tap alone, by its CRC: flipped bits, a repeated word.

A CRC is linear: what a flipped bit changes depends on its distance from the end only. The chance that
damage of another kind passes for one of these is the number of hypotheses over 2^32: one bit of 4 KB
8e-6, two bits of one word 2e-4, one of two equal neighbours too many 1e-7. An omitted word is never
placed, for at every place there is a value that satisfies the CRC. What else can be said of a message, under
any CRC, and how much it is worth: `forensics`.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from freezeframe.decoders.crc import CRC32_ISO_HDLC, bit_effects

Uint64 = npt.NDArray[np.uint64]
Uint32 = npt.NDArray[np.uint32]

_MOST_WORDS = 1024
_PAIRS = np.triu_indices(64, 1)


@dataclass(frozen=True, slots=True)
class Flip:
    """Bits that, flipped back, make the CRC right. ``word`` is a payload index, or None for the TAIL."""

    word: int | None
    mask: int


def crc32_words(words: Uint64) -> int:
    """Return the CRC-32/ISO-HDLC over 64-bit words, least significant byte first."""
    return zlib.crc32(words.astype("<u8", copy=False).tobytes())


def find_flips(payload: Uint64, tail: int) -> list[Flip]:
    """Return every flip of one bit that satisfies the CRC; without one, every flip of two in a word.

    Args:
        payload: ``(n,)`` uint64, at most 1,024 words.
        tail: the TAIL word as received.
    """
    n = len(payload)
    if n > _MOST_WORDS:
        raise ValueError(f"a payload of {n} words; a packet carries at most 512")
    syndrome = np.uint32(crc32_words(payload) ^ (tail & 0xFFFFFFFF))
    if not syndrome:
        return []
    effects = _effects()[:n]
    flips = [
        Flip(n - 1 - int(back), 1 << int(bit)) for back, bit in np.argwhere(effects == syndrome)
    ]
    if int(syndrome).bit_count() == 1:
        flips.append(Flip(None, int(syndrome)))
    if flips:
        return flips
    return [
        Flip(n - 1 - int(back), 1 << int(_PAIRS[0][pair]) | 1 << int(_PAIRS[1][pair]))
        for back, pair in np.argwhere(_pair_effects()[:n] == syndrome)
    ]


def find_repeats(payload: Uint64, tail: int) -> list[tuple[int, int]]:
    """Return the repeated words without whose second copy the CRC is right, as ``[first, end)``.

    The index is that of the second copy; where more than two equal words stand together, every one
    after the first may be it.
    """
    again = np.flatnonzero(payload[1:] == payload[:-1]) + 1
    repeats: list[tuple[int, int]] = []
    for index in again.tolist():
        if repeats and index == repeats[-1][1]:
            repeats[-1] = (repeats[-1][0], index + 1)
        elif crc32_words(np.delete(payload, index)) == tail & 0xFFFFFFFF:
            repeats.append((index, index + 1))
    return repeats


@cache
def _effects() -> Uint32:
    """Return ``(1024, 64)``: what flipping each bit of a word changes, by words after it."""
    # By bytes after a byte; within a word the least significant byte comes first and has 7 after it.
    effects = bit_effects(CRC32_ISO_HDLC, 8 * _MOST_WORDS).reshape(_MOST_WORDS, 8, 8)
    return effects[:, ::-1].reshape(_MOST_WORDS, 64).astype(np.uint32)


@cache
def _pair_effects() -> Uint32:
    effects = _effects()
    pairs: Uint32 = effects[:, _PAIRS[0]] ^ effects[:, _PAIRS[1]]
    return pairs
