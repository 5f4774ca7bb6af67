"""The transmit DMA engine of a card: fetches a message by split reads, puts the whole packet into the outgoing FIFO."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import simpy

from freezeframe.capture.registers.layouts import (
    DescCode,
    EventSource,
    Kind,
    Machine,
    MachineState,
    Memory,
)
from freezeframe.decoders.trace.encode import desc_value
from freezeframe.emulator.memory import Words
from freezeframe.emulator.packet import (
    FRAME_WORDS,
    HEAD_WORDS,
    Packet,
    leave_out,
    make_packet,
    raw_packet,
)
from freezeframe.emulator.stages import Process, Signal

if TYPE_CHECKING:
    from freezeframe.emulator.nic import Nic

__all__ = ["Descriptor", "TxDma", "empty_payload"]


@dataclass(slots=True)
class Descriptor:
    """A message to send. ``words`` stands in for host memory: the payload that the bus will deliver.

    Attributes:
        from_host: fetched over the bus; else (pattern, injected) the words are made in the card.
        raw: an injected packet, sent as it stands.
    """

    type: int
    flags: int
    flow: int
    source: int
    dest: int
    words: Words
    seq: int = 0
    from_host: bool = True
    raw: Sequence[int] | None = None


class TxDma:
    """Takes descriptors in order and leaves whole packets in the outgoing FIFO."""

    def __init__(self, nic: Nic) -> None:
        self.nic = nic
        self.queue: deque[Descriptor] = deque()
        self.posted = Signal(nic.env)
        self.taken = Signal(nic.env)
        self.next_seq = 0  # given at posting
        self.started_seq = 0  # of the next packet to be started
        self.working: Descriptor | None = None
        self.fetched_words = 0  # of the message worked on, before the present run
        self.run_cycle = 0

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
        self.nic.event(Kind.DESC, source, code, value, descriptor.flow, cycle)

    def remaining(self, t_ps: int) -> int:
        """Return the payload words still to be fetched at ``t_ps``."""
        if self.working is None or not self.working.from_host:
            return 0
        length = len(self.working.words)
        running = self.nic.bus.clock.cycle_at(t_ps) - self.run_cycle + 1 if self.run_cycle else 0
        return max(0, length - self.fetched_words - max(0, running))

    def run(self) -> Process:
        nic = self.nic
        while True:
            while not self.queue:
                nic.enter(Machine.TX_DMA, MachineState.IDLE)
                yield self.posted.wait()
            descriptor, packet = self._next()
            self.working, self.fetched_words, self.run_cycle = descriptor, 0, 0
            nic.enter(Machine.TX_DMA, MachineState.FETCH)
            yield from self._room(packet.room)
            if descriptor.from_host and len(descriptor.words):
                yield from self._fetch(descriptor, packet)
            else:
                yield from self._make(descriptor, packet)
            self._finish(descriptor, packet)

    def _next(self) -> tuple[Descriptor, Packet]:
        """Take the next descriptor off the queue, with its packet as it is to be."""
        descriptor = self.queue.popleft()
        self.taken.give()
        if descriptor.raw is not None:
            return descriptor, raw_packet(descriptor.raw)
        self.started_seq = descriptor.seq + 1 & 0xFFFF
        packet = make_packet(
            descriptor.type, descriptor.flags, descriptor.flow, descriptor.seq,
            descriptor.dest, descriptor.words,
        )  # fmt: skip
        return descriptor, packet

    def _make(self, descriptor: Descriptor, packet: Packet) -> Process:
        """Put a packet into the FIFO that needs nothing from the host's memory."""
        bus = self.nic.bus
        cycle = bus.next_cycle() + 1
        self._enter(descriptor, packet, cycle, 0, len(packet.words))
        yield bus.until(cycle + len(packet.words))

    def _finish(self, descriptor: Descriptor, packet: Packet) -> None:
        """The packet stands whole in the outgoing FIFO."""
        self.tell(DescCode.DONE, descriptor)
        self.working = None
        packet.ready_ps = self.nic.now_ps
        self.nic.tx_link.push(packet)

    def _room(self, words: int) -> Process:
        """Wait until a packet of ``words`` fits into the outgoing FIFO, as this side of it can see."""
        nic = self.nic
        while (cycle := nic.tx_fifo.room_at(words)) is None:
            yield nic.tx_link.moved.wait()
        if cycle >= 0:
            yield nic.bus.until(nic.bus.clock.crossed(nic.link.edge_ps(cycle)))

    def _fetch(self, descriptor: Descriptor, packet: Packet) -> Process:
        nic, bus, profile, draw = self.nic, self.nic.bus, self.nic.profile, self.nic.draw
        first, length = 0, len(descriptor.words)
        while first < length:
            nic.enter(Machine.TX_DMA, MachineState.FETCH)
            retried = yield from self._request(descriptor, length - first)
            if retried:
                length -= self._resume(descriptor, packet, first)
                continue
            nic.enter(Machine.TX_DMA, MachineState.SPLIT_WAIT)
            wait = self._split_cycles(length - first)
            nic.split_wait.add(bus.next_cycle(), wait)
            yield bus.until(bus.next_cycle() + wait)
            count = length - first
            disconnected = count > 1 and draw.randrange(1_000_000) < profile.bus_disconnects_ppm
            if disconnected:
                count = draw.randrange(1, count)
                nic.counts["bus_disconnects"] += 1
            with bus.lock.request() as grant:
                yield grant
                yield from self._take(descriptor, packet, first, length, count)
            first += count
            if disconnected:
                self.tell(DescCode.DISCONNECTED, descriptor, length=length - first)
                length -= self._resume(descriptor, packet, first)
            self.fetched_words, self.run_cycle = len(descriptor.words) - length + first, 0
        yield bus.until(bus.next_cycle() + 1)  # the TAIL's own cycle

    def _request(self, descriptor: Descriptor, words: int) -> Generator[simpy.Event, Any, bool]:
        """Ask for ``words`` words over the bus; return whether the bus had it retried, after a pause."""
        nic, bus, draw = self.nic, self.nic.bus, self.nic.draw
        overhead = nic.profile.bus_overhead_cycles
        with bus.lock.request() as grant:
            yield grant
            cycle = bus.next_cycle()
            self.tell(DescCode.REQUESTED, descriptor, cycle, length=words)
            bus.owned.add(cycle, overhead)
            yield bus.until(cycle + overhead)
        if draw.randrange(1_000_000) >= nic.profile.bus_retries_ppm:
            return False
        nic.counts["bus_retries"] += 1
        self.tell(DescCode.RETRIED, descriptor, length=words)
        yield bus.until(bus.next_cycle() + draw.randrange(4, 17))
        return True

    def _split_cycles(self, words: int) -> int:
        """Return how long the bridge takes until it begins to complete a read of ``words`` words."""
        profile = self.nic.profile
        latency = self.nic.draw.randrange(
            profile.bus_split_min_cycles, profile.bus_split_max_cycles + 1
        )
        return latency + min(words, profile.bus_split_block_words)

    def _take(
        self, descriptor: Descriptor, packet: Packet, first: int, length: int, count: int
    ) -> Process:
        """Take ``count`` words from payload word ``first`` on off the bus, which this engine has."""
        nic, bus = self.nic, self.nic.bus
        completion = nic.profile.bus_completion_cycles
        nic.enter(Machine.TX_DMA, MachineState.DATA)
        data = bus.next_cycle() + completion
        bus.owned.add(bus.next_cycle(), completion + count)
        bus.carried.add(data, count)
        # HEAD words go in while the completion is announced, TAIL right after the last word.
        begin = 0 if first == 0 else HEAD_WORDS + first
        end = HEAD_WORDS + first + count
        end += first + count == length
        cycle = data - (HEAD_WORDS if first == 0 else 0)
        self.fetched_words, self.run_cycle = len(descriptor.words) - length + first, data
        self._enter(descriptor, packet, cycle, begin, end)
        yield bus.until(data + count)

    def _resume(self, descriptor: Descriptor, packet: Packet, first: int) -> int:
        """Go on with payload word ``first`` after a retry or disconnect; return the words that are left out."""
        rest = len(packet.words) - FRAME_WORDS - first
        skipped = self.nic.fault.resumed(first, rest, descriptor, self.nic)
        if skipped:
            leave_out(packet, first, skipped)
        return skipped

    def _enter(
        self, descriptor: Descriptor, packet: Packet, cycle: int, begin: int, end: int
    ) -> None:
        nic = self.nic
        if begin == 0:
            nic.enter(Machine.TX_DMA, MachineState.DATA)
            self.tell(DescCode.STARTED, descriptor, cycle)
        nic.taps[Memory.TX_ENQ].feed(cycle, packet.kinds[begin:end], packet.words[begin:end])


def empty_payload() -> Words:
    """Return a payload of no words."""
    return np.empty(0, dtype=np.uint64)
