"""credit-too-coarse: B tells what it has freed of one flow only after half the flow's share of its FIFO, or more.

A waits for credit although B's FIFO is nearly empty. Nothing is lost, so the host freezes. Messages are kept so
short that the coarse credits cannot stop the flow for ever. It has struck when A waits for what B has freed and
would have told with the right unit.
"""

from __future__ import annotations

from freezeframe.emulator.credit import Flow
from freezeframe.emulator.faults.base import A, B, Fault
from freezeframe.emulator.faults.shaping import burst, keep_busy
from freezeframe.emulator.hooks import Hooks
from freezeframe.emulator.packet import FRAME_WORDS
from freezeframe.emulator.ports import Site
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.traffic import Plan

_SHARE = (0.5, 0.7)  # of the flow's share of the FIFO, freed between two credits
_WAITS = (4, 8)  # with an empty FIFO, until it shows
_BURST = (5, 9)  # messages that A posts together


class CreditTooCoarse(Fault):
    """B returns the credits of one flow in lumps of half its share and more."""

    name = "credit-too-coarse"
    card = B
    silent = True

    def prepare(self) -> None:
        self._ratio = self.draw.uniform(*_SHARE)
        self._needed = self.draw.randint(*_WAITS)
        self._seen = 0

    def shape(self, plan: Plan, profile: Profile) -> None:
        self._flow = keep_busy(self, plan, slow=False)
        burst(self, plan, *_BURST)
        self._right_unit = profile.flows_credit_unit_words
        share = profile.credit_share_words
        self._unit = int(share * self._ratio)
        sending = plan.sending[0]
        sending.message_words = min(sending.message_words, share - self._unit - FRAME_WORDS)

    def hooks(self, site: Site) -> Hooks:
        return _Sender(self) if site.index == A else super().hooks(site)

    def credit_unit(self, flow: int, unit: int) -> int:
        if self.after_ps is not None:
            return unit  # until then
        return self._coarse(unit) if flow == self._flow else unit

    def started(self) -> None:
        if self.after_ps is not None:
            self.site.time.at(self.not_before_ps, self._becomes_coarse)

    def _coarse(self, unit: int) -> int:
        return max(unit, self._unit)

    def _becomes_coarse(self) -> None:
        self.site.set_credit_unit(self._flow, self._coarse(self._right_unit))

    def waited_for(self, flow: int) -> None:
        """A has begun to wait for credit of a flow."""
        if flow != self._flow or not self.begun:
            return
        fifo, withheld = self.site.rx_fifo, self.site.withheld(flow)
        if 2 * fifo.level(self.site.time.now_ps) >= fifo.depth or withheld < self._right_unit:
            return
        self._seen += 1
        if not self.done:
            unit = self._coarse(self._right_unit)
            self.strike(flow=flow, unit_words=unit, fifo=fifo.depth)
        if self._seen == self._needed:
            self.show_within(1, 20)


class _Sender(Hooks):
    """At A nothing is wrong; there one sees who waits."""

    def __init__(self, fault: CreditTooCoarse) -> None:
        self._fault = fault

    def blocked(self, flow: Flow) -> None:
        self._fault.waited_for(flow.number)
