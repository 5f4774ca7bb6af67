"""The points in a card's stages where a fault can take hold. These hooks change nothing.

A fault overrides the hooks it acts on; each card has the hooks of the faults that sit in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from freezeframe.emulator.bank import Bank
from freezeframe.emulator.credit import Flow
from freezeframe.emulator.descriptor import Descriptor
from freezeframe.emulator.incoming import Incoming, Reading
from freezeframe.emulator.memory import Kinds, Words
from freezeframe.emulator.packet import Packet, Verdict

Completion = tuple[int, int]
"""Sequence number and flow of the packet that a remote notification tells of."""

Way = tuple[int, int]
"""Through a switch: from a port to a port."""

Uncounted = tuple[int, int]
"""Words at the beginning and at the end of a packet that a counter does not count."""


class Hooks:
    """The hooks of a card without a fault."""

    done = False  # a fault that strikes once has struck in this run

    def started(self) -> None:
        """The card has been brought up: the place to start what runs beside it."""

    # -- flow control ----------------------------------------------------------------------------

    def start_limit(self, flow: int, share: int) -> int:
        """Return the start-up credit of a flow."""
        return share

    def credit_unit(self, flow: int, unit: int) -> int:
        """Return the words that a receiver frees between two credits of a flow."""
        return unit

    def fits(self, flow: Flow, words: int) -> bool:
        """Return whether the transmitter finds enough credit to start a packet."""
        return flow.fits(words)

    def blocked(self, flow: Flow) -> None:
        """A packet has begun to wait for credit."""

    def uncounted(self, flow: Flow, sending: bool) -> Uncounted:
        """Return the words at a packet's beginning and end that the card's counters of the flow leave out."""
        return 0, 0

    def freed(self, flow: Flow, words: int) -> int:
        """Return how many words a receiver counts as freed of so many that left its FIFO."""
        return words

    def credit_leaving(self, word: int, flow: Flow) -> int | None:
        """Return a credit word as it leaves the card, None when it never does."""
        return word

    def credit_arriving(self, word: int) -> int:
        """Return what the receiver makes of a credit word."""
        return word

    # -- words -----------------------------------------------------------------------------------

    def resumed(self, words: int, rest: int, descriptor: Descriptor) -> int:
        """Return how many words too far a read goes on after a retry or disconnect.

        Args:
            words: payload words fetched already; ``rest``: those that are not.
        """
        return 0

    def made(self, descriptor: Descriptor, packet: Packet) -> Packet:
        """Return the packet that the transmit DMA engine makes of a descriptor, before any of it enters the FIFO."""
        return packet

    def leaving(self, packet: Packet, flow: Flow) -> tuple[Words, Kinds]:
        """Return what comes out of the outgoing FIFO."""
        return packet.words, packet.kinds

    def arriving(self, words: Words) -> Words:
        """Return what the receiver makes of a packet's words, before rx_enq. Called in the first word's cycle."""
        return words

    def reading(self, incoming: Incoming) -> Reading | None:
        """Return what the read side of the incoming FIFO does wrong with this packet."""
        return None

    def judged(self, verdict: Verdict) -> Verdict:
        """Return what a receiver stage makes of its checks of a packet; asked until payload and length are judged."""
        return verdict

    def corrects_clock(self) -> bool:
        """Return whether a receiver inserts and removes idles."""
        return True

    # -- the switch between the cards, where there is one ----------------------------------------

    def turns(self, words: Words, way: Way, ports: int) -> int:
        """Return the output to which a switch of so many ports turns a packet; a way is its input and its output."""
        return way[1]

    def crossing(self, words: Words, kinds: Kinds, way: Way) -> tuple[Words, Kinds]:
        """Return what leaves a crosspoint of a packet that came into it."""
        return words, kinds

    def tells(self, words: Words, way: Way) -> int:
        """Return of how many of a packet's words the switch tells its sender that they have left."""
        return len(words)

    # -- what is read from the card --------------------------------------------------------------

    def counts(self, values: dict[str, int]) -> None:
        """Change what the counters say, in place."""

    def latches(self, bank: Bank) -> None:
        """Change what is latched when the recorder freezes, in place; the CRC table is made of what stays."""

    # -- the host --------------------------------------------------------------------------------

    def posts(self) -> None:
        """The host posts a message."""

    def destination(self, dest: int, words: int) -> int:
        """Return the destination that the driver writes into the descriptor of a write of so many words."""
        return dest

    def raised(self, completions: int) -> None:
        """An interrupt has been raised while so many completions wait."""

    def masks(self) -> bool:
        """Return whether the interrupt handler masks the line when it begins."""
        return True

    def enabling_ps(self) -> int:
        """Return the time between the handler's last look for completions and the line being enabled."""
        return 0

    def looks_again(self, waiting: Sequence[Completion]) -> bool:
        """Return whether the handler looks for completions once more when the line is enabled."""
        return True
