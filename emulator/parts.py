"""What the stages of an emulated card are made of: the tap that watches words, the FIFO between two taps, the bus.

Words move in runs of consecutive cycles, entered when the run begins; every question ("how full is it now") is answered
for a moment in time, to the word. That is exact and costs one event of the simulation for a whole run.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import numpy as np
import simpy

from freezeframe.emulator.clocks import Clock
from freezeframe.emulator.memory import TAIL, Kinds, Words
from freezeframe.emulator.recorder import Recorder
from freezeframe.emulator.tally import Tally

Process = Generator[simpy.Event, Any, None]


class Tap:
    """A word tap: counts words and packets, and feeds its recorder, if there is one."""

    def __init__(
        self, index: int, clock: Clock, fed: Callable[[int, int, Kinds, Words], None]
    ) -> None:
        """Make a tap. ``fed(index, cycle, kinds, words)`` is called with every run after it was recorded."""
        self.index = index
        self.clock = clock
        self.words = Tally()
        self.packets = Tally()
        self.recorder: Recorder | None = None
        self._fed = fed
        self._last: tuple[int, Kinds, Words] | None = None

    def feed(self, cycle: int, kinds: Kinds, words: Words) -> None:
        """Let words of consecutive cycles pass, the first in ``cycle``."""
        self.words.add(cycle, len(words))
        if kinds[-1] == TAIL:
            self.packets.add(cycle + len(words) - 1, 1)
        if self.recorder is not None:
            self.recorder.feed_run(cycle, kinds, words)
        self._last = (cycle, kinds, words)
        self._fed(self.index, cycle, kinds, words)

    def rest(self, cycle: int) -> tuple[int, Kinds, Words]:
        """Return what of the newest run comes after ``cycle``: its first cycle, kinds, words (perhaps none)."""
        if self._last is None:
            return cycle + 1, np.empty(0, np.uint8), np.empty(0, np.uint64)
        first, kinds, words = self._last
        over = min(len(words), max(0, cycle + 1 - first))
        return first + over, kinds[over:], words[over:]

    def cut(self, cycle: int) -> None:
        """Take back what was entered for cycles after ``cycle``."""
        if self._last is not None:
            first, kinds, words = self._last
            keep = max(0, cycle + 1 - first)
            self._last = (first, kinds[:keep], words[:keep])
        self.words.cut(cycle)
        self.packets.cut(cycle)
        if self.recorder is not None:
            self.recorder.cut(cycle)


class Fifo:
    """The words between two taps."""

    def __init__(self, depth: int, entering: Tap, leaving: Tap) -> None:
        self.depth = depth
        self.entering = entering
        self.leaving = leaving
        self._empty_at = 0  # words entered minus words left when the FIFO was last cleared

    def clear(self) -> None:
        """Empty the FIFO; both taps must have been cut to the present."""
        self._empty_at = self.entering.words.entered - self.leaving.words.entered

    def adjust(self, words: int) -> None:
        """Correct for ``words`` that passed the first tap only (positive) or the second only (negative)."""
        self._empty_at += words

    def level(self, t_ps: int) -> int:
        """Return the words in the FIFO at a time that is not before the last one asked for."""
        entered = self.entering.words.at(self.entering.clock.cycle_at(t_ps))
        left = self.leaving.words.at(self.leaving.clock.cycle_at(t_ps))
        return entered - left - self._empty_at

    def promised(self, t_ps: int) -> int:
        """Return the level as if every word that has been entered were already in: what a writer must count with."""
        left = self.leaving.words.at(self.leaving.clock.cycle_at(t_ps))
        return self.entering.words.entered - left - self._empty_at

    def room_at(self, words: int) -> int | None:
        """Return the cycle (of the leaving clock) in which ``words`` more fit; None when that is not known yet."""
        must_leave = self.entering.words.entered - self._empty_at + words - self.depth
        return self.leaving.words.when(must_leave)


class Signal:
    """Something that processes wait for again and again: they `wait`, others `give`."""

    __slots__ = ("_env", "_event")

    def __init__(self, env: simpy.Environment) -> None:
        self._env = env
        self._event: simpy.Event | None = None

    def wait(self) -> simpy.Event:
        """Return the event to yield; it comes with the next `give`."""
        if self._event is None or self._event.triggered:
            self._event = self._env.event()
        return self._event

    def give(self) -> None:
        """Wake whoever waits now; nothing is remembered."""
        if self._event is not None and not self._event.triggered:
            self._event.succeed()


class Bus:
    """The bus that both DMA engines and the host share; counts cycles of owners, of data, and of waiting for data."""

    def __init__(self, env: simpy.Environment, clock: Clock) -> None:
        self.env = env
        self.clock = clock
        self.lock = simpy.Resource(env, capacity=1)
        self.owned = Tally()
        self.carried = Tally()
        self.split_wait = Tally()  # cycles in which at least one split read waited

    def restart(self) -> None:
        """Forget owners and waiters; the counts stay."""
        self.lock = simpy.Resource(self.env, capacity=1)

    def next_cycle(self) -> int:
        """Return the present cycle at its very edge, else the next."""
        now = int(self.env.now)
        cycle = self.clock.cycle_at(now)
        return cycle if self.clock.edge_ps(cycle) == now else cycle + 1

    def until(self, cycle: int) -> simpy.Event:
        """Return the event of the edge with which ``cycle`` begins; at once when that is over."""
        return self.env.timeout(max(0, self.clock.edge_ps(cycle) - self.env.now))

    def cut(self, cycle: int) -> None:
        """Take back what was counted for cycles after ``cycle``."""
        for tally in (self.owned, self.carried, self.split_wait):
            tally.cut(cycle)
