"""One register that disagrees with all the others: with another bit, or another value, every law would hold.

The laws of a card tie its registers together like the checks of a code: an upset of one breaks the laws that it
stands in, and only its own bit mends them all. A counter that is too narrow, saturates, counts twice or began late says
one thing, and all that it is compared with another; so do two that stand in each other's place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice

from freezeframe.analyzers.conservation.analysis_code import Checked, check_laws, width_of
from freezeframe.analyzers.conservation.terms import Subject
from freezeframe.analyzers.contract import Row
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.counters.law_table import split_terms
from freezeframe.capture.folder import DeviceCapture

Register = tuple[str, str, tuple[int, ...]]
"""Device, name and indices of a register; a long counter's two halves are two."""

_MOST_BROKEN = 12  # laws: an upset of one register breaks no more of them
_MOST_TRIED = 200
_RUN = 5  # bits one after another that are told by the first and the last
_BITS = 32
_BINS = 16


@dataclass(frozen=True, slots=True)
class WrongBit:
    """A bit of a register; ``laws``: how many broken ones it would mend.

    ``of_bound``: it would move what a law allows, not what was counted: a card that breaks its limit does that too.
    """

    device: str
    register: str
    indices: tuple[int, ...]
    bit: int
    value: int
    laws: int
    of_bound: bool = False

    @property
    def place(self) -> Register:
        """The register."""
        return self.device, self.register, self.indices

    @property
    def text(self) -> str:
        """The register and the bit, in words."""
        return text_of([self])[0]

    @property
    def label(self) -> str:
        """The register as it is called."""
        return _label(self.register, self.indices)

    @property
    def row(self) -> Row:
        """The register, beside what it would be with the bit as it should be."""
        return Row("registers", self.device, self.label, self.value, self.value ^ 1 << self.bit)


def text_of(bits: Sequence[WrongBit]) -> list[str]:
    """Return for each register the bits of which any alone would do, in words."""
    by_register: dict[Register, list[WrongBit]] = {}
    for bit in bits:
        by_register.setdefault(bit.place, []).append(bit)
    told = []
    for same in by_register.values():
        places = _in_runs([bit.bit + 32 * bit.register.endswith(".hi") for bit in same])
        which = " or ".join([", ".join(places[:-1]), places[-1]] if places[1:] else places)
        told.append(f"bit {which} of {same[0].device}'s {same[0].label} ({same[0].value})")
    return told


def _in_runs(places: Sequence[int]) -> list[str]:
    """Return numbers as text, many one after another as ``first to last``."""
    runs: list[list[int]] = []
    for place in sorted(places):
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    return [
        text
        for run in runs
        for text in ([f"{run[0]} to {run[-1]}"] if len(run) >= _RUN else map(str, run))
    ]


def mending_bits(
    facts: Facts, laws: Sequence[Checked], broken: Sequence[Checked]
) -> tuple[WrongBit, ...]:
    """Return the bits of which each would mend every broken law and break none; none where no law is broken."""
    if not broken or len(broken) > _MOST_BROKEN:
        return ()
    shortest = min(broken, key=lambda law: len(law.terms))
    speak = laws_by_register(facts.view, laws)
    return tuple(
        bit
        for bit in islice(_bits(facts.view, shortest, len(broken)), _MOST_TRIED)
        if hold_with(facts, {bit.place: 1 << bit.bit}, speak, broken)
    )


def lone_bits(view: CaptureView, broken: Sequence[Checked]) -> tuple[WrongBit, ...]:
    """Return the bits of which each would mend the one law that is broken, the lowest of what bounds it.

    None where several are broken.
    """
    bits = tuple(islice(_bits(view, broken[0], 1), _MOST_TRIED)) if len(broken) == 1 else ()
    return tuple(
        bit
        for n, bit in enumerate(bits)
        if not bit.of_bound or bit.place not in {other.place for other in bits[:n]}
    )


def _bits(view: CaptureView, law: Checked, broken: int) -> Iterator[WrongBit]:
    """Yield the bits of the registers in a broken law that would move its sum to where it must be."""
    for sign, term in split_terms(law.law.balance):
        for device, register, indices, high in registers_of(view, law.subject, term):
            value = view.value(device, register, *indices)
            if value is None:
                continue
            for bit in range(_BITS):
                changed = (1 << bit + high) * (-1 if value >> bit & 1 else 1)
                if term.endswith("flows.waiting"):
                    changed = _waiting_more(view, device, register, indices[0], changed)
                if _within(law, view, changed * sign):
                    yield WrongBit(device, register, indices, bit, value, broken)
    for bound in (law.law.least, law.law.most):
        yield from _bits_of_bound(view, law, bound, broken)


def _bits_of_bound(view: CaptureView, law: Checked, bound: str, broken: int) -> Iterator[WrongBit]:
    """Yield the bits of the register that bounds a broken law which would move the bound beyond its sum."""
    balance, name = law.balance or 0, bound.removeprefix("-")
    sign = -1 if bound.startswith("-") else 1
    for device, register, indices, _ in registers_of(view, law.subject, name) if name else ():
        value = view.value(device, register, *indices)
        for bit in range(_BITS) if value is not None else ():
            moved = sign * ((value or 0) ^ 1 << bit)
            if balance >= moved if bound == law.law.least else balance <= moved:
                yield WrongBit(device, register, indices, bit, value or 0, broken, True)


def _waiting_more(view: CaptureView, device: str, register: str, flow: int, changed: int) -> int:
    """Return how many words more would wait of a flow, were one of its two counts changed by so much."""
    card = view.device(device)
    mask = (1 << card.identity.flows_credit_w) - 1 if card is not None else 0
    counts = [
        view.value(device, f"frozen_flow.{name}", flow) or 0 for name in ("received", "freed")
    ]
    waiting = counts[0] - counts[1] & mask
    counts[register.endswith("freed")] += changed
    return (counts[0] - counts[1] & mask) - waiting


def _within(law: Checked, view: CaptureView, moved: int) -> bool:
    assert law.balance is not None
    balance = law.balance + moved
    if bits := width_of(law.law, view, law.subject):
        half = 1 << bits >> 1
        balance = (balance + half) % (1 << bits) - half
    return (law.least is None or balance >= law.least) and (law.most is None or balance <= law.most)


def registers_of(
    view: CaptureView, subject: Subject, term: str
) -> Iterator[tuple[str, str, tuple[int, ...], int]]:
    """Yield device, register, indices and place of the lowest bit of what a term is read from."""
    device = subject.device
    if term.startswith("peer."):
        device, term = subject.peer or "?", term.removeprefix("peer.")
    card = view.device(device)
    if card is None:
        return
    kind, _, what = term.partition(".")
    if kind == "counted":
        kind, what = "counter", card.roles.counter(what, subject.memory or "")
    if kind == "counter":
        yield device, f"frozen_counters.{what}.lo", (), 0
        yield device, f"frozen_counters.{what}.hi", (), 32
    elif kind == "frozen":
        yield device, f"frozen.{what}", (), 0
    elif kind == "flow":
        yield device, f"frozen_flow.{what}", (subject.flow or 0,), 0
    elif kind == "flows":
        for name in ("received", "freed") if what == "waiting" else (what,):
            for flow in range(card.identity.flows_count):
                yield device, f"frozen_flow.{name}", (flow,), 0
    elif kind == "histogram":
        name = {"lengths": "length_histogram", "occupancy": "occupancy_histogram"}[what]
        for place in range(_BINS):
            yield device, name, (place,), 0
    elif kind == "memory":
        yield device, f"memory.{what}", (card.roles.memories.index(subject.memory or ""),), 0


def laws_by_register(view: CaptureView, laws: Sequence[Checked]) -> dict[Register, list[Checked]]:
    """Return for each register the laws that can be asked and speak of it."""
    speak: dict[Register, list[Checked]] = {}
    for law in laws:
        if law.state == "not checkable":
            continue
        terms = [term for _, term in split_terms(law.law.balance)]
        terms += [
            bound.removeprefix("-") for bound in (law.law.least, law.law.most) if "." in bound
        ]
        for register in {
            each[:3] for term in terms for each in registers_of(view, law.subject, term)
        }:
            speak.setdefault(register, []).append(law)
    return speak


def hold_with(
    facts: Facts,
    flips: Mapping[Register, int],
    speak: Mapping[Register, Sequence[Checked]],
    broken: Sequence[Checked],
) -> bool:
    """Tell whether the laws that speak of registers hold with these bits flipped, all broken ones among them.

    One law alone says too little of a register.
    """
    tied = [law for register in flips for law in speak[register]]
    asked = {(law.law.name, law.subject) for law in tied}
    if len(asked) < 2 or any((law.law.name, law.subject) not in asked for law in broken):
        return False
    devices = [flipped(device, flips) for device in facts.view.folder.devices]
    laws = list({law.law.name: law.law for law in tied}.values())
    return all(
        law.state == "holds"
        for law in check_laws(facts.view.with_frozen(devices), laws, facts)
        if (law.law.name, law.subject) in asked
    )


def flipped(device: DeviceCapture, flips: Mapping[Register, int]) -> DeviceCapture:
    """Return a device with bits of its registers the other way."""
    registers = device.registers
    for (name, register, indices), mask in flips.items():
        for bit in range(_BITS) if name == device.name else ():
            if mask >> bit & 1:
                registers = registers.flipped(register, *indices, bit=bit)
    return replace(device, registers=registers)


_NARROW = 8  # words between the bounds of a law that says what a register should be
_WORD = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class WrongCount:
    """Registers with what they are and what they should be: one, or two that stand in each other's place.

    ``narrow``: how many broken laws say exactly what it should be.
    """

    values: tuple[tuple[Register, int, int], ...]
    narrow: int

    @property
    def device(self) -> str:
        """The card."""
        return self.values[0][0][0]

    @property
    def text(self) -> str:
        """The registers, in words."""
        told = [
            f"{device}'s {_label(register, indices)} ({value}), were it {right}"
            for (device, register, indices), value, right in self.values
        ]
        return " and ".join(told)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The registers, beside what they would be."""
        return tuple(
            Row("registers", device, _label(register, indices), value, right)
            for (device, register, indices), value, right in self.values
        )


def _label(register: str, indices: tuple[int, ...]) -> str:
    """Return a register as it is called."""
    name = register.removesuffix(".lo").removesuffix(".hi")
    return name + "".join(f"[{i}]" for i in indices)


def mending_counts(
    facts: Facts, laws: Sequence[Checked], broken: Sequence[Checked]
) -> tuple[WrongCount, ...]:
    """Return the registers of which each, were it as one law asks, would mend every broken law and break none."""
    exact = [law for law in broken if _narrow(law)]
    if not exact or len(broken) > _MOST_BROKEN:
        return ()
    speak = laws_by_register(facts.view, laws)
    single = [
        WrongCount(((register, value, right),), len(exact))
        for register, value, right in dict.fromkeys(_asked(facts.view, exact[0]))
        if hold_with(facts, {register: value ^ right}, speak, broken)
    ]
    return tuple(single or _swapped(facts, speak, broken, len(exact)))


def _narrow(law: Checked) -> bool:
    return (
        law.least is not None
        and law.most is not None
        and law.balance is not None
        and law.most - law.least <= _NARROW
    )


def _asked(view: CaptureView, law: Checked) -> Iterator[tuple[Register, int, int]]:
    """Yield the registers of a law with what they are and what they would have to be."""
    assert law.balance is not None and law.least is not None and law.most is not None
    off = law.balance - min(max(law.balance, law.least), law.most)
    for sign, term in split_terms(law.law.balance):
        if term.endswith("flows.waiting"):
            continue
        for device, register, indices, high in registers_of(view, law.subject, term):
            value = view.value(device, register, *indices)
            if value is not None and not high and 0 <= value - sign * off <= _WORD:
                yield (device, register, indices), value, value - sign * off


def _swapped(
    facts: Facts,
    speak: Mapping[Register, Sequence[Checked]],
    broken: Sequence[Checked],
    narrow: int,
) -> Iterator[WrongCount]:
    """Yield the pairs of counters of a card that would mend every law, were each in the other's place."""
    states = {(law.law.name, law.subject) for law in broken}
    counters = [
        register
        for register, laws in speak.items()
        if register[1].startswith("frozen_counters.")
        and register[1].endswith(".lo")
        and any((law.law.name, law.subject) in states for law in laws)
    ]
    for one, other in combinations(counters, 2):
        if one[0] != other[0]:
            continue
        first, second = (facts.view.value(each[0], each[1]) for each in (one, other))
        if first is None or second is None or first == second:
            continue
        mask = first ^ second
        if hold_with(facts, {one: mask, other: mask}, speak, broken):
            yield WrongCount(((one, first, second), (other, second, first)), narrow)
