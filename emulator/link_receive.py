"""The link's receiver: from the wire through bonding, checks and clock correction into the incoming FIFO.

Words are re-formed from the lanes and checked. Packets are handled as runs; only a full incoming FIFO is stepped
through.
"""

from __future__ import annotations

from functools import partial

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
    PacketFlag,
)
from freezeframe.decoders.trace.encode import credit_crc_ok, credit_parity_ok
from freezeframe.emulator.bank import Values
from freezeframe.emulator.beat import Beat
from freezeframe.emulator.clocks import Clock
from freezeframe.emulator.credit import Flows
from freezeframe.emulator.credit_copies import TAKEN, CreditCopies
from freezeframe.emulator.incoming import Incoming, skipped_of
from freezeframe.emulator.memory import Kinds, Words
from freezeframe.emulator.packet import CREDIT_VALUE_MASK, Verdict, inspect
from freezeframe.emulator.parts import Fifo, Process
from freezeframe.emulator.ports import (
    Backplane,
    Cut,
    Drain,
    Lanes,
    LinkEvents,
    Stage,
    Transmitter,
)


class RxLink(Stage):
    """The receiver: from the wire through bonding and checks into the incoming FIFO."""

    def __init__(
        self,
        plane: Backplane,
        fifo: Fifo,
        lanes: Lanes,
        flows: Flows,
        drain: Drain,
        sender: Transmitter,
        copies: CreditCopies,
    ) -> None:
        super().__init__(plane)
        self.next_seq = 0
        self._fifo = fifo
        self._tap = fifo.entering
        self._lanes = lanes
        self._flows = flows
        self.drain = drain
        self._sender = sender  # of the same card: credits that arrive are its own
        self._copies = copies
        self._free_cycle = 0  # earliest cycle of the next word
        self.beat: Beat | None = None  # of clock corrections, where there are any
        self._corrected = LinkCode.IDLE_INSERTED

    def wait(self, words: int) -> None:
        """Return that any words may be sent: this link has no credits but those of the flows."""
        return None

    def expect(self, words: Words, kinds: Kinds, first_ps: int) -> Cut:
        """A packet is on the wire; its first word arrives at ``first_ps``, the others word by word."""
        incoming = Incoming(self.time.env)
        if not self.time.held:
            cycle = self._slot(first_ps, len(words))
            begin = partial(self._begin, incoming, cycle, kinds, words)
            self.time.at(self.link.edge_ps(cycle), begin)
        return partial(self._cut, incoming)

    def expect_credit(self, word: int, at_ps: int) -> None:
        """A credit word is on the wire."""
        if not self.time.held:
            cycle = self._slot(at_ps, 1)
            self.time.at(self.link.edge_ps(cycle), partial(self._take_credit, word))

    def _cut(self, incoming: Incoming, sent_words: int) -> None:
        """The sender was held after ``sent_words`` words of a packet."""
        incoming.sent_words = sent_words
        if incoming.begun is None or self.time.held:
            return
        last = incoming.begun + sent_words - 1
        self._tap.cut(last)
        if incoming.flow is not None:
            incoming.flow.received.cut(last)
        incoming.cut(last)
        self.events.taken_back(self._tap)

    def latched(self, t_ps: int) -> Values:
        """Return the sequence number of the freeze bank."""
        return {("frozen.next_seq_in", ()): self.next_seq}

    def run_clock_correction(self, far: Clock) -> Process:
        """Insert or remove an idle whenever the link clock has drifted from the sender's, ``far``, by a cycle.

        Source: the bonded lanes are corrected together, between packets, one idle in each.
        """
        env, link = self.time.env, self.link
        if link.period_fs == far.period_fs or not self.faults.corrects_clock():
            return
        every = max(1, far.period_fs // abs(link.period_fs - far.period_fs))
        if link.period_fs > far.period_fs:  # else we read faster than the other end writes
            self._corrected = LinkCode.IDLE_REMOVED
        self.beat = beat = Beat(env, link, every, link.cycle_at(self.time.now_ps) + every)
        while True:
            yield from beat.come()
            while link.cycle_at(self.time.now_ps) < self._free_cycle:
                yield env.timeout(link.edge_ps(self._free_cycle) - self.time.now_ps)
            if not self.faults.corrects_clock():
                return
            self._count_corrections(1)
            for lane in range(self._lanes.count):
                self._lanes.report(self._corrected, lane)
            beat.cycle += every

    def skip(self, corrections: int) -> None:
        """Have made so many corrections while nothing comes in; where they cannot be made at once, none of them."""
        if corrections <= 0 or self.beat is None or self.beat.cycle < self._free_cycle:
            return
        lanes = range(self._lanes.count)
        repeated = LinkEvents(
            Kind.LINK, EventSource.RX_LINK, self._corrected, lanes, self.beat, corrections
        )
        if self.events.link_events(repeated):
            self.beat.skip(corrections)
            self._count_corrections(corrections)

    def _count_corrections(self, corrections: int) -> None:
        inserted = self._corrected == LinkCode.IDLE_INSERTED
        self.counts["idles_inserted" if inserted else "idles_removed"] += corrections

    def _slot(self, first_ps: int, words: int) -> int:
        waits = self.profile.link_sync_fill_halves + self._lanes.deskew_cycles
        cycle = self.link.cycle_at(first_ps) + 1 + waits
        cycle = max(cycle, self._free_cycle)
        self._free_cycle = cycle + words
        return cycle

    def _begin(self, incoming: Incoming, cycle: int, kinds: Kinds, words: Words) -> None:
        incoming.begun = cycle
        words = self.faults.arriving(words)
        if incoming.sent_words >= 0:
            words, kinds = words[: incoming.sent_words], kinds[: incoming.sent_words]
            if not len(words):
                return
        verdict = self.faults.judged(inspect(words, kinds))
        if kinds[0] == Kind.HEAD:  # also where nothing came after it
            incoming.flow = self._flows.known(int(words[0]) >> HEADER_FLOW_LSB & HEADER_FLOW_MASK)
        if incoming.flow is not None:
            incoming.uncounted = self.faults.uncounted(incoming.flow, sending=False)
        self.events.enter(Machine.RX_LINK, MachineState.DATA)
        self._check(incoming, verdict, cycle)
        self.time.at(self.link.edge_ps(cycle + len(words)), self._end)
        if self._fifo.promised(self.time.now_ps) + len(words) <= self._fifo.depth:
            incoming.over = incoming.sent_words < 0
            self._accept(incoming, cycle, kinds, words)
            self.drain.push(incoming)
        else:
            self.time.process(self._accept_into_full(incoming, cycle, kinds, words))

    def _end(self) -> None:
        if self.link.cycle_at(self.time.now_ps) >= self._free_cycle:
            self.events.enter(Machine.RX_LINK, MachineState.IDLE)

    def _accept(self, incoming: Incoming, cycle: int, kinds: Kinds, words: Words) -> None:
        self._tap.feed(cycle, kinds, words)
        if incoming.flow is not None:
            first, last = skipped_of(kinds, incoming.uncounted, not len(incoming.words))
            incoming.flow.received.add(cycle + first, len(words) - first - last)
        incoming.add(cycle, kinds, words)

    def _accept_into_full(
        self, incoming: Incoming, cycle: int, kinds: Kinds, words: Words
    ) -> Process:
        """Let words in as far as there is room, and lose each that finds none."""
        time, link = self.time, self.link
        done, pushed = 0, False
        while done < len(words):
            room = self._fifo.depth - self._fifo.promised(time.now_ps)
            count = min(room, len(words) - done)
            if count > 0:
                end = done + count
                self._accept(incoming, cycle + done, kinds[done:end], words[done:end])
                if not pushed:
                    self.drain.push(incoming)
                    pushed = True
                incoming.more.give()
            else:
                count = 1
                self.counts["rx_fifo_overflows"] += 1
                self._raise_at(cycle + done + 1, Cause.RX_OVF)
            done += count
            yield time.env.timeout(link.edge_ps(cycle + done) - time.now_ps)
            if 0 <= incoming.sent_words <= done:
                return
        incoming.over = True
        incoming.more.give()

    def _raise_at(self, cycle: int, cause: Cause) -> None:
        raises = partial(self.events.raise_cause, cause, Domain.LINK)
        self.time.at(self.link.edge_ps(cycle), raises)

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

        def failed() -> None:
            if 0 <= incoming.sent_words <= word:
                return  # that word never came
            if counter:
                incoming.counted.add(counter)
                self.counts[counter] += 1
            self.events.raise_cause(cause, Domain.LINK)

        self.time.at(self.link.edge_ps(cycle + word + 1), failed)

    def _take_credit(self, word: int) -> None:
        word = self.faults.credit_arriving(word)
        number = word >> CREDIT_FLOW_LSB & CREDIT_FLOW_MASK
        if not credit_crc_ok(word):
            code = CreditCode.REFUSED_CRC
        elif not credit_parity_ok(word):
            code = CreditCode.REFUSED_PARITY
            self.counts["parity_errors"] += 1
            self._raise_at(self.link.cycle_at(self.time.now_ps) + 1, Cause.CREDIT_PARITY)
        else:
            code = CreditCode.TAKEN
            flow = self._flows[number]
            flow.credited = word >> CREDIT_FREED_LSB & CREDIT_FREED_MASK & flow.mask
            self._copies.add(word, TAKEN)
            self._sender.credit_taken()
        self.counts["credits_taken" if code == CreditCode.TAKEN else "credits_refused"] += 1
        value = word & CREDIT_VALUE_MASK
        self.events.link_event(Kind.CREDIT, EventSource.RX_LINK, code, value, number)
