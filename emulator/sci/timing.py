"""Time in cycles, and what only one can use at a time: the kernel of the bridge's simulation."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable

Act = Callable[[], None]


class Cycles:
    """Calls functions in the order of their cycles; those of one cycle in the order in which they were asked for."""

    def __init__(self) -> None:
        self.now = 0
        self._heap: list[tuple[int, int, Act]] = []
        self._count = 0

    def after(self, cycles: int, act: Act) -> None:
        """Call a function so many cycles from now."""
        if cycles < 0:
            raise ValueError(f"{cycles} cycles: time does not run backwards")
        self._count += 1
        heapq.heappush(self._heap, (self.now + cycles, self._count, act))

    def step(self, last: int) -> bool:
        """Let the next thing happen, if it does not happen after ``last``; return whether it did."""
        if not self._heap or self._heap[0][0] > last:
            return False
        self.now, _, act = heapq.heappop(self._heap)
        act()
        return True


class Unit:
    """A part that works for one at a time, in the order in which they came."""

    def __init__(self, cycles: Cycles) -> None:
        self._cycles = cycles
        self._waiting: deque[tuple[int, Act | None, Act]] = deque()
        self._busy = False

    def use(self, cycles: int, done: Act, begun: Act | None = None) -> None:
        """Work so long when it is free; then call ``done``, and at the beginning ``begun``."""
        self._waiting.append((cycles, begun, done))
        self._next()

    def _next(self) -> None:
        if self._busy or not self._waiting:
            return
        self._busy = True
        cycles, begun, done = self._waiting.popleft()
        if begun is not None:
            begun()

        def over() -> None:
            self._busy = False
            done()
            self._next()

        self._cycles.after(cycles, over)
