"""One emulated network card: its clocks, taps and memories, the stages between them, and what it latches when
it freezes.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import simpy

from freezeframe.capture.registers.layouts import (
    EVENT_CODE_LSB,
    EVENT_FLOW_LSB,
    EVENT_SOURCE_LSB,
    Cause,
    Domain,
    EventSource,
    Kind,
    LinkCode,
    Machine,
    MachineState,
    Memory,
)
from freezeframe.emulator.bank import Bank, latch
from freezeframe.emulator.clocks import Clock
from freezeframe.emulator.counters import Sampler, Snapshots
from freezeframe.emulator.credit import Flow
from freezeframe.emulator.credit_copies import CreditCopies
from freezeframe.emulator.dma import TxDma
from freezeframe.emulator.dma_pipelined import PipelinedTxDma
from freezeframe.emulator.dma_receive import NoteWriter, RxDma
from freezeframe.emulator.eventlog import EventLog
from freezeframe.emulator.faults.base import Fault
from freezeframe.emulator.freeze import FreezeControl
from freezeframe.emulator.host import Host
from freezeframe.emulator.link import TxLink
from freezeframe.emulator.link_receive import RxLink
from freezeframe.emulator.memory import Kinds, Words
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.provoke import PatternSource
from freezeframe.emulator.recorder import ALL_KINDS, Recorder
from freezeframe.emulator.stages import Bus, Fifo, Process, Tap
from freezeframe.emulator.traffic import Receiving, Sending
from freezeframe.emulator.trigger import Trigger
from freezeframe.emulator.truth import Stop

if TYPE_CHECKING:
    from freezeframe.emulator.machine import Pair

__all__ = ["Bank", "Config", "Nic"]

_ALL_CAUSES = sum(1 << cause for cause in Cause)
_LINK_TAPS = (Memory.TX_DEQ, Memory.RX_ENQ)
_PENDING = 48  # runs or events a recorder may hold back before they are committed
_SOURCES = {
    Machine.TX_DMA: EventSource.TX_DMA,
    Machine.RX_DMA: EventSource.RX_DMA,
    Machine.TX_LINK: EventSource.TX_LINK,
    Machine.RX_LINK: EventSource.RX_LINK,
}
_STEP, _FIRED = 1, 2  # codes of the recorder's own USER events: a sequence began, the trigger fired
_IN_LINK_DOMAIN = (Machine.TX_LINK, Machine.RX_LINK)


@dataclass(slots=True)
class Config:
    """What the host may write, as it acts; see the register map."""

    stall_limit: int
    snapshot_log2: int
    sample_period: int
    # The driver masks sync-unf: an underflow must be found by what it does to the words.
    cause_mask: int = _ALL_CAUSES & ~(1 << Cause.SYNC_UNF)
    hold: bool = True
    select_tap: int = 0
    index_record: int = 0
    index_memory: int = 0
    rx_stop: bool = False
    loopback: bool = False
    traffic_on: bool = False
    traffic_flow: int = 0
    traffic_length: int = 0
    traffic_gap: int = 0
    traffic_seed: int = 0
    inject_buffer: npt.NDArray[np.uint32] = field(
        default_factory=lambda: np.zeros(2048, dtype=np.uint32)
    )


class Nic:
    """A card with its recorder. The recorder lives as long as the card; the stages are made anew at each `start`."""

    def __init__(
        self, machine: Pair, index: int, profile: Profile, bus: Clock, link: Clock
    ) -> None:
        self.machine = machine
        self.env: simpy.Environment = machine.env
        self.index = index
        self.name = chr(ord("A") + index)
        self.profile = profile
        self.bus = Bus(self.env, bus)
        self.link = link
        self.fault: Fault = machine.fault
        self.config = Config(
            profile.trace_stall_limit_cycles,
            profile.trace_snapshot_log2,
            profile.trace_sample_period_cycles,
        )
        self.taps = [
            Tap(memory, self.clock(_domain(memory)), self._fed) for memory in list(Memory)[:4]
        ]
        self.tx_fifo = Fifo(profile.fifo_tx_words, self.taps[0], self.taps[1])
        self.rx_fifo = Fifo(profile.fifo_rx_words, self.taps[2], self.taps[3])
        self.trigger = Trigger()
        self.trigger_plan = 0
        self.log = EventLog(
            profile.trace_event_depth, profile.trace_event_fifo, profile.trace_post_drain_cycles
        )
        self.memories: list[Recorder | EventLog | None] = [
            Recorder(profile.trace_tap_depth, profile.trace_post_drain_cycles)
            if profile.quad or memory == 0
            else None
            for memory in range(4)
        ]
        self.memories.append(self.log)
        for recorder in self.memories:
            if recorder is not None:
                recorder.post = profile.trace_post
        self._post = [profile.trace_post] * 5
        self._kinds = [ALL_KINDS] * 5
        self.split_wait = type(self.bus.owned)()
        self.counts: dict[str, int] = dict.fromkeys(
            (
                "header_errors", "payload_errors", "length_errors", "parity_errors", "drops",
                "credits_sent", "credits_taken", "credits_refused", "tx_fifo_overflows",
                "tx_fifo_underflows", "rx_fifo_overflows", "rx_fifo_underflows", "idles_inserted",
                "idles_removed", "descriptors", "notifications", "interrupts", "bus_retries",
                "bus_disconnects",
            ),
            0,
        )  # fmt: skip
        self.pressure_before = 0
        self.events_lost_before = 0
        self.length_histogram = [0] * 16
        self.inject_count = 0
        self.held = False
        self.bank: Bank | None = None
        self.freeze = FreezeControl(self)
        self.sampler = Sampler(self)
        self.snapshots = Snapshots(self)
        self._running: list[simpy.Process] = []
        self._run = 0  # number of the present start; what was planned in another is void
        self.states = [MachineState.IDLE] * 4
        self._make_stages(Sending.silent(), Receiving(), random.Random(0))

    @property
    def now_ps(self) -> int:
        """The simulation's present time."""
        return int(self.env.now)

    @property
    def peer(self) -> Nic:
        """The card at the other end of the link: this one itself in loop-back."""
        return self if self.machine.loopback else self.machine.nics[1 - self.index]

    def clock(self, domain: Domain) -> Clock:
        """Return the clock of one of the two domains."""
        return self.bus.clock if domain == Domain.BUS else self.link

    def memory_domain(self, memory: int) -> Domain:
        """Return the domain in which a memory records."""
        return _domain(memory)

    # -- running -------------------------------------------------------------------------------

    def power_up(self) -> None:
        """Start what runs whether or not the card is held: sampler and counter snapshots."""
        self.sampler.restart()
        self.snapshots.restart()

    def start(self, sending: Sending, receiving: Receiving, draw: random.Random) -> None:
        """Bring a stopped card up from nothing, as its driver does: FIFOs, credits and sequence numbers begin at 0."""
        self._make_stages(sending, receiving, draw)
        self.tx_fifo.clear()
        self.rx_fifo.clear()
        self.states = [MachineState.IDLE] * 4
        for lane in (0, 1):
            self.link_event(Kind.LINK, EventSource.RX_LINK, LinkCode.TRAINED, lane)
        self.fault.started(self)
        for run in (
            self.tx_dma.run, self.tx_link.run, self.rx_dma.run, self.notes.run, self.pattern.run,
            self.rx_link.run_clock_correction, self.host.run_posting, self.host.run_handler,
            self.host.run_stops, self.host.run_answering,
        ):  # fmt: skip
            self.process(run())

    def stop(self) -> None:
        """End all stages now; words that would have moved later never do."""
        now = self.now_ps
        bus, link = self.bus.clock.cycle_at(now), self.link.cycle_at(now)
        self.tx_link.hold(link)
        for process in self._running:
            if process.is_alive and process is not self.env.active_process:
                process.interrupt()
        self._running.clear()
        self._run += 1
        for tap in self.taps:
            tap.cut(bus if tap.clock is self.bus.clock else link)
        for flow in self.flows:
            flow.sent.cut(link)
            flow.received.cut(link)
            flow.freed.cut(bus)
        self.bus.cut(bus)
        self.split_wait.cut(bus)
        self.pressure_before += self.tx_link.end_pressure(now)
        self.bus.restart()

    def process(self, steps: Process) -> None:
        """Run steps until the card is held or brought up anew."""
        self._running.append(self.env.process(_until_interrupted(steps)))
        if len(self._running) > 64:
            self._running = [process for process in self._running if process.is_alive]

    def at(self, t_ps: int, action: Callable[[], None]) -> None:
        """Do something later, unless the card has been held or brought up anew by then."""
        run = self._run

        def act() -> None:
            if self._run == run:
                action()

        self.machine.at(t_ps, act)

    def flow(self, number: int) -> Flow:
        """Return a flow; one outside the map has no credit and stays apart."""
        known = self.known_flow(number)
        return known if known is not None else self._no_flow

    def known_flow(self, number: int) -> Flow | None:
        """Return a flow of the map, None for a number outside it."""
        return self.flows[number] if number < len(self.flows) else None

    def _make_stages(self, sending: Sending, receiving: Receiving, draw: random.Random) -> None:
        profile = self.profile
        self.draw = draw
        self.tx_dma = TxDma(self) if profile.bus_outstanding_reads == 1 else PipelinedTxDma(self)
        self.tx_link = TxLink(self)
        self.rx_link = RxLink(self)
        self.rx_dma = RxDma(self)
        self.notes = NoteWriter(self)
        self.pattern = PatternSource(self)
        self.credit_copies = CreditCopies(bool(profile.flows_copy_credits))
        self.host = Host(self, sending, receiving)
        width, unit = profile.credit_w, profile.flows_credit_unit_words
        self.flows = [
            Flow(
                number,
                self._limit(number, sending),
                width,
                self.fault.credit_unit(number, unit, self),
            )
            for number in range(profile.flows_count)
        ]
        self._no_flow = Flow(127, 0, width, unit)
        self.comma_phase = [draw.randrange(4), draw.randrange(4)]

    def _limit(self, number: int, sending: Sending) -> int:
        share = self.profile.credit_share_words if number in sending.flows else 0
        return self.fault.start_limit(number, share, self)

    # -- recording -----------------------------------------------------------------------------

    def event(
        self,
        kind: Kind,
        source: EventSource,
        code: int,
        value: int,
        flow: int = 0,
        cycle: int | None = None,
    ) -> None:
        """Offer an event to the log, of the present bus cycle or a later one."""
        if cycle is None:
            cycle = self.bus.clock.cycle_at(self.now_ps)
        data = value | flow << EVENT_FLOW_LSB | source << EVENT_SOURCE_LSB | code << EVENT_CODE_LSB
        self.log.offer(cycle, source, kind, data)
        if self.log.waiting > _PENDING:
            self.log.advance(self.bus.clock.cycle_at(self.now_ps) - 1)
        self.freeze.fed(Memory.EVENT_LOG)

    def link_event(
        self, kind: Kind, source: EventSource, code: int, value: int, flow: int = 0
    ) -> None:
        """Offer an event of the link domain: the log sees it 2 to 3 bus cycles later."""
        self.event(kind, source, code, value, flow, self.bus.clock.crossed(self.now_ps))

    def enter(self, machine: Machine, state: MachineState) -> None:
        """A state machine changes its state; staying in it is no event."""
        old = self.states[machine]
        if old == state:
            return
        self.states[machine] = state
        report = self.link_event if machine in _IN_LINK_DOMAIN else self.event
        report(Kind.STATE, _SOURCES[machine], machine, state | old << 8)

    def _fed(self, index: int, cycle: int, kinds: Kinds, words: Words) -> None:
        tap = self.taps[index]
        if tap.recorder is not None:
            if tap.recorder.waiting > _PENDING:
                tap.recorder.advance(tap.clock.cycle_at(self.now_ps) - 1)
            self.freeze.fed(index)
        if self.trigger.enable and self.trigger.tap == index:
            self._watch(tap, cycle, kinds, words)

    def _watch(self, tap: Tap, cycle: int, kinds: Kinds, words: Words) -> None:
        domain = _domain(tap.index)
        early = max(0, self.freeze.armed_cycle(domain) + 1 - cycle)  # as far as the arm has come
        fires = self.trigger.feed(cycle + early, kinds[early:], words[early:])
        plan, tap_number, steps = self.trigger_plan, tap.index, self.trigger.steps
        for seen, code in [(step, _STEP) for step in steps] + (
            [] if fires is None else [(fires, _FIRED)]
        ):
            self.at(
                tap.clock.edge_ps(seen + 1), partial(self._trigger, plan, domain, code, tap_number)
            )
        steps.clear()

    def _trigger(self, plan: int, domain: Domain, code: int, tap: int) -> None:
        if plan != self.trigger_plan:
            return
        report = self.event if domain == Domain.BUS else self.link_event
        report(Kind.USER, EventSource.RECORDER, code, tap)
        if code == _FIRED:
            self.freeze.raise_cause(Cause.TRIGGER, domain)

    def reset_trigger(self) -> None:
        """The trigger's configuration changed, or the recorder was armed: begin to watch anew."""
        self.trigger.reset()
        self.trigger_plan += 1
        tap = self.taps[self.trigger.tap]
        self._watch(tap, *tap.rest(tap.clock.cycle_at(self.now_ps)))

    def arm_memories(self, now_ps: int) -> None:
        """Clear all memories and attach them to their taps."""
        self.events_lost_before += self.log.lost
        if not self.profile.quad:
            self._select(self.config.select_tap & 3)
        for memory, recorder in enumerate(self.memories):
            if isinstance(recorder, Recorder):
                self.taps[memory].recorder = recorder
            if recorder is None:
                continue
            clock = self.clock(self.memory_domain(memory))
            cycle = clock.cycle_at(now_ps)
            recorder.arm(cycle if clock is self.bus.clock else clock.crossed(now_ps))
        self.sampler.clear()
        self.reset_trigger()

    def _select(self, tap: int) -> None:
        """Put the one memory behind a tap. Its records stay, its recorder counts that tap's cycles from now on."""
        old = next(m for m in self.memories if isinstance(m, Recorder))
        new = Recorder(self.profile.trace_tap_depth, self.profile.trace_post_drain_cycles)
        new.memory = old.memory
        new.post, new.kinds = self._post[tap], self._kinds[tap]
        for memory in range(4):
            self.memories[memory] = new if memory == tap else None
            self.taps[memory].recorder = None

    def set_post(self, memory: int, post: int) -> None:
        """Set the records a memory stores after a cause; a cause that has come keeps the old number."""
        self._post[memory] = post
        recorder = self.memories[memory]
        if recorder is not None:
            recorder.post = post

    def set_kinds(self, memory: int, kinds: int) -> None:
        """Set the kinds a memory records, from the present cycle on."""
        self._kinds[memory] = kinds
        recorder = self.memories[memory]
        if recorder is not None:
            self.commit(memory)
            recorder.kinds = kinds
            self.freeze.fed(memory)

    def post(self, memory: int) -> int:
        """Return what `set_post` set."""
        return self._post[memory]

    def kinds(self, memory: int) -> int:
        """Return what `set_kinds` set."""
        return self._kinds[memory]

    def commit(self, memory: int) -> None:
        """Bring a memory up to the cycle before the present one."""
        recorder = self.memories[memory]
        if recorder is not None:
            recorder.advance(self.clock(self.memory_domain(memory)).cycle_at(self.now_ps) - 1)

    # -- standing still ------------------------------------------------------------------------

    def frozen(self, t_ps: int) -> None:
        """All memories are closed: latch everything, and hold the card if that is wanted."""
        self.bank = latch(self, t_ps)
        self.machine.truth.froze(
            Stop(
                self.name, self.freeze.generation,
                self.bus.clock.edge_ps(self.freeze.cause_cycle), t_ps,
            )
        )  # fmt: skip
        if self.config.hold:
            self.held = True
            self.stop()


def _domain(memory: int) -> Domain:
    return Domain.LINK if memory in _LINK_TAPS else Domain.BUS


def _until_interrupted(steps: Process) -> Process:
    try:
        yield from steps
    except simpy.Interrupt:
        return
