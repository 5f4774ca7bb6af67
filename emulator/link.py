"""The link's transmitter and wire: flow control, and words handed to the receiver at the other end.

The transmitter starts a packet when it stands whole in the outgoing FIFO and fits the credit of its flow;
credits go between packets and first. Packets are followed word by word in time but handled as runs.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from freezeframe.capture.registers.layouts import (
    Cause,
    CreditCode,
    Domain,
    EventSource,
    Kind,
    Machine,
    MachineState,
    Memory,
    NoteCode,
    PacketFlag,
    PressureCode,
)
from freezeframe.decoders.trace.encode import credit_word
from freezeframe.emulator.credit import Flow
from freezeframe.emulator.credit_copies import SENT
from freezeframe.emulator.incoming import Incoming
from freezeframe.emulator.packet import Packet
from freezeframe.emulator.stages import Process, Signal

if TYPE_CHECKING:
    from freezeframe.emulator.nic import Nic

__all__ = ["VALUE_MASK", "TxLink"]

VALUE_MASK = (1 << 40) - 1  # bits of a credit word that an event holds


class TxLink:
    """The transmitter: whole packets and credits onto the wire, one word a link cycle."""

    def __init__(self, nic: Nic) -> None:
        self.nic = nic
        self.queue: deque[Packet] = deque()
        self.moved = Signal(nic.env)  # a run has begun to leave the FIFO
        self.pressure_cycles = 0
        self._wake = Signal(nic.env)
        self._due: dict[int, Flow] = {}  # flows with a credit to send, oldest first
        self._free_cycle = 0  # earliest cycle of the next start
        self._blocked: int | None = None  # link cycle since which the first packet waits for credit
        self._blocked_flow = 0  # its flow
        self._active: tuple[int, int, Incoming] | None = (
            None  # first cycle, words, at the other end
        )

    def push(self, packet: Packet) -> None:
        """A whole packet stands in the outgoing FIFO."""
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
        return self.pressure_cycles + max(0, self.nic.link.cycle_at(t_ps) - self._blocked)

    def end_pressure(self, t_ps: int) -> int:
        """Stop waiting for credit; return the cycles of waiting and forget them."""
        cycles = self.pressure_at(t_ps)
        self.pressure_cycles, self._blocked = 0, None
        return cycles

    def stalled_flows(self, t_ps: int) -> int:
        """Return the flows 0-31 that wait for credit over the limit that stands at ``t_ps``, one bit each."""
        limit = self.nic.config.stall_limit
        if self._blocked is None or not limit:
            return 0
        over = self.nic.link.cycle_at(t_ps) >= self._blocked + limit
        return over << self._blocked_flow & 0xFFFFFFFF

    def hold(self, cycle: int) -> None:
        """Stop after link cycle ``cycle``: words that would have left later never did."""
        if self._active is not None:
            first, words, incoming = self._active
            gone = max(0, cycle + 1 - first)
            if gone < words:
                self.nic.peer.rx_link.cut(incoming, gone)
        self._active = None

    def run(self) -> Process:
        nic, env, link = self.nic, self.nic.env, self.nic.link
        gap = nic.profile.link_gap_cycles
        while True:
            cycle = link.cycle_at(nic.now_ps)
            if link.edge_ps(cycle) < nic.now_ps:
                cycle += 1
            cycle = max(cycle, self._free_cycle)
            if not self._due and self.queue:
                cycle = max(cycle, link.crossed(self.queue[0].ready_ps))
            if (self._due or self.queue) and link.edge_ps(cycle) > nic.now_ps:
                yield env.timeout(link.edge_ps(cycle) - nic.now_ps)
                continue
            if self._due:
                self._send_credit(cycle)
                self._free_cycle = cycle + 1 + gap
                continue
            if not self.queue:
                nic.enter(Machine.TX_LINK, MachineState.IDLE)
                yield self._wake.wait()
                continue
            packet = self.queue[0]
            flow = nic.flow(packet.flow)
            if not nic.fault.fits(flow, packet, nic):
                self._block(cycle, flow)
                yield self._wake.wait()
                continue
            self._unblock(cycle, flow)
            self.queue.popleft()
            nic.enter(Machine.TX_LINK, MachineState.DATA)
            words, kinds = nic.fault.leaving(packet, nic)
            nic.taps[Memory.TX_DEQ].feed(cycle, kinds, words)
            first, last = nic.fault.uncounted(nic, flow, sending=True)
            flow.sent.add(cycle + first, len(words) - first - last)
            first_ps = link.edge_ps(cycle) + nic.profile.link_latency_ps
            self._active = (cycle, len(words), nic.peer.rx_link.expect(words, kinds, first_ps))
            self.moved.give()
            yield env.timeout(link.edge_ps(cycle + len(words)) - nic.now_ps)
            self._active = None
            self._free_cycle = cycle + len(words) + gap
            if packet.flags & PacketFlag.NOTIFY_LOCAL:
                nic.notes.post(NoteCode.LOCAL, packet.seq, packet.flow)

    def _block(self, cycle: int, flow: Flow) -> None:
        nic = self.nic
        if self._blocked is not None:
            return
        self._blocked, self._blocked_flow = cycle, flow.number
        nic.enter(Machine.TX_LINK, MachineState.WAIT_CREDIT)
        nic.fault.blocked(flow, nic)
        self._press(PressureCode.BEGIN, flow)
        self.watch_stall()

    def watch_stall(self) -> None:
        """Raise credit-stall when the wait in progress, if any, is over the limit that stands now."""
        nic, since, limit = self.nic, self._blocked, self.nic.config.stall_limit
        if since is None or not limit:
            return

        def look() -> None:
            if self._blocked == since and nic.config.stall_limit == limit:
                nic.freeze.raise_cause(Cause.CREDIT_STALL, Domain.LINK)

        nic.at(max(nic.now_ps, nic.link.edge_ps(since + limit)), look)

    def _unblock(self, cycle: int, flow: Flow) -> None:
        if self._blocked is None:
            return
        self.pressure_cycles += cycle - self._blocked
        self._blocked = None
        self._press(PressureCode.END, flow)

    def _press(self, code: PressureCode, flow: Flow) -> None:
        self.nic.link_event(
            Kind.PRESSURE, EventSource.TX_LINK, code, max(0, flow.free()), flow.number
        )

    def _send_credit(self, cycle: int) -> None:
        nic = self.nic
        number = next(iter(self._due))
        flow = self._due.pop(number)
        flow.reported = flow.freed.at(nic.bus.clock.cycle_at(nic.now_ps)) & flow.mask
        word = credit_word(number, flow.reported)
        nic.counts["credits_sent"] += 1
        nic.credit_copies.add(word, SENT)
        nic.link_event(Kind.CREDIT, EventSource.TX_LINK, CreditCode.SENT, word & VALUE_MASK, number)
        leaving = nic.fault.credit_leaving(word, flow, nic)
        if leaving is not None:
            nic.peer.rx_link.expect_credit(
                leaving, nic.link.edge_ps(cycle) + nic.profile.link_latency_ps
            )
