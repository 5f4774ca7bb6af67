"""The host of a card: its driver posts descriptors and takes completions, and it may stop receiving for a while."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from freezeframe.capture.registers.layouts import DescCode, EventSource, IrqCode, Kind
from freezeframe.emulator.dma import Descriptor
from freezeframe.emulator.profile import DESCRIPTOR_WORDS
from freezeframe.emulator.stages import Process, Signal
from freezeframe.emulator.traffic import WAIT, Message, Receiving, Sending

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
        self._open = 0  # requests that were posted and not answered
        self._answered = Signal(nic.env)
        self._answers: deque[Message] = deque()
        self._to_answer = Signal(nic.env)
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
        nic = self.nic
        yield nic.env.timeout(self.sending.start_ps)
        for gap_ps, messages in self._bursts():
            if gap_ps == WAIT:
                while self._open >= self.sending.window:
                    yield self._answered.wait()
                self._open += 1
            elif gap_ps:
                yield nic.env.timeout(gap_ps)
            yield from self._post(messages)

    def run_answering(self) -> Process:
        """Post what the plan answers to messages that were received."""
        while True:
            while not self._answers:
                yield self._to_answer.wait()
            yield from self._post([self._answers.popleft()])

    def _bursts(self) -> Iterator[tuple[int, list[Message]]]:
        """Yield the messages of the plan with the gap before them, those together that the write buffer combines."""
        most = max(1, self.nic.profile.combined_descriptors)
        before_ps, burst = 0, list[Message]()
        for gap_ps, message in self.sending.messages():
            if burst and (gap_ps or len(burst) == most):
                yield before_ps, burst
                burst = []
            if not burst:
                before_ps = gap_ps
            burst.append(message)
            if most == 1:  # nothing to wait for
                yield before_ps, burst
                burst = []
        if burst:
            yield before_ps, burst

    def _post(self, messages: Sequence[Message]) -> Process:
        """Write descriptors: each 32-bit word by itself, or all of them as one burst of the write-combining buffer."""
        nic, bus, profile = self.nic, self.nic.bus, self.nic.profile
        while len(nic.tx_dma.queue) + len(messages) > profile.host_ring_descriptors:
            yield nic.tx_dma.taken.wait()
        # The number that comes next; pattern traffic that is switched on right now may yet take it.
        first_seq = nic.tx_dma.next_seq
        descriptors = [
            Descriptor(
                message.type, message.flags, message.flow, message.source, message.dest,
                nic.credit_copies.before(message.words, profile.fifo_message_words),
                first_seq + number & 0xFFFF,
            )
            for number, message in enumerate(messages)
        ]  # fmt: skip
        for descriptor in descriptors:
            nic.tx_dma.tell(DescCode.POSTING, descriptor, bus.next_cycle())
        with bus.lock.request() as grant:
            yield grant
            for descriptor in descriptors:
                self.log.posts(nic.now_ps, descriptor)
            words = DESCRIPTOR_WORDS * len(descriptors)
            if profile.host_combining_words:
                cycles = profile.bus_burst_overhead_cycles + words // 2  # 64 bits a cycle
            else:
                cycles = profile.bus_write_cycles * words
            cycle = bus.next_cycle()
            bus.owned.add(cycle, cycles)
            yield bus.until(cycle + cycles)
        for descriptor, message in zip(descriptors, messages, strict=True):
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
                self._taken(*self.waiting.popleft())
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

    def _taken(self, seq: int, flow: int) -> None:
        """A completion has been taken: it answers a request of ours, or is one that is to be answered."""
        if self.sending.window:
            self._open -= 1
            self._answered.give()
        answers = self.sending.answer(seq, flow)
        if answers:
            self._answers.extend(answers)
            self._to_answer.give()

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
