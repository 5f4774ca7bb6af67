"""The receive DMA engine of a card and the writer of notifications, on the bus they share with the transmit engine.

The engine empties the incoming FIFO in bursts, checks what it carries once more, and frees the words for credits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial

from freezeframe.capture.registers.layouts import (
    Cause,
    Domain,
    EventSource,
    Kind,
    Machine,
    MachineState,
    NoteCode,
    PacketFlag,
    PacketType,
)
from freezeframe.capture.registers.map_forms import WRITE_REFUSED, WRITES_REFUSED
from freezeframe.emulator.hooks import Completion
from freezeframe.emulator.incoming import Incoming, skipped_of
from freezeframe.emulator.memory import Kinds, Words
from freezeframe.emulator.packet import HEAD_WORDS, NO_WORDS, Verdict, inspect
from freezeframe.emulator.parts import Process, Signal, Tap
from freezeframe.emulator.ports import Backplane, Notes, Stage, Transmitter
from freezeframe.emulator.profile import HANDLE_BITS, OFFSET_BITS
from freezeframe.emulator.regions import Refusal, Regions


class RxDma(Stage):
    """Empties the incoming FIFO in bursts over the bus, packet by packet, as soon as a burst's words are there."""

    def __init__(
        self,
        plane: Backplane,
        tap: Tap,
        transmitter: Transmitter,
        notes: Notes,
        length_histogram: list[int],
    ) -> None:
        super().__init__(plane)
        self.queue: deque[Incoming] = deque()
        self.arrived = Signal(self.time.env)
        self.allowed = Signal(self.time.env)
        self.pause_cycles = 0  # between bursts: a slow host
        self.host_stopped = False
        self._tap = tap
        self.transmitter = transmitter
        self.notes = notes
        self._length_histogram = length_histogram
        self._regions = Regions(self.profile)

    @property
    def stopped(self) -> bool:
        """The host, or the register that provokes it, takes no words."""
        return self.host_stopped or self.config.rx_stop

    def push(self, incoming: Incoming) -> None:
        """A packet has begun to enter the incoming FIFO."""
        self.queue.append(incoming)
        self.arrived.give()

    def run(self) -> Process:
        """Empty the FIFO, for ever."""
        while True:
            while not self.queue:
                self.events.enter(Machine.RX_DMA, MachineState.IDLE)
                yield self.arrived.wait()
            incoming = self.queue.popleft()
            incoming.set_order(self.faults.reading(incoming))
            yield from self._drain(incoming)

    def _drain(self, incoming: Incoming) -> Process:
        bus, burst = self.bus, self.profile.bus_write_burst_words
        verdict: Verdict | None = None
        done, words = 0, NO_WORDS
        while True:
            while incoming.readable() < done + burst and not incoming.over:
                yield incoming.more.wait()
            end = min(incoming.readable(), done + burst)
            if end == done:
                break
            seen = bus.clock.crossed(self.link.edge_ps(incoming.cycle_of(end - 1)))
            yield bus.until(seen)
            if incoming.readable() < end:
                continue  # the sender was held in the middle of the packet
            while self.stopped:
                self.events.enter(Machine.RX_DMA, MachineState.STOPPED)
                yield self.allowed.wait()
            words, kinds = incoming.read(end)
            if verdict is None or verdict.payload_at is None:
                verdict = self.faults.judged(inspect(words, kinds))
            self.events.enter(Machine.RX_DMA, MachineState.DATA)
            if end >= HEAD_WORDS and (verdict.header_bad or self._refusal(verdict, words)):
                # Nothing is written, so the bus is not needed.
                cycle = bus.next_cycle() + 1
                self._leave(incoming, verdict, cycle, done, words, kinds)
                yield bus.until(cycle + end - done)
            else:
                with bus.lock.request() as grant:
                    yield grant
                    overhead = self.profile.bus_overhead_cycles
                    cycle = bus.next_cycle() + overhead
                    bus.owned.add(bus.next_cycle(), overhead + end - done)
                    bus.carried.add(cycle, end - done)
                    self._leave(incoming, verdict, cycle, done, words, kinds)
                    yield bus.until(cycle + end - done)
            if self.pause_cycles:
                yield bus.until(bus.next_cycle() + self.pause_cycles)
            done = end
        if verdict is not None:
            self._finish(incoming, verdict, words)

    def _leave(
        self,
        incoming: Incoming,
        verdict: Verdict,
        cycle: int,
        done: int,
        words: Words,
        kinds: Kinds,
    ) -> None:
        """Words ``done`` to the end leave the FIFO from ``cycle`` on: tap, checks, credits."""
        time, bus = self.time, self.bus.clock
        self._tap.feed(cycle, kinds[done:], words[done:])
        if incoming.when_left is not None and done <= incoming.when_left[0] < len(words):
            place, happens = incoming.when_left
            left_ps = bus.edge_ps(cycle + place - done)
            incoming.when_left = None
            time.at(left_ps, partial(happens, left_ps))
        if verdict.header_bad:
            if done <= verdict.header_at < len(words):
                self._blame(
                    Cause.HDR_CRC, "header_errors", incoming, cycle + verdict.header_at - done
                )
        elif verdict.payload_at is not None and done <= verdict.payload_at < len(words):
            at = cycle + verdict.payload_at - done
            if verdict.payload_bad:
                self._blame(Cause.PAY_CRC, "payload_errors", incoming, at)
            if verdict.length_bad:
                self._blame(Cause.LENGTH, "length_errors", incoming, at)
        if incoming.flow is not None:
            first, last = skipped_of(kinds[done:], incoming.uncounted, done == 0)
            counted = self.faults.freed(incoming.flow, len(words) - done - first - last)
            for due in incoming.flow.free_run(cycle + first, counted):
                seen_ps = self.link.edge_ps(self.link.crossed(bus.edge_ps(due)))
                time.at(seen_ps, partial(self.transmitter.credit_due, incoming.flow))

    def _blame(self, cause: Cause, counter: str, incoming: Incoming, cycle: int) -> None:
        """A check fails on the word of ``cycle``: its cause is that of the next, counted once for each packet."""

        def failed() -> None:
            if counter not in incoming.counted:
                incoming.counted.add(counter)
                self.counts[counter] += 1
            self.events.raise_cause(cause, Domain.BUS)

        self.time.at(self.bus.clock.edge_ps(cycle + 1), failed)

    def _refusal(self, verdict: Verdict, words: Words) -> Refusal | None:
        """Return why a write is not within a region of this card; asked once its header is there, and good."""
        header = verdict.header
        if header is None or header.type != PacketType.RDMA_WRITE:
            return None
        return self._regions.refusal(int(words[1]) & 0xFFFFFFFF, header.length)

    def _finish(self, incoming: Incoming, verdict: Verdict, words: Words) -> None:
        # Judged nowhere: its tail was lost in a full FIFO, so it is not whole either.
        if verdict.bad or verdict.header is None or verdict.payload_at is None:
            self.counts["drops"] += 1
            return
        header = verdict.header
        refusal = self._refusal(verdict, words)
        if refusal is not None:
            self.counts[WRITES_REFUSED] += 1
            handle = int(words[1]) >> OFFSET_BITS & (1 << HANDLE_BITS) - 1
            value = header.seq | handle << 16 | refusal << 24
            self.events.event(Kind.USER, EventSource.RX_DMA, WRITE_REFUSED, value, header.flow)
            return
        self._length_histogram[min(15, header.length.bit_length())] += 1
        if header.flags & PacketFlag.NOTIFY_REMOTE or header.type != PacketType.RDMA_WRITE:
            self.notes.post(NoteCode.REMOTE, header.seq, header.flow)


class NoteWriter(Stage):
    """Writes notifications into host memory, one word over the bus each."""

    complete: Callable[[Completion], None]
    """Called when a remote notification has been written; connected when the host exists."""

    def __init__(self, plane: Backplane) -> None:
        super().__init__(plane)
        self._queue: deque[tuple[NoteCode, int, int]] = deque()
        self._posted = Signal(self.time.env)

    def post(self, code: NoteCode, seq: int, flow: int) -> None:
        """Queue a notification of the packet with this sequence number."""
        self._queue.append((code, seq, flow))
        self._posted.give()

    def run(self) -> Process:
        """Write what is queued, for ever."""
        bus, overhead = self.bus, self.profile.bus_overhead_cycles
        while True:
            while not self._queue:
                yield self._posted.wait()
            code, seq, flow = self._queue.popleft()
            with bus.lock.request() as grant:
                yield grant
                cycle = bus.next_cycle()
                bus.owned.add(cycle, overhead + 1)
                bus.carried.add(cycle + overhead, 1)
                yield bus.until(cycle + overhead + 1)
            source = EventSource.TX_DMA if code == NoteCode.LOCAL else EventSource.RX_DMA
            self.events.event(Kind.NOTE, source, code, seq, flow)
            self.counts["notifications"] += 1
            if code == NoteCode.REMOTE:
                self.complete((seq, flow))
