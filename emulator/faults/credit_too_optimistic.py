"""credit-too-optimistic: A adds a constant to the free space of one flow, a bad estimate of what B frees meanwhile.

What is outstanding exceeds the limit by up to that constant, wherever the counters stand, until B's FIFO overflows. It
needs a busy flow and a receiver slower than the link, and arranges for both.
"""

from __future__ import annotations

from freezeframe.emulator.credit import Flow
from freezeframe.emulator.faults.base import A, Fault
from freezeframe.emulator.faults.shaping import keep_busy
from freezeframe.emulator.packet import FRAME_WORDS
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.traffic import Plan

_MOST_EXCESS_WORDS = 1500  # above what overflows the FIFO


class CreditTooOptimistic(Fault):
    """A believes in more free space than its credits say."""

    name = "credit-too-optimistic"
    card = A

    def shape(self, plan: Plan, profile: Profile) -> None:
        self._flow = keep_busy(self, plan, slow=True)
        # Above the FIFO by what may be freed and not yet told, and below what the counters can tell apart.
        whole = profile.fifo_message_words + FRAME_WORDS
        share = profile.credit_share_words
        lowest = profile.fifo_rx_words - share + 2 * profile.flows_credit_unit_words + whole
        highest = min(lowest + _MOST_EXCESS_WORDS, (1 << profile.credit_w) - 1 - share - whole)
        self._constant = self.draw.randint(lowest, max(lowest, highest))

    def fits(self, flow: Flow, words: int) -> bool:
        right = flow.fits(words)
        if flow.number != self._flow or not self.begun:
            return right
        wrong = words <= flow.free() + self._constant
        if wrong and not right and not self.done:
            self.strike(flow=flow.number, constant_words=self._constant, limit=flow.limit)
        return wrong
