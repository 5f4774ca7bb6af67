"""interrupt-storm and interrupt-lost: B's driver and the interrupt line do not fit together.

- interrupt-storm: the handler does not mask the line, so every notification that arrives while it runs interrupts
  it once more. Each interrupt costs the processor its latency, the handler gets behind, and completions pile up.
- interrupt-lost: a completion arrives after the handler's last look and before it enables the line, and the driver
  does not look again. The completion waits without an interrupt until the next one raises it. Strikes once.

Neither is found by a check of the hardware: the host freezes. Both need notifications that come close together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from freezeframe.emulator.faults.base import Fault, is_b
from freezeframe.emulator.faults.shaping import burst, quiet_other_way
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.traffic import Plan
from freezeframe.emulator.truth import Injection

if TYPE_CHECKING:
    from freezeframe.emulator.nic import Nic

__all__ = ["InterruptLost", "InterruptStorm"]

_US = 1_000_000  # picoseconds
_NS = 1000


class InterruptStorm(Fault):
    """The handler runs with the line unmasked."""

    name = "interrupt-storm"
    silent = True

    def begin(self, seed: int, run: int, now_ps: int, tell: Callable[[Injection], None]) -> None:
        super().begin(seed, run, now_ps, tell)
        self._needed = self.draw.randint(6, 14)  # interrupts with others waiting, until it shows
        self._seen = 0

    def shape(self, plan: Plan, profile: Profile) -> None:
        _notify_often(self, plan)

    def masks(self, nic: Nic) -> bool:
        return not is_b(nic)

    def raised(self, nic: Nic) -> None:
        if not is_b(nic) or nic.host.completions < 2:
            return
        self._seen += 1
        if not self.done:
            self.done = True
            self.tell(nic, None, None, None, None, nic.now_ps)
        if self._seen == self._needed:
            self.evident_ps = nic.now_ps + self.draw.randrange(1 * _US, 20 * _US)


class InterruptLost(Fault):
    """A completion between the last look and the enabling of the line, and no look after."""

    name = "interrupt-lost"
    silent = True

    def begin(self, seed: int, run: int, now_ps: int, tell: Callable[[Injection], None]) -> None:
        super().begin(seed, run, now_ps, tell)
        self._window_ps = self.draw.randrange(400 * _NS, 1500 * _NS)

    def shape(self, plan: Plan, profile: Profile) -> None:
        _notify_often(self, plan)

    def enabling_ps(self, nic: Nic) -> int:
        return self._window_ps if is_b(nic) and self.ready(nic) else 0

    def looks_again(self, nic: Nic) -> bool:
        if not is_b(nic) or not self.ready(nic) or not nic.host.waiting:
            return True
        seq, flow = nic.host.waiting[0]
        self.done = True
        self.tell(nic, None, flow, seq, None, nic.now_ps, window_ps=self._window_ps)
        self.evident_ps = nic.now_ps + self.draw.randrange(2 * _US, 60 * _US)
        return False


def _notify_often(fault: Fault, plan: Plan) -> None:
    """Let A send bursts of mostly short messages that notify B."""
    sending, draw = plan.sending[0], fault.draw
    sending.remote = max(sending.remote, draw.uniform(0.7, 1.0))
    sending.mix = draw.choice(((0.8, 0.15, 0.05), (0.6, 0.35, 0.05), (0.9, 0.1, 0.0)))
    burst(fault, plan, 4, 10)
    plan.receiving[1].stops = []
    quiet_other_way(plan)
