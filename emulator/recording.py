"""The recorder of a card: the five memories, the taps before them, the events that stages report, and the trigger."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from freezeframe.capture.registers.layouts import (
    EVENT_CODE_LSB,
    EVENT_FLOW_LSB,
    EVENT_SOURCE_LSB,
    Cause,
    Domain,
    EventSource,
    Kind,
    Machine,
    MachineState,
    Memory,
)
from freezeframe.emulator.bank import Image, Values
from freezeframe.emulator.clocks import CROSSING_CYCLES, Clocks
from freezeframe.emulator.config import Config
from freezeframe.emulator.eventlog import EventLog
from freezeframe.emulator.freeze import FreezeControl, memory_domain
from freezeframe.emulator.memory import Kinds, Words
from freezeframe.emulator.parts import Tap
from freezeframe.emulator.ports import Freezable, LinkEvents, Time
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.recorder import ALL_KINDS, Recorder
from freezeframe.emulator.trigger import Trigger

_PENDING = 48  # runs or events a recorder may hold back before they are committed
_SOURCES = {
    Machine.TX_DMA: EventSource.TX_DMA,
    Machine.RX_DMA: EventSource.RX_DMA,
    Machine.TX_LINK: EventSource.TX_LINK,
    Machine.RX_LINK: EventSource.RX_LINK,
}
_STEP, _FIRED = 1, 2  # codes of the recorder's own USER events: a sequence began, the trigger fired
_IN_LINK_DOMAIN = (Machine.TX_LINK, Machine.RX_LINK)


class Recording:
    """Memories, taps and event log of one card; it lives as long as the card, while stages come and go."""

    def __init__(
        self, time: Time, clocks: Clocks, profile: Profile, config: Config, card: Freezable
    ) -> None:
        self.time = time
        self.clocks = clocks
        self.profile = profile
        self.config = config
        self.taps = [
            Tap(memory, clocks[memory_domain(memory)], self._fed) for memory in list(Memory)[:4]
        ]
        self.log = EventLog(
            profile.trace_event_depth, profile.trace_event_fifo, profile.trace_post_drain_cycles
        )
        self.memories: list[Recorder | EventLog | None] = [
            self._recorder() if profile.quad or memory == 0 else None for memory in range(4)
        ]
        self.memories.append(self.log)
        self.posts = [profile.trace_post] * 5
        self.kinds = [ALL_KINDS] * 5
        for recorder in self.memories:
            if recorder is not None:
                recorder.post = profile.trace_post
        self.trigger = Trigger()
        self._events_lost_before = 0
        self.states = [MachineState.IDLE] * 4
        self._plan = (
            0  # number of the present watch of the trigger; what an earlier watch saw is void
        )
        self.freeze = FreezeControl(
            time, clocks, self.memories, config, profile.trace_cross_latency_cycles, card
        )

    # -- what stages report --------------------------------------------------------------------

    def event(
        self, kind: Kind, source: EventSource, code: int, value: int, flow: int = 0,
        cycle: int | None = None,
    ) -> None:  # fmt: skip
        """Offer an event to the log, of the present bus cycle or a later one."""
        if cycle is None:
            cycle = self.clocks.bus.cycle_at(self.time.now_ps)
        data = value | flow << EVENT_FLOW_LSB | source << EVENT_SOURCE_LSB | code << EVENT_CODE_LSB
        self.log.offer(cycle, source, kind, data)
        if self.log.waiting > _PENDING:
            self.commit(Memory.EVENT_LOG)
        self.freeze.fed(Memory.EVENT_LOG)

    def link_event(
        self, kind: Kind, source: EventSource, code: int, value: int, flow: int = 0
    ) -> None:
        """Offer an event of the link domain: the log sees it 2 to 3 bus cycles later."""
        self.event(kind, source, code, value, flow, self.clocks.bus.crossed(self.time.now_ps))

    def link_events(self, events: LinkEvents) -> bool:
        """Offer events of the link domain at beats to come; return whether that could be done."""
        kind, source, code, values, beat, beats = events
        bus, first = self.clocks.bus, beat.cycle

        def seen(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
            return bus.cycles_at(beat.clock.edges_ps(first, numbers * beat.every)) + CROSSING_CYCLES

        data = [v | source << EVENT_SOURCE_LSB | code << EVENT_CODE_LSB for v in values]
        return self.log.offer_often(seen, beats, source, kind, data)

    def enter(self, machine: Machine, state: MachineState) -> None:
        """A state machine changes its state; staying in it is no event."""
        old = self.states[machine]
        if old == state:
            return
        self.states[machine] = state
        report = self.link_event if machine in _IN_LINK_DOMAIN else self.event
        report(Kind.STATE, _SOURCES[machine], machine, state | old << 8)

    def raise_cause(self, cause: Cause, domain: Domain) -> None:
        """A cause of a freeze arises now in a domain."""
        self.freeze.raise_cause(cause, domain)

    def taken_back(self, tap: Tap) -> None:
        """Words that were fed to a tap never came."""
        self.freeze.fed(tap.index)

    def latched(self, t_ps: int) -> Values:
        """Return the state machines of the freeze bank."""
        return {("frozen.machine", (n,)): state for n, state in enumerate(self.states)}

    # -- memories ------------------------------------------------------------------------------

    @property
    def events_lost(self) -> int:
        """Events lost since power-up."""
        return self._events_lost_before + self.log.lost

    def images(self) -> list[Image | None]:
        """Return a copy of each memory as it stands, up to the cycle before the present one."""
        for memory in range(len(self.memories)):
            self.commit(memory)
        return [
            None if recorder is None else recorder.memory.image().copy()
            for recorder in self.memories
        ]

    def arm(self) -> None:
        """Clear all memories and attach them to their taps."""
        self._events_lost_before += self.log.lost
        if not self.profile.quad:
            self._select(self.config.select_tap & 3)
        for memory, recorder in enumerate(self.memories):
            if recorder is None:
                continue
            if isinstance(recorder, Recorder):
                self.taps[memory].recorder = recorder
            recorder.arm(self.freeze.armed_cycle(memory_domain(memory)))
        self.reset_trigger()

    def commit(self, memory: int) -> None:
        """Bring a memory up to the cycle before the present one."""
        recorder = self.memories[memory]
        if recorder is not None:
            recorder.advance(self.clocks[memory_domain(memory)].cycle_at(self.time.now_ps) - 1)

    def set_post(self, memory: int, post: int) -> None:
        """Set the records a memory stores after a cause; a cause that has come keeps the old number."""
        self.posts[memory] = post
        recorder = self.memories[memory]
        if recorder is not None:
            recorder.post = post

    def set_kinds(self, memory: int, kinds: int) -> None:
        """Set the kinds a memory records, from the present cycle on."""
        self.kinds[memory] = kinds
        recorder = self.memories[memory]
        if recorder is not None:
            self.commit(memory)
            recorder.kinds = kinds
            self.freeze.fed(memory)

    def _recorder(self) -> Recorder:
        return Recorder(self.profile.trace_tap_depth, self.profile.trace_post_drain_cycles)

    def _select(self, tap: int) -> None:
        """Connect the one memory to a tap. Its records stay, its recorder counts that tap's cycles from now on."""
        old = next(m for m in self.memories if isinstance(m, Recorder))
        new = self._recorder()
        new.memory = old.memory
        new.post, new.kinds = self.posts[tap], self.kinds[tap]
        for memory in range(4):
            self.memories[memory] = new if memory == tap else None
            self.taps[memory].recorder = None

    # -- the trigger ---------------------------------------------------------------------------

    def reset_trigger(self) -> None:
        """The trigger's configuration changed, or the recorder was armed: watch from the beginning."""
        self.trigger.reset()
        self._plan += 1
        tap = self.taps[self.trigger.tap]
        self._watch(tap, *tap.rest(tap.clock.cycle_at(self.time.now_ps)))

    def _fed(self, index: int, cycle: int, kinds: Kinds, words: Words) -> None:
        tap = self.taps[index]
        if tap.recorder is not None:
            if tap.recorder.waiting > _PENDING:
                tap.recorder.advance(tap.clock.cycle_at(self.time.now_ps) - 1)
            self.freeze.fed(index)
        if self.trigger.enable and self.trigger.tap == index:
            self._watch(tap, cycle, kinds, words)

    def _watch(self, tap: Tap, cycle: int, kinds: Kinds, words: Words) -> None:
        domain = memory_domain(tap.index)
        early = max(0, self.freeze.armed_cycle(domain) + 1 - cycle)  # up to the arm
        fires = self.trigger.feed(cycle + early, kinds[early:], words[early:])
        seen = [(step, _STEP) for step in self.trigger.steps]
        if fires is not None:
            seen.append((fires, _FIRED))
        for at, code in seen:
            report = partial(self._triggered, self._plan, domain, code, tap.index)
            self.time.at(tap.clock.edge_ps(at + 1), report)
        self.trigger.steps.clear()

    def _triggered(self, plan: int, domain: Domain, code: int, tap: int) -> None:
        if plan != self._plan:
            return
        report = self.event if domain == Domain.BUS else self.link_event
        report(Kind.USER, EventSource.RECORDER, code, tap)
        if code == _FIRED:
            self.freeze.raise_cause(Cause.TRIGGER, domain)
