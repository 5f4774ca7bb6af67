"""What becomes of words when one of the lanes that carry them goes wrong.

Byte k of a word is on lane k modulo the number of lanes; a lane's bytes of a word are its share, first byte least
significant: of two lanes each carries a half of four bytes, of four a quarter of two.
"""

from __future__ import annotations

import numpy as np

from freezeframe.emulator.memory import Words

IDLE_BYTE = 0xBC
"""What an idle lane carries: the comma symbol K28.5."""


def late_from(words: Words, lane: int, place: int, lanes: int = 2) -> Words:
    """Return the words when the share of ``lane`` repeats at ``place`` (at least 1) and lags from there on."""
    shares = _shares(words, lanes)
    shares[place:, lane] = shares[place - 1 : -1, lane].copy()
    return _words(shares)


def slipped_from(words: Words, lane: int, place: int, lost_B: int, lanes: int = 2) -> Words:
    """Return the words when ``lane`` has lost ``lost_B`` bytes just before word ``place``.

    What the lane carries after the last word is idle symbols.
    """
    shares = _shares(words, lanes)
    stream = shares[place:, lane].reshape(-1)
    idle = np.full(lost_B, IDLE_BYTE, dtype=np.uint8)
    stream = np.concatenate([stream, idle])[lost_B:]
    shares[place:, lane] = stream.reshape(-1, shares.shape[2])
    return _words(shares)


def _shares(words: Words, lanes: int) -> np.ndarray[tuple[int, int, int], np.dtype[np.uint8]]:
    """Return ``(n, lanes, 8 // lanes)`` uint8: the bytes of each lane of each word, a copy."""
    octets = words.astype("<u8").view(np.uint8).reshape(-1, 8 // lanes, lanes)
    return np.ascontiguousarray(octets.transpose(0, 2, 1))


def _words(shares: np.ndarray[tuple[int, int, int], np.dtype[np.uint8]]) -> Words:
    octets = np.ascontiguousarray(shares.transpose(0, 2, 1))
    return octets.reshape(-1).view("<u8").astype(np.uint64)
