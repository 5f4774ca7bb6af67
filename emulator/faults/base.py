"""The places where a fault can take hold of an emulated pair. This one leaves every place as it is.

A sends to B: faults act on that direction only. Everything random about a fault comes from its own generator,
so that it does not disturb what the hosts do.

Source: the table of faults in the design's faults.md; each fault's file says what it does.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from freezeframe.emulator.credit import Flow
from freezeframe.emulator.memory import Kinds, Words
from freezeframe.emulator.packet import Packet
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.traffic import Message, Plan
from freezeframe.emulator.truth import Injection

if TYPE_CHECKING:
    from freezeframe.emulator.dma import Descriptor
    from freezeframe.emulator.incoming import Incoming, Reading
    from freezeframe.emulator.nic import Nic

__all__ = ["DIRECTION", "Fault", "Uncounted", "is_a", "is_b"]

DIRECTION = "A->B"

Uncounted = tuple[int, int]
"""Words at the beginning and at the end of a packet that a counter does not count."""

_US = 1_000_000  # picoseconds
_EARLIEST_PS, _LATEST_PS = (
    5 * _US,
    250 * _US,
)  # from the start of a run to the first chance of an injection


def is_a(nic: Nic) -> bool:
    """Return whether this is the sending card of the faulty direction."""
    return nic.index == 0


def is_b(nic: Nic) -> bool:
    """Return whether this is the receiving card of the faulty direction."""
    return nic.index == 1


class Fault:
    """No fault: a clean run. Subclasses override the places they act on.

    Attributes:
        evident_ps: for a fault that no hardware check finds: when its symptom had time to show, known once
            it has struck; a host may freeze from then on. A clean run has nothing to show.
    """

    name = "none"
    lasting = False
    """Whether it is there from the beginning and strikes when what it needs has come together."""
    silent = False
    """Whether no check of the hardware finds this fault, so that only the host freezes."""

    def __init__(self) -> None:
        self.done = False  # a fault that strikes once has struck in this run
        self.draw = random.Random(0)
        self.not_before_ps = 0
        self.evident_ps: int | None = None
        self._tell: Callable[[Injection], None] = lambda injection: None

    def begin(self, seed: int, run: int, now_ps: int, tell: Callable[[Injection], None]) -> None:
        """Get ready for a run: after power-up, and after each re-arm of a frozen pair."""
        self.draw = random.Random(f"{seed}/{run}/{self.name}")
        self.done = False
        self.evident_ps = None
        # Spread evenly over the orders of magnitude: memories that have wrapped and memories that have not.
        ratio = _LATEST_PS / _EARLIEST_PS
        self.not_before_ps = now_ps + int(_EARLIEST_PS * ratio ** self.draw.random())
        self._tell = tell

    def ready(self, nic: Nic) -> bool:
        """Return whether the fault may strike now."""
        return not self.done and nic.now_ps >= self.not_before_ps

    def tell(
        self,
        nic: Nic,
        tap: str | None,
        flow: int | None,
        packet: int | None,
        word: int | None,
        t_ps: int,
        **detail: Any,
    ) -> None:
        """Note the injection for the truth file."""
        self._tell(
            Injection(
                self.name,
                nic.freeze.generation,
                nic.name,
                tap,
                DIRECTION,
                flow,
                packet,
                word,
                t_ps,
                detail,
            )
        )

    # -- places --------------------------------------------------------------------------------

    def link_ppb(self, card: int, ppb: int, seed: int) -> int:
        """Return the deviation of a card's link clock; asked once, at power-up, before `begin`."""
        return ppb

    def started(self, nic: Nic) -> None:
        """A card has been brought up: the place to start what runs beside it."""

    def shape(self, plan: Plan, profile: Profile) -> None:
        """Arrange what the hosts do so that the symptom comes."""

    def leaving(self, packet: Packet, nic: Nic) -> tuple[Words, Kinds]:
        """Return what comes out of the outgoing FIFO."""
        return packet.words, packet.kinds

    def arriving(self, words: Words, nic: Nic) -> Words:
        """Return what the receiver makes of a packet's words, before rx_enq. Called in the first word's cycle."""
        return words

    def reading(self, incoming: Incoming, nic: Nic) -> Reading | None:
        """Return what the read side of the incoming FIFO does wrong with this packet."""
        return None

    def credit_leaving(self, word: int, flow: Flow, nic: Nic) -> int | None:
        """Return a credit word as it leaves the card, None when it never does."""
        return word

    def credit_arriving(self, word: int, nic: Nic) -> int:
        """Return what the receiver makes of a credit word."""
        return word

    def start_limit(self, flow: int, share: int, nic: Nic) -> int:
        """Return the start-up credit of a flow."""
        return share

    def fits(self, flow: Flow, packet: Packet, nic: Nic) -> bool:
        """Return whether the transmitter finds enough credit to start a packet."""
        return flow.fits(packet.room)

    def credit_unit(self, flow: int, unit: int, nic: Nic) -> int:
        """Return the words that a receiver frees between two credits of a flow."""
        return unit

    def blocked(self, flow: Flow, nic: Nic) -> None:
        """A packet has begun to wait for credit."""

    def uncounted(self, nic: Nic, flow: Flow, sending: bool) -> Uncounted:
        """Return the words at a packet's beginning and end that a card's counters of the flow leave out."""
        return 0, 0

    def corrects_clock(self, nic: Nic) -> bool:
        """Return whether a receiver inserts and removes idles."""
        return True

    def resumed(self, words: int, rest: int, descriptor: Descriptor, nic: Nic) -> int:
        """Return how many words too far a read goes on after a retry or disconnect.

        Args:
            words: payload words fetched already; ``rest``: those that are not.
        """
        return 0

    def masks(self, nic: Nic) -> bool:
        """Return whether the interrupt handler masks the line when it begins."""
        return True

    def enabling_ps(self, nic: Nic) -> int:
        """Return the time between the handler's last look for completions and the line being enabled."""
        return 0

    def looks_again(self, nic: Nic) -> bool:
        """Return whether the handler looks for completions once more when the line is enabled."""
        return True

    def raised(self, nic: Nic) -> None:
        """An interrupt has been raised."""

    def posts(self, nic: Nic, message: Message) -> None:
        """The host posts a message."""
