"""The ports of an emulated card: all that a stage knows of the card it is plugged into and of its neighbours.

No stage is imported here, and no stage imports another: the file of a card puts its stages together.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import simpy

from freezeframe.capture.registers.layouts import (
    Cause,
    DescCode,
    Domain,
    EventSource,
    Kind,
    LinkCode,
    Machine,
    MachineState,
    NoteCode,
)
from freezeframe.emulator.bank import Values
from freezeframe.emulator.beat import Beat, Calendar
from freezeframe.emulator.clocks import Clock
from freezeframe.emulator.config import Config
from freezeframe.emulator.credit import Flow
from freezeframe.emulator.descriptor import Descriptor
from freezeframe.emulator.hooks import Hooks
from freezeframe.emulator.incoming import Incoming
from freezeframe.emulator.memory import Kinds, Words
from freezeframe.emulator.packet import Packet
from freezeframe.emulator.parts import Bus, Fifo, Process, Signal, Tap
from freezeframe.emulator.profile import Profile


class Time(Protocol):
    """The simulation, as one card sees it: what is planned for the card ends when it is held or brought up again."""

    env: Calendar
    held: bool

    @property
    def now_ps(self) -> int: ...

    def at(self, t_ps: int, action: Callable[[], None]) -> None:
        """Do something later, unless the card has been held or brought up again by then."""

    def always_at(self, t_ps: int, action: Callable[[], None]) -> None:
        """Do something later, whatever has happened to the card by then."""

    def process(self, steps: Process) -> None:
        """Run steps until the card is held or brought up again."""


class LinkEvents(NamedTuple):
    """Events of the link domain: one of each value at each of so many beats to come, with none beside."""

    kind: Kind
    source: EventSource
    code: int
    values: Sequence[int]
    beat: Beat
    beats: int


class Events(Protocol):
    """Where stages report what happens: the event log, and the causes of a freeze."""

    def event(
        self, kind: Kind, source: EventSource, code: int, value: int, flow: int = 0,
        cycle: int | None = None,
    ) -> None:  # fmt: skip
        """Offer an event to the log, of the present bus cycle or a later one."""

    def link_event(
        self, kind: Kind, source: EventSource, code: int, value: int, flow: int = 0
    ) -> None:
        """Offer an event of the link domain: the log sees it 2 to 3 bus cycles later."""

    def link_events(self, events: LinkEvents) -> bool:
        """Offer events of the link domain at beats to come; return whether that could be done."""

    def enter(self, machine: Machine, state: MachineState) -> None:
        """A state machine changes its state; staying in it is no event."""

    def raise_cause(self, cause: Cause, domain: Domain) -> None:
        """A cause of a freeze arises now in a domain."""

    def taken_back(self, tap: Tap) -> None:
        """Words that were fed to a tap never came."""


Cut = Callable[[int], None]
"""Tells the far end of a wire that the sender was held after so many words of a packet."""


class Wire(Protocol):
    """The link to the other end, where its receiver stands."""

    def wait(self, words: int) -> simpy.Event | None:
        """Return None where so many words may be sent now, else when to ask again: a link with credits of its own."""

    def expect(self, words: Words, kinds: Kinds, first_ps: int) -> Cut:
        """A packet is on the wire; its first word arrives at ``first_ps``, the others word by word."""

    def expect_credit(self, word: int, at_ps: int) -> None:
        """A credit word is on the wire."""


class Transmitter(Protocol):
    """The transmitter of the link, as its neighbours on the same card see it."""

    moved: Signal
    """A run has begun to leave the outgoing FIFO."""

    def push(self, packet: Packet) -> None:
        """A whole packet is in the outgoing FIFO."""

    def credit_due(self, flow: Flow) -> None:
        """A credit for this flow is to be sent."""

    def credit_taken(self) -> None:
        """A credit of the other end has been taken."""


class Descriptors(Protocol):
    """The transmit DMA engine, as those see it who give it descriptors."""

    queue: deque[Descriptor]
    taken: Signal
    next_seq: int

    def post(self, descriptor: Descriptor) -> None:
        """Queue a descriptor; packets get their sequence numbers in this order."""

    def tell(self, code: DescCode, descriptor: Descriptor, cycle: int | None = None) -> None:
        """Put a DESC event of this descriptor into the event log."""


class Drain(Protocol):
    """The receive DMA engine, as the receiver and the host see it."""

    pause_cycles: int
    host_stopped: bool
    allowed: Signal

    def push(self, incoming: Incoming) -> None:
        """A packet has begun to enter the incoming FIFO."""


class Notes(Protocol):
    """The writer of notifications."""

    def post(self, code: NoteCode, seq: int, flow: int) -> None:
        """Queue a notification of the packet with this sequence number."""


class Lanes(Protocol):
    """The bonded lanes of a receiver and their synchronization FIFOs."""

    count: int
    levels: list[int]

    @property
    def deskew_cycles(self) -> int:
        """Cycles that a word waits in the earliest lane for the latest."""

    def report(self, code: LinkCode, lane: int) -> None:
        """Put a LINK event of a lane into the event log."""

    def slip(self, lane: int, underflow: bool) -> None:
        """A lane's synchronization FIFO is read while empty, or written while full."""


class Latched(Protocol):
    """A stage with registers in the freeze bank."""

    def latched(self, t_ps: int) -> Values:
        """Return those registers as they stand at ``t_ps``."""


class Freezable(Protocol):
    """What the freeze control moves."""

    def arm_memories(self, now_ps: int) -> None:
        """Clear all memories and attach them to their taps."""

    def armed(self, was_frozen: bool) -> None:
        """The recorder has been armed."""

    def frozen(self, t_ps: int) -> None:
        """All memories are closed."""


class Site(Protocol):
    """The card in which a fault sits, as far as a fault may reach into it."""

    index: int
    name: str
    link: Clock
    far: Clock  # of the sender that is heard
    tx_fifo: Fifo
    rx_fifo: Fifo

    @property
    def time(self) -> Time: ...

    @property
    def lanes(self) -> Lanes: ...

    @property
    def generation(self) -> int: ...

    @property
    def received(self) -> bool:
        """A good packet has arrived since bring-up."""

    def set_credit_unit(self, flow: int, words: int) -> None:
        """Let the receiver free so many words of a flow between two credits, from the next credit on."""

    def withheld(self, flow: int) -> int:
        """Return the words freed of a flow that no credit has reported."""


@dataclass(frozen=True, slots=True)
class Backplane:
    """What every stage of a card is plugged into."""

    time: Time
    bus: Bus
    link: Clock
    events: Events
    counts: dict[str, int]
    profile: Profile
    config: Config
    faults: Hooks


class Stage:
    """A stage of a card, plugged in."""

    def __init__(self, plane: Backplane) -> None:
        self.time = plane.time
        self.bus = plane.bus
        self.link = plane.link
        self.events = plane.events
        self.counts = plane.counts
        self.profile = plane.profile
        self.config = plane.config
        self.faults = plane.faults
