"""The one place that decides which name stands: what its file entails against what each witness says.

A name stands only while no witness that could have seen it is against it. Else it falls to a candidate of
``undetermined``, beside the names that its file gives for that, and what contradicts it is printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from freezeframe.analyzers.card.names import RECORDER_SUSPECT
from freezeframe.analyzers.contract import UNDETERMINED, Finding, Ground, Says, Witness
from freezeframe.analyzers.witness.bound import bind
from freezeframe.analyzers.witness.case import Case
from freezeframe.analyzers.witness.counted import counted_for
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
