"""One register that is wrong by more than a bit: with what it should be by one law, every other law holds as well.

A counter that is too narrow, saturates, counts twice or began late says one thing, and all that it is compared with
another; so do two that stand in each other's place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from freezeframe.analyzers.conservation.analysis_code import Checked
from freezeframe.analyzers.contract import Row
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.view import CaptureView
from freezeframe.analyzers.witness.registers import (
    Register,
    hold_with,
    laws_by_register,
    registers_of,
)
from freezeframe.capture.counters.law_table import split_terms

_NARROW = 8  # words between the bounds of a law that says what a register should be
_WORD = (1 << 32) - 1
_MOST_BROKEN = 12
_LO = ".lo"


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
            f"{device}'s {label_of(register, indices)} ({value}), were it {right}"
            for (device, register, indices), value, right in self.values
        ]
        return " and ".join(told)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The registers, beside what they would be."""
        return tuple(
            Row("registers", device, label_of(register, indices), value, right)
            for (device, register, indices), value, right in self.values
        )


def label_of(register: str, indices: tuple[int, ...]) -> str:
    """Return a register as it is called."""
    return register.removesuffix(_LO) + "".join(f"[{i}]" for i in indices)


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
        and register[1].endswith(_LO)
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
