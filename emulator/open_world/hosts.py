"""Hosts, drivers, notifications, interrupts and buses that go wrong in ways that are in no list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from freezeframe.capture.registers.layouts import EventSource, IrqCode, Kind, NoteCode
from freezeframe.emulator.descriptor import Descriptor
from freezeframe.emulator.faults.base import US, A, B
from freezeframe.emulator.faults.shaping import notify_often
from freezeframe.emulator.hooks import Completion
from freezeframe.emulator.nic import Nic
from freezeframe.emulator.open_world.base import Unlisted
from freezeframe.emulator.open_world.plugs import (
    Note,
    PluggedDescriptors,
    PluggedDrain,
    PluggedNotes,
    PluggedTransmitter,
)
from freezeframe.emulator.parts import Process
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.traffic import Plan

_Item = TypeVar("_Item")
Noting = Callable[["Notifications", Note], Sequence[tuple[int, Note]]]
Posting = Callable[["Ring", Descriptor], Sequence[Descriptor]]


class Notifications(Unlisted):
    """B's writer of notifications: one, or (``goes_on``) all from some moment on, of packets from A."""

    card = B

    def __init__(self, name: str, how: Noting, goes_on: bool = False) -> None:
        super().__init__(name)
        self._how = how
        self._goes_on = goes_on

    def shape(self, plan: Plan, profile: Profile) -> None:
        notify_often(self, plan)

    def started(self) -> None:
        dma = self.nic.rx_dma
        dma.notes = PluggedNotes(dma.notes, self._after, self._change)

    def _after(self, delay_ps: int, action: Callable[[], None]) -> None:
        self.site.time.at(self.site.time.now_ps + delay_ps, action)

    def _change(self, note: Note) -> Sequence[tuple[int, Note]]:
        if note[0] != NoteCode.REMOTE or not self.takes_hold(self._goes_on):
            return [(0, note)]
        self.strike_first(None, note[2], note[1])
        return self._how(self, note)


def missing(fault: Notifications, note: Note) -> Sequence[tuple[int, Note]]:
    """It is never written."""
    return []


def doubled(fault: Notifications, note: Note) -> Sequence[tuple[int, Note]]:
    """It is written twice."""
    return [(0, note), (0, note)]


def late(fault: Notifications, note: Note) -> Sequence[tuple[int, Note]]:
    """It is written 20 us later, behind those that follow."""
    return [(20 * US, note)]


def wrong_seq(fault: Notifications, note: Note) -> Sequence[tuple[int, Note]]:
    """It names another packet."""
    return [(0, (note[0], note[1] + fault.draw.randint(2, 9) & 0xFFFF, note[2]))]


def wrong_flow(fault: Notifications, note: Note) -> Sequence[tuple[int, Note]]:
    """It names another flow."""
    return [(0, (note[0], note[1], (note[2] + 1) % fault.nic.profile.flows_count))]


class Ring(Unlisted):
    """A's descriptor ring: one descriptor is not the one that was posted."""

    card = A

    def __init__(self, name: str, how: Posting) -> None:
        super().__init__(name)
        self._how = how

    def prepare(self) -> None:
        self.before: Descriptor | None = None

    def started(self) -> None:
        host = self.nic.host
        host.sender = PluggedDescriptors(host.sender, self._change)

    def _change(self, descriptor: Descriptor) -> Sequence[Descriptor]:
        before, self.before = self.before, descriptor
        if not self.ready() or before is None or len(before.words) == len(descriptor.words):
            return [descriptor]
        self.strike("tx_enq", descriptor.flow, self.nic.tx_dma.next_seq)
        return self._how(self, descriptor)


def stale(fault: Ring, descriptor: Descriptor) -> Sequence[Descriptor]:
    """The slot still holds what was posted the time before."""
    old = fault.nic.host.sender.queue
    kept = old[-1] if old else descriptor
    return [replace(kept, words=kept.words[: max(1, len(kept.words) // 2)])]


def lost(fault: Ring, descriptor: Descriptor) -> Sequence[Descriptor]:
    """The engine is not told of it."""
    return []


def twice(fault: Ring, descriptor: Descriptor) -> Sequence[Descriptor]:
    """It is taken twice."""
    return [descriptor, replace(descriptor)]


class Interrupts(Unlisted):
    """B's interrupts and its driver.

    Attributes:
        what: "late" (40 us to the handler), "re-armed-late" (10 us from the last look to the enabling), "slow" (3 us a
            completion), "spurious" (one with nothing to take), "not-raised" (a completion raises none, once).
    """

    card = B
    slow = (100, 250)

    def __init__(self, name: str, what: str) -> None:
        super().__init__(name)
        self._what = what

    def shape(self, plan: Plan, profile: Profile) -> None:
        notify_often(self, plan)

    def started(self) -> None:
        if self._what == "spurious":
            self.later(self._raise)
        elif self._what == "not-raised":
            complete = self.nic.host.complete

            def completes(completion: Completion) -> None:
                if self.ready() and not self.nic.host.masked and not self.nic.host.waiting:
                    self.nic.host.waiting.append(completion)
                    self.strike(None, completion[1], completion[0])
                else:
                    complete(completion)

            self.nic.notes.complete = completes
        elif self._what != "re-armed-late":
            self.later(self._slow_down)

    def enabling_ps(self) -> int:
        if self._what != "re-armed-late" or not self.takes_hold(True):
            return 0
        self.strike_first(None)
        return 10 * US

    def _slow_down(self) -> None:
        host = self.nic.host
        if self._what == "late":
            host.profile = replace(host.profile, host_interrupt_latency_ns=40_000)
        else:
            host.profile = replace(host.profile, host_completion_ns=3_000)
        self.strike(None)

    def _raise(self) -> None:
        nic = self.nic
        nic.counts["interrupts"] += 1
        nic.recording.event(Kind.IRQ, EventSource.RX_DMA, IrqCode.RAISED, nic.host.completions)
        self.strike(None)


class Stops(Unlisted):
    """Something stops for good, or (``for_us``) for a while, or one FIFO's flag is stuck.

    Attributes:
        what: "host-receives" (B's host takes no words), "bus" (something else owns the bus), "ring" (A's slots are not
            given back), "tx-full", "tx-empty", "rx-full", "rx-empty" (the flag of a FIFO), "rx-shallow" (B's FIFO
            is a quarter as deep as it says).
    """

    slow = (300, 500)
    busy = True

    def __init__(self, name: str, what: str, card: int, for_us: int = 0) -> None:
        super().__init__(name)
        self._what = what
        self._for_ps = for_us * US
        self.card = card

    def started(self) -> None:
        nic = self.nic
        if self._what == "tx-empty":
            dma = nic.tx_dma
            dma.transmitter = PluggedTransmitter(dma.transmitter, self._unless_stuck)
        elif self._what == "rx-empty":
            nic.rx_link.drain = PluggedDrain(nic.rx_link.drain, self._unless_stuck)
        else:
            self.later(self._stop)

    def _unless_stuck(self, item: _Item) -> Sequence[_Item]:
        if not self.done and self.ready():
            self.strike(None, self.flow)
        return [] if self.done else [item]

    def _stop(self) -> None:
        nic = self.nic
        self.strike(None, self.flow if self._what != "bus" else None)
        if self._what == "host-receives":
            nic.rx_dma.host_stopped = True
        elif self._what == "bus":
            nic.time.process(self._own(nic))
        elif self._what == "ring":
            nic.host.profile = replace(nic.host.profile, host_ring_descriptors=0)
        elif self._what == "tx-full":
            nic.tx_fifo.depth = 0
        elif self._what == "rx-full":
            nic.rx_fifo.depth = 1  # what is full already takes no second word
        else:
            nic.rx_fifo.depth //= 4

    def _own(self, nic: Nic) -> Process:
        with nic.bus.lock.request() as grant:
            yield grant
            yield nic.time.env.timeout(self._for_ps or 10**12)
