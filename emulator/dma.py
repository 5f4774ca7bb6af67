"""The two DMA engines of a card and the writer of notifications, on the bus they share.

The transmit engine fetches a message by split reads and puts the whole packet into the outgoing FIFO; the
receive engine empties the incoming FIFO in bursts, checks what it carries once more, and frees the words for
credits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from freezeframe.capture.registers.layouts import (
    Cause,
    DescCode,
    Domain,
    EventSource,
    Kind,
    Machine,
    MachineState,
    Memory,
    NoteCode,
    PacketFlag,
    PacketType,
)
from freezeframe.decoders.trace.encode import desc_value
from freezeframe.emulator.incoming import skipped_of
from freezeframe.emulator.memory import Kinds, Words
from freezeframe.emulator.packet import (
    FRAME_WORDS,
    HEAD_WORDS,
    Packet,
    Verdict,
    inspect,
    leave_out,
    make_packet,
    raw_packet,
)
from freezeframe.emulator.stages import Process, Signal

if TYPE_CHECKING:
    from freezeframe.emulator.incoming import Incoming
    from freezeframe.emulator.nic import Nic

__all__ = ["Descriptor", "NoteWriter", "RxDma", "TxDma", "empty_payload"]


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
            descriptor = self.queue.popleft()
            self.taken.give()
            self.working, self.fetched_words, self.run_cycle = descriptor, 0, 0
            if descriptor.raw is not None:
                packet = raw_packet(descriptor.raw)
            else:
                self.started_seq = descriptor.seq + 1 & 0xFFFF
                packet = make_packet(
                    descriptor.type, descriptor.flags, descriptor.flow, descriptor.seq,
                    descriptor.dest, descriptor.words,
                )  # fmt: skip
            nic.enter(Machine.TX_DMA, MachineState.FETCH)
            yield from self._room(packet.room)
            if descriptor.from_host and len(descriptor.words):
                yield from self._fetch(descriptor, packet)
            else:
                cycle = nic.bus.next_cycle() + 1
                self._enter(descriptor, packet, cycle, 0, len(packet.words))
                yield nic.bus.until(cycle + len(packet.words))
            self.tell(DescCode.DONE, descriptor)
            self.working = None
            packet.ready_ps = nic.now_ps
            nic.tx_link.push(packet)

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
            with bus.lock.request() as grant:
                yield grant
                cycle = bus.next_cycle()
                bus.owned.add(cycle, profile.bus_overhead_cycles)
                yield bus.until(cycle + profile.bus_overhead_cycles)
            if draw.randrange(1_000_000) < profile.bus_retries_ppm:
                nic.counts["bus_retries"] += 1
                self.tell(DescCode.RETRIED, descriptor, length=length - first)
                yield bus.until(bus.next_cycle() + draw.randrange(4, 17))
                length -= self._resume(descriptor, packet, first)
                continue
            nic.enter(Machine.TX_DMA, MachineState.SPLIT_WAIT)
            wait = draw.randrange(profile.bus_split_min_cycles, profile.bus_split_max_cycles + 1)
            nic.split_wait.add(bus.next_cycle(), wait)
            yield bus.until(bus.next_cycle() + wait)
            count = length - first
            disconnected = count > 1 and draw.randrange(1_000_000) < profile.bus_disconnects_ppm
            if disconnected:
                count = draw.randrange(1, count)
                nic.counts["bus_disconnects"] += 1
            with bus.lock.request() as grant:
                yield grant
                nic.enter(Machine.TX_DMA, MachineState.DATA)
                data = bus.next_cycle() + profile.bus_completion_cycles
                bus.owned.add(bus.next_cycle(), profile.bus_completion_cycles + count)
                bus.carried.add(data, count)
                # HEAD words go in while the completion is announced, TAIL right after the last word.
                begin = 0 if first == 0 else HEAD_WORDS + first
                end = HEAD_WORDS + first + count
                end += first + count == length
                cycle = data - (HEAD_WORDS if first == 0 else 0)
                self.fetched_words, self.run_cycle = len(descriptor.words) - length + first, data
                self._enter(descriptor, packet, cycle, begin, end)
                yield bus.until(data + count)
            first += count
            if disconnected:
                self.tell(DescCode.DISCONNECTED, descriptor, length=length - first)
                length -= self._resume(descriptor, packet, first)
            self.fetched_words, self.run_cycle = len(descriptor.words) - length + first, 0
        yield bus.until(bus.next_cycle() + 1)  # the TAIL's own cycle

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


class RxDma:
    """Empties the incoming FIFO in bursts over the bus, packet by packet, as soon as a burst's words are there."""

    def __init__(self, nic: Nic) -> None:
        self.nic = nic
        self.queue: deque[Incoming] = deque()
        self.arrived = Signal(nic.env)
        self.allowed = Signal(nic.env)
        self.pause_cycles = 0  # between bursts: a slow host
        self.host_stopped = False

    @property
    def stopped(self) -> bool:
        """The host, or the register that provokes it, takes no words."""
        return self.host_stopped or self.nic.config.rx_stop

    def push(self, incoming: Incoming) -> None:
        """A packet has begun to enter the incoming FIFO."""
        self.queue.append(incoming)
        self.arrived.give()

    def run(self) -> Process:
        nic = self.nic
        while True:
            while not self.queue:
                nic.enter(Machine.RX_DMA, MachineState.IDLE)
                yield self.arrived.wait()
            incoming = self.queue.popleft()
            incoming.set_order(nic.fault.reading(incoming, nic))
            yield from self._drain(incoming)

    def _drain(self, incoming: Incoming) -> Process:
        nic, bus = self.nic, self.nic.bus
        verdict: Verdict | None = None
        done = 0
        while True:
            while (
                incoming.readable() < done + nic.profile.bus_write_burst_words and not incoming.over
            ):
                yield incoming.more.wait()
            end = min(incoming.readable(), done + nic.profile.bus_write_burst_words)
            if end == done:
                break
            seen = bus.clock.crossed(nic.link.edge_ps(incoming.cycle_of(end - 1)))
            yield bus.until(seen)
            if incoming.readable() < end:
                continue  # the sender was held in the middle of the packet
            while self.stopped:
                nic.enter(Machine.RX_DMA, MachineState.STOPPED)
                yield self.allowed.wait()
            words, kinds = incoming.read(end)
            if verdict is None or verdict.payload_at is None:
                verdict = inspect(words, kinds)
            nic.enter(Machine.RX_DMA, MachineState.DATA)
            if (
                verdict.header_bad and end >= HEAD_WORDS
            ):  # nothing is written, so the bus is not needed
                cycle = bus.next_cycle() + 1
                self._leave(incoming, verdict, cycle, done, words, kinds)
                yield bus.until(cycle + end - done)
            else:
                with bus.lock.request() as grant:
                    yield grant
                    cycle = bus.next_cycle() + nic.profile.bus_overhead_cycles
                    bus.owned.add(bus.next_cycle(), nic.profile.bus_overhead_cycles + end - done)
                    bus.carried.add(cycle, end - done)
                    self._leave(incoming, verdict, cycle, done, words, kinds)
                    yield bus.until(cycle + end - done)
            if self.pause_cycles:
                yield bus.until(bus.next_cycle() + self.pause_cycles)
            done = end
        if verdict is not None:
            self._finish(incoming, verdict)

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
        nic = self.nic
        nic.taps[Memory.RX_DEQ].feed(cycle, kinds[done:], words[done:])
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
            for due in incoming.flow.free_run(cycle + first, len(words) - done - first - last):
                nic.at(
                    nic.link.edge_ps(nic.link.crossed(nic.bus.clock.edge_ps(due))),
                    partial(nic.tx_link.credit_due, incoming.flow),
                )

    def _blame(self, cause: Cause, counter: str, incoming: Incoming, cycle: int) -> None:
        """A check fails on the word of ``cycle``: its cause is that of the next, counted once for each packet."""
        nic = self.nic

        def failed() -> None:
            if counter not in incoming.counted:
                incoming.counted.add(counter)
                nic.counts[counter] += 1
            nic.freeze.raise_cause(cause, Domain.BUS)

        nic.at(nic.bus.clock.edge_ps(cycle + 1), failed)

    def _finish(self, incoming: Incoming, verdict: Verdict) -> None:
        nic = self.nic
        if verdict.bad or verdict.header is None:
            nic.counts["drops"] += 1
            return
        nic.length_histogram[min(15, verdict.header.length.bit_length())] += 1
        told = verdict.header.flags & PacketFlag.NOTIFY_REMOTE
        if told or verdict.header.type != PacketType.RDMA_WRITE:
            nic.notes.post(NoteCode.REMOTE, verdict.header.seq, verdict.header.flow)


class NoteWriter:
    """Writes notifications into host memory, one word over the bus each."""

    def __init__(self, nic: Nic) -> None:
        self.nic = nic
        self._queue: deque[tuple[NoteCode, int, int]] = deque()
        self._posted = Signal(nic.env)

    def post(self, code: NoteCode, seq: int, flow: int) -> None:
        """Queue a notification of the packet with this sequence number."""
        self._queue.append((code, seq, flow))
        self._posted.give()

    def run(self) -> Process:
        nic, bus = self.nic, self.nic.bus
        while True:
            while not self._queue:
                yield self._posted.wait()
            code, seq, flow = self._queue.popleft()
            with bus.lock.request() as grant:
                yield grant
                cycle = bus.next_cycle()
                bus.owned.add(cycle, nic.profile.bus_overhead_cycles + 1)
                bus.carried.add(cycle + nic.profile.bus_overhead_cycles, 1)
                yield bus.until(cycle + nic.profile.bus_overhead_cycles + 1)
            source = EventSource.TX_DMA if code == NoteCode.LOCAL else EventSource.RX_DMA
            nic.event(Kind.NOTE, source, code, seq, flow)
            nic.counts["notifications"] += 1
            if code == NoteCode.REMOTE:
                nic.host.complete((seq, flow))


def empty_payload() -> Words:
    """Return a payload of no words."""
    return np.empty(0, dtype=np.uint64)
