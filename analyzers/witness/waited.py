"""Parts of a card that stood still although by their own registers they had nothing to wait for, as findings."""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.analyzers.card.names import NONE_KNOWN
from freezeframe.analyzers.contract import Evidence, Finding, Ground
from freezeframe.analyzers.evidence import cause_evidence
from freezeframe.analyzers.witness.case import Case

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
