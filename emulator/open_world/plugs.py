"""What is plugged between two stages of a card: each hands on what a function makes of what comes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

import simpy

from freezeframe.capture.registers.layouts import DescCode, NoteCode
from freezeframe.emulator.credit import Flow
from freezeframe.emulator.descriptor import Descriptor
from freezeframe.emulator.incoming import Incoming
from freezeframe.emulator.memory import Kinds, Words
from freezeframe.emulator.packet import Packet
from freezeframe.emulator.parts import Signal
from freezeframe.emulator.ports import Cut, Descriptors, Drain, Notes, Transmitter, Wire

Passing = tuple[Words, Kinds]
Note = tuple[NoteCode, int, int]
"""Code, sequence number, flow."""


class PluggedWire:
    """A link that makes other packets of a packet, and other credits (with a delay, ps) of a credit."""

    def __init__(
        self,
        wire: Wire,
        packets: Callable[[Words, Kinds], Sequence[Passing]] | None = None,
        credits: Callable[[int], Sequence[tuple[int, int]]] | None = None,
    ) -> None:
        self._wire = wire
        self._packets = packets
        self._credits = credits

    def wait(self, words: int) -> simpy.Event | None:
        return self._wire.wait(words)

    def expect(self, words: Words, kinds: Kinds, first_ps: int) -> Cut:
        passing = [(words, kinds)] if self._packets is None else self._packets(words, kinds)
        cuts = [self._wire.expect(*packet, first_ps) for packet in passing]
        return cuts[0] if cuts else lambda _: None  # of one that never begins

    def expect_credit(self, word: int, at_ps: int) -> None:
        for delay_ps, credit in [(0, word)] if self._credits is None else self._credits(word):
            self._wire.expect_credit(credit, at_ps + delay_ps)


class PluggedTransmitter:
    """An outgoing FIFO that makes other packets of a packet."""

    def __init__(
        self, transmitter: Transmitter, packets: Callable[[Packet], Sequence[Packet]]
    ) -> None:
        self._transmitter = transmitter
        self._packets = packets

    @property
    def moved(self) -> Signal:
        return self._transmitter.moved

    @moved.setter
    def moved(self, signal: Signal) -> None:
        self._transmitter.moved = signal

    def push(self, packet: Packet) -> None:
        for each in self._packets(packet):
            self._transmitter.push(each)

    def credit_due(self, flow: Flow) -> None:
        self._transmitter.credit_due(flow)

    def credit_taken(self) -> None:
        self._transmitter.credit_taken()


class PluggedDrain:
    """An incoming FIFO that makes other packets of a packet."""

    def __init__(self, drain: Drain, packets: Callable[[Incoming], Sequence[Incoming]]) -> None:
        self._drain = drain
        self._packets = packets
        self.pause_cycles = drain.pause_cycles
        self.host_stopped = drain.host_stopped
        self.allowed = drain.allowed

    def push(self, incoming: Incoming) -> None:
        for each in self._packets(incoming):
            self._drain.push(each)


class PluggedNotes:
    """A writer of notifications that makes others of one, each after a delay (ps)."""

    def __init__(
        self,
        notes: Notes,
        at: Callable[[int, Callable[[], None]], None],
        change: Callable[[Note], Sequence[tuple[int, Note]]],
    ) -> None:
        """``at(delay_ps, action)`` does something later."""
        self._notes = notes
        self._at = at
        self._change = change

    def post(self, code: NoteCode, seq: int, flow: int) -> None:
        for delay_ps, note in self._change((code, seq, flow)):
            if delay_ps:
                self._at(delay_ps, lambda note=note: self._notes.post(*note))  # type: ignore[misc]
            else:
                self._notes.post(*note)


class PluggedDescriptors:
    """A descriptor ring that makes other descriptors of one."""

    def __init__(
        self, ring: Descriptors, change: Callable[[Descriptor], Sequence[Descriptor]]
    ) -> None:
        self._ring = ring
        self._change = change

    @property
    def queue(self) -> deque[Descriptor]:
        return self._ring.queue

    @queue.setter
    def queue(self, queue: deque[Descriptor]) -> None:
        self._ring.queue = queue

    @property
    def taken(self) -> Signal:
        return self._ring.taken

    @taken.setter
    def taken(self, signal: Signal) -> None:
        self._ring.taken = signal

    @property
    def next_seq(self) -> int:
        return self._ring.next_seq

    @next_seq.setter
    def next_seq(self, seq: int) -> None:
        self._ring.next_seq = seq

    def post(self, descriptor: Descriptor) -> None:
        for each in self._change(descriptor):
            self._ring.post(each)

    def tell(self, code: DescCode, descriptor: Descriptor, cycle: int | None = None) -> None:
        self._ring.tell(code, descriptor, cycle)
