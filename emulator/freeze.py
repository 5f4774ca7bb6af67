"""The freeze controller of one device: states, causes, keyed arm and freeze, and the moment everything stands still.

A cause acts at once in the clock domain where it arises and crosses to the other in 2 to 3 of that domain's
cycles; each domain latches its first cause. The bus domain's latch is the device's (`causes`, `cause_cycle`) and
is what the other device hears of, `cross_latency` bus cycles later. A cross-freeze is not passed on.

Source: docs/formats.md sections 1.1 and 2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from freezeframe.capture.registers.layouts import Cause, Domain, Memory, State
from freezeframe.emulator.clocks import Clocks
from freezeframe.emulator.config import Config
from freezeframe.emulator.eventlog import EventLog
from freezeframe.emulator.ports import Freezable, Time
from freezeframe.emulator.recorder import Recorder

ARM_KEY = 0x4152
FREEZE_KEY = 0x465A

_LOW = 0xFFFF
_LINK_MEMORIES = (Memory.TX_DEQ, Memory.RX_ENQ)


def memory_domain(memory: int) -> Domain:
    """Return the domain in which a memory records."""
    return Domain.LINK if memory in _LINK_MEMORIES else Domain.BUS


class FreezeControl:
    """State of one recorder. Everything here happens at the simulation's present time.

    Attributes:
        cross: called when the device tells the others that it freezes.
    """

    def __init__(
        self,
        time: Time,
        clocks: Clocks,
        memories: Sequence[Recorder | EventLog | None],
        config: Config,
        cross_latency_cycles: int,
        card: Freezable,
    ) -> None:
        self.cross: Callable[[], None] = lambda: None
        self._time = time
        self._clocks = clocks
        self._memories = memories
        self._config = config
        self._cross_latency_cycles = cross_latency_cycles
        self._card = card
        self.generation = 0
        self.state = State.IDLE
        self.causes = 0
        self.cause_cycle = 0
        self.armed_ps = 0
        self.frozen_ps: int | None = None
        self._latched: list[int | None] = [None, None]  # cycle of the first cause, by domain
        self._crossing = False  # the other device hears of it, or will
        self._armed = [0, 0]  # cycle of the last arm, by domain
        self._closing: list[int | None] = []  # when each memory is seen closed, as it looks now
        self._plan = 0  # number of the present plan for the moment of freezing

    def write_arm(self, value: int) -> None:
        """Take a write to ``ctl.arm``: it acts on a match of key and generation only."""
        if value >> 16 == ARM_KEY and value & _LOW == self.generation + 1 & _LOW:
            self.arm()

    def write_freeze(self, value: int) -> None:
        """Take a write to ``ctl.freeze``: it acts on a match of key and generation only."""
        if value >> 16 == FREEZE_KEY and value & _LOW == self.generation & _LOW:
            self.raise_cause(Cause.HOST, Domain.BUS)

    def arm(self) -> None:
        """Start a new recording."""
        now = self._time.now_ps
        was_frozen = self.state == State.FROZEN
        self.generation = self.generation + 1 & 0xFFFFFFFF
        self.state = State.ARMED
        self.causes = 0
        self.cause_cycle = 0
        self.armed_ps = now
        self.frozen_ps = None
        self._latched = [None, None]
        self._crossing = False
        self._armed = [self._clocks.bus.cycle_at(now), self._clocks.link.crossed(now)]
        self._plan += 1
        self._card.arm_memories(now)
        self._closing = [None] * len(self._memories)
        self._card.armed(was_frozen)

    def raise_cause(self, cause: Cause, domain: Domain) -> None:
        """Note a cause that arises now in a domain; one that is masked, or comes when not armed, changes nothing."""
        if self.state not in (State.ARMED, State.TRIGGERED):
            return
        mask = 1 << cause
        if not self._config.cause_mask & mask and cause != Cause.HOST:
            return
        now = self._time.now_ps
        if not self._latch(domain, self._clocks[domain].cycle_at(now), mask):
            return  # only the causes of a domain's first cycle cross
        other = Domain.LINK if domain == Domain.BUS else Domain.BUS
        seen = self._clocks[other].crossed(now)
        generation = self.generation

        def crossed() -> None:
            if self.generation == generation:
                self._latch(other, seen, mask)

        self._time.always_at(self._clocks[other].edge_ps(seen), crossed)

    def hear(self) -> None:
        """Another device freezes, and says so now."""
        bus = self._clocks.bus
        seen = bus.edge_ps(bus.crossed(self._time.now_ps))
        self._time.always_at(seen, partial(self.raise_cause, Cause.CROSS, Domain.BUS))

    def fed(self, memory: int) -> None:
        """A record was fed to a memory: while triggered, that may bring the moment of freezing forward."""
        if self.state == State.TRIGGERED or self._latched != [None, None]:
            self._look(memory)
            self._replan()

    def closed(self, t_ps: int) -> int:
        """Return which memories are closed at ``t_ps``, one bit each."""
        return sum(
            1 << memory
            for memory, closing in enumerate(self._closing)
            if closing is not None and closing <= t_ps
        )

    @property
    def at_rest(self) -> bool:
        """Whether no cause has come since the arm, or all is frozen."""
        armed = self.state == State.ARMED and self._latched == [None, None]
        return armed or self.state in (State.IDLE, State.FROZEN)

    def armed_cycle(self, domain: Domain) -> int:
        """Return the cycle of the last arm: what comes after it is recorded."""
        return self._armed[domain]

    def closed_cycle(self, domain: Domain) -> int | None:
        """Return the first cycle in which all memories of a domain are closed; None: not known yet, or it has none."""
        cycles = [
            recorder.closes_at()
            for memory, recorder in enumerate(self._memories)
            if recorder is not None and memory_domain(memory) == domain
        ]
        known = [cycle for cycle in cycles if cycle is not None]
        return max(known) if known and len(known) == len(cycles) else None

    def _latch(self, domain: Domain, cycle: int, mask: int) -> bool:
        """Take a cause; return whether it is one of the domain's first cycle."""
        if self.state not in (State.ARMED, State.TRIGGERED):
            return False
        first = self._latched[domain]
        cycle = max(cycle, self._armed[domain] + 1)  # never before the first cycle after the arm
        if first is not None and cycle != first:
            return False
        self._latched[domain] = cycle
        for memory, recorder in enumerate(self._memories):
            if recorder is not None and memory_domain(memory) == domain:
                recorder.cause(cycle, mask)
                self._look(memory)
        if domain == Domain.BUS:
            self.causes |= mask
            self.cause_cycle = cycle
            self.state = State.TRIGGERED
            if not self._crossing and mask != 1 << Cause.CROSS:
                self._crossing = True
                self._cross_later(cycle)
        self._replan()
        return True

    def _cross_later(self, cycle: int) -> None:
        generation = self.generation

        def leave() -> None:
            if self.generation == generation:  # an arm recalls what has not left
                self.cross()

        at = self._clocks.bus.edge_ps(cycle + self._cross_latency_cycles)
        self._time.always_at(at, leave)

    def _look(self, memory: int) -> None:
        """Work out when the bus domain will see this memory closed, from what has been fed so far."""
        recorder = self._memories[memory]
        if recorder is None:
            return
        closes = recorder.closes_at()
        if closes is None:
            self._closing[memory] = None
            return
        domain, bus = memory_domain(memory), self._clocks.bus
        edge = self._clocks[domain].edge_ps(closes)
        if domain == Domain.LINK:
            edge = bus.edge_ps(bus.crossed(edge))
        self._closing[memory] = edge

    def _replan(self) -> None:
        self._plan += 1
        times = [
            closing
            for closing, recorder in zip(self._closing, self._memories, strict=True)
            if recorder is not None
        ]
        known = [t for t in times if t is not None]
        if self.state != State.TRIGGERED or len(known) < len(times):
            return
        plan = self._plan
        self._time.always_at(max(self._time.now_ps, *known), lambda: self._freeze(plan))

    def _freeze(self, plan: int) -> None:
        if plan != self._plan or self.state != State.TRIGGERED:
            return
        self.state = State.FROZEN
        self.frozen_ps = self._time.now_ps
        self._card.frozen(self.frozen_ps)
