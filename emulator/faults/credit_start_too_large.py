"""credit-start-too-large: A's start-up credit of one flow is larger than B's whole incoming FIFO.

It needs a busy flow and a receiver slower than the link, and arranges for both. It has struck when a packet starts that
a right limit would have refused.
"""

from __future__ import annotations

from freezeframe.emulator.credit import Flow
from freezeframe.emulator.faults.base import A, Fault
from freezeframe.emulator.faults.shaping import keep_busy
from freezeframe.emulator.packet import FRAME_WORDS
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.traffic import Plan


class CreditStartTooLarge(Fault):
    """A believes B's FIFO to be larger than it is."""

    name = "credit-start-too-large"
    card = A
    no_begin = "it is in the start-up credit"

    def prepare(self) -> None:
        self._excess = self.draw.random()

    def shape(self, plan: Plan, profile: Profile) -> None:
        self._flow = keep_busy(self, plan, slow=True)
        self._fifo_words = fifo = profile.fifo_rx_words
        self._share_words = profile.credit_share_words
        message = profile.fifo_message_words
        # Above the FIFO by what may be freed and not yet told, and below what the counters can tell apart.
        lowest = fifo + 2 * profile.flows_credit_unit_words + message
        highest = (1 << profile.credit_w) - 1 - message - FRAME_WORDS
        self._limit = int(lowest + self._excess * (highest - lowest))

    def start_limit(self, flow: int, share: int) -> int:
        return self._limit if flow == self._flow else share

    def fits(self, flow: Flow, words: int) -> bool:
        fits = flow.fits(words)
        if fits and not self.done and flow.number == self._flow:
            outstanding = flow.limit - flow.free() + words
            if outstanding > self._share_words:
                self.strike(flow=flow.number, limit=flow.limit, fifo=self._fifo_words)
        return fits
