"""wrap-unhandled: A compares the counters of one flow as they stand, ``sent + words <= credited + limit``.

That is right until ``sent`` has wrapped and ``credited`` has not: then everything fits. It needs a busy flow and a
receiver slower than the link, and arranges for both.
"""

from __future__ import annotations

from freezeframe.emulator.credit import Flow
from freezeframe.emulator.faults.base import A, Fault
from freezeframe.emulator.faults.shaping import keep_busy
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.traffic import Plan


class WrapUnhandled(Fault):
    """The comparison of one flow's counters does not know that they wrap."""

    name = "wrap-unhandled"
    card = A

    def shape(self, plan: Plan, profile: Profile) -> None:
        self._flow = keep_busy(self, plan, slow=True)

    def fits(self, flow: Flow, words: int) -> bool:
        right = flow.fits(words)
        if flow.number != self._flow or not self.begun:
            return right
        sent = flow.sent.entered & flow.mask
        wrong = sent + words <= flow.credited + flow.limit
        if wrong and not right and not self.done:
            self.strike(flow=flow.number, sent=sent, credited=flow.credited, limit=flow.limit)
        return wrong
