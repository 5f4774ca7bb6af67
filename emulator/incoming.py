"""A packet on its way through the incoming FIFO, which is read while it is still being written (cut-through)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import simpy

from freezeframe.emulator.credit import Flow
from freezeframe.emulator.memory import TAIL, Kinds, Words
from freezeframe.emulator.parts import Signal

Reading = tuple[str, int]
"""What a read port does wrong: ("omitted" or "repeated", index of the word)."""


class Incoming:
    """A packet on its way through the incoming FIFO: what arrived, when, and in which order it will be read."""

    __slots__ = (
        "_cycles", "_kinds", "_order", "_words", "begun", "counted", "flow", "more", "over",
        "sent_words", "uncounted", "when_left",
    )  # fmt: skip

    def __init__(self, env: simpy.Environment) -> None:
        self._words = np.empty(0, dtype=np.uint64)
        self._kinds = np.empty(0, dtype=np.uint8)
        self._cycles: list[tuple[int, int]] = []  # (index of a run's first word, its link cycle)
        self._order: Reading | None = None
        self.begun: int | None = None  # link cycle of the first word on the wire, once it is there
        self.flow: Flow | None = None
        self.counted: set[str] = set()  # error counters this packet is in already
        self.uncounted = (0, 0)  # words at its beginning and end that the flow's counters leave out
        self.more = Signal(env)
        self.over = False  # no more words will come
        # What happens as a word is read: its place, and what is called with the time.
        self.when_left: tuple[int, Callable[[int], None]] | None = None
        self.sent_words = -1  # words that left the sender before it was held; -1: all

    @property
    def words(self) -> Words:
        """The words that arrived, in order of arrival."""
        return self._words

    def add(self, cycle: int, kinds: Kinds, words: Words) -> None:
        """Let a run of words in, from link cycle ``cycle`` on."""
        self._cycles.append((len(self._words), cycle))
        self._words = words if not len(self._words) else np.concatenate([self._words, words])
        self._kinds = kinds if not len(self._kinds) else np.concatenate([self._kinds, kinds])

    def cut(self, cycle: int) -> None:
        """What was to arrive after link cycle ``cycle`` does not, nor anything else: the sender is held."""
        end, count = len(self._words), 0
        for first, at in reversed(self._cycles):
            count += max(0, min(end, first + cycle + 1 - at) - first)
            end = first
        self._words, self._kinds = self._words[:count], self._kinds[:count]
        self.over = False

    def become(self, words: Words, kinds: Kinds) -> None:
        """What is read is something else than what arrived; to be called before any is, when all is on its way."""
        self._words, self._kinds = words, kinds
        del self._cycles[1:]

    def set_order(self, reading: Reading | None) -> None:
        """Decide how the words will be read; before any is."""
        self._order = reading

    def readable(self) -> int:
        """Return how many words can be read, once they are there."""
        count = len(self._words)
        if self._order is not None and count > self._order[1]:
            return count - 1 if self._order[0] == "omitted" else count + 1
        return count

    def cycle_of(self, place: int) -> int:
        """Return the link cycle in which the word that is read as number ``place`` arrives."""
        if self._order is not None:
            what, word = self._order
            if what == "omitted" and place >= word:
                place += 1
            elif what == "repeated" and place > word:
                place -= 1
        first, cycle = next(run for run in reversed(self._cycles) if run[0] <= place)
        return cycle + place - first

    def read(self, end: int) -> tuple[Words, Kinds]:
        """Return words and kinds as read, the first ``end`` of them."""
        words, kinds = self._words, self._kinds
        if self._order is not None and len(words) > self._order[1]:
            words, kinds = misread(words, kinds, self._order)
        return words[:end], kinds[:end]


def skipped_of(kinds: Kinds, uncounted: tuple[int, int], begins: bool) -> tuple[int, int]:
    """Return what of ``uncounted`` falls into a run of a packet's words: at the run's beginning, at its end."""
    first, last = uncounted
    first = min(first, len(kinds)) if begins else 0
    return first, min(last, len(kinds) - first) if kinds[-1] == TAIL else 0


def misread(words: Words, kinds: Kinds, reading: Reading) -> tuple[Words, Kinds]:
    """Return what comes out of a FIFO that omits or repeats one word."""
    what, word = reading
    if what == "omitted":
        return np.delete(words, word), np.delete(kinds, word)
    return np.insert(words, word, words[word]), np.insert(kinds, word, kinds[word])
