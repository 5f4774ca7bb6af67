"""What witnesses look at: a capture as a case, its facts and laws, and in it the packet that a finding is of.

What follows from facts and laws is computed once. A packet is followed to every tap of its path.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from freezeframe.analyzers.conservation.analysis_code import Checked, check_laws
from freezeframe.analyzers.contract import Finding
from freezeframe.analyzers.diagnosis.overflow import Sending, sendings
from freezeframe.analyzers.diagnosis.standstill import Stand, standing
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.streams import Packet, Stream
from freezeframe.analyzers.taps.tap_diff import PacketPair
from freezeframe.analyzers.view import CaptureView, fits_power_up
from freezeframe.analyzers.witness.registers import (
    Register,
    WrongBit,
    WrongCount,
    flipped,
    lone_bits,
    mending_bits,
    mending_counts,
)
from freezeframe.capture.folder import CaptureFolder

_HARMLESS = ("host", "trigger")


@dataclass(frozen=True, eq=False)
class Case:
    """A capture that is judged."""

    facts: Facts

    @cached_property
    def laws(self) -> tuple[Checked, ...]:
        """The laws of the card against its counters."""
        return tuple(check_laws(self.facts.view, facts=self.facts))

    @cached_property
    def broken(self) -> tuple[Checked, ...]:
        """Those that are broken; a link that came up again began its counts anew, which no law allows for.

        One register with one bit otherwise can look like such a link: then the laws are broken all the same.
        """
        view = self.facts.view
        broken = [
            law
            for law in self.laws
            if law.state == "broken" and not view.unsound("law", law.subject.device, law.law.name)
        ]
        again = {d.name for d in view.devices if not self._since_up(d.name, {})}
        excused = [law for law in broken if _began_anew(law, again)]
        bits = mending_bits(self.facts, self.laws, excused) or lone_bits(view, excused)
        if any(self._since_up(bit.device, {bit.place: 1 << bit.bit}) for bit in bits):
            again.clear()
        return tuple(law for law in broken if not _began_anew(law, again))

    def _since_up(self, name: str, flips: Mapping[Register, int]) -> bool:
        """Tell whether a card's link has been up since power-up, were these bits the other way."""
        view = self.facts.view
        device, peer = (view.device(each) for each in (name, view.peer(name) or ""))
        assert device is not None
        return fits_power_up(flipped(device, flips) if flips else device, peer)

    @cached_property
    def mending(self) -> tuple[WrongBit, ...]:
        """The single bits of which each, were it another, would mend every broken law.

        Not of what a log confirms, nor of a limit that its flow could not have kept to with the bit as asked.
        """
        bits = mending_bits(self.facts, self.laws, self.broken)
        return tuple(
            bit
            for bit in bits
            if not _logged(self.facts, bit) and not _outgrown(self.sendings, bit)
        )

    @cached_property
    def miscounting(self) -> tuple[WrongCount, ...]:
        """The registers of which each would mend every broken law; none where a single bit of a count does."""
        if any(not bit.of_bound for bit in self.mending):
            return ()
        return mending_counts(self.facts, self.laws, self.broken)

    @cached_property
    def sendings(self) -> tuple[Sending, ...]:
        """How each flow was sent against its limit."""
        return sendings(self.facts)

    @cached_property
    def stands(self) -> tuple[Stand, ...]:
        """The parts that stood still, the first of which the others wait for."""
        return standing(self.facts)

    def without(self, memories: Collection[tuple[str, str]]) -> Case:
        """Return the case as it is without some memories, by device and name: nothing of them is a witness."""
        view = self.facts.view
        devices = [
            replace(
                device,
                memories={
                    name: image
                    for name, image in device.memories.items()
                    if (device.name, name) not in memories
                },
            )
            for device in view.folder.devices
        ]
        folder = CaptureFolder(view.folder.path, view.folder.manifest, devices)
        return Case(Facts(CaptureView(folder, view.chosen)))

    def with_registers(self, flips: Mapping[Register, int]) -> Case:
        """Return the case as it is with bits of registers the other way."""
        if not flips:
            return self
        view = self.facts.view
        devices = [flipped(device, flips) for device in view.folder.devices]
        return Case(Facts(view.with_frozen(devices)))

    @property
    def own_causes(self) -> dict[str, tuple[str, ...]]:
        """By device, what froze it that is neither its host, a trigger nor its peer."""
        view = self.facts.view
        peer = view.roles.card.peer_cause
        return {
            name: causes
            for name in view.names
            if (causes := tuple(c for c in view.causes(name) if c not in (*_HARMLESS, peer)))
        }


def _began_anew(law: Checked, again: Collection[str]) -> bool:
    return law.subject.device in again and "first-up" in law.law.needs


def _logged(facts: Facts, bit: WrongBit) -> bool:
    """Tell whether a log's last credit of the flow tells the count that the register holds."""
    side = {"frozen_flow.credited": "sender", "frozen_flow.reported": "receiver"}.get(bit.register)
    for account in facts.accounts if side else ():
        if (getattr(account, side or ""), account.flow) == (bit.device, *bit.indices):
            credits = account.taken_credits if side == "sender" else account.sent_credits
            return bool(len(credits)) and int(credits.freed[-1]) == bit.value
    return False


def _outgrown(sendings: Sequence[Sending], bit: WrongBit) -> bool:
    """Tell whether a flow was seen with more outstanding than its limit would be with the bit the other way."""
    if bit.register != "frozen_flow.limit":
        return False
    limit = bit.value ^ 1 << bit.bit
    return any(
        sending.history is not None
        and sending.history.exact
        and bool(sending.history.beyond(limit))
        for sending in sendings
        if (sending.account.sender, sending.account.flow) == (bit.device, *bit.indices)
    )


At = tuple[Stream, Packet]
"""A packet at a tap."""


@dataclass(frozen=True, eq=False)
class Bound:
    """A finding and where it lies.

    ``tap``: number of its tap on the path, 0 to 3; None where it is at none. ``given``: its packet there, where it
    is known already.
    """

    case: Case
    finding: Finding
    sender: str
    receiver: str
    tap: int | None
    given: At | None = None

    @property
    def facts(self) -> Facts:
        """Those of the capture."""
        return self.case.facts

    @cached_property
    def copies(self) -> tuple[At | None, ...]:
        """The packet at each tap of the path; None where it is not recorded, or which one it is is not known."""
        held: list[At | None] = [None] * 4
        if self.tap is None:
            return tuple(held)
        held[self.tap] = self.given or self._at_tap(self.tap)
        others = (n for n in (*range(self.tap - 1, -1, -1), *range(self.tap + 1, 4)))
        if held[self.tap] is None:
            found = next(((n, at) for n in others if (at := self._at_tap(n)) is not None), None)
            if found is not None:
                held[found[0]] = found[1]
        known = [n for n in range(4) if held[n] is not None]
        if not known:
            return tuple(held)
        for n in range(known[0], 3):
            held[n + 1] = (
                held[n + 1] or self._partner(n, held[n], down=True) or self._over_hole(n + 1, n)
            )
        for n in range(known[0], 0, -1):
            held[n - 1] = (
                held[n - 1]
                or self._partner(n - 1, held[n], down=False)
                or self._over_hole(n - 1, n)
            )
        return tuple(held)

    @property
    def before(self) -> At | None:
        """The packet at the first tap of the stretch."""
        return self.copies[self.tap - 1] if self.tap else None

    @property
    def behind(self) -> At | None:
        """The packet at the second tap of the stretch, or at the first behind it that has it."""
        held = () if self.tap is None else self.copies[self.tap :]
        return next((at for at in held if at is not None), None)

    @cached_property
    def pair(self) -> PacketPair | None:
        """The packet's words at both taps of the stretch, side by side."""
        if not self.tap or self.behind is None:
            return None
        diff = self.facts.diff(self.sender, self.receiver, self.tap - 1)
        packet = self.behind[1]
        return next((p for p in diff.pairs if p.down is packet), None) if diff is not None else None

    def _at_tap(self, tap: int) -> At | None:
        """Return the packet by its number; with a bad header by the tap before, or as the only bad one."""
        stream = self._stream(tap)
        if stream is None:
            return None
        if self.finding.packet is None:
            return self._at_time(stream) if tap == self.tap else None
        named = [
            p for p in stream.packets if p.header_ok is not False and p.seq == self.finding.packet
        ]
        if len(named) == 1:
            return stream, named[0]
        if tap:
            above = self._stream(tap - 1)
            before = [
                p
                for p in (above.packets if above is not None else ())
                if p.header_ok is not False and p.seq == self.finding.packet
            ]
            if above is not None and len(before) == 1:
                return self._partner(tap - 1, (above, before[0]), down=True)
        bad = [p for p in stream.packets if p.header_ok is False]
        return (stream, bad[0]) if len(bad) == 1 else None

    def _over_hole(self, tap: int, last: int) -> At | None:
        """Return the packet by its number, where the memory of the tap before has a hole in which it may have stood."""
        device, name = self.facts.view.path(self.sender, self.receiver)[last]
        card, stream = self.facts.view.device(device), self._stream(tap)
        image = card.memories.get(name) if card is not None else None
        if stream is None or image is None or not image.gaps or self.finding.packet is None:
            return None
        named = [
            p for p in stream.packets if p.header_ok is not False and p.seq == self.finding.packet
        ]
        return (stream, named[0]) if len(named) == 1 else None

    def _at_time(self, stream: Stream) -> At | None:
        """Return the packet that crossed the tap at the finding's time."""
        t_ps = self.finding.t_ps
        if t_ps is None:
            return None
        for packet in stream.packets:
            if int(stream.t_ps[packet.start]) <= t_ps <= int(stream.t_ps[packet.end - 1]):
                return stream, packet
        return None

    def _partner(self, stretch: int, at: At | None, *, down: bool) -> At | None:
        diff = self.facts.diff(self.sender, self.receiver, stretch)
        if diff is None or at is None:
            return None
        for pair in diff.pairs:
            if down and pair.up is at[1]:
                return diff.down, pair.down
            if not down and pair.down is at[1]:
                return diff.up, pair.up
        return None

    def _stream(self, tap: int) -> Stream | None:
        return self.facts.view.stream(*self.facts.view.path(self.sender, self.receiver)[tap])


def bind(case: Case, finding: Finding) -> Bound:
    """Return what a finding is bound to."""
    facts = case.facts
    sender, _, receiver = (finding.direction or "").partition("->")
    tap = None
    if sender and receiver and finding.tap in facts.view.roles.taps:
        path = facts.view.path(sender, receiver)
        place = (finding.device, finding.tap)
        tap = path.index(place) if place in path else None
    return Bound(case, finding, sender, receiver, tap)


def same_words(one: At, other: At) -> bool | None:
    """Tell whether a packet has the same words at two taps; None where not enough of it is at both."""
    (first, p), (second, q) = one, other
    if p.whole and q.whole:
        return p.end - p.start == q.end - q.start and bool(
            np.array_equal(first.words(p), second.words(q))
        )
    if p.cut_start or q.cut_start:
        count = min(p.end - p.start, q.end - q.start)
        if not (p.has_tail and q.has_tail) or not count:
            return None
        return bool(
            np.array_equal(first.data[p.end - count : p.end], second.data[q.end - count : q.end])
        )
    return None
