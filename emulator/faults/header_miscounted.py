"""header-miscounted: a counter of flow control leaves out header or CRC words of one packet in N.

At A the words sent are counted too low, so A believes B's FIFO to be emptier than it is, more with every such packet,
until the FIFO overflows. At B the words received and freed are counted too low, so A gets back less credit than it
used, until a message never fits any more. The words themselves are right at every tap.
"""

from __future__ import annotations

from freezeframe.emulator.credit import Flow
from freezeframe.emulator.faults.base import A, B, Fault
from freezeframe.emulator.faults.shaping import keep_busy, slow_down
from freezeframe.emulator.hooks import Uncounted
from freezeframe.emulator.packet import HEAD_WORDS
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.traffic import Plan

# What is left out, at the beginning and at the end, and of one packet in how many.
_SKIPS: tuple[tuple[Uncounted, int], ...] = (
    ((HEAD_WORDS, 0), 2),
    ((1, 0), 1),
    ((0, 1), 1),
    ((HEAD_WORDS, 0), 3),
    ((0, 1), 2),
)
_AT_RECEIVER = 3  # of them: nearly half a FIFO has to slip away there, which takes long enough


class HeaderMiscounted(Fault):
    """A count slips by a word or two, slowly and steadily."""

    name = "header-miscounted"

    def prepare(self) -> None:
        self.card = A if self.draw.random() < 0.5 else B
        self._packets = 0

    def shape(self, plan: Plan, profile: Profile) -> None:
        if plan.load == "light":
            # A receiver slower than a light load frees so little that A stalls before B's FIFO overflows.
            self.card = B
        at_sender = self.card == A
        self._skips, self._every = self.draw.choice(_SKIPS if at_sender else _SKIPS[:_AT_RECEIVER])
        flow = keep_busy(self, plan, slow=False)
        self._flow = None if at_sender else flow  # A miscounts all of them
        sending = plan.sending[0]
        plan.sending[1].gap_ps *= 4
        if at_sender:
            sending.mix = (0.4, 0.6, 0.0)
            sending.weights = (1.0,) * len(sending.flows)
            slow_down(self, plan, 900, 1100)
        else:
            sending.mix = (0.75, 0.2, 0.05)

    def uncounted(self, flow: Flow, sending: bool) -> Uncounted:
        if sending != (self.card == A) or self._flow not in (None, flow.number) or not self.begun:
            return 0, 0
        self._packets += 1
        if self._packets % self._every:
            return 0, 0
        if not self.done:
            self.strike(flow=self._flow, every_packets=self._every, words=sum(self._skips))
        return self._skips
