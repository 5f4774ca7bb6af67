"""A transmit DMA engine that has several split reads waiting: the next message is asked for before the first has come.

Packets still enter the outgoing FIFO whole and in the order of their descriptors. A read that is disconnected is asked
for again before any other goes on.
"""

from __future__ import annotations

import random
from collections import deque

from freezeframe.capture.registers.layouts import Machine, MachineState
from freezeframe.emulator.dma import Read, TxDma
from freezeframe.emulator.packet import FRAME_WORDS
from freezeframe.emulator.parts import Fifo, Process
from freezeframe.emulator.ports import Backplane, Transmitter


class PipelinedTxDma(TxDma):
    """As `TxDma`, with ``bus.outstanding_reads`` messages under way."""

    def __init__(
        self, plane: Backplane, fifo: Fifo, transmitter: Transmitter, draw: random.Random
    ) -> None:
        super().__init__(plane, fifo, transmitter, draw)
        self._waiting: deque[Read] = deque()

    def run(self) -> Process:
        bus = self.bus
        while True:
            if self._may_start():
                yield from self._start()
            elif not self._waiting:
                self.events.enter(Machine.TX_DMA, MachineState.IDLE)
                yield self.posted.wait()
            elif bus.next_cycle() < self._waiting[0].ready_cycle:
                yield bus.until(self._waiting[0].ready_cycle) | self.posted.wait()
            else:
                yield from self._complete_oldest()

    def _may_start(self) -> bool:
        """Return whether the next descriptor's turn has come: after reads that wait it must fit without waiting."""
        if not self.queue or len(self._waiting) >= self.profile.bus_outstanding_reads:
            return False
        if not self._waiting:
            return True
        following = self.queue[0]
        if not following.from_host or not len(following.words):
            return False  # nothing to ask the host for, and not its turn to enter the FIFO
        words = sum(read.packet.room for read in self._waiting) + len(following.words) + FRAME_WORDS
        cycle = self._fifo.room_at(words)
        return cycle is not None and cycle <= self.link.cycle_at(self.time.now_ps)

    def _start(self) -> Process:
        descriptor, packet = self._next()
        if not self._waiting:
            self.events.enter(Machine.TX_DMA, MachineState.FETCH)
            yield from self._room(packet.room)
            self._work_on(descriptor)
        if descriptor.from_host and len(descriptor.words):
            read = Read(descriptor, packet)
            yield from self._ask(read)
            self._waiting.append(read)
        else:
            yield from self._make(descriptor, packet)
            self._finish(descriptor, packet)

    def _complete_oldest(self) -> Process:
        read = self._waiting.popleft()
        self._work_on(read.descriptor)
        yield from self._complete(read)
        if self._waiting:
            self.events.enter(Machine.TX_DMA, MachineState.SPLIT_WAIT)
        self._finish(read.descriptor, read.packet)
