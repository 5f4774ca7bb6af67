"""The one place that decides which name stands, what its file entails against what each witness says, and how sure.

A name stands only while no witness that could have seen it is against it. Else it falls to a candidate of
``undetermined``, beside the names that its file gives for that, and what contradicts it is printed.

Its confidence is a frequency: how often the name was right with this pattern of witnesses, counted and kept as data.
Certain is only what was right every time, so many times; all else is printed with its count, below that.
A pattern also counts by those that are weaker: the same but for witnesses that were silent where here they are for the
name. What was right every time without a witness is right with it; so a pattern does not have to be met sixty times
for each accident of what a memory still held. ``python -m tests.campaign.count`` counts anew.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from freezeframe.analyzers.card.names import RECORDER_SUSPECT
from freezeframe.analyzers.contract import UNDETERMINED, Finding, Ground, Says, Witness
from freezeframe.analyzers.witness.case import Case, bind
from freezeframe.analyzers.witness.declared import Declared, Values, shipped
from freezeframe.analyzers.witness.readings import read
from freezeframe.analyzers.witness.registers import text_of
from freezeframe.analyzers.witness.vocabulary import Reading

_WORDS = "words"
"""The witness that lays two memories beside each other."""

_ONE_WORD = "payload-bit-flip"
_BESIDE = {_WORDS, "crc_before", "length_before", "tap_before"}
"""Witnesses of how a packet was before a stretch, and that two memories differ: none that it was wrong after it."""

_MARKS = {Says.FOR: "+", Says.AGAINST: "-", Says.SILENT: "?"}
_RANK = {
    Ground.COMPARED: 0,
    Ground.CONFIRMED: 1,
    Ground.INFERRED: 2,
    Ground.ELIMINATED: 2,
    Ground.LITTLE: 3,
}


def judged(case: Case, finding: Finding, fault: Declared | None = None) -> Finding:
    """Return a finding with what its witnesses say: its name, or ``undetermined`` where one is against it.

    Args:
        fault: what its name claims; None for the one that ships under its name. Without any, nothing is asked.
    """
    declared = fault or shipped().get(finding.diagnosis)
    if declared is None:
        return finding
    witnesses = heard(case, finding, declared)
    against = [witness for witness in witnesses if witness.says is Says.AGAINST]
    pattern = pattern_of(case, finding, witnesses)
    falsifier = _falsifier(declared, witnesses)
    finding = replace(
        finding, witnesses=witnesses, pattern=pattern, falsifier=falsifier, general=declared.is_a
    )
    seen = {witness.name for witness in witnesses if witness.says is Says.FOR}
    unseen = bool(declared.seen_by) and not seen & {*declared.seen_by}
    if against or unseen:
        doubt = " ".join(f"Against it: {witness.text}." for witness in against)
        names = [finding.diagnosis, *declared.others]
        if not against:
            asked = " or ".join(declared.seen_by)
            doubt = f"Its {asked} at both taps do not show it, so where it was is not known."
            names += [declared.is_a] if declared.is_a else []
        limits = [bit for bit in case.mending if bit.of_bound] if case.broken else []
        if limits:
            doubt += f" Were {' or '.join(text_of(limits))} another, every law would hold."
            names.append(RECORDER_SUSPECT)
        return replace(
            finding,
            diagnosis=UNDETERMINED,
            candidates=tuple(dict.fromkeys(names)),
            text=f"{finding.text} {doubt} So {finding.diagnosis} is a candidate, no more.",
            confidence=0.0,
            falsifier="",
            general="",
        )
    return counted_for(finding)


def doubted(finding: Finding, suspects: Sequence[Finding]) -> Finding:
    """Return a name that two memories alone speak for as a candidate, where one of the two may be upset.

    Args:
        suspects: words that may be upset, and of which that is not sure.
    """
    seen = {witness.name for witness in finding.witnesses if witness.says is Says.FOR}
    place = (finding.device, finding.tap, finding.packet, finding.word)
    same = any(
        RECORDER_SUSPECT in each.candidates
        and place == (each.device, each.tap, each.packet, each.word)
        for each in suspects
    )
    # Several bits of one word are no upset that a memory is searched for; where no check looked, they are one as well.
    one_word = finding.diagnosis == _ONE_WORD and seen <= _BESIDE
    if finding.diagnosis == UNDETERMINED or not (one_word or (same and seen <= {_WORDS})):
        return finding
    return replace(
        finding,
        diagnosis=UNDETERMINED,
        candidates=(finding.diagnosis, RECORDER_SUSPECT),
        text=f"{finding.text} Nothing that checked the packet speaks for that; the memory of {finding.device}."
        f"{finding.tap} may be upset instead. So {finding.diagnosis} is a candidate, no more.",
        confidence=0.0,
        falsifier="",
        general="",
    )


def told(case: Case, finding: Finding) -> Finding:
    """Return a finding that no fault's file declares, an answer of its own, with its pattern and count."""
    if finding.pattern:
        return finding
    return counted_for(replace(finding, pattern=pattern_of(case, finding, finding.witnesses)))


def vetoed_by_register(finding: Finding) -> bool:
    """Tell whether a finding lost its name because one bit of a register it rests on would mend every broken law."""
    against = [w.name for w in finding.witnesses if w.says is Says.AGAINST]
    return finding.diagnosis == UNDETERMINED and "registers" in against


def heard(case: Case, finding: Finding, declared: Declared) -> tuple[Witness, ...]:
    """Return what each witness that a fault's file names says of a finding."""
    bound = bind(case, finding)
    return tuple(
        _witness(
            name, read(name, bound), declared.entails.get(name, ()), declared.against.get(name, ())
        )
        for name in declared.witnesses
    )


def _witness(name: str, reading: Reading, entails: Values, against: Values) -> Witness:
    if not reading.value:
        says = Says.SILENT
    elif reading.value in against or (entails and reading.value not in entails):
        says = Says.AGAINST
    else:
        says = Says.FOR
    return Witness(says, reading.text, reading.rows, name)


def pattern_of(case: Case, finding: Finding, witnesses: tuple[Witness, ...]) -> str:
    """Return what the confidence is counted by: how many ends, the ground, and each witness with what it says."""
    ends = "both" if len(case.facts.view.devices) > 1 else "one"
    said = [f"{witness.name}{_MARKS[witness.says]}" for witness in witnesses]
    return " ".join([f"{ends} {finding.ground or 'seen'}", *said])


def rank(finding: Finding) -> int:
    """Return how sure a rule's ground is; the surest is 0, one without a ground comes last."""
    return _RANK[Ground(finding.ground)] if finding.ground else 4


def _falsifier(declared: Declared, witnesses: tuple[Witness, ...]) -> str:
    """Return what would have shown a name wrong, and whether one could look there: the witnesses say what was seen."""
    if not declared.falsifier:
        return ""
    none = "" if any(w.says is Says.FOR for w in witnesses) else " None of that could be looked at."
    return f"It would be wrong if {declared.falsifier}.{none}"


COUNTS = Path(__file__).with_name("counts.json")
CERTAIN_FROM = 60
"""Occurrences, all of them right, from which on an answer is certain."""

_BELOW = 0.89  # the most that is printed of what is not certain


@dataclass(frozen=True, slots=True)
class Count:
    """How often a name was right with a pattern, of how often it was given."""

    right: int
    of: int

    @property
    def certain(self) -> bool:
        """It was right every time, often enough."""
        return self.right == self.of >= CERTAIN_FROM

    @property
    def confidence(self) -> float:
        """(n + 1) / (n + 2) where it is certain, and less than 0.9 else."""
        share = (self.right + 1) / (self.of + 2)
        return share if self.certain else min(share, _BELOW)


@cache
def counts() -> dict[str, Count]:
    """Return the counts by ``NAME: PATTERN``."""
    if not COUNTS.exists():
        return {}
    said = json.loads(COUNTS.read_text("utf-8"))
    return {key: Count(*pair) for key, pair in said["counts"].items()}


def counted_for(finding: Finding) -> Finding:
    """Return a finding with the confidence of its name and pattern; 0 and no count where they were never counted."""
    if finding.diagnosis == UNDETERMINED:
        return finding
    count = count_of(finding.diagnosis, finding.pattern)
    if count is None or not count.of:
        return replace(finding, confidence=0.0, counted="")
    return replace(finding, confidence=count.confidence, counted=f"{count.right:,} of {count.of:,}")


def count_of(name: str, pattern: str) -> Count | None:
    """Return how often a name was right with a pattern, and with weaker ones that were right every time.

    None where it was never counted itself: what was never met is nothing that anything was counted of.
    """
    own = counts().get(f"{name}: {pattern}")
    if own is None or own.right < own.of:
        return own
    of = own.of
    for key, count in counts().items():
        other_name, _, other = key.partition(": ")
        if other_name == name and count.right == count.of and _weaker(other, pattern):
            of += count.of
    return Count(of, of)


def _weaker(pattern: str, than: str) -> bool:
    """Tell whether a pattern is another one but for witnesses that are silent in it and for the name there."""
    mine, theirs = pattern.split(" "), than.split(" ")
    if pattern == than or len(mine) != len(theirs):
        return False
    return all(
        one == other or (one[-1] == "?" and other[-1] == "+" and one[:-1] == other[:-1])
        for one, other in zip(mine, theirs, strict=True)
    )
