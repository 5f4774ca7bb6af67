"""``freezeframe plot``: drawings of analyses below each other, written as one picture."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from freezeframe.analyzers.analysis import AnalysisResult
from freezeframe.analyzers.card.explain import explain_card
from freezeframe.analyzers.card.view import CardsView, CardView, run_analysis, view_of
from freezeframe.analyzers.contract import Analysis
from freezeframe.analyzers.declarations import THROUGHPUT
from freezeframe.analyzers.explain import explain
from freezeframe.analyzers.registry import load_analyses
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.count_text import plural
from freezeframe.capture.errors import InputError
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.capture.nearest import no_such
from freezeframe.gui.cli.output import emit_json
from freezeframe.gui.cli.work.captures import opened_any
from freezeframe.gui.moments import card_freeze, freezes
from freezeframe.gui.places import write_whole
from freezeframe.gui.plots.card_lanes import card_drawings
from freezeframe.gui.plots.figures import Drawing, drawings, extent
from freezeframe.gui.plots.picture import picture_png, picture_svg
from freezeframe.gui.plots.proof import card_finding_drawings, finding_drawings, shows_rate
from freezeframe.gui.plots.time_lines import timeline_drawings
from freezeframe.gui.text import folder_title, printable

_TIME_LINE = "time-line"
_FINDING = "finding"
_NO_ANALYSES = (_TIME_LINE, _FINDING)
_ALL = "all"


def save_picture(
    capture: Path,
    output: Path,
    what: str,
    devices: Sequence[str] | None,
    theme: Literal["light", "dark"],
    scale: float,
    *,
    json: bool,
) -> None:
    """Draw what ``what`` names and write it.

    Raises:
        CaptureFormatError, InputError: it is no capture, an analysis is not known, or none of them has
            anything to draw.
    """
    folder = opened_any(capture, devices)
    pictures, reasons = _drawings(folder, what, devices)
    if not pictures:
        raise InputError(f"{folder.path}: nothing to draw: {'; '.join(reasons)}")
    svg = picture_svg(pictures, printable(folder_title(folder.path)), theme=theme)
    data = svg.encode() if output.suffix.lower() == ".svg" else picture_png(svg, scale=scale)
    write_whole(output, data)
    if json:
        titles = [drawing.title for drawing in pictures]
        emit_json(
            {"plot": str(output), "bytes": len(data), "drawings": titles, "not_drawn": reasons}
        )
        return
    for reason in reasons:
        print(f"freezeframe: {printable(reason)}", file=sys.stderr)
    print(f"{printable(output)}: {plural(len(pictures), 'drawing')}, {len(data):,} B")


def _drawings(
    folder: CaptureFolder | CardFolder, what: str, devices: Sequence[str] | None
) -> tuple[list[Drawing], list[str]]:
    """Return the drawings in the order asked, and why others are not there."""
    registry = load_analyses()
    asked = [name.strip() for name in what.split(",") if name.strip()]
    if not asked:
        raise InputError("--what: names no analysis; 'freezeframe analyze' lists them")
    known = (*_NO_ANALYSES, _ALL, *sorted(registry.analyses))
    for name in asked:
        if name not in known:
            raise InputError(f"--what: {no_such('drawing', name, known)}")
    names = list(
        dict.fromkeys(
            each
            for name in asked
            for each in ([*_NO_ANALYSES, *sorted(registry.analyses)] if name == _ALL else [name])
        )
    )
    analyses = {name: registry.find(name) for name in names if name not in _NO_ANALYSES}
    view = view_of(folder, devices)
    results = {name: run_analysis(analysis, view) for name, analysis in analyses.items()}
    span = extent(results.values())
    made: list[Drawing] = []
    reasons: list[str] = []
    for name in names:
        if name == _TIME_LINE:
            found = _time_lines(view, devices)
        elif name == _FINDING:
            found = _findings(view, devices, results.get(THROUGHPUT.id))
        else:
            found = drawings(results[name], span)
        made += found
        if not found and name == _TIME_LINE:
            reasons.append(f"{name}: no packet has a time")
        elif not found and name == _FINDING:
            reasons.append(f"{name}: explain finds nothing wrong in this capture")
        elif not found:
            reasons.append(f"{name}: {_why_not(analyses[name], results[name])}")
    return made, reasons


def _why_not(analysis: Analysis, result: AnalysisResult) -> str:
    """Return why an analysis has no drawing: it never has one, or it has none in this capture."""
    if analysis.draws == "":
        return f"it is never drawn; its figures and tables are what 'freezeframe analyze {analysis.id}' prints"
    if not (result.figures or result.tables):
        return (
            "; ".join(note.rstrip(".") for note in result.notes)
            or "it found nothing in this capture"
        )
    what = analysis.draws or "nothing that lies along time"
    there = f"it draws {what}, and there are none" if analysis.draws else f"it found {what}"
    return f"{there} in this capture; 'freezeframe analyze {analysis.id}' has its figures"


def _time_lines(view: CaptureView | CardsView, devices: Sequence[str] | None) -> list[Drawing]:
    if isinstance(view, CardsView):
        return [one for card in view.cards for one in _card_time_line(view, card)]
    explanation = explain(view.folder, devices or None)
    trace = explanation.trace
    return timeline_drawings(trace, explanation.findings, freezes(view.folder, trace))


def _findings(
    view: CaptureView | CardsView, devices: Sequence[str] | None, rates: AnalysisResult | None
) -> list[Drawing]:
    """Return the pictures of every finding; their titles say which, where there are several.

    Args:
        rates: the result of the analysis of throughput, where it was asked for.
    """
    if isinstance(view, CardsView):
        made = [
            (finding, card_finding_drawings(card, finding, [freeze] if (freeze := card_freeze(card)) else []))
            for card in view.cards
            for finding in explain_card(card).findings
        ]  # fmt: skip
    else:
        explanation = explain(view.folder, devices or None)
        seen = CaptureView(view.folder, devices or None, explanation.trace)
        frozen = freezes(view.folder, explanation.trace)
        if rates is None and any(map(shows_rate, explanation.findings)):
            rates = run_analysis(THROUGHPUT, seen)
        made = [
            (
                finding,
                finding_drawings(seen, finding, frozen, prefix=f"proof{n}-", throughput=rates),
            )
            for n, finding in enumerate(explanation.findings)
        ]
    several = len(made) > 1
    return [
        replace(one, title=f"{finding.diagnosis}: {one.title}") if several else one
        for finding, drawn in made
        for one in drawn
    ]


def _card_time_line(view: CardsView, card: CardView) -> list[Drawing]:
    freeze = card_freeze(card)
    found = card_drawings(
        card, explain_card(card).findings, [freeze] if freeze else [], prefix=f"{card.device}-"
    )
    several = f"{card.device}: " if len(view.cards) > 1 else ""
    return [replace(one, title=several + one.title) for one in found]
