"""The host of a card: its driver posts descriptors and takes completions, and it may stop receiving for a while."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from freezeframe.capture.registers.layouts import DescCode, EventSource, IrqCode, Kind
from freezeframe.emulator.dma import Descriptor
from freezeframe.emulator.stages import Process, Signal
from freezeframe.emulator.traffic import Receiving, Sending

if TYPE_CHECKING:
    from freezeframe.emulator.nic import Nic

__all__ = ["Completion", "Host"]

Completion = tuple[int, int]
"""Sequence number and flow of the packet that a remote notification tells of."""

_PS_PER_NS = 1000


class Host:
    """Driver and processor of one card. The interrupt line is masked while the handler runs."""

    def __init__(self, nic: Nic, sending: Sending, receiving: Receiving) -> None:
        self.nic = nic
        self.sending = sending
        self.receiving = receiving
        self.waiting: deque[Completion] = deque()
        self.masked = False
        self._raised = False
        self._handling = False
        self._stolen_ps = 0  # from the handler, by interrupts that came while it ran
        self._handler = Signal(nic.env)
        self.log = nic.machine.host_logs[nic.index]

    @property
    def completions(self) -> int:
        """Completions that the host has not taken."""
        return len(self.waiting)

    def complete(self, completion: Completion) -> None:
        """A completion has been written for the host."""
        self.waiting.append(completion)
        self._interrupt()

    def run_posting(self) -> Process:
        """Post descriptors for ever, as the plan says."""
        nic, bus = self.nic, self.nic.bus
        yield nic.env.timeout(self.sending.start_ps)
        for gap_ps, message in self.sending.messages():
            if gap_ps:
                yield nic.env.timeout(gap_ps)
            while len(nic.tx_dma.queue) >= nic.profile.host_ring_descriptors:
                yield nic.tx_dma.taken.wait()
            with bus.lock.request() as grant:
                yield grant
                cycle = bus.next_cycle()
                descriptor = Descriptor(
                    message.type, message.flags, message.flow, message.source, message.dest,
                    message.words, nic.tx_dma.next_seq,
                )  # fmt: skip
                self.log.posts(nic.now_ps, descriptor)
                nic.tx_dma.tell(DescCode.POSTING, descriptor, cycle)
                bus.owned.add(cycle, nic.profile.bus_post_cycles)
                yield bus.until(cycle + nic.profile.bus_post_cycles)
            nic.counts["descriptors"] += 1
            nic.fault.posts(nic, message)
            nic.tx_dma.post(descriptor)
            nic.tx_dma.tell(DescCode.POSTED, descriptor)

    def run_handler(self) -> Process:
        """Handle interrupts: take every completion, then enable the line and look once more."""
        nic, profile = self.nic, self.nic.profile
        while True:
            while not self._raised:
                yield self._handler.wait()
            yield nic.env.timeout(profile.host_interrupt_latency_ns * _PS_PER_NS)
            self.log.enters(nic.now_ps)
            self._raised, self._handling = False, True
            self.masked = nic.fault.masks(nic)
            if self.masked:
                self.log.masks(nic.now_ps, True)
                nic.event(Kind.IRQ, EventSource.HOST, IrqCode.MASKED, self.completions)
            while self.waiting:
                yield nic.env.timeout(profile.host_completion_ns * _PS_PER_NS)
                while self._stolen_ps:
                    stolen_ps, self._stolen_ps = self._stolen_ps, 0
                    yield nic.env.timeout(stolen_ps)
                self.waiting.popleft()
            if enabling_ps := nic.fault.enabling_ps(nic):
                yield nic.env.timeout(enabling_ps)
            self.masked = self._handling = False
            self.log.masks(nic.now_ps, False)
            self.log.leaves(nic.now_ps)
            nic.event(Kind.IRQ, EventSource.HOST, IrqCode.ENABLED, self.completions)
            if nic.fault.looks_again(nic):
                self._interrupt()

    def run_stops(self) -> Process:
        """Stop receiving and go on, as the plan says."""
        nic = self.nic
        begin_ps = nic.now_ps
        nic.rx_dma.pause_cycles = self.receiving.pause_cycles
        for stop_ps, length_ps in self.receiving.stops:
            yield nic.env.timeout(max(0, begin_ps + stop_ps - nic.now_ps))
            nic.rx_dma.host_stopped = True
            yield nic.env.timeout(length_ps)
            nic.rx_dma.host_stopped = False
            nic.rx_dma.allowed.give()

    def _interrupt(self) -> None:
        if self.masked or self._raised or not self.waiting:
            return
        nic = self.nic
        nic.counts["interrupts"] += 1
        nic.event(Kind.IRQ, EventSource.RX_DMA, IrqCode.RAISED, self.completions)
        nic.fault.raised(nic)
        if self._handling:
            # Nobody masked the line: the handler is interrupted, and finds all there is when it goes on.
            self._stolen_ps += nic.profile.host_interrupt_latency_ns * _PS_PER_NS
            return
        self._raised = True
        self._handler.give()
