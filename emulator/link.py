"""The link's transmitter: flow control, and words put on the wire.

The transmitter starts a packet when the whole of it is in the outgoing FIFO and fits the credit of its flow;
credits go between packets and first. Packets are followed word by word in time but handled as runs.
"""

from __future__ import annotations

from collections import deque

from freezeframe.capture.registers.layouts import (
    Cause,
    CreditCode,
    Domain,
    EventSource,
    Kind,
    Machine,
    MachineState,
    NoteCode,
    PacketFlag,
    PressureCode,
)
from freezeframe.decoders.trace.encode import credit_word
from freezeframe.emulator.bank import Values
from freezeframe.emulator.credit import Flow, Flows
from freezeframe.emulator.credit_copies import SENT, CreditCopies
from freezeframe.emulator.packet import CREDIT_VALUE_MASK, Packet
from freezeframe.emulator.parts import Process, Signal, Tap
from freezeframe.emulator.ports import Backplane, Cut, Notes, Stage, Wire


class TxLink(Stage):
    """The transmitter: whole packets and credits onto the wire, one word a link cycle."""

    wire: Wire
    """To the other end; connected when both ends exist."""

    def __init__(
        self, plane: Backplane, tap: Tap, flows: Flows, notes: Notes, copies: CreditCopies
    ) -> None:
        super().__init__(plane)
        self.queue: deque[Packet] = deque()
        self.moved = Signal(self.time.env)  # a run has begun to leave the FIFO
        self.pressure_cycles = 0
        self._tap = tap
        self._flows = flows
        self.notes = notes
        self._copies = copies
        self._wake = Signal(self.time.env)
        self._due: dict[int, Flow] = {}  # flows with a credit to send, oldest first
        self._free_cycle = 0  # earliest cycle of the next start
        self._blocked: int | None = None  # link cycle since which the first packet waits for credit
        self._blocked_flow = 0  # its flow
        # The packet that is leaving: first cycle, words, and how the other end is told of fewer.
        self._active: tuple[int, int, Cut] | None = None

    def push(self, packet: Packet) -> None:
        """A whole packet is in the outgoing FIFO."""
        self.queue.append(packet)
        self._wake.give()

    def credit_due(self, flow: Flow) -> None:
        """A credit for this flow is to be sent; due ones of one flow become one."""
        self._due.setdefault(flow.number, flow)
        self._wake.give()

    def credit_taken(self) -> None:
        """A credit of the other end has been taken."""
        self._wake.give()

    def pressure_at(self, t_ps: int) -> int:
        """Return the link cycles in which a packet waited for credit up to ``t_ps``."""
        if self._blocked is None:
            return self.pressure_cycles
        return self.pressure_cycles + max(0, self.link.cycle_at(t_ps) - self._blocked)

    def end_pressure(self, t_ps: int) -> int:
        """Stop waiting for credit; return the cycles of waiting and forget them."""
        cycles = self.pressure_at(t_ps)
        self.pressure_cycles, self._blocked = 0, None
        return cycles

    def latched(self, t_ps: int) -> Values:
        """Return which of the flows 0-31 wait for credit over the limit that stands at ``t_ps``, one bit each."""
        limit, stalled = self.config.stall_limit, 0
        if self._blocked is not None and limit:
            over = self.link.cycle_at(t_ps) >= self._blocked + limit
            stalled = over << self._blocked_flow & 0xFFFFFFFF
        return {("frozen.stalled_flows", ()): stalled}

    def hold(self, cycle: int) -> None:
        """Stop after link cycle ``cycle``: words that would have left later never did."""
        if self._active is not None:
            first, words, cut = self._active
            gone = max(0, cycle + 1 - first)
            if gone < words:
                cut(gone)
        self._active = None

    def run(self) -> Process:
        """Send what there is to send, for ever."""
        time, env, link = self.time, self.time.env, self.link
        gap = self.profile.link_gap_cycles
        while True:
            cycle = link.cycle_at(time.now_ps)
            if link.edge_ps(cycle) < time.now_ps:
                cycle += 1
            cycle = max(cycle, self._free_cycle)
            if not self._due and self.queue:
                cycle = max(cycle, link.crossed(self.queue[0].ready_ps))
            if (self._due or self.queue) and link.edge_ps(cycle) > time.now_ps:
                yield env.timeout(link.edge_ps(cycle) - time.now_ps)
                continue
            if self._due:
                wait = self.wire.wait(1)
                if wait is not None:
                    yield wait
                    continue
                self._send_credit(cycle)
                self._free_cycle = cycle + 1 + gap
                continue
            if not self.queue:
                self.events.enter(Machine.TX_LINK, MachineState.IDLE)
                yield self._wake.wait()
                continue
            packet = self.queue[0]
            flow = self._flows[packet.flow]
            if not self.faults.fits(flow, packet.room):
                self._block(cycle, flow)
                yield self._wake.wait()
                continue
            wait = self.wire.wait(len(packet.words))
            if wait is not None:
                self._block(cycle, flow)
                yield wait | self._wake.wait()  # a credit can still be sent meanwhile
                continue
            self._unblock(cycle, flow)
            self.queue.popleft()
            words = self._send(cycle, packet, flow)
            yield env.timeout(link.edge_ps(cycle + words) - time.now_ps)
            self._active = None
            self._free_cycle = cycle + words + gap
            if packet.flags & PacketFlag.NOTIFY_LOCAL:
                self.notes.post(NoteCode.LOCAL, packet.seq, packet.flow)

    def _send(self, cycle: int, packet: Packet, flow: Flow) -> int:
        """Let a packet leave from link cycle ``cycle`` on; return its words."""
        self.events.enter(Machine.TX_LINK, MachineState.DATA)
        words, kinds = self.faults.leaving(packet, flow)
        self._tap.feed(cycle, kinds, words)
        first, last = self.faults.uncounted(flow, sending=True)
        flow.sent.add(cycle + first, len(words) - first - last)
        first_ps = self.link.edge_ps(cycle) + self.profile.link_latency_ps
        self._active = (cycle, len(words), self.wire.expect(words, kinds, first_ps))
        self.moved.give()
        return len(words)

    def _send_credit(self, cycle: int) -> None:
        number = next(iter(self._due))
        flow = self._due.pop(number)
        flow.reported = flow.freed.at(self.bus.clock.cycle_at(self.time.now_ps)) & flow.mask
        word = credit_word(number, flow.reported)
        self.counts["credits_sent"] += 1
        self._copies.add(word, SENT)
        self.events.link_event(
            Kind.CREDIT, EventSource.TX_LINK, CreditCode.SENT, word & CREDIT_VALUE_MASK, number
        )
        leaving = self.faults.credit_leaving(word, flow)
        if leaving is not None:
            arrives_ps = self.link.edge_ps(cycle) + self.profile.link_latency_ps
            self.wire.expect_credit(leaving, arrives_ps)

    # -- waiting for credit --------------------------------------------------------------------

    def watch_stall(self) -> None:
        """Raise credit-stall when the wait in progress, if any, is over the limit that stands now."""
        since, limit = self._blocked, self.config.stall_limit
        if since is None or not limit:
            return

        def look() -> None:
            if self._blocked == since and self.config.stall_limit == limit:
                self.events.raise_cause(Cause.CREDIT_STALL, Domain.LINK)

        self.time.at(max(self.time.now_ps, self.link.edge_ps(since + limit)), look)

    def _block(self, cycle: int, flow: Flow) -> None:
        if self._blocked is not None:
            return
        self._blocked, self._blocked_flow = cycle, flow.number
        self.events.enter(Machine.TX_LINK, MachineState.WAIT_CREDIT)
        self.faults.blocked(flow)
        self._report_pressure(PressureCode.BEGIN, flow)
        self.watch_stall()

    def _unblock(self, cycle: int, flow: Flow) -> None:
        if self._blocked is None:
            return
        self.pressure_cycles += cycle - self._blocked
        self._blocked = None
        self._report_pressure(PressureCode.END, flow)

    def _report_pressure(self, code: PressureCode, flow: Flow) -> None:
        free = max(0, flow.free())
        self.events.link_event(Kind.PRESSURE, EventSource.TX_LINK, code, free, flow.number)
