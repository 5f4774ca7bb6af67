"""What one card does in simulated time, from its bring-up until it is held or brought up again."""

from __future__ import annotations

from collections.abc import Callable

import simpy

from freezeframe.emulator.beat import Calendar
from freezeframe.emulator.parts import Process

_LISTED = 64  # processes remembered before those that have ended are forgotten


class Running:
    """The time of one card: processes and actions that end together.

    Attributes:
        held: the card stands still since its recorder froze.
    """

    def __init__(self, env: Calendar) -> None:
        self.env = env
        self.held = False
        self._processes: list[simpy.Process] = []
        self._run = 0  # number of the present run; what was planned in another is void

    @property
    def now_ps(self) -> int:
        return int(self.env.now)

    def at(self, t_ps: int, action: Callable[[], None]) -> None:
        """Do something later, unless this run is over by then."""
        run = self._run

        def act() -> None:
            if self._run == run:
                action()

        self.always_at(t_ps, act)

    def always_at(self, t_ps: int, action: Callable[[], None]) -> None:
        """Do something at a time that is not over, whatever has happened to the card by then."""
        event = self.env.timeout(t_ps - self.env.now)
        event.callbacks = [lambda _: action()]  # no other callback can wait for a new event

    def process(self, steps: Process) -> None:
        """Run steps until this run is over."""
        self._processes.append(self.env.process(_until_interrupted(steps)))
        if len(self._processes) > _LISTED:
            self._processes = [process for process in self._processes if process.is_alive]

    def stop(self) -> None:
        """End this run now."""
        for process in self._processes:
            if process.is_alive and process is not self.env.active_process:
                process.interrupt()
        self._processes.clear()
        self._run += 1


def _until_interrupted(steps: Process) -> Process:
    try:
        yield from steps
    except simpy.Interrupt:
        return
