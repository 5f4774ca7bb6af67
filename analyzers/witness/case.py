"""One capture as a case: its facts, its laws, and what follows from both, each computed once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from freezeframe.analyzers.conservation.analysis_code import Checked, check_laws
from freezeframe.analyzers.diagnosis.overflow import Sending, sendings
from freezeframe.analyzers.diagnosis.standstill import Stand, standing
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.view import CaptureView, fits_power_up
from freezeframe.analyzers.witness.registers import (
    Register,
    WrongBit,
    flipped,
    lone_bits,
    mending_bits,
)
from freezeframe.analyzers.witness.wrong_counts import WrongCount, mending_counts
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
