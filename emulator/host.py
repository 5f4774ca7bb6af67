"""The host of a card: its driver posts descriptors and takes completions, and it may stop receiving for a while."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from freezeframe.capture.registers.layouts import (
    DescCode,
    EventSource,
    IrqCode,
    Kind,
    PacketType,
)
from freezeframe.emulator.bank import Values
from freezeframe.emulator.credit_copies import CreditCopies
from freezeframe.emulator.descriptor import Descriptor
from freezeframe.emulator.hooks import Completion
from freezeframe.emulator.host_trace import HostLog
from freezeframe.emulator.parts import Process, Signal
from freezeframe.emulator.ports import Backplane, Descriptors, Drain, Stage
from freezeframe.emulator.profile import DESCRIPTOR_WORDS
from freezeframe.emulator.regions import Regions
from freezeframe.emulator.traffic import WAIT, Message, Receiving, Sending

_PS_PER_NS = 1000


class Host(Stage):
    """Driver and processor of one card. The interrupt line is masked while the handler runs."""

    def __init__(
        self,
        plane: Backplane,
        sending: Sending,
        receiving: Receiving,
        sender: Descriptors,
        drain: Drain,
        copies: CreditCopies,
        log: HostLog,
    ) -> None:
        super().__init__(plane)
        self.sending = sending
        self.receiving = receiving
        self.waiting: deque[Completion] = deque()
        self.masked = False
        self._raised = False
        self._handling = False
        self._stolen_ps = 0  # from the handler, by interrupts that came while it ran
        self.sender = sender
        self._drain = drain
        self._copies = copies
        self._log = log
        self._handler = Signal(self.time.env)
        self._regions = Regions(self.profile)
        self._open = 0  # requests that were posted and not answered
        self._answered = Signal(self.time.env)
        self._answers: deque[Message] = deque()
        self._to_answer = Signal(self.time.env)

    @property
    def completions(self) -> int:
        """Completions that the host has not taken."""
        return len(self.waiting)

    def complete(self, completion: Completion) -> None:
        """A completion has been written for the host."""
        self.waiting.append(completion)
        self._interrupt()

    def latched(self, t_ps: int) -> Values:
        """Return the interrupt mask and the waiting completions of the freeze bank."""
        return {
            ("frozen.interrupt_mask", ()): int(self.masked),
            ("frozen.completions_waiting", ()): self.completions,
        }

    def run_posting(self) -> Process:
        """Post descriptors for ever, as the plan says."""
        env = self.time.env
        yield env.timeout(self.sending.start_ps)
        begun_ps = self.time.now_ps
        for gap_ps, messages in self._bursts():
            if gap_ps == WAIT:
                while self._open >= self.sending.window:
                    yield self._answered.wait()
                self._open += 1
            elif gap_ps and self.sending.by_clock:
                yield env.timeout(max(0, begun_ps + gap_ps - self.time.now_ps))
            elif gap_ps:
                yield env.timeout(gap_ps)
            yield from self._post(messages)

    def run_answering(self) -> Process:
        """Post what the plan answers to messages that were received."""
        while True:
            while not self._answers:
                yield self._to_answer.wait()
            yield from self._post([self._answers.popleft()])

    def _bursts(self) -> Iterator[tuple[int, list[Message]]]:
        """Yield the messages of the plan with the gap before them, those together that the write buffer combines."""
        most = max(1, self.profile.combined_descriptors)
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
        bus, profile, sender = self.bus, self.profile, self.sender
        while len(sender.queue) + len(messages) > profile.host_ring_descriptors:
            yield sender.taken.wait()
        # The number that comes next; pattern traffic that is switched on right now may yet take it.
        first_seq = sender.next_seq
        descriptors = [
            Descriptor(
                message.type, message.flags, message.flow, message.source, self._dest(message),
                self._copies.before(message.words, profile.fifo_message_words),
                first_seq + number & 0xFFFF,
            )
            for number, message in enumerate(messages)
        ]  # fmt: skip
        for descriptor in descriptors:
            sender.tell(DescCode.POSTING, descriptor, bus.next_cycle())
        with bus.lock.request() as grant:
            yield grant
            for descriptor in descriptors:
                self._log.posts(self.time.now_ps, descriptor)
            words = DESCRIPTOR_WORDS * len(descriptors)
            if profile.host_combining_words:
                cycles = profile.bus_burst_overhead_cycles + words // 2  # 64 bits a cycle
            else:
                cycles = profile.bus_write_cycles * words
            cycle = bus.next_cycle()
            bus.owned.add(cycle, cycles)
            yield bus.until(cycle + cycles)
        for descriptor in descriptors:
            self.counts["descriptors"] += 1
            self.faults.posts()
            sender.post(descriptor)
            sender.tell(DescCode.POSTED, descriptor)

    def _dest(self, message: Message) -> int:
        """Return where a message goes: the driver of a card with regions has bound handles."""
        if message.type != PacketType.RDMA_WRITE:
            return message.dest
        words = len(message.words)
        return self.faults.destination(self._regions.bound(message.dest, words), words)

    def run_handler(self) -> Process:
        """Handle interrupts: take every completion, then enable the line and look once more."""
        time, profile = self.time, self.profile
        while True:
            while not self._raised:
                yield self._handler.wait()
            yield time.env.timeout(profile.host_interrupt_latency_ns * _PS_PER_NS)
            self._log.enters(time.now_ps)
            self._raised, self._handling = False, True
            self.masked = self.faults.masks()
            if self.masked:
                self._log.masks(time.now_ps, True)
                self._report(EventSource.HOST, IrqCode.MASKED)
            while self.waiting:
                yield time.env.timeout(profile.host_completion_ns * _PS_PER_NS)
                while self._stolen_ps:
                    stolen_ps, self._stolen_ps = self._stolen_ps, 0
                    yield time.env.timeout(stolen_ps)
                self._taken(*self.waiting.popleft())
            if enabling_ps := self.faults.enabling_ps():
                yield time.env.timeout(enabling_ps)
            self.masked = self._handling = False
            self._log.masks(time.now_ps, False)
            self._log.leaves(time.now_ps)
            self._report(EventSource.HOST, IrqCode.ENABLED)
            if self.faults.looks_again(self.waiting):
                self._interrupt()

    def run_stops(self) -> Process:
        """Stop receiving and go on, as the plan says."""
        time, drain = self.time, self._drain
        begin_ps = time.now_ps
        drain.pause_cycles = self.receiving.pause_cycles
        for stop_ps, length_ps in self.receiving.stops:
            yield time.env.timeout(max(0, begin_ps + stop_ps - time.now_ps))
            drain.host_stopped = True
            yield time.env.timeout(length_ps)
            drain.host_stopped = False
            drain.allowed.give()

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
        self.counts["interrupts"] += 1
        self._report(EventSource.RX_DMA, IrqCode.RAISED)
        self.faults.raised(self.completions)
        if self._handling:
            # Nobody masked the line: the handler is interrupted, and finds all there is when it goes on.
            self._stolen_ps += self.profile.host_interrupt_latency_ns * _PS_PER_NS
            return
        self._raised = True
        self._handler.give()

    def _report(self, source: EventSource, code: IrqCode) -> None:
        self.events.event(Kind.IRQ, source, code, self.completions)
