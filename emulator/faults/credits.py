"""credit-corrupted, credit-lost, wrap-unhandled, credit-start-too-large: flow control gone wrong between A and B.

- credit-corrupted: one bit of a credit word flips in B between the parity generator and the CRC, so A finds good
  CRC and bad parity and refuses it. B's event log holds the word as the parity generator made it.
- credit-lost: from some moment on no credit of one flow leaves B, although B believes to have sent them.
- wrap-unhandled: A compares the counters of one flow as they stand, ``sent + words <= credited + limit``. That is
  right until ``sent`` has wrapped and ``credited`` has not: then everything fits.
- credit-start-too-large: A's start-up credit of one flow is larger than B's whole incoming FIFO.

The last three need traffic that keeps the flow busy, the last two a receiver slower than the link: they arrange
for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from freezeframe.decoders.trace.encode import crc16_ibm3740, words_to_bytes
from freezeframe.emulator.credit import Flow
from freezeframe.emulator.faults.base import Fault, is_a, is_b
from freezeframe.emulator.faults.shaping import keep_busy
from freezeframe.emulator.packet import FRAME_WORDS, Packet
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.traffic import Plan
from freezeframe.emulator.truth import Injection

if TYPE_CHECKING:
    from freezeframe.emulator.nic import Nic

__all__ = ["CreditCorrupted", "CreditLost", "CreditStartTooLarge", "WrapUnhandled"]

_CORRUPTIBLE_BITS = range(8, 40)  # flow, parity, freed: what the parity bit is there for


class CreditCorrupted(Fault):
    """One bit of one credit word."""

    name = "credit-corrupted"

    def credit_leaving(self, word: int, flow: Flow, nic: Nic) -> int | None:
        if not is_b(nic) or not self.ready(nic):
            return word
        bit = self.draw.choice(_CORRUPTIBLE_BITS)
        self.done = True
        low = (word ^ 1 << bit) & 0xFFFFFFFFFFFF
        self.tell(nic, None, flow.number, None, None, nic.now_ps, bit=bit)
        return low | crc16_ibm3740(words_to_bytes((low,))[:6]) << 48


class CreditLost(Fault):
    """All credits of one flow, from some moment on."""

    name = "credit-lost"

    def shape(self, plan: Plan, profile: Profile) -> None:
        self.flow = keep_busy(self, plan, slow=False)

    def credit_leaving(self, word: int, flow: Flow, nic: Nic) -> int | None:
        if not is_b(nic) or flow.number != self.flow or nic.now_ps < self.not_before_ps:
            return word
        if not self.done:
            self.done = True
            self.tell(nic, None, flow.number, None, None, nic.now_ps)
        return None


class WrapUnhandled(Fault):
    """A's comparison of one flow's counters does not know that they wrap."""

    name = "wrap-unhandled"

    def shape(self, plan: Plan, profile: Profile) -> None:
        self.flow = keep_busy(self, plan, slow=True)

    def fits(self, flow: Flow, packet: Packet, nic: Nic) -> bool:
        right = flow.fits(packet.room)
        if not is_a(nic) or flow.number != self.flow:
            return right
        sent = flow.sent.entered & flow.mask
        wrong = sent + packet.room <= flow.credited + flow.limit
        if wrong and not right and not self.done:
            self.done = True
            self.tell(
                nic, None, flow.number, None, None, nic.now_ps,
                sent=sent, credited=flow.credited, limit=flow.limit,
            )  # fmt: skip
        return wrong


class CreditStartTooLarge(Fault):
    """A believes B's FIFO to be larger than it is."""

    name = "credit-start-too-large"

    def __init__(self) -> None:
        super().__init__()
        self.flow = -1

    def begin(self, seed: int, run: int, now_ps: int, tell: Callable[[Injection], None]) -> None:
        super().begin(seed, run, now_ps, tell)
        self.excess = self.draw.random()

    def shape(self, plan: Plan, profile: Profile) -> None:
        self.flow = keep_busy(self, plan, slow=True)

    def start_limit(self, flow: int, share: int, nic: Nic) -> int:
        if not is_a(nic) or flow != self.flow:
            return share
        profile = nic.profile
        # Above the FIFO by what may be freed and not yet told, and below what the counters can tell apart.
        lowest = (
            profile.fifo_rx_words + 2 * profile.flows_credit_unit_words + profile.fifo_message_words
        )
        highest = (1 << profile.credit_w) - 1 - profile.fifo_message_words - FRAME_WORDS
        return int(lowest + self.excess * (highest - lowest))

    def fits(self, flow: Flow, packet: Packet, nic: Nic) -> bool:
        fits = flow.fits(packet.room)
        if fits and not self.done and is_a(nic) and flow.number == self.flow:
            outstanding = flow.limit - flow.free() + packet.room
            if (
                outstanding > nic.profile.credit_share_words
            ):  # what a right limit would have refused
                self.done = True
                self.tell(
                    nic, None, flow.number, None, None, nic.now_ps,
                    limit=flow.limit, fifo=nic.profile.fifo_rx_words,
                )  # fmt: skip
        return fits
