"""credit-lost: from some moment on no credit of one flow leaves B, although B believes to have sent them.

It needs traffic that keeps the flow busy, and arranges for it.
"""

from __future__ import annotations

from freezeframe.emulator.credit import Flow
from freezeframe.emulator.faults.base import B, Fault
from freezeframe.emulator.faults.shaping import keep_busy
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.traffic import Plan


class CreditLost(Fault):
    """All credits of one flow, from some moment on."""

    name = "credit-lost"
    card = B

    def shape(self, plan: Plan, profile: Profile) -> None:
        self._flow = keep_busy(self, plan, slow=False)

    def credit_leaving(self, word: int, flow: Flow) -> int | None:
        if flow.number != self._flow or self.site.time.now_ps < self.not_before_ps:
            return word
        if not self.done:
            self.strike(flow=flow.number)
        return None
