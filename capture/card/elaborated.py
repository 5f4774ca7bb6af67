"""The elaborated card: what a card file means, with every number given. Generator and host read this alone."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from freezeframe.capture.card.canonical import canonical_text
from freezeframe.capture.card.tables import (
    CardFile,
    Cause,
    Clock,
    Counter,
    Event,
    Law,
    States,
    Stretch,
    Tap,
)

LANE_BITS = 64
RECORD_BITS = 72
BLOCK_RAM_RECORDS = 512
# The stream's cycle is that of the record less these: one tap register, two with the fast recorder; where a packet's
# summary is recorded, as many as that takes.
LATENCY_CYCLES = {"plain": 1, "fast": 2}
SUMMARY_CYCLES = 3
LOG = "event_log"
LOG_RECORDS = 1024
# By the map of the card. On map 1 the other card's freeze is a cause like others, the last one.
BUILT_IN_CAUSES = {1: ("host", "trigger"), 2: ("host", "trigger", "peer")}


@dataclass(frozen=True, slots=True)
class ElaboratedClock:
    """A clock domain; number 0 is the register bus."""

    number: int
    name: str
    said: Clock


@dataclass(frozen=True, slots=True)
class ElaboratedTap:
    """A tap with its memories.

    Attributes:
        number: in the order of the file.
        lanes: numbers of its memories, one for each 64 bits; narrow streams and summaries take one.
        latency_cycles: the stream's cycle is a record's cycle less this.
    """

    number: int
    name: str
    said: Tap
    clock: ElaboratedClock
    format: str
    lanes: range
    latency_cycles: int

    @property
    def stores(self) -> str:
        """What its memory keeps, in words."""
        store = self.said.store
        if store == "all":
            return "every beat"
        return "summaries" if store == "summary" else f"first {store.first_bytes} B"

    @property
    def stream_bytes(self) -> int:
        """Bytes of one beat."""
        return self.said.bits // 8


@dataclass(frozen=True, slots=True)
class ElaboratedStretch:
    """What lies between two neighbouring taps of a path."""

    path: str
    first: ElaboratedTap
    second: ElaboratedTap
    said: Stretch

    @property
    def identity(self) -> bool:
        """Whether what comes in comes out, the same and in the same order."""
        said = self.said
        return said.drops is None and said.fcs == "kept" and not said.rewrites and not said.reorders

    @property
    def text(self) -> str:
        """What may happen to a packet here, in words."""
        said = self.said
        parts = []
        if said.drops is not None:
            counted = (
                f", counted by {said.drops.counter}" if said.drops.counter else ", not counted"
            )
            parts.append(
                f"drops {'whole packets' if said.drops.whole else 'parts of packets'}{counted}"
            )
        if said.fcs != "kept":
            parts.append(f"FCS {said.fcs}")
        if said.rewrites:
            parts.append(f"rewrites {', '.join(said.rewrites)}")
        if said.reorders:
            parts.append("reorders")
        if self.first.said.bits != self.second.said.bits:
            parts.append(f"{self.first.said.bits} to {self.second.said.bits} bits")
        return "; ".join(parts) or "identity"


@dataclass(frozen=True, slots=True)
class ElaboratedSource:
    """What the event log tells of: an event with its value, or a state machine.

    Attributes:
        number: as its records have it; events first, each in the order of the file.
        bits: of the value that is logged; 0 for an event without one.
    """

    number: int
    name: str
    said: Event | States
    clock: ElaboratedClock
    bits: int

    @property
    def states(self) -> Sequence[str]:
        """Return the names of a machine's states; none for an event."""
        return self.said.names if isinstance(self.said, States) else ()


@dataclass(frozen=True, slots=True)
class ElaboratedCause:
    """A cause of a freeze and its bit; ``said`` is None for those that every card has."""

    bit: int
    name: str
    said: Cause | None


@dataclass(frozen=True, slots=True)
class ElaboratedLaw:
    """A conservation law: of the file (``said``), or one that follows from a path.

    A bound that is None is none, or a term that a device of map 1 tells: ``said`` has it.
    """

    name: str
    plus: tuple[str, ...]
    minus: tuple[str, ...]
    least: int | None
    most: int | None
    said: Law | None = None

    @property
    def derived(self) -> bool:
        """Whether it follows from a path."""
        return self.said is None


class ElaboratedCard:
    """A card with every number given; equal files give equal cards.

    Attributes:
        text: the card as JSON, keys in the order of the tables: what is hashed.
    """

    def __init__(self, said: CardFile, text: str | None = None) -> None:
        """Give the numbers, in the order of the file; the bus clock is first.

        Args:
            text: that it was read from, where that is a text of this kind: a device, a capture.
        """
        self.said = said
        self.text = canonical_text(said) if text is None else text
        self.name = said.card.name
        ordered = sorted(said.clock.items(), key=lambda item: not item[1].registers)
        self.clocks = tuple(ElaboratedClock(n, name, c) for n, (name, c) in enumerate(ordered))
        by_name = {clock.name: clock for clock in self.clocks}
        taps = []
        memory = 0
        for number, (name, tap) in enumerate(said.tap.items()):
            wide = 1 if tap.store == "summary" else max(1, tap.bits // LANE_BITS)
            lanes = range(memory, memory + wide)
            memory = lanes.stop
            latency = LATENCY_CYCLES[tap.recorder] if tap.store == "all" else SUMMARY_CYCLES
            shape = said.format[tap.format].is_ if tap.format else "raw"
            taps.append(ElaboratedTap(number, name, tap, by_name[tap.clock], shape, lanes, latency))
        self.taps = tuple(taps)
        self.sources = tuple(_sources(said, by_name, self.clocks[0]))
        # The log is recorded, read and verified as a tap is; it is none of the card's streams.
        self.log: ElaboratedTap | None = None
        if self.sources:
            log = Tap(kind="words", clock=self.clocks[0].name, depth=LOG_RECORDS)
            lanes = range(memory, memory + 1)
            self.log = ElaboratedTap(len(taps), LOG, log, self.clocks[0], "raw", lanes, 1)
        self.recorders = (*self.taps, self.log) if self.log else self.taps
        self.map = said.card.map
        built_in = BUILT_IN_CAUSES[self.map]
        self.causes = tuple(
            ElaboratedCause(bit, name.replace("_", "-") if self.map == 1 else name, cause)
            for bit, (name, cause) in enumerate(
                (*((name, None) for name in built_in), *said.cause.items())
            )
        )
        # The cause that another card's freeze is, by the card's name for it.
        own_peer = (c.name for c in self.causes if c.said is not None and c.said.means == "peer")
        self.peer_cause = next(own_peer, "peer" if "peer" in built_in else "")
        self.counters: tuple[tuple[str, Counter], ...] = tuple(said.counter.items())
        own = tuple(_own(name, law) for name, law in said.law.items())
        # What the file says of a sum stands in place of what would follow.
        written = {(law.plus, law.minus) for law in own}
        derived = (law for law in self._derived_laws() if (law.plus, law.minus) not in written)
        self.laws = (*derived, *own)

    def tap(self, name: str) -> ElaboratedTap:
        """Return the tap of that name.

        Raises:
            KeyError: there is none.
        """
        return {tap.name: tap for tap in self.taps}[name]

    @cached_property
    def stretches(self) -> tuple[ElaboratedStretch, ...]:
        """Return what lies between neighbouring taps, path by path."""
        return tuple(
            ElaboratedStretch(name, self.tap(a), self.tap(b), said)
            for name, path in self.said.path.items()
            for a, b, said in zip(
                path.taps,
                path.taps[1:],
                path.stretch or [Stretch()] * (len(path.taps) - 1),
                strict=False,
            )
        )

    @property
    def of_hooks(self) -> bool:
        """Whether it is one of C hooks alone: a processor records its log, and no device is built."""
        return not self.taps

    def cause_names(self, causes: int) -> list[str]:
        """Return the names of the causes in a mask; a bit without a name is ``cause-NN``."""
        name_of = {cause.bit: cause.name for cause in self.causes}
        return [
            name_of.get(bit, f"cause-{bit}")
            for bit in range(causes.bit_length())
            if causes >> bit & 1
        ]

    @property
    def memories(self) -> int:
        """How many trace memories the taps have, and the event log."""
        return self.recorders[-1].lanes.stop

    @property
    def memory_bits(self) -> int:
        """Bits of all trace memories."""
        return sum(len(tap.lanes) * tap.said.depth * RECORD_BITS for tap in self.recorders)

    @property
    def block_rams(self) -> int:
        """How many block RAMs of 36 Kbit these memories take, 512 records each."""
        return sum(
            len(tap.lanes) * -(-tap.said.depth // BLOCK_RAM_RECORDS) for tap in self.recorders
        )

    @cached_property
    def hash(self) -> int:
        """First 64 bits of the SHA-256 of `text`: ``id.card_hash``."""
        return int.from_bytes(hashlib.sha256(self.text.encode()).digest()[:8], "big")

    def _derived_laws(self) -> tuple[ElaboratedLaw, ...]:
        """What goes in at a tap comes out at the next one, was dropped, or still stands between them."""
        counted = {
            (counter.tap, counter.counts): name for name, counter in self.counters if counter.counts
        }
        laws = []
        for stretch in self.stretches:
            drops = stretch.said.drops
            if drops is not None and not drops.counter:
                continue  # what nobody counts breaks no law
            for unit in ("packets", "words"):
                names = [counted.get((tap.name, unit)) for tap in (stretch.first, stretch.second)]
                if None in names or (unit == "words" and not stretch.identity):
                    continue
                out = [str(names[1])] + ([drops.counter] if drops is not None else [])
                level = [stretch.said.level] if unit == "words" and stretch.said.level else []
                # Without a level: as many as fit may stand between the taps; without a capacity, any number.
                most = 0 if level else stretch.said.capacity_words or None
                laws.append(
                    ElaboratedLaw(
                        f"{stretch.path}.{stretch.first.name}-{stretch.second.name}.{unit}",
                        (str(names[0]),),
                        (*out, *level),
                        0,
                        most,
                    )
                )
        return tuple(laws)


def state_bits(states: int) -> int:
    """Return the width of the wire of a state machine."""
    return max(1, (states - 1).bit_length())


def _sources(
    said: CardFile, clocks: dict[str, ElaboratedClock], bus: ElaboratedClock
) -> Iterator[ElaboratedSource]:
    for number, (name, event) in enumerate(said.event.items()):
        bits = event.bits if event.value else 0
        yield ElaboratedSource(number, name, event, clocks.get(event.clock, bus), bits)
    for number, (name, machine) in enumerate(said.states.items(), len(said.event)):
        bits = state_bits(len(machine.names))
        yield ElaboratedSource(number, name, machine, clocks.get(machine.clock, bus), bits)


def _own(name: str, law: Law) -> ElaboratedLaw:
    least, most = (bound if isinstance(bound, int) else None for bound in (law.least, law.most))
    return ElaboratedLaw(name, tuple(law.plus), tuple(law.minus), least, most, law)


def elaborate(said: CardFile, text: str | None = None) -> ElaboratedCard:
    """Return what a card file means; it was checked when it was read.

    Args:
        text: the elaborated text that says so, of a device or a capture, which keeps its hash; else it is made.
    """
    return ElaboratedCard(said, text)
