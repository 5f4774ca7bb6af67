"""A transmit DMA engine that has several split reads waiting: the next message is asked for before the first has come.

Packets still enter the outgoing FIFO whole and in the order of their descriptors. A read that is disconnected is asked
for again before any other goes on.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from freezeframe.capture.registers.layouts import DescCode, Machine, MachineState
from freezeframe.emulator.dma import Descriptor, TxDma
from freezeframe.emulator.packet import FRAME_WORDS, Packet
from freezeframe.emulator.stages import Process

if TYPE_CHECKING:
    from freezeframe.emulator.nic import Nic

__all__ = ["PipelinedTxDma"]


@dataclass(slots=True)
class _Read:
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


class PipelinedTxDma(TxDma):
    """As `TxDma`, with ``bus.outstanding_reads`` messages under way."""

    def __init__(self, nic: Nic) -> None:
        super().__init__(nic)
        self._waiting: deque[_Read] = deque()
        self._waited_to = 0  # bus cycle up to which split waits are counted

    def run(self) -> Process:
        nic = self.nic
        while True:
            if self._may_start():
                yield from self._start()
            elif not self._waiting:
                nic.enter(Machine.TX_DMA, MachineState.IDLE)
                yield self.posted.wait()
            elif nic.bus.next_cycle() < self._waiting[0].ready_cycle:
                ready = nic.bus.until(self._waiting[0].ready_cycle)
                yield ready | self.posted.wait()
            else:
                yield from self._complete(self._waiting.popleft())

    def _may_start(self) -> bool:
        """Return whether the next descriptor's turn has come: behind reads that wait it must fit without waiting."""
        if not self.queue or len(self._waiting) >= self.nic.profile.bus_outstanding_reads:
            return False
        if not self._waiting:
            return True
        following = self.queue[0]
        if not following.from_host or not len(following.words):
            return False  # nothing to ask the host for, and not its turn to enter the FIFO
        words = sum(read.packet.room for read in self._waiting) + len(following.words) + FRAME_WORDS
        cycle = self.nic.tx_fifo.room_at(words)
        return cycle is not None and cycle <= self.nic.link.cycle_at(self.nic.now_ps)

    def _start(self) -> Process:
        nic = self.nic
        descriptor, packet = self._next()
        if not self._waiting:
            nic.enter(Machine.TX_DMA, MachineState.FETCH)
            yield from self._room(packet.room)
            self.working, self.fetched_words, self.run_cycle = descriptor, 0, 0
        if descriptor.from_host and len(descriptor.words):
            read = _Read(descriptor, packet)
            yield from self._ask(read)
            self._waiting.append(read)
        else:
            yield from self._make(descriptor, packet)
            self._finish(descriptor, packet)

    def _ask(self, read: _Read) -> Process:
        """Ask for what is missing of a message, as often as the bus has it retried."""
        nic, bus = self.nic, self.nic.bus
        nic.enter(Machine.TX_DMA, MachineState.FETCH)
        while (yield from self._request(read.descriptor, read.length - read.first)):
            self._resume(read.descriptor, read.packet, read.first)
        nic.enter(Machine.TX_DMA, MachineState.SPLIT_WAIT)
        now = bus.next_cycle()
        read.ready_cycle = now + self._split_cycles(read.length - read.first)
        begin = max(now, self._waited_to)  # cycles in which several wait are counted once
        nic.split_wait.add(begin, max(0, read.ready_cycle - begin))
        self._waited_to = max(self._waited_to, read.ready_cycle)

    def _complete(self, read: _Read) -> Process:
        """Take a message's words off the bus into the FIFO; the oldest, whose time has come."""
        nic, bus = self.nic, self.nic.bus
        descriptor, packet = read.descriptor, read.packet
        self.working, self.run_cycle = descriptor, 0
        while True:
            yield bus.until(read.ready_cycle)
            length, count = read.length, read.length - read.first
            disconnected = count > 1 and self._disconnects()
            if disconnected:
                count = nic.draw.randrange(1, count)
                nic.counts["bus_disconnects"] += 1
            with bus.lock.request() as grant:
                yield grant
                yield from self._take(descriptor, packet, read.first, length, count)
            read.first += count
            if not disconnected:
                break
            self.tell(DescCode.DISCONNECTED, descriptor, length=length - read.first)
            self._resume(descriptor, packet, read.first)
            if read.first == read.length:
                break
            yield from self._ask(read)
        yield bus.until(bus.next_cycle() + 1)  # the TAIL's own cycle
        if self._waiting:
            nic.enter(Machine.TX_DMA, MachineState.SPLIT_WAIT)
        self._finish(descriptor, packet)

    def _disconnects(self) -> bool:
        return self.nic.draw.randrange(1_000_000) < self.nic.profile.bus_disconnects_ppm
