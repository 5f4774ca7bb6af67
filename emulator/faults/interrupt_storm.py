"""interrupt-storm: B's interrupt handler does not mask the line.

Every notification that arrives while it runs interrupts it once more. Each interrupt costs the processor its latency,
the handler gets late, and completions pile up. No check of the hardware finds it: the host freezes. It needs
notifications that come close together, and arranges for them.
"""

from __future__ import annotations

from freezeframe.emulator.faults.base import B, Fault
from freezeframe.emulator.faults.shaping import notify_often
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.traffic import Plan

_INTERRUPTS = (6, 14)  # with others waiting, until it shows


class InterruptStorm(Fault):
    """The handler runs with the line unmasked."""

    name = "interrupt-storm"
    card = B
    silent = True

    def prepare(self) -> None:
        self._needed = self.draw.randint(*_INTERRUPTS)
        self._seen = 0

    def shape(self, plan: Plan, profile: Profile) -> None:
        notify_often(self, plan)

    def masks(self) -> bool:
        return not self.begun

    def raised(self, completions: int) -> None:
        if completions < 2 or not self.begun:
            return
        self._seen += 1
        if not self.done:
            self.strike()
        if self._seen == self._needed:
            self.show_within(1, 20)
