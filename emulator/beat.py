"""Something that a card does every so many cycles of a clock, whether or not anything happens: it can be skipped.

A beat knows when it comes and not what is done then; who makes the same of each beat says itself how to skip some.
"""

from __future__ import annotations

from collections.abc import Collection, Generator
from typing import Any

import simpy

from freezeframe.emulator.clocks import Clock

NEVER_PS = 1 << 100


class Calendar(simpy.Environment):
    """What is to happen, in its order.

    Attributes:
        beaten: a beat has come since this was last set to False.
    """

    beaten = False

    def earliest_but(self, left_out: Collection[simpy.Event]) -> int:
        """Return when the first event comes that is not one of some; far away where there is none."""
        return min(
            (int(t_ps) for t_ps, _, _, event in self._queue if event not in left_out),
            default=NEVER_PS,
        )


class Beat:
    """Beats of one clock, ``every`` cycles apart.

    Attributes:
        cycle: of the next beat.
        event: what is waited for; None while no beat is waited for.
    """

    __slots__ = ("_env", "clock", "cycle", "event", "every")

    def __init__(self, env: Calendar, clock: Clock, every: int, cycle: int) -> None:
        self._env = env
        self.clock = clock
        self.every = every
        self.cycle = cycle
        self.event: simpy.Event | None = None

    def come(self) -> Generator[simpy.Event, Any, None]:
        """Wait for the beat of ``cycle``, which may be moved on meanwhile."""
        while True:
            cycle = self.cycle
            self.event = self._env.timeout(max(0, self.clock.edge_ps(cycle) - self._env.now))
            try:
                yield self.event
            finally:
                self.event = None
                self._env.beaten = True
            if self.cycle == cycle:
                return

    def before(self, t_ps: int) -> int:
        """Return how many beats still come before ``t_ps``."""
        return max(0, (self.clock.cycle_at(t_ps - 1) - self.cycle) // self.every + 1)

    @property
    def next_ps(self) -> int:
        """When the next beat comes."""
        return self.clock.edge_ps(self.cycle)

    def skip(self, beats: int) -> None:
        """Move the next beat on by so many."""
        self.cycle += self.every * beats
