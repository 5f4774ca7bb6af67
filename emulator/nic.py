"""One emulated network card: its stages plugged together, and what is latched when its recorder freezes."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Protocol

from freezeframe.capture.registers.layouts import (
    LinkCode,
    MachineState,
    Memory,
    State,
)
from freezeframe.capture.registers.map_forms import counters_for
from freezeframe.emulator.bank import Bank, Values, chunk_crcs, flow_values
from freezeframe.emulator.beat import Calendar
from freezeframe.emulator.clocks import Clock, Clocks
from freezeframe.emulator.config import Config
from freezeframe.emulator.counters import Sampler, Snapshots
from freezeframe.emulator.credit import Flow, Flows
from freezeframe.emulator.credit_copies import CreditCopies
from freezeframe.emulator.dma import TxDma
from freezeframe.emulator.dma_pipelined import PipelinedTxDma
from freezeframe.emulator.dma_receive import NoteWriter, RxDma
from freezeframe.emulator.hooks import Hooks
from freezeframe.emulator.host import Host
from freezeframe.emulator.host_trace import HostLog
from freezeframe.emulator.lanes import BondedLanes
from freezeframe.emulator.link import TxLink
from freezeframe.emulator.link_receive import RxLink
from freezeframe.emulator.parts import Bus, Fifo
from freezeframe.emulator.ports import Backplane, Latched, Wire
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.provoke import PatternSource
from freezeframe.emulator.recording import Recording
from freezeframe.emulator.running import Running
from freezeframe.emulator.time_pairs import TimePairs
from freezeframe.emulator.traffic import Receiving, Sending
from freezeframe.emulator.truth import Stop

_OUTSIDE = 127  # number of the flow for all that are outside the map


@dataclass(frozen=True, slots=True)
class Identity:
    """A card's boot nonce, and which device of its target it is."""

    nonce: int
    index: int
    devices: int
    time_master: bool


class Owner(Protocol):
    """Whoever has the cards and the link between them."""

    def released(self) -> None:
        """A frozen card has been armed again."""

    def rewire(self) -> None:
        """The link's wiring was changed by a register."""

    def froze(self, stop: Stop) -> None:
        """A card's recorder has frozen."""


class Nic:
    """A card with its recorder. The recorder lives as long as the card; each run has new stages."""

    def __init__(
        self,
        owner: Owner,
        env: Calendar,
        index: int,
        profile: Profile,
        clocks: Clocks,
        identity: Identity,
        master: Clock,
    ) -> None:
        """Make a card that has no stages yet; ``master`` is the clock of the time line."""
        self.owner = owner
        self.index = index
        self.name = chr(ord("A") + index)
        self.profile = profile
        self.clocks = clocks
        self.identity = identity
        self.time = Running(env)
        self.bus = Bus(env, clocks.bus)
        self.link = clocks.link
        self.config = Config.of(profile)
        self.recording = Recording(self.time, clocks, profile, self.config, self)
        self.freeze = self.recording.freeze
        self.time_pairs = TimePairs(clocks, master, profile.trace_sync_period_cycles, self.freeze)
        self.taps = self.recording.taps
        self.tx_fifo = Fifo(profile.fifo_tx_words, self.taps[0], self.taps[1])
        self.rx_fifo = Fifo(profile.fifo_rx_words, self.taps[2], self.taps[3])
        self.counts = dict.fromkeys(counters_for(profile.form), 0)
        self.length_histogram = [0] * 16
        self.inject_count = 0
        self.bank: Bank | None = None
        self.sampler = Sampler(
            self.time, clocks, self.config, profile.trace_sampler_depth,
            self.taps[Memory.TX_DEQ], self.rx_fifo, self._recording,
        )  # fmt: skip
        self.snapshots = Snapshots(self.time, clocks, self.config, self.counters)
        self._pressure_before = 0

    @property
    def now_ps(self) -> int:
        """The simulation's present time."""
        return self.time.now_ps

    def power_up(self) -> None:
        """Start what runs whether or not the card is held: sampler and counter snapshots."""
        self.sampler.restart()
        self.snapshots.restart()

    # -- a run ---------------------------------------------------------------------------------

    def build(
        self,
        faults: Hooks,
        sending: Sending,
        receiving: Receiving,
        log: HostLog,
        draw: random.Random,
    ) -> None:
        """Make the stages of a run; the link is connected afterwards."""
        plane = Backplane(
            self.time, self.bus, self.link, self.recording, self.counts, self.profile, self.config,
            faults,
        )  # fmt: skip
        self.faults = faults
        self.flows = self._flows(faults, sending)
        copies = CreditCopies(bool(self.profile.flows_copy_credits))
        tx_deq, rx_deq = self.taps[Memory.TX_DEQ], self.taps[Memory.RX_DEQ]
        notes = NoteWriter(plane)
        self.tx_link = TxLink(plane, tx_deq, self.flows, notes, copies)
        engine = TxDma if self.profile.bus_outstanding_reads == 1 else PipelinedTxDma
        self.tx_dma = engine(plane, self.tx_fifo, self.tx_link, draw)
        rx_dma = RxDma(plane, rx_deq, self.tx_link, notes, self.length_histogram)
        self.rx_dma = rx_dma
        self.lanes = BondedLanes(plane, draw)
        self.rx_link = RxLink(
            plane, self.rx_fifo, self.lanes, self.flows, rx_dma, self.tx_link, copies
        )
        self.pattern = PatternSource(plane, self.tx_dma)
        self.host = Host(plane, sending, receiving, self.tx_dma, rx_dma, copies, log)
        notes.complete = self.host.complete
        self.notes = notes

    def connect(self, wire: Wire, far: Clock) -> None:
        """Put the link to a receiver: of the other card, of this one in loop-back, of a switch.

        Args:
            far: the clock of what this card hears.
        """
        self.tx_link.wire = wire
        self.far = far

    def start(self) -> None:
        """Bring a stopped card up from nothing, as its driver does: FIFOs, credits and sequence numbers begin at 0."""
        self.tx_fifo.clear()
        self.rx_fifo.clear()
        self.recording.states[:] = [MachineState.IDLE] * 4
        for lane in range(self.lanes.count):
            self.lanes.report(LinkCode.TRAINED, lane)
        self.faults.started()
        for steps in (
            self.tx_dma.run(), self.tx_link.run(), self.rx_dma.run(), self.notes.run(),
            self.pattern.run(), self.rx_link.run_clock_correction(self.far), self.host.run_posting(),
            self.host.run_handler(), self.host.run_stops(), self.host.run_answering(),
        ):  # fmt: skip
            self.time.process(steps)

    def stop(self) -> None:
        """End all stages now; words that would have moved later never do."""
        now = self.now_ps
        bus, link = (clock.cycle_at(now) for clock in self.clocks)
        self.tx_link.hold(link)
        self.time.stop()
        for tap in self.taps:
            tap.cut(bus if tap.clock is self.clocks.bus else link)
        for flow in self.flows:
            flow.cut(bus, link)
        self.bus.cut(bus)
        self._pressure_before += self.tx_link.end_pressure(now)
        self.bus.restart()

    def _flows(self, faults: Hooks, sending: Sending) -> Flows:
        profile = self.profile
        width, unit = profile.credit_w, profile.flows_credit_unit_words
        flows = []
        for number in range(profile.flows_count):
            share = profile.credit_share_words if number in sending.flows else 0
            limit = faults.start_limit(number, share)
            flows.append(Flow(number, limit, width, faults.credit_unit(number, unit)))
        return Flows(flows, Flow(_OUTSIDE, 0, width, unit))

    # -- what the recorder asks for ------------------------------------------------------------

    def arm_memories(self, now_ps: int) -> None:
        """Clear all memories and the samples."""
        self.recording.arm()
        self.sampler.clear()

    def armed(self, was_frozen: bool) -> None:
        """The recorder has been armed."""
        if was_frozen:
            self.owner.released()
        if self.freeze.generation > 1:  # the first arm is at power-up, before there is a link
            self.tx_link.watch_stall()

    def frozen(self, t_ps: int) -> None:
        """All memories are closed: latch everything, and hold the card if that is wanted."""
        self.bank = self._latch(t_ps)
        cause_ps = self.clocks.bus.edge_ps(self.freeze.cause_cycle)
        self.owner.froze(Stop(self.name, self.generation, cause_ps, t_ps))
        if self.config.hold:
            self.time.held = True
            self.stop()

    def counters(self, t_ps: int) -> dict[str, int]:
        """Return every counter of the map as it stands at ``t_ps``."""
        values = self.counts.copy()
        bus = self.clocks.bus.cycle_at(t_ps)
        for tap in self.taps:
            cycle, name = tap.clock.cycle_at(t_ps), Memory(tap.index).name.lower()
            values[f"{name}_words"] = tap.words.at(cycle)
            values[f"{name}_packets"] = tap.packets.at(cycle)
        values["bus_cycles"] = self.bus.owned.at(bus)
        values["bus_data_cycles"] = self.bus.carried.at(bus)
        values["split_wait_cycles"] = self.bus.split_wait.at(bus)
        values["pressure_cycles"] = self._pressure_before + self.tx_link.pressure_at(t_ps)
        values["events_lost"] = self.recording.events_lost
        self.faults.counts(values)
        return values

    def _recording(self) -> bool:
        return self.freeze.state in (State.ARMED, State.TRIGGERED)

    def _latch(self, t_ps: int) -> Bank:
        """Take everything as it stands at ``t_ps``."""
        bus = self.clocks.bus.cycle_at(t_ps)
        values: Values = {
            ("frozen.tx_level", ()): max(0, self.tx_fifo.level(t_ps)),
            ("frozen.rx_level", ()): max(0, self.rx_fifo.level(t_ps)),
            ("frozen.freeze_cycle_lo", ()): bus & 0xFFFFFFFF,
            ("frozen.freeze_cycle_hi", ()): bus >> 32,
        }
        stages: tuple[Latched, ...] = (
            self.tx_dma, self.tx_link, self.rx_link, self.lanes, self.host, self.recording,
        )  # fmt: skip
        for stage in stages:
            values |= stage.latched(t_ps)
        for flow in self.flows:
            values |= flow_values(flow, self.clocks, t_ps)
        bank = Bank(
            values, self.counters(t_ps), self.recording.images(), {}, self.sampler.slots.copy(),
            self.length_histogram.copy(),
        )  # fmt: skip
        self.faults.latches(bank)
        bank.crc = chunk_crcs(bank.images, self.profile.trace_chunk_records)
        return bank

    @property
    def idle(self) -> bool:
        """Whether nothing moves until the next event: no word is under way, and the recorder is not about to freeze."""
        return self.freeze.at_rest and self.sampler.still

    # -- what a fault may see ------------------------------------------------------------------

    @property
    def generation(self) -> int:
        """Number of the present recording."""
        return self.freeze.generation

    @property
    def received(self) -> bool:
        """Whether a good packet has arrived since bring-up."""
        return self.rx_link.next_seq != 0

    def set_credit_unit(self, number: int, words: int) -> None:
        """Let so many words of a flow be freed between two credits, from the next credit on."""
        self.flows[number].unit = words

    def withheld(self, number: int) -> int:
        """Return the words freed of a flow that no credit has reported."""
        flow = self.flows[number]
        return flow.freed.at(self.clocks.bus.cycle_at(self.now_ps)) - flow.reported & flow.mask
