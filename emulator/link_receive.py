"""The link's receiver: from the wire through bonding, checks and clock correction into the incoming FIFO.

Words are re-formed from two lanes and checked. Packets are handled as runs; only a full incoming FIFO is stepped
through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from freezeframe.capture.registers.layouts import (
    CREDIT_FLOW_LSB,
    CREDIT_FLOW_MASK,
    CREDIT_FREED_LSB,
    CREDIT_FREED_MASK,
    HEADER_FLOW_LSB,
    HEADER_FLOW_MASK,
    Cause,
    CreditCode,
    Domain,
    EventSource,
    Kind,
    LinkCode,
    Machine,
    MachineState,
    Memory,
    PacketFlag,
)
from freezeframe.decoders.trace.encode import credit_crc_ok, credit_parity_ok
from freezeframe.emulator.credit_copies import TAKEN
from freezeframe.emulator.incoming import Incoming, skipped_of
from freezeframe.emulator.link import VALUE_MASK
from freezeframe.emulator.memory import Kinds, Words
from freezeframe.emulator.packet import Verdict, inspect
from freezeframe.emulator.stages import Process

if TYPE_CHECKING:
    from freezeframe.emulator.nic import Nic

__all__ = ["RxLink"]


class RxLink:
    """The receiver: from the wire through bonding and checks into the incoming FIFO."""

    def __init__(self, nic: Nic) -> None:
        self.nic = nic
        self.next_seq = 0
        self.sync_underflows = [0, 0]
        self.sync_overflows = [0, 0]
        self.sync_levels = [nic.profile.link_sync_fill_halves] * 2
        self._free_cycle = 0  # earliest cycle of the next word

    def expect(self, words: Words, kinds: Kinds, first_ps: int) -> Incoming:
        """A packet is on the wire; its first word arrives at ``first_ps``, the others word by word."""
        nic = self.nic
        incoming = Incoming(nic)
        if not nic.held:
            cycle = self._slot(first_ps, len(words))
            nic.at(nic.link.edge_ps(cycle), lambda: self._begin(incoming, cycle, kinds, words))
        return incoming

    def expect_credit(self, word: int, at_ps: int) -> None:
        """A credit word is on the wire."""
        nic = self.nic
        if not nic.held:
            cycle = self._slot(at_ps, 1)
            nic.at(nic.link.edge_ps(cycle), lambda: self._take_credit(word))

    def cut(self, incoming: Incoming, sent_words: int) -> None:
        """The sender was held after ``sent_words`` words of a packet."""
        incoming.sent_words = sent_words
        if incoming.begun is None or self.nic.held:
            return
        last = incoming.begun + sent_words - 1
        self.nic.taps[Memory.RX_ENQ].cut(last)
        if incoming.flow is not None:
            incoming.flow.received.cut(last)
        incoming.cut(last)
        self.nic.freeze.fed(Memory.RX_ENQ)

    def sync_level(self, lane: int) -> int:
        """Return the halves in a lane's synchronization FIFO."""
        return self.sync_levels[lane]

    def slip(self, lane: int, underflow: bool) -> None:
        """A lane's synchronization FIFO is read while empty, or written while full."""
        nic = self.nic
        if underflow:
            self.sync_underflows[lane] += 1
            self.sync_levels[lane] = max(0, self.sync_levels[lane] - 1)
            nic.freeze.raise_cause(Cause.SYNC_UNF, Domain.LINK)
        else:
            self.sync_overflows[lane] += 1
        code = LinkCode.UNDERFLOW if underflow else LinkCode.OVERFLOW
        nic.link_event(Kind.LINK, EventSource.RX_LINK, code, lane)

    def run_clock_correction(self) -> Process:
        """Insert or remove an idle whenever the two link clocks have drifted apart by a cycle.

        Source: the bonded lanes are corrected together, between packets, one idle in each.
        """
        nic = self.nic
        own_fs, far_fs = nic.link.period_fs, nic.peer.link.period_fs
        if own_fs == far_fs or not nic.fault.corrects_clock(nic):
            return
        every = max(1, far_fs // abs(own_fs - far_fs))
        inserted = own_fs < far_fs  # we read faster than the other end writes
        code = LinkCode.IDLE_INSERTED if inserted else LinkCode.IDLE_REMOVED
        cycle = nic.link.cycle_at(nic.now_ps)
        while True:
            cycle += every
            yield nic.env.timeout(max(0, nic.link.edge_ps(cycle) - nic.now_ps))
            while nic.link.cycle_at(nic.now_ps) < self._free_cycle:
                yield nic.env.timeout(nic.link.edge_ps(self._free_cycle) - nic.now_ps)
            nic.counts["idles_inserted" if inserted else "idles_removed"] += 1
            for lane in (0, 1):
                nic.link_event(Kind.LINK, EventSource.RX_LINK, code, lane)

    def _slot(self, first_ps: int, words: int) -> int:
        nic = self.nic
        cycle = nic.link.cycle_at(first_ps) + 1 + nic.profile.link_sync_fill_halves
        cycle = max(cycle, self._free_cycle)
        self._free_cycle = cycle + words
        return cycle

    def _begin(self, incoming: Incoming, cycle: int, kinds: Kinds, words: Words) -> None:
        nic = self.nic
        incoming.begun = cycle
        words = nic.fault.arriving(words, nic)
        if incoming.sent_words >= 0:
            words, kinds = words[: incoming.sent_words], kinds[: incoming.sent_words]
            if not len(words):
                return
        verdict = inspect(words, kinds)
        if kinds[0] == Kind.HEAD:  # also where nothing came after it
            incoming.flow = nic.known_flow(int(words[0]) >> HEADER_FLOW_LSB & HEADER_FLOW_MASK)
        if incoming.flow is not None:
            incoming.uncounted = nic.fault.uncounted(nic, incoming.flow, sending=False)
        nic.enter(Machine.RX_LINK, MachineState.DATA)
        self._check(incoming, verdict, cycle)
        nic.at(nic.link.edge_ps(cycle + len(words)), self._end)
        if nic.rx_fifo.promised(nic.now_ps) + len(words) <= nic.rx_fifo.depth:
            incoming.over = incoming.sent_words < 0
            self._accept(incoming, cycle, kinds, words)
            nic.rx_dma.push(incoming)
        else:
            nic.process(self._accept_into_full(incoming, cycle, kinds, words))

    def _end(self) -> None:
        if self.nic.link.cycle_at(self.nic.now_ps) >= self._free_cycle:
            self.nic.enter(Machine.RX_LINK, MachineState.IDLE)

    def _accept(self, incoming: Incoming, cycle: int, kinds: Kinds, words: Words) -> None:
        self.nic.taps[Memory.RX_ENQ].feed(cycle, kinds, words)
        if incoming.flow is not None:
            first, last = skipped_of(kinds, incoming.uncounted, not len(incoming.words))
            incoming.flow.received.add(cycle + first, len(words) - first - last)
        incoming.add(cycle, kinds, words)

    def _accept_into_full(
        self, incoming: Incoming, cycle: int, kinds: Kinds, words: Words
    ) -> Process:
        """Let words in as far as there is room, and lose each that finds none."""
        nic = self.nic
        done, pushed = 0, False
        while done < len(words):
            room = nic.rx_fifo.depth - nic.rx_fifo.promised(nic.now_ps)
            count = min(room, len(words) - done)
            if count > 0:
                end = done + count
                self._accept(incoming, cycle + done, kinds[done:end], words[done:end])
                if not pushed:
                    nic.rx_dma.push(incoming)
                    pushed = True
                incoming.more.give()
            else:
                count = 1
                nic.counts["rx_fifo_overflows"] += 1
                nic.at(
                    nic.link.edge_ps(cycle + done + 1),
                    lambda: nic.freeze.raise_cause(Cause.RX_OVF, Domain.LINK),
                )
            done += count
            yield nic.env.timeout(nic.link.edge_ps(cycle + done) - nic.now_ps)
            if 0 <= incoming.sent_words <= done:
                return
        incoming.over = True
        incoming.more.give()

    def _check(self, incoming: Incoming, verdict: Verdict, cycle: int) -> None:
        header = verdict.header
        if header is None or not header.good:
            self._blame(Cause.HDR_CRC, "header_errors", incoming, cycle, verdict.header_at)
            return
        if not header.flags & PacketFlag.INJECTED:
            if header.seq != self.next_seq:
                self._blame(Cause.SEQUENCE, "", incoming, cycle, verdict.header_at)
            self.next_seq = header.seq + 1 & 0xFFFF
        if verdict.payload_at is not None:
            if verdict.payload_bad:
                self._blame(Cause.PAY_CRC, "payload_errors", incoming, cycle, verdict.payload_at)
            if verdict.length_bad:
                self._blame(Cause.LENGTH, "length_errors", incoming, cycle, verdict.payload_at)

    def _blame(self, cause: Cause, counter: str, incoming: Incoming, cycle: int, word: int) -> None:
        """A check fails on word ``word`` of the packet: its cause is that of the next cycle."""
        nic = self.nic

        def failed() -> None:
            if 0 <= incoming.sent_words <= word:
                return  # that word never came
            if counter:
                incoming.counted.add(counter)
                nic.counts[counter] += 1
            nic.freeze.raise_cause(cause, Domain.LINK)

        nic.at(nic.link.edge_ps(cycle + word + 1), failed)

    def _take_credit(self, word: int) -> None:
        nic = self.nic
        word = nic.fault.credit_arriving(word, nic)
        number = word >> CREDIT_FLOW_LSB & CREDIT_FLOW_MASK
        if not credit_crc_ok(word):
            code = CreditCode.REFUSED_CRC
        elif not credit_parity_ok(word):
            code = CreditCode.REFUSED_PARITY
            nic.counts["parity_errors"] += 1
            nic.at(
                nic.link.edge_ps(nic.link.cycle_at(nic.now_ps) + 1),
                lambda: nic.freeze.raise_cause(Cause.CREDIT_PARITY, Domain.LINK),
            )
        else:
            code = CreditCode.TAKEN
            flow = nic.flow(number)
            flow.credited = word >> CREDIT_FREED_LSB & CREDIT_FREED_MASK & flow.mask
            nic.credit_copies.add(word, TAKEN)
            nic.tx_link.credit_taken()
        nic.counts["credits_taken" if code == CreditCode.TAKEN else "credits_refused"] += 1
        nic.link_event(Kind.CREDIT, EventSource.RX_LINK, code, word & VALUE_MASK, number)
