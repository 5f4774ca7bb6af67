"""The analysis ``taps`` of a described card: what became of each packet between two taps of a path."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd

from freezeframe.analyzers.analysis import AnalysisResult, Figure
from freezeframe.analyzers.card.claims import Claim, findings_of
from freezeframe.analyzers.card.view import CardView


def run(card: CardView) -> AnalysisResult:
    """Return how many packets are the same at both taps, and each that is not."""
    figures: list[Figure] = []
    claims: list[Claim] = []
    notes = []
    rows: list[dict[str, Any]] = []
    if not card.recording.card.said.path:
        notes.append(f"{card.device}: could not be asked: needs a [path] of two taps")
    links = card.beside.departures if card.beside else ()
    for view in [*card.stretches, *links]:
        name = (
            "->".join(view.where)
            if view in links
            else f"{card.device}.{view.where[0]}->{view.where[1]}"
        )
        if view.needs:
            notes.append(f"could not be asked: {view.needs}")
            continue
        if card.unfit:
            notes.append(f"{name}: could not be asked: {card.unfit[0].text}")
            continue
        pairing = view.pairing
        by = card.recording.card.said.identity.by
        note = f"by {by}; between the first and the last that are unlike all others"
        figures.append(
            Figure(f"{name}.same", f"{name}, packets at both taps", len(pairing.pairs), note=note)
        )
        found = view.claims()
        claims += found
        for kind, count in Counter(claim.name for claim in found).items():
            figures.append(Figure(f"{name}.{kind}", f"{name}, {kind}", count))
        if not pairing.anchors:
            notes.append(
                f"{name}: no packet that is unlike all others stands at both taps: nothing can be placed"
            )
        if view.unproven:
            notes.append(f"could not be asked: {view.unproven}")
        rows += [_row(card, claim, name) for claim in found]
    tables = {"differences": pd.DataFrame(rows)} if rows else {}
    found_wrong = tuple(findings_of(claims, card.device))
    return AnalysisResult(
        "taps", tuple(figures), findings=found_wrong, tables=tables, notes=tuple(notes)
    )


def _row(card: CardView, claim: Claim, name: str) -> dict[str, Any]:
    end = card.streams[claim.where[0].rpartition(".")[2]]
    t_ps = end_ps = claim.t_ps if card.placed(end.tap) else None
    if claim.packet is not None and t_ps is not None and claim.packet < len(end):
        end_ps = int(card.times_ps(end.tap, end.stream.packets.end[[claim.packet]] + 1)[0][0])
    row = {
        "t_ps": t_ps,
        "t_end_ps": end_ps,
        "path": name,
        "kind": claim.name,
        "packet": claim.packet,
    }
    row |= {"beat": claim.beat, "t_unc_ps": claim.t_unc_ps, "text": claim.text}
    return {key: np.nan if value is None else value for key, value in row.items()}
