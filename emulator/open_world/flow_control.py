"""Credits and the counts of flow control that go wrong in ways that are in no list."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from freezeframe.capture.registers.layouts import (
    CREDIT_FLOW_LSB,
    CREDIT_FLOW_MASK,
    CREDIT_FREED_LSB,
    CREDIT_FREED_MASK,
)
from freezeframe.decoders.trace.encode import credit_word
from freezeframe.emulator.credit import Flow
from freezeframe.emulator.faults.base import US
from freezeframe.emulator.faults.shaping import slow_down
from freezeframe.emulator.hooks import Uncounted
from freezeframe.emulator.open_world.base import Unlisted
from freezeframe.emulator.open_world.plugs import PluggedWire
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.traffic import Plan

Crediting = Callable[["Credits", int], Sequence[tuple[int, int]]]


class _Flow(Unlisted):
    """Something of A's busy flow goes wrong, perhaps where B's host is slow as well."""

    busy = True

    def __init__(self, name: str, slow_host: bool) -> None:
        super().__init__(name)
        self._slow_host = slow_host

    def shape(self, plan: Plan, profile: Profile) -> None:
        super().shape(plan, profile)
        if self._slow_host:
            slow_down(self, plan, 900, 1100)


class Credits(_Flow):
    """Credits change on their way from B to A: one of them, or all of the busy flow's from some moment on.

    ``how`` makes of a credit word what arrives: delays (ps) and words.
    """

    slow = (80, 250)

    def __init__(
        self, name: str, how: Crediting, goes_on: bool = False, slow_host: bool = False
    ) -> None:
        super().__init__(name, slow_host)
        self._how = how
        self._goes_on = goes_on

    def started(self) -> None:
        link = self.receiver.tx_link
        link.wire = PluggedWire(link.wire, credits=self._credits)

    def _credits(self, word: int) -> Sequence[tuple[int, int]]:
        if flow_of(word) != self.flow or not self.takes_hold(self._goes_on):
            return [(0, word)]
        self.strike_first(None, self.flow)
        return self._how(self, word)


def flow_of(word: int) -> int:
    return word >> CREDIT_FLOW_LSB & CREDIT_FLOW_MASK


def freed_of(word: int) -> int:
    return word >> CREDIT_FREED_LSB & CREDIT_FREED_MASK


def doubled(fault: Credits, word: int) -> Sequence[tuple[int, int]]:
    """The credit comes twice: counts are cumulative, so nothing follows."""
    return [(0, word), (0, word)]


def to_other_flow(fault: Credits, word: int) -> Sequence[tuple[int, int]]:
    """The credit names another flow, with right parity and CRC."""
    other = (flow_of(word) + 1) % fault.nic.profile.flows_count
    return [(0, credit_word(other, freed_of(word)))]


def delayed(fault: Credits, word: int) -> Sequence[tuple[int, int]]:
    """Every credit takes 30 us longer."""
    return [(30 * US, word)]


def too_much(fault: Credits, word: int) -> Sequence[tuple[int, int]]:
    """The count is 700 words ahead, with right parity and CRC."""
    return [(0, credit_word(flow_of(word), freed_of(word) + 700 & fault.receiver.flows[0].mask))]


def wrong_crc(fault: Credits, word: int) -> Sequence[tuple[int, int]]:
    """The generator of the credits' CRC is wrong: A refuses them."""
    return [(0, word ^ 0x1D0F << 48)]


class Counts(_Flow):
    """A count of flow control goes wrong in the card.

    Attributes:
        what: "freed-leaks" (B counts a word too little of each burst that it frees), "freed-jumps" (once 700 too many),
            "sent-twice" (A counts two words too many of each packet), "ignored" (A does not look at the credit),
            "refused" (A's comparison says no for ever), "limit" and "credited" (one bit of A's register).
    """

    slow = (500, 900)

    def __init__(self, name: str, what: str, card: int, slow_host: bool = False) -> None:
        super().__init__(name, slow_host)
        self._what = what
        self.card = card

    def started(self) -> None:
        if self._what in ("limit", "credited"):
            self.later(self._upset)

    def freed(self, flow: Flow, words: int) -> int:
        if flow.number != self.flow or not words:
            return words
        if self._what == "freed-leaks" and self.takes_hold(True):
            self.strike_first(None, self.flow)
            return words - 1
        if self._what == "freed-jumps" and self.ready():
            self.strike(None, self.flow, words=700)
            return words + 700
        return words

    def uncounted(self, flow: Flow, sending: bool) -> Uncounted:
        if self._what != "sent-twice" or not sending or flow.number != self.flow:
            return 0, 0
        if not self.takes_hold(True):
            return 0, 0
        self.strike_first(None, self.flow)
        return -2, 0

    def fits(self, flow: Flow, words: int) -> bool:
        fits = flow.fits(words)
        if self._what == "ignored" and not fits and flow.number == self.flow:
            if self.ready():
                self.strike(None, self.flow)
            return self.done
        if self._what == "refused" and flow.number == self.flow and self.takes_hold(True):
            self.strike_first(None, self.flow)
            return False
        return fits

    def _upset(self) -> None:
        flow = self.sender.flows[self.flow or 0]
        bit = self.draw.choice((9, 10))
        if self._what == "limit":
            flow.limit ^= 1 << bit
        else:
            flow.credited ^= 1 << bit
        self.strike(None, self.flow, register=f"frozen_flow.{self._what}", bit=bit)
