"""The analysis ``conservation`` of a described card: its laws, own and derived, against its counters."""

from __future__ import annotations

import pandas as pd

from freezeframe.analyzers.analysis import AnalysisResult, Figure
from freezeframe.analyzers.card.claims import findings_of
from freezeframe.analyzers.card.explain import broken_laws
from freezeframe.analyzers.card.view import CardView


def run(card: CardView) -> AnalysisResult:
    """Return the sum of each law with its bounds; those that are broken are findings."""
    laws = card.laws
    states = {True: "holds", False: "broken", None: "not checkable"}
    figures = tuple(
        Figure(
            f"{card.device}.{v.law.name}",
            f"{card.device}, {v.law.name}: {states[v.holds]}",
            v.value,
            note=v.text,
        )
        for v in laws
    )
    table = pd.DataFrame(
        {
            "law": [v.law.name for v in laws],
            "state": [states[v.holds] for v in laws],
            "text": [v.text for v in laws],
        }
    )
    notes = (
        ()
        if laws
        else (
            f"{card.device}: could not be asked: needs a [law], or counters at both taps of a path",
        )
    )
    found = tuple(findings_of(broken_laws(laws), card.device))
    return AnalysisResult(
        "conservation", figures, findings=found, tables={"laws": table} if laws else {}, notes=notes
    )
