"""What is answered where no name stands: a register that is suspect, a broken law, a part that stood still, or none.

Each says what is known all the same: where it is first seen, what kind of change it is, and what was ruled out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from freezeframe.analyzers.card.names import LAW_BROKEN, NONE_KNOWN, RECORDER_SUSPECT
from freezeframe.analyzers.conservation.analysis_code import Checked
from freezeframe.analyzers.contract import UNDETERMINED, Evidence, Finding, Ground, Says, Witness
from freezeframe.analyzers.evidence import amount, cause_evidence
from freezeframe.analyzers.witness.case import Case
from freezeframe.analyzers.witness.declared import shipped
from freezeframe.analyzers.witness.gate import judged
from freezeframe.analyzers.witness.registers import WrongBit, WrongCount, lone_bits, text_of
from freezeframe.analyzers.witness.wrong_credits import wrong_credits

_FEW_WORDS = 8  # in a level: so many may have been lost or repeated as well
_FIFO_LAWS = ("outgoing FIFO, words", "incoming FIFO, words")
_LEVELS = ("frozen.tx_level", "frozen.rx_level")
_BOTH_ENDS = _SEVERAL = 2
_SHOWN_BITS = 6
_SAME = " Whether the register is wrong or what it counts cannot be told apart."
_ALL_HOLD = " The register is suspect, not the card."


def open_answers(case: Case, symptoms: Sequence[Finding]) -> Iterator[Finding]:
    """Yield what is known where nothing could be named: the first is the answer."""
    broken = case.broken
    if (case.mending or case.miscounting) and not symptoms:
        yield register_suspect(case)
        return
    known = [*wrong_credits(case), *contradictions(case)]
    left = (symptom for symptom in symptoms if not any(explains(one, symptom) for one in known))
    for symptom in islice(left, 1):
        if symptom.diagnosis != UNDETERMINED:
            yield judged(case, symptom)
        else:
            yield symptom if symptom.candidates else none_known(symptom)
    yield from known
    if broken and not symptoms:
        yield law_broken(case, broken)


def none_known(symptom: Finding) -> Finding:
    """Return a symptom that no name accounts for as an answer of its own."""
    return replace(
        symptom,
        diagnosis=NONE_KNOWN,
        text=f"{symptom.text} None of the known faults accounts for it.",
        falsifier="It would be wrong if a later tap, the receiver's checker or a law showed nothing of it.",
    )


def law_broken(case: Case, broken: Sequence[Checked]) -> Finding:
    """Return the finding on laws that nothing else explains; the first in the card's order stands for all.

    A law of one FIFO has a place on the path: what is not right in it shows at the tap behind it.
    """
    first = broken[0]
    ways = case.facts.view.roles.ways
    tap = next((way.exit for way in ways if f"frozen.{way.level}" in first.law.balance), None)
    more = len(broken) - 1
    also = f" {amount(more, 'more law')} {'is' if more == 1 else 'are'} broken." if more else ""
    if bits := lone_bits(case.facts.view, broken):
        told = " or ".join(text_of(bits)[:_SHOWN_BITS])
        also += f" Or a register is wrong, and no other law says which: {told}, were it another, would mend it."
    return Finding(
        LAW_BROKEN,
        f"{first.subject.text}: {first.law.name} is broken, and nothing that was found explains it: {first.law.text} "
        f"{first.why}.{also}",
        device=first.subject.device,
        tap=tap,
        direction=f"{first.subject.device}->{first.subject.peer}" if first.subject.peer else None,
        flow=first.subject.flow,
        evidence=tuple(
            Evidence(f"{law.subject.text}: {law.law.name}: {law.why}.", law.subject.device)
            for law in broken
        ),
        ground=Ground.COMPARED,
        falsifier="It would be wrong if the sum lay within its bounds.",
    )


def unexplained(case: Case, named: Sequence[Finding]) -> list[Checked]:
    """Return the broken laws that none of the named faults breaks."""
    explained = {law for finding in named for law in _breaks(finding)}
    return [law for law in case.broken if law.law.name not in explained]


def _breaks(finding: Finding) -> Iterator[str]:
    for name in (finding.diagnosis, *finding.candidates):
        if name in shipped():
            yield from shipped()[name].breaks


def register_is_sure(case: Case) -> bool:
    """Tell whether one register alone is wrong: nothing else would mend the laws, nor can have broken them.

    A register that breaks several laws at once is told by these; one may be broken because what it counts went wrong.
    """
    # What one card counts wrongly and what it did wrongly look the same without the other.
    if len(case.facts.view.names) < _BOTH_ENDS or len(case.broken) < _SEVERAL:
        return False
    if case.miscounting:
        return len(case.miscounting) == 1 and case.miscounting[0].narrow >= _SEVERAL
    exact = any(law.least is not None and law.least == law.most for law in case.broken)
    one = len({(bit.device, bit.register) for bit in case.mending}) == 1
    return exact and one and not any(bit.of_bound for bit in case.mending)


def register_suspect(case: Case) -> Finding:
    """Return the finding on the register that disagrees with all others; only where the case has one."""
    if case.miscounting:
        return _count(case, case.miscounting, case.broken)
    return _register(case, case.mending, case.broken)


def _count(case: Case, counts: Sequence[WrongCount], broken: Sequence[Checked]) -> Finding:
    """Return the register that counts wrongly; a set, where what it counts may be wrong as well.

    A level that would have to be otherwise in several bits is as well that of a FIFO that lost words.
    """
    level = any(name in _LEVELS for (_, name, _), _, _ in counts[0].values)
    sure = register_is_sure(case) and not level
    others = f" So would {', '.join(other.text for other in counts[1:4])}." if counts[1:] else ""
    text = f"{_told(broken)} Of {counts[0].text}, every law would hold.{others}"
    text += _ALL_HOLD if sure else _SAME
    return Finding(
        RECORDER_SUSPECT if sure else UNDETERMINED,
        text,
        device=counts[0].device,
        candidates=() if sure else (RECORDER_SUSPECT, LAW_BROKEN),
        evidence=(
            Evidence(
                f"{counts[0].text}, every law would hold.",
                counts[0].device,
                rows=tuple(row for count in counts[:4] for row in count.rows),
            ),
            *map(_law_evidence, broken),
        ),
        ground=Ground.COMPARED,
        witnesses=(Witness(Says.FOR, text, name="registers"),),
        falsifier="It would be wrong if a law stayed broken with it as it should be: none does."
        if sure
        else "",
    )


def _law_evidence(law: Checked) -> Evidence:
    return Evidence(f"{law.subject.text}: {law.law.name}: {law.why}.", law.subject.device)


def _told(broken: Sequence[Checked]) -> str:
    laws = " and ".join(f"{law.law.name} ({law.why})" for law in broken[:3])
    return f"{len(broken)} law{'s are' if len(broken) > 1 else ' is'} broken: {laws}."


def _register(case: Case, bits: Sequence[WrongBit], broken: Sequence[Checked]) -> Finding:
    """Return the register that is suspect; a set, where what it counts may be wrong as well."""
    bit = bits[0]
    delta = 1 << bit.bit
    first, *more = text_of(bits)
    others = f" So would {', '.join(more[:3])}." if more else ""
    text = f"{_told(broken)} Were {first} another, every law would hold.{others}"
    names: tuple[str, ...] = ()
    of_fifo = len(broken) == 1 and broken[0].law.name in _FIFO_LAWS
    if delta <= _FEW_WORDS and (of_fifo or bit.register in _LEVELS):
        names = (RECORDER_SUSPECT, "word-omitted", "word-duplicated")
    elif not register_is_sure(case):
        names = (RECORDER_SUSPECT, LAW_BROKEN)
    text += _SAME if names else _ALL_HOLD
    return Finding(
        UNDETERMINED if names else RECORDER_SUSPECT,
        text,
        device=bit.device,
        candidates=names,
        evidence=(
            Evidence(
                f"{bit.text}, and what it should be by the laws.",
                bit.device,
                rows=tuple(b.row for b in bits[:4]),
            ),
            *map(_law_evidence, broken),
        ),
        ground=Ground.COMPARED,
        witnesses=(Witness(Says.FOR, text, name="registers"),),
        falsifier=""
        if names
        else "It would be wrong if a law stayed broken with the bit as it should be: none does.",
    )


_WAITS = {"credit-lost", "header-miscounted"}  # what any wait may come from


def contradictions(case: Case) -> Iterator[Finding]:
    """Yield a finding for each such part."""
    for stand in case.stands:
        if stand.contradicted:
            yield Finding(
                NONE_KNOWN,
                f"{stand.text} None of the known faults accounts for it.",
                device=stand.device,
                direction=stand.direction,
                flow=stand.flow,
                t_ps=stand.since_ps,
                evidence=(
                    Evidence(stand.text, stand.device, rows=stand.rows),
                    *cause_evidence(case.facts, stand.device),
                ),
                ground=Ground.COMPARED,
                falsifier=f"It would be wrong if {stand.device} had moved a word there, or waited for credit or room.",
            )


def explains(found: Finding, symptom: Finding) -> bool:
    """Tell whether a symptom is that a sender waits, and what was found says for whom."""
    if symptom.tap is not None or not set(symptom.candidates) >= _WAITS:
        return False
    sender = (found.direction or "").partition("->")[0]
    return symptom.device == sender and symptom.flow in (None, found.flow)
