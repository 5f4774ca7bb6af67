"""What can become of a packet's words, wherever they pass: each returns words, kinds and the first place that is wrong.

None says that this packet cannot be damaged so. ``words`` are ``(n,)`` uint64, HEAD to TAIL.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from freezeframe.emulator.faults.lanes import late_from
from freezeframe.emulator.memory import TAIL, Kinds, Words
from freezeframe.emulator.packet import HEAD_WORDS

Damage = tuple[Words, Kinds, int]
Change = Callable[[random.Random, Words, Kinds], Damage | None]

_ODD = np.uint64(0xFF00FF00FF00FF00)  # the bytes of lane 1
_EVEN = np.uint64(0x00FF00FF00FF00FF)
_IDLE = np.uint64(0xBCBCBCBCBCBCBCBC)
_MOST = 12  # words of a stretch


def _payload(draw: random.Random, words: Words, count: int = 1) -> int | None:
    """Return where ``count`` payload words begin, None where there are not as many and one more."""
    room = len(words) - HEAD_WORDS - 1 - count
    return HEAD_WORDS + draw.randrange(room + 1) if room >= 1 else None


def _first(old: Words, new: Words, kinds: Kinds) -> Damage | None:
    differs = np.flatnonzero(old != new)
    return (new, kinds, int(differs[0])) if len(differs) else None


def _of_one(wrong: Callable[[random.Random, np.uint64], np.uint64 | int]) -> Change:
    """Return the change that makes another word of one payload word."""

    def change(draw: random.Random, words: Words, kinds: Kinds) -> Damage | None:
        place = _payload(draw, words)
        if place is None:
            return None
        new = words.copy()
        new[place] = wrong(draw, words[place])
        return _first(words, new, kinds)

    return change


bits_flipped = _of_one(lambda draw, word: word ^ np.uint64(1 << draw.randrange(64)))
"""One bit of one payload word."""
bytes_swapped = _of_one(lambda draw, word: word.byteswap())
"""The bytes of one payload word come in the opposite order."""
word_zero = _of_one(lambda draw, word: 0)
"""One payload word reads 0."""
word_stale = _of_one(lambda draw, word: draw.getrandbits(64))
"""One payload word is one that stood there before: random, as the payloads are."""


def burst(draw: random.Random, words: Words, kinds: Kinds) -> Damage | None:
    """Random bits of several words one after the other."""
    count = draw.randint(3, 8)
    place = _payload(draw, words, count)
    if place is None:
        return None
    new = words.copy()
    new[place : place + count] ^= np.array(
        [draw.getrandbits(64) | 1 for _ in range(count)], np.uint64
    )
    return new, kinds, place


def words_lost(draw: random.Random, words: Words, kinds: Kinds) -> Damage | None:
    """Several payload words are not there."""
    count = draw.randint(2, _MOST)
    place = _payload(draw, words, count)
    if place is None:
        return None
    gone = np.s_[place : place + count]
    return np.delete(words, gone), np.delete(kinds, gone), place


def words_again(draw: random.Random, words: Words, kinds: Kinds) -> Damage | None:
    """Several payload words come a second time, after their last."""
    count = draw.randint(2, _MOST)
    place = _payload(draw, words, count)
    if place is None:
        return None
    end = place + count
    new = np.concatenate([words[:end], words[place:end], words[end:]])
    return new, np.concatenate([kinds[:end], kinds[place:end], kinds[end:]]), end


def words_swapped(draw: random.Random, words: Words, kinds: Kinds) -> Damage | None:
    """Two payload words that follow each other change places."""
    place = _payload(draw, words, 2)
    if place is None:
        return None
    new = words.copy()
    new[place], new[place + 1] = words[place + 1], words[place]
    return _first(words, new, kinds)


def end_cut(draw: random.Random, words: Words, kinds: Kinds) -> Damage | None:
    """The packet ends early: no tail, and some payload words less."""
    place = _payload(draw, words, 2)
    return None if place is None else (words[:place], kinds[:place], place)


def tail_lost(draw: random.Random, words: Words, kinds: Kinds) -> Damage | None:
    """Only the tail is not there."""
    return (words[:-1], kinds[:-1], len(words) - 1) if kinds[-1] == TAIL else None


def header_flow(draw: random.Random, words: Words, kinds: Kinds) -> Damage | None:
    """One bit of the flow number in the header; its CRC stays what it was."""
    new = words.copy()
    new[0] ^= np.uint64(1 << (8 + draw.randrange(3)))
    return new, kinds, 0


def lanes_crossed(draw: random.Random, words: Words, kinds: Kinds) -> Damage | None:
    """The bytes of lane 0 stand where those of lane 1 should, and the other way round."""
    new = (words & _ODD) >> np.uint64(8) | (words & _EVEN) << np.uint64(8)
    return _first(words, new, kinds)


def lane_idle(draw: random.Random, words: Words, kinds: Kinds) -> Damage | None:
    """Lane 1 carries idles only."""
    return _first(words, words & _EVEN | _IDLE & _ODD, kinds)


def lane_inverted(draw: random.Random, words: Words, kinds: Kinds) -> Damage | None:
    """Every bit of lane 1 is turned over."""
    return _first(words, words ^ _ODD, kinds)


def lane_late(draw: random.Random, words: Words, kinds: Kinds) -> Damage | None:
    """Lane 1 lags by three words from some word on."""
    if len(words) < 8:
        return None
    place = draw.randrange(2, len(words) - 4)
    new = words
    for lag in range(3):
        new = late_from(new, 1, place + lag)
    return _first(words, new, kinds)


def bit_stuck(draw: random.Random, words: Words, kinds: Kinds) -> Damage | None:
    """One bit of every word keeps one value."""
    mask = np.uint64(1 << draw.randrange(64))
    return _first(words, words | mask if draw.randrange(2) else words & ~mask, kinds)
