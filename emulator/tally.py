"""Counts of words that know when each word happened, although whole runs of words are entered at once.

A run is entered when it begins (or before); how many of its words have happened is asked for any later cycle.
"""

from __future__ import annotations

from collections import deque

_KEPT_CYCLES = 1 << 14


class Tally:
    """A cumulative count over cycles of one clock domain. Cycles asked for must not decrease."""

    __slots__ = ("_runs", "_whole", "entered")

    def __init__(self) -> None:
        self.entered = 0  # words of all runs entered, also of those still to come
        self._whole = 0
        self._runs: deque[tuple[int, int]] = deque()

    def add(self, cycle: int, words: int) -> None:
        """Enter ``words`` words of consecutive cycles, the first in ``cycle``; runs come in order."""
        if words:
            runs = self._runs
            # No question goes so far back from the newest run; a card that runs for ever must not grow.
            while runs and runs[0][0] + runs[0][1] < cycle - _KEPT_CYCLES:
                self._whole += runs.popleft()[1]
            runs.append((cycle, words))
            self.entered += words

    def at(self, cycle: int) -> int:
        """Return how many words happened up to and in ``cycle``."""
        runs = self._runs
        while runs and runs[0][0] + runs[0][1] - 1 <= cycle:
            self._whole += runs.popleft()[1]
        count = self._whole
        for first, words in runs:
            if first > cycle:
                break
            count += min(words, cycle - first + 1)
        return count

    def cut(self, cycle: int) -> None:
        """Take back what was entered for cycles after ``cycle``: it never happened."""
        runs = self._runs
        while runs and runs[-1][0] + runs[-1][1] - 1 > cycle:
            first, words = runs.pop()
            keep = max(0, cycle + 1 - first)
            self.entered -= words - keep
            if keep:
                runs.append((first, keep))

    def when(self, count: int) -> int | None:
        """Return the cycle in which word number ``count`` (from 1) of those still to come or newest happens.

        None when it is not entered yet. A word of a run that is over gives a cycle that is over.
        """
        if count > self.entered:
            return None
        before = self.entered
        for first, words in reversed(self._runs):
            before -= words
            if count > before:
                return first + count - before - 1
        return -1
