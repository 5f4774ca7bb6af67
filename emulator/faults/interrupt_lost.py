"""interrupt-lost: a completion arrives after the handler's last look and before it enables the line.

The driver does not look again, so the completion waits without an interrupt until the next one raises it. Strikes once.
No check of the hardware finds it: the host freezes. It needs notifications that come close together, and arranges for
them.
"""

from __future__ import annotations

from collections.abc import Sequence

from freezeframe.emulator.faults.base import B, Fault
from freezeframe.emulator.faults.shaping import notify_often
from freezeframe.emulator.hooks import Completion
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.traffic import Plan

_WINDOW_PS = (400_000, 1_500_000)  # between the last look and the line being enabled


class InterruptLost(Fault):
    """A completion between the last look and the enabling of the line, and no look after."""

    name = "interrupt-lost"
    card = B
    silent = True

    def prepare(self) -> None:
        self._window_ps = self.draw.randrange(*_WINDOW_PS)

    def shape(self, plan: Plan, profile: Profile) -> None:
        notify_often(self, plan)

    def enabling_ps(self) -> int:
        return self._window_ps if self.ready() else 0

    def looks_again(self, waiting: Sequence[Completion]) -> bool:
        if not self.ready() or not waiting:
            return True
        seq, flow = waiting[0]
        self.strike(flow=flow, packet=seq, window_ps=self._window_ps)
        self.show_within(2, 60)
        return False
