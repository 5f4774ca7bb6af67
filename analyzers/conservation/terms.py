"""The terms of the conservation laws, read from one capture: counters, frozen registers, traces, the sampler.

A term that the capture does not hold is None with the reason; it is never taken for 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from freezeframe.analyzers.facts import Facts, covers, flight_ps
from freezeframe.analyzers.streams import Stream, numbered
from freezeframe.analyzers.view import CaptureView, has_come_up_again
from freezeframe.capture.folder import DeviceCapture
from freezeframe.capture.registers.layouts import Kind
from freezeframe.capture.timebase import PS_PER_S

_BINS = 16
_WAY_CYCLES = 64  # link cycles of crossing and rounding on top of what was measured of the way
LATE_WORDS = 8  # two flip-flops of the bus clock and the pointers' own registers; 5 at most were seen on the board
_STILL_CYCLES = 32
_SEQUENCE = 0xFFFF
_OWN = (Kind.TIME, Kind.MARK, Kind.LOSS)  # records that are neither words nor events


class Missing(Exception):
    """A term that is not in the capture; the text says why. Never leaves `Terms.value`."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a law is held against: a device, and a flow, a memory or the peer where the law's scope says so."""

    device: str
    flow: int | None = None
    memory: str | None = None
    peer: str | None = None

    @property
    def text(self) -> str:
        text = f"{self.device}->{self.peer}" if self.peer else self.device
        if self.memory:
            text += f".{self.memory}"
        return text if self.flow is None else f"{text} flow {self.flow}"


class Terms:
    """Values of terms by name, for any subject of one view."""

    def __init__(self, view: CaptureView, facts: Facts | None = None) -> None:
        """Take a view; ``facts``: those of its recording, where they are known already."""
        self.view = view
        if facts is not None:
            self.facts = facts
        self._kinds: dict[str, Callable[[DeviceCapture, Subject, str], int]] = {
            "counter": self._counter,
            "counted": self._counted,
            "frozen": self._frozen,
            "parameter": self._parameter,
            "flow": self._flow,
            "flows": self._flows,
            "memory": self._memory,
            "recorded": self._recorded,
            "histogram": self._histogram,
            "sampler": self._sampler,
            "slack": self._slack,
            "way": self._way,
        }

    def value(self, subject: Subject, term: str) -> tuple[int | None, str]:
        """Return a term's value, or None and why it is not known."""
        try:
            device = self._device(subject.device)
            name = term
            if term.startswith("peer."):
                device = self._peer(subject)
                name = term.removeprefix("peer.")
            kind, _, what = name.partition(".")
            return self._kinds[kind](device, subject, what), ""
        except Missing as missing:
            return None, str(missing)

    def label(self, subject: Subject, term: str) -> str:
        """Return what a term is called for people: at a tap, the counter there."""
        kind, _, what = term.partition(".")
        if kind != "counted":
            return term
        return f"counter.{self.view.roles.counter(what, subject.memory or '')}"

    def need(self, subject: Subject, need: str) -> str:
        """Return why a condition of a law is not met; empty where it is."""
        device = self._device(subject.device)
        if need in ("first-arm", "first-up"):
            generation = device.registers.value("ctl.generation")
            if generation is None:
                return "how often the card was armed was not read"
            if generation != 1:
                return (
                    f"armed {generation} times; counters run on over that, and all else begins anew"
                )
            if need == "first-up" and self.view.looped:
                return "the link was looped back; counters run on over that"
            again = need == "first-up" and has_come_up_again(device)
            return "the link came up again; counters run on over that" if again else ""
        memory = subject.memory or ""
        if need == "all-kinds":
            kinds = device.registers.value("ctl.kinds", device.roles.memories.index(memory))
            wanted = 1 << Kind.HEAD | 1 << Kind.BODY | 1 << Kind.TAIL
            whole = kinds is not None and kinds & wanted == wanted
            return (
                ""
                if whole
                else f"ctl.kinds of {memory} lets not every word through, or was not read"
            )
        image = device.memories[memory]
        if image.gaps:
            return f"parts of {memory} were not read"
        return f"{memory} has wrapped: its oldest records are gone" if image.wrapped else ""

    @cached_property
    def facts(self) -> Facts:
        """Comparisons and accounts, for how long a word or credit is on its way."""
        return Facts(self.view)

    def _device(self, name: str) -> DeviceCapture:
        device = self.view.device(name)
        if device is None:
            raise Missing(f"device {name} is not in this capture")
        return device

    def _peer(self, subject: Subject) -> DeviceCapture:
        if self.view.looped:
            raise Missing("the card hears its own link, and its counters run on from before it did")
        if subject.peer in (None, "?"):
            raise Missing("which card is at the other end is not known")
        return self._device(subject.peer)

    @staticmethod
    def _known(value: int | None, name: str) -> int:
        if value is None:
            raise Missing(f"{name} was not read")
        return value

    def _counter(self, device: DeviceCapture, subject: Subject, what: str) -> int:
        return self._known(device.counter(what), f"frozen_counters.{what}")

    def _counted(self, device: DeviceCapture, subject: Subject, what: str) -> int:
        return self._counter(device, subject, device.roles.counter(what, subject.memory or ""))

    def _frozen(self, device: DeviceCapture, subject: Subject, what: str) -> int:
        return self._known(device.registers.value(f"frozen.{what}"), f"frozen.{what}")

    def _parameter(self, device: DeviceCapture, subject: Subject, what: str) -> int:
        value = getattr(device.identity, what)
        if not value:
            raise Missing(f"the card states no {what}")
        return int(value)

    def _flow(self, device: DeviceCapture, subject: Subject, what: str) -> int:
        name = f"frozen_flow[{subject.flow}].{what}"
        return self._known(device.registers.value(f"frozen_flow.{what}", subject.flow or 0), name)

    def _flows(self, device: DeviceCapture, subject: Subject, what: str) -> int:
        count = device.identity.flows_count
        if not count:
            raise Missing("the card has no flows")

        def all_of(name: str) -> list[int]:
            return [self._flow(device, Subject(device.name, flow), name) for flow in range(count)]

        if what != "waiting":
            return sum(all_of(what))
        mask = (1 << device.identity.flows_credit_w) - 1
        pairs = zip(all_of("received"), all_of("freed"), strict=True)
        return sum(received - freed & mask for received, freed in pairs)

    def _memory(self, device: DeviceCapture, subject: Subject, what: str) -> int:
        number = device.roles.memories.index(subject.memory or "")
        return self._known(device.registers.value(f"memory.{what}", number), f"memory.{what}")

    def _recorded(self, device: DeviceCapture, subject: Subject, what: str) -> int:
        memory = subject.memory or ""
        image = device.memories[memory]
        if what == "records":
            return len(image.slots_in_order())
        if what in ("header_bad", "skipped"):
            stream = self.view.stream(device.name, memory)
            if stream is None:
                raise Missing(f"{memory} did not record every kind of word")
            if what == "skipped":
                return _skipped(stream)
            if memory not in device.roles.rx.taps:
                return 0  # the hardware checks where packets come in only
            return sum(packet.header_ok is False and packet.has_head for packet in stream.packets)
        kinds = image.records[image.slots_in_order(), 8] & 0xF
        return int((~np.isin(kinds, [int(kind) for kind in _OWN])).sum())

    def _histogram(self, device: DeviceCapture, subject: Subject, what: str) -> int:
        name = {"lengths": "length_histogram", "occupancy": "occupancy_histogram"}[what]
        bins = [device.registers.value(name, place) for place in range(_BINS)]
        return sum(self._known(value, name) for value in bins)

    def _sampler(self, device: DeviceCapture, subject: Subject, what: str) -> int:
        registers = device.registers
        pointer = self._known(registers.value("sampler.write_ptr"), "sampler.write_ptr")
        wrapped = self._known(registers.value("sampler.status"), "sampler.status") & 1
        if what == "taken":
            if wrapped:
                raise Missing("the sampler has wrapped: how many samples it took is not known")
            return pointer
        if device.samples is None or not len(device.samples) or not (pointer or wrapped):
            raise Missing("no sample was taken")
        newest = (pointer - 1) % len(device.samples)
        if any(gap.first_slot <= newest < gap.first_slot + gap.slots for gap in device.sample_gaps):
            raise Missing("the newest sample was not read")
        if what == "age":
            frozen = registers.value64("frozen.freeze_cycle_")
            taken = registers.value64("sampler.last_cycle_")
            if frozen is None or taken is None:
                raise Missing("when the newest sample was taken was not read")
            link = self._parameter(device, subject, "clk_link")
            bus = self._parameter(device, subject, "clk_bus")
            return -(-(frozen - taken) * link // bus) + _WAY_CYCLES
        words = np.ascontiguousarray(device.samples[newest]).tobytes()
        return int.from_bytes(words[:4] if what == "out" else words[4:8], "little")

    def _slack(self, device: DeviceCapture, subject: Subject, what: str) -> int:
        """Return by how many words a FIFO's level may be late: its other side is in the link's clock domain.

        None where the card was held, so that nothing moved when its level was taken, or where the counter of that
        side stands as the newest sample does, a good while before the freeze.
        """
        if device.registers.field("ctl.options", "hold"):
            return 0
        tx, rx = device.roles.ways
        tap, sample = (tx.exit, "out") if what == tx.level else (rx.entry, "in")
        counter = device.roles.counter("words", tap)
        try:
            counted = self._counter(device, subject, counter) & 0xFFFFFFFF
            still = counted == self._sampler(device, subject, sample)
            since = self._sampler(device, subject, "age") - _WAY_CYCLES
        except Missing:
            return self._late_words(device, what)
        return 0 if still and since >= _STILL_CYCLES else self._late_words(device, what)

    def _late_words(self, device: DeviceCapture, level: str) -> int:
        """Return by how many words a level may be late: what was measured of this card, if that is more."""
        qualified = self.view.qualified
        seen = qualified.value("late", device.name, level) if qualified is not None else None
        return LATE_WORDS if seen is None else max(LATE_WORDS, 2 * seen)

    def _way(self, device: DeviceCapture, subject: Subject, what: str) -> int:
        """Return how many words, or credits of the peer, can be under way when both froze.

        What arrives at a card was sent before its peer froze; so what has not arrived was sent, at the
        earliest, one flight before the receiving card froze.
        """
        peer = self._peer(subject)
        sender, receiver = (device, peer) if what == "words" else (peer, device)
        flight = self._flight_ps(device.name, peer.name)
        frozen = {each.name: self._frozen_ps(each) for each in (device, peer)}
        since, _ = frozen[receiver.name]
        until, doubt = frozen[sender.name]
        doubt += frozen[receiver.name][1]
        first_ps = since - flight - doubt
        if what == "words":
            return self._words_since(sender, first_ps, until + doubt)
        log = self.view.flow_log(sender.name)
        if log is None or not covers(self.facts, sender.name, None):
            raise Missing(f"the event log of {sender.name} does not reach back to the arm")
        if why := self.need(Subject(sender.name), "first-arm"):
            raise Missing(why)
        sent = log.select(Kind.CREDIT.name, "sent")
        unlogged = self._counter(sender, subject, sender.roles.counter("credits-sent")) - len(sent)
        return max(0, unlogged) + int((log.t_ps[sent] >= first_ps).sum())

    def _words_since(self, sender: DeviceCapture, first_ps: int, until_ps: int) -> int:
        """Return how many words can have left a card in a stretch of time.

        One a cycle at the most; where the memory of its last tap holds all of that stretch, those that it recorded, and
        one a cycle after it closed.
        """
        hz = sender.identity.clk_link
        most = -(-max(0, until_ps - first_ps) * hz // PS_PER_S) + _WAY_CYCLES
        stream = self.view.stream(sender.name, sender.roles.tx.exit)
        if stream is None or stream.end_ps is None or stream.breaks:
            return most
        since_ps = first_ps - _WAY_CYCLES * PS_PER_S // hz
        if sender.memories[stream.tap].wrapped and not (len(stream) and stream.t_ps[0] <= since_ps):
            return most
        recorded = int((stream.t_ps >= since_ps).sum())
        later = -(-max(0, until_ps - stream.end_ps) * hz // PS_PER_S)
        return min(most, recorded + later + LATE_WORDS)

    def _flight_ps(self, one: str, other: str) -> int:
        for account in self.facts.accounts:
            if {account.sender, account.receiver} == {one, other}:
                flight = flight_ps(self.facts, account)
                if flight is not None:
                    return flight
        raise Missing("nothing recorded tells how long the way between the cards is")

    def _frozen_ps(self, device: DeviceCapture) -> tuple[int, int]:
        t_ps, unc_ps = self.facts.frozen(device.name)
        if t_ps is None:
            raise Missing(f"when {device.name} froze was not read")
        if unc_ps is None:
            raise Missing(f"how the clock of {device.name} relates to the other is not known")
        return t_ps, unc_ps


def _skipped(stream: Stream) -> int:
    """Return how many sequence numbers packets leave out from one to the next; one that comes again or late counts too.

    A packet whose header is damaged has some number; injected ones have any. Nothing is said across words not read.
    """
    skipped = 0
    for number in numbered(stream):
        if number.before is not None:
            step = number.seq - number.before - 1 & _SEQUENCE
            skipped += max(0, step - number.damaged) if step <= _SEQUENCE // 2 else 1
    return skipped
