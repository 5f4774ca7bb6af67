"""What becomes of words when one of the two lanes that carry them goes wrong.

Lane 0 carries bytes 0, 2, 4, 6 of each word, lane 1 the others; a lane's four bytes are its 32-bit half of
the word, first byte least significant.
"""

from __future__ import annotations

import numpy as np

from freezeframe.emulator.memory import Words

IDLE_BYTE = 0xBC
"""What an idle lane carries: the comma symbol K28.5."""


def late_from(words: Words, lane: int, place: int) -> Words:
    """Return the words when the half of ``lane`` repeats at ``place`` (at least 1) and lags from there on."""
    lanes = _lanes(words)
    lanes[place:, lane] = lanes[place - 1 : -1, lane].copy()
    return _words(lanes)


def slipped_from(words: Words, lane: int, place: int, lost_B: int) -> Words:
    """Return the words when ``lane`` has lost ``lost_B`` bytes just before word ``place``."""
    lanes = _lanes(words)
    stream = lanes[place:, lane].reshape(-1)
    stream = np.concatenate([stream[lost_B:], np.full(lost_B, IDLE_BYTE, dtype=np.uint8)])
    lanes[place:, lane] = stream.reshape(-1, 4)
    return _words(lanes)


def _lanes(words: Words) -> np.ndarray[tuple[int, int, int], np.dtype[np.uint8]]:
    """Return ``(n, 2, 4)`` uint8: the four bytes of each lane of each word, a copy."""
    octets = words.astype("<u8").view(np.uint8).reshape(-1, 4, 2)
    return np.ascontiguousarray(octets.transpose(0, 2, 1))


def _words(lanes: np.ndarray[tuple[int, int, int], np.dtype[np.uint8]]) -> Words:
    octets = np.ascontiguousarray(lanes.transpose(0, 2, 1))
    return octets.reshape(-1).view("<u8").astype(np.uint64)
