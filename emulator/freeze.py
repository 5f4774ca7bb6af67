"""The freeze controller of one device: states, causes, keyed arm and freeze, and the moment everything stands still.

A cause acts at once in the clock domain where it arises and crosses to the other in 2 to 3 cycles of that
one; each domain latches its first cause. The bus domain's latch is the device's (`causes`, `cause_cycle`) and
is what the other device hears of, `cross_latency` bus cycles later. A cross-freeze is not passed on.

Source: docs/formats.md sections 1.1 and 2.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from freezeframe.capture.registers.layouts import Cause, Domain, State

if TYPE_CHECKING:
    from freezeframe.emulator.nic import Nic

__all__ = ["ARM_KEY", "FREEZE_KEY", "FreezeControl"]

ARM_KEY = 0x4152
FREEZE_KEY = 0x465A

_LOW = 0xFFFF


class FreezeControl:
    """State of one recorder. Everything here happens at the simulation's present time."""

    def __init__(self, nic: Nic) -> None:
        self.nic = nic
        self.generation = 0
        self.state = State.IDLE
        self.causes = 0
        self.cause_cycle = 0
        self.armed_ps = 0
        self.frozen_ps: int | None = None
        self._latched: list[int | None] = [None, None]  # cycle of the first cause, by domain
        self._told = False  # the other device has been told, or will be
        self._armed = [0, 0]  # cycle of the last arm, by domain
        self._closing: list[
            int | None
        ] = []  # time at which each memory is seen closed, as it looks now
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
        nic = self.nic
        now = nic.now_ps
        was_frozen = self.state == State.FROZEN
        self.generation = self.generation + 1 & 0xFFFFFFFF
        self.state = State.ARMED
        self.causes = 0
        self.cause_cycle = 0
        self.armed_ps = now
        self.frozen_ps = None
        self._latched = [None, None]
        self._told = False
        self._armed = [nic.bus.clock.cycle_at(now), nic.link.crossed(now)]
        self._plan += 1
        nic.arm_memories(now)
        self._closing = [None] * len(nic.memories)
        if was_frozen:
            nic.machine.released()
        if self.generation > 1:  # the first arm is at power-up, before there is a link
            nic.tx_link.watch_stall()

    def raise_cause(self, cause: Cause, domain: Domain) -> None:
        """Note a cause that arises now in a domain; one that is masked, or comes when not armed, changes nothing."""
        if self.state not in (State.ARMED, State.TRIGGERED):
            return
        nic, mask = self.nic, 1 << cause
        if not nic.config.cause_mask & mask and cause != Cause.HOST:
            return
        now = nic.now_ps
        if not self._latch(domain, nic.clock(domain).cycle_at(now), mask):
            return  # only the causes of a domain's first cycle cross
        other = Domain.LINK if domain == Domain.BUS else Domain.BUS
        seen = nic.clock(other).crossed(now)
        generation = self.generation

        def crossed() -> None:
            if self.generation == generation:
                self._latch(other, seen, mask)

        nic.machine.at(nic.clock(other).edge_ps(seen), crossed)

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

    def armed_cycle(self, domain: Domain) -> int:
        """Return the cycle of the last arm: what comes after it is recorded."""
        return self._armed[domain]

    def closed_cycle(self, domain: Domain) -> int | None:
        """Return the first cycle in which all memories of a domain are closed; None: not known yet, or it has none."""
        nic = self.nic
        cycles = [
            recorder.closes_at()
            for memory, recorder in enumerate(nic.memories)
            if recorder is not None and nic.memory_domain(memory) == domain
        ]
        known = [cycle for cycle in cycles if cycle is not None]
        return max(known) if known and len(known) == len(cycles) else None

    def _latch(self, domain: Domain, cycle: int, mask: int) -> bool:
        """Take a cause; return whether it is one of the domain's first cycle."""
        if self.state not in (State.ARMED, State.TRIGGERED):
            return False
        nic, first = self.nic, self._latched[domain]
        cycle = max(
            cycle, self._armed[domain] + 1
        )  # a cause right behind an arm is one of the first cycle
        if first is not None and cycle != first:
            return False
        self._latched[domain] = cycle
        for memory, recorder in enumerate(nic.memories):
            if recorder is not None and nic.memory_domain(memory) == domain:
                recorder.cause(cycle, mask)
                self._look(memory)
        if domain == Domain.BUS:
            self.causes |= mask
            self.cause_cycle = cycle
            self.state = State.TRIGGERED
            if not self._told and mask != 1 << Cause.CROSS:
                self._told = True
                self._tell_the_others(cycle)
        self._replan()
        return True

    def _tell_the_others(self, cycle: int) -> None:
        nic, generation = self.nic, self.generation

        def leave() -> None:
            if self.generation != generation:
                return  # an arm recalls what has not left
            for other in nic.machine.nics:
                if other is not nic:
                    seen = other.bus.clock.edge_ps(other.bus.clock.crossed(nic.now_ps))
                    nic.machine.at(seen, partial(other.freeze.raise_cause, Cause.CROSS, Domain.BUS))

        nic.machine.at(nic.bus.clock.edge_ps(cycle + nic.profile.trace_cross_latency_cycles), leave)

    def _look(self, memory: int) -> None:
        """Work out when the bus domain will see this memory closed, from what has been fed so far."""
        nic = self.nic
        recorder = nic.memories[memory]
        if recorder is None:
            return
        closes = recorder.closes_at()
        if closes is None:
            self._closing[memory] = None
            return
        domain = nic.memory_domain(memory)
        edge = nic.clock(domain).edge_ps(closes)
        if domain == Domain.LINK:
            edge = nic.bus.clock.edge_ps(nic.bus.clock.crossed(edge))
        self._closing[memory] = edge

    def _replan(self) -> None:
        self._plan += 1
        nic = self.nic
        times = [
            closing
            for closing, recorder in zip(self._closing, nic.memories, strict=True)
            if recorder is not None
        ]
        known = [t for t in times if t is not None]
        if self.state != State.TRIGGERED or len(known) < len(times):
            return
        plan = self._plan
        nic.machine.at(max(nic.now_ps, *known), lambda: self._freeze(plan))

    def _freeze(self, plan: int) -> None:
        if plan != self._plan or self.state != State.TRIGGERED:
            return
        self.state = State.FROZEN
        self.frozen_ps = self.nic.now_ps
        self.nic.frozen(self.frozen_ps)
