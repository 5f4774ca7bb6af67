"""The transmit DMA engine of a card: fetches a message by split reads, puts the whole packet into the outgoing FIFO."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import simpy

from freezeframe.capture.registers.layouts import (
    DescCode,
    EventSource,
    Kind,
    Machine,
    MachineState,
)
from freezeframe.decoders.trace.encode import desc_value
from freezeframe.emulator.bank import Values
from freezeframe.emulator.descriptor import Descriptor
from freezeframe.emulator.packet import (
    FRAME_WORDS,
    HEAD_WORDS,
    Packet,
    leave_out,
    make_packet,
    raw_packet,
)
from freezeframe.emulator.parts import Fifo, Process, Signal
from freezeframe.emulator.ports import Backplane, Stage, Transmitter

_LOW = 0xFFFFFFFF
_PPM = 1_000_000


@dataclass(slots=True)
class Read:
    """A message whose data has been asked for.

    Attributes:
        first: payload words that are in the FIFO.
        ready_cycle: bus cycle in which the bridge asks for the bus to complete.
    """

    descriptor: Descriptor
    packet: Packet
    first: int = 0
    ready_cycle: int = 0

    @property
    def length(self) -> int:
        return len(self.packet.words) - FRAME_WORDS


class TxDma(Stage):
    """Takes descriptors in order and leaves whole packets in the outgoing FIFO."""

    def __init__(
        self, plane: Backplane, fifo: Fifo, transmitter: Transmitter, draw: random.Random
    ) -> None:
        super().__init__(plane)
        self.queue: deque[Descriptor] = deque()
        self.posted = Signal(self.time.env)
        self.taken = Signal(self.time.env)
        self.next_seq = 0  # given at posting
        self._fifo = fifo
        self.transmitter = transmitter
        self._draw = draw
        self._started_seq = 0  # of the next packet to be started
        self._working: Descriptor | None = None
        self._fetched_words = 0  # of the message worked on, before the present run
        self._run_cycle = 0
        self._waited_to = 0  # bus cycle up to which split waits are counted

    def post(self, descriptor: Descriptor) -> None:
        """Queue a descriptor; packets get their sequence numbers in this order."""
        if descriptor.raw is None:
            descriptor.seq = self.next_seq
            self.next_seq = self.next_seq + 1 & 0xFFFF
        self.queue.append(descriptor)
        self.posted.give()

    def tell(
        self,
        code: DescCode,
        descriptor: Descriptor,
        cycle: int | None = None,
        length: int | None = None,
    ) -> None:
        """Put a DESC event of this descriptor into the event log, with another length where one is given."""
        length = len(descriptor.words) if length is None else length
        value = desc_value(length, descriptor.type, descriptor.flags, descriptor.seq)
        posted = code in (DescCode.POSTING, DescCode.POSTED)
        source = EventSource.HOST if posted else EventSource.TX_DMA
        self.events.event(Kind.DESC, source, code, value, descriptor.flow, cycle)

    def latched(self, t_ps: int) -> Values:
        """Return the engine's registers of the freeze bank."""
        working, remaining = self._working, self._remaining(t_ps)
        length = 0 if working is None else len(working.words)
        address = 0 if working is None else working.source + 8 * (length - remaining)
        return {
            ("frozen.dma_address_lo", ()): address & _LOW,
            ("frozen.dma_address_hi", ()): address >> 32,
            ("frozen.dma_remaining", ()): remaining,
            ("frozen.descriptor_length", ()): length,
            ("frozen.descriptors_waiting", ()): len(self.queue),
            ("frozen.next_seq_out", ()): self._started_seq,
        }

    def _remaining(self, t_ps: int) -> int:
        """Return the payload words still to be fetched at ``t_ps``."""
        if self._working is None or not self._working.from_host:
            return 0
        length = len(self._working.words)
        running = self.bus.clock.cycle_at(t_ps) - self._run_cycle + 1 if self._run_cycle else 0
        return max(0, length - self._fetched_words - max(0, running))

    def run(self) -> Process:
        """Send the descriptors in their order, for ever."""
        while True:
            while not self.queue:
                self.events.enter(Machine.TX_DMA, MachineState.IDLE)
                yield self.posted.wait()
            descriptor, packet = self._next()
            self._work_on(descriptor)
            self.events.enter(Machine.TX_DMA, MachineState.FETCH)
            yield from self._room(packet.room)
            if descriptor.from_host and len(descriptor.words):
                read = Read(descriptor, packet)
                yield from self._ask(read)
                yield from self._complete(read)
            else:
                yield from self._make(descriptor, packet)
            self._finish(descriptor, packet)

    def _next(self) -> tuple[Descriptor, Packet]:
        """Take the next descriptor off the queue, with its packet as it is to be."""
        descriptor = self.queue.popleft()
        self.taken.give()
        if descriptor.raw is not None:
            return descriptor, raw_packet(descriptor.raw)
        self._started_seq = descriptor.seq + 1 & 0xFFFF
        packet = make_packet(
            descriptor.type, descriptor.flags, descriptor.flow, descriptor.seq,
            descriptor.dest, descriptor.words,
        )  # fmt: skip
        return descriptor, self.faults.made(descriptor, packet)

    def _work_on(self, descriptor: Descriptor) -> None:
        self._working, self._fetched_words, self._run_cycle = descriptor, 0, 0

    def _make(self, descriptor: Descriptor, packet: Packet) -> Process:
        """Put a packet into the FIFO that needs nothing from the host's memory."""
        cycle = self.bus.next_cycle() + 1
        self._enter(descriptor, packet, cycle, 0, len(packet.words))
        yield self.bus.until(cycle + len(packet.words))

    def _finish(self, descriptor: Descriptor, packet: Packet) -> None:
        """The whole packet is in the outgoing FIFO."""
        self.tell(DescCode.DONE, descriptor)
        self._working = None
        packet.ready_ps = self.time.now_ps
        self.transmitter.push(packet)

    def _room(self, words: int) -> Process:
        """Wait until a packet of ``words`` fits into the outgoing FIFO, as this side of it can see."""
        while (cycle := self._fifo.room_at(words)) is None:
            yield self.transmitter.moved.wait()
        if cycle >= 0:
            yield self.bus.until(self.bus.clock.crossed(self.link.edge_ps(cycle)))

    # -- split reads ---------------------------------------------------------------------------

    def _ask(self, read: Read) -> Process:
        """Ask for what is missing of a message, as often as the bus has it retried."""
        self.events.enter(Machine.TX_DMA, MachineState.FETCH)
        while (yield from self._request(read.descriptor, read.length - read.first)):
            self._resume(read)
        self.events.enter(Machine.TX_DMA, MachineState.SPLIT_WAIT)
        now = self.bus.next_cycle()
        read.ready_cycle = now + self._split_cycles(read.length - read.first)
        begin = max(now, self._waited_to)  # cycles in which several wait are counted once
        self.bus.split_wait.add(begin, max(0, read.ready_cycle - begin))
        self._waited_to = max(self._waited_to, read.ready_cycle)

    def _request(self, descriptor: Descriptor, words: int) -> Generator[simpy.Event, Any, bool]:
        """Ask for ``words`` words over the bus; return whether the bus had it retried, after a pause."""
        bus, overhead = self.bus, self.profile.bus_overhead_cycles
        with bus.lock.request() as grant:
            yield grant
            cycle = bus.next_cycle()
            self.tell(DescCode.REQUESTED, descriptor, cycle, length=words)
            bus.owned.add(cycle, overhead)
            yield bus.until(cycle + overhead)
        if self._draw.randrange(_PPM) >= self.profile.bus_retries_ppm:
            return False
        self.counts["bus_retries"] += 1
        self.tell(DescCode.RETRIED, descriptor, length=words)
        yield bus.until(bus.next_cycle() + self._draw.randrange(4, 17))
        return True

    def _split_cycles(self, words: int) -> int:
        """Return how long the bridge takes until it begins to complete a read of ``words`` words."""
        profile = self.profile
        latency = self._draw.randrange(
            profile.bus_split_min_cycles, profile.bus_split_max_cycles + 1
        )
        return latency + min(words, profile.bus_split_block_words)

    def _complete(self, read: Read) -> Process:
        """Take a message's words off the bus into the FIFO, asking again for what a disconnect leaves out."""
        bus = self.bus
        while True:
            yield bus.until(read.ready_cycle)
            count = read.length - read.first
            disconnected = (
                count > 1 and self._draw.randrange(_PPM) < self.profile.bus_disconnects_ppm
            )
            if disconnected:
                count = self._draw.randrange(1, count)
                self.counts["bus_disconnects"] += 1
            with bus.lock.request() as grant:
                yield grant
                yield from self._take(read, count)
            read.first += count
            if disconnected:
                left = read.length - read.first
                self.tell(DescCode.DISCONNECTED, read.descriptor, length=left)
                self._resume(read)
            self._fetched_words = len(read.descriptor.words) - read.length + read.first
            self._run_cycle = 0
            if read.first == read.length:
                break
            yield from self._ask(read)
        yield bus.until(bus.next_cycle() + 1)  # the TAIL's own cycle

    def _take(self, read: Read, count: int) -> Process:
        """Take the next ``count`` words off the bus, which this engine has."""
        bus, completion, first = self.bus, self.profile.bus_completion_cycles, read.first
        self.events.enter(Machine.TX_DMA, MachineState.DATA)
        data = bus.next_cycle() + completion
        bus.owned.add(bus.next_cycle(), completion + count)
        bus.carried.add(data, count)
        # HEAD words go in while the completion is announced, TAIL right after the last word.
        begin = 0 if first == 0 else HEAD_WORDS + first
        end = HEAD_WORDS + first + count
        end += first + count == read.length
        cycle = data - (HEAD_WORDS if first == 0 else 0)
        self._fetched_words = len(read.descriptor.words) - read.length + first
        self._run_cycle = data
        self._enter(read.descriptor, read.packet, cycle, begin, end)
        yield bus.until(data + count)

    def _resume(self, read: Read) -> None:
        """Go on with the next payload word after a retry or disconnect."""
        rest = read.length - read.first
        skipped = self.faults.resumed(read.first, rest, read.descriptor)
        if skipped:
            leave_out(read.packet, read.first, skipped)

    def _enter(
        self, descriptor: Descriptor, packet: Packet, cycle: int, begin: int, end: int
    ) -> None:
        if begin == 0:
            self.events.enter(Machine.TX_DMA, MachineState.DATA)
            self.tell(DescCode.STARTED, descriptor, cycle)
        self._fifo.entering.feed(cycle, packet.kinds[begin:end], packet.words[begin:end])
