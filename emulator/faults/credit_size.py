"""credit-too-coarse and credit-too-optimistic: flow control that keeps too much back, or grants too much.

- credit-too-coarse: B tells what it has freed of one flow only after half the flow's share of its FIFO, or more. A
  waits for credit although B's FIFO is nearly empty. Nothing is lost, so the host freezes. Messages are kept so
  short that the coarse credits cannot stop the flow for ever. It has struck when A waits for what B has freed and
  would have told with the right unit.
- credit-too-optimistic: A adds a constant to the free space of one flow, a bad estimate of what B frees during a
  round trip. What is outstanding exceeds the limit by up to that constant, wherever the counters stand, until B's
  FIFO overflows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from freezeframe.emulator.credit import Flow
from freezeframe.emulator.faults.base import Fault, is_a, is_b
from freezeframe.emulator.faults.shaping import burst, keep_busy
from freezeframe.emulator.packet import FRAME_WORDS, Packet
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.traffic import Plan
from freezeframe.emulator.truth import Injection

if TYPE_CHECKING:
    from freezeframe.emulator.nic import Nic

__all__ = ["CreditTooCoarse", "CreditTooOptimistic"]

_US = 1_000_000  # picoseconds
_MOST_EXCESS_WORDS = 1500  # above what overflows the FIFO


class CreditTooCoarse(Fault):
    """B returns the credits of one flow in lumps of half its share and more."""

    name = "credit-too-coarse"
    silent = True

    def __init__(self) -> None:
        super().__init__()
        self.flow = -1
        self._unit = 0

    def begin(self, seed: int, run: int, now_ps: int, tell: Callable[[Injection], None]) -> None:
        super().begin(seed, run, now_ps, tell)
        self._ratio = self.draw.uniform(0.5, 0.7)
        self._needed = self.draw.randint(4, 8)  # waits with an empty FIFO, until it shows
        self._seen = 0

    def shape(self, plan: Plan, profile: Profile) -> None:
        self.flow = keep_busy(self, plan, slow=False)
        burst(self, plan, 5, 9)
        share = profile.credit_share_words
        self._unit = int(share * self._ratio)
        sending = plan.sending[0]
        sending.message_words = min(sending.message_words, share - self._unit - FRAME_WORDS)

    def credit_unit(self, flow: int, unit: int, nic: Nic) -> int:
        return max(unit, self._unit) if is_b(nic) and flow == self.flow else unit

    def blocked(self, flow: Flow, nic: Nic) -> None:
        if not is_a(nic) or flow.number != self.flow:
            return
        fifo, there = nic.peer.rx_fifo, nic.peer.flow(flow.number)
        freed = there.freed.at(nic.peer.bus.clock.cycle_at(nic.now_ps))
        withheld = (freed - there.reported) & there.mask
        if (
            2 * fifo.level(nic.now_ps) >= fifo.depth
            or withheld < nic.profile.flows_credit_unit_words
        ):
            return
        self._seen += 1
        if not self.done:
            self.done = True
            self.tell(
                nic.peer, None, flow.number, None, None, nic.now_ps,
                unit_words=nic.peer.flow(flow.number).unit, fifo=fifo.depth,
            )  # fmt: skip
        if self._seen == self._needed:
            self.evident_ps = nic.now_ps + self.draw.randrange(1 * _US, 20 * _US)


class CreditTooOptimistic(Fault):
    """A believes in more free space than its credits say."""

    name = "credit-too-optimistic"

    def __init__(self) -> None:
        super().__init__()
        self.flow = -1
        self._constant = 0

    def shape(self, plan: Plan, profile: Profile) -> None:
        self.flow = keep_busy(self, plan, slow=True)
        # Above the FIFO by what may be freed and not yet told, and below what the counters can tell apart.
        whole = profile.fifo_message_words + FRAME_WORDS
        share = profile.credit_share_words
        lowest = profile.fifo_rx_words - share + 2 * profile.flows_credit_unit_words + whole
        highest = min(lowest + _MOST_EXCESS_WORDS, (1 << profile.credit_w) - 1 - share - whole)
        self._constant = self.draw.randint(lowest, max(lowest, highest))

    def fits(self, flow: Flow, packet: Packet, nic: Nic) -> bool:
        right = flow.fits(packet.room)
        if not is_a(nic) or flow.number != self.flow:
            return right
        wrong = packet.room <= flow.free() + self._constant
        if wrong and not right and not self.done:
            self.done = True
            self.tell(
                nic, None, flow.number, None, None, nic.now_ps,
                constant_words=self._constant, limit=flow.limit,
            )  # fmt: skip
        return wrong
