"""The parts of the report on the analyses: drawings, figures, findings, notes and tables of each.

Only `AnalysisResult` is read; docs/analyzers.md says what an analysis means and how it measures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from freezeframe.analyzers.analysis import AnalysisResult, Figure, Intervals
from freezeframe.analyzers.card.view import CardsView, run_analysis
from freezeframe.analyzers.registry import load_analyses
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.errors import FreezeframeError
from freezeframe.capture.time_text import format_ps
from freezeframe.gui.figure_text import figure_text
from freezeframe.gui.plots.figures import Drawing, drawings, extent, legend_html
from freezeframe.gui.report.frames import frame_table
from freezeframe.gui.report.html import Html, element, join, listing

_OPEN_FIGURES = 12  # more numbers than this are folded away
_ROWS = 200  # of a table; the rest is counted and can be had by a command
_ORDER = (
    "throughput",
    "pressure",
    "credits",
    "latency",
    "dma",
    "host",
    "taps",
    "crc",
    "conservation",
)
_STILL = "Too much for zooming on a page: freezeframe open CAPTURE.ff shows every piece."


@dataclass(frozen=True, slots=True)
class Ran:
    """An analysis that was run: its result, or why there is none."""

    title: str
    summary: str
    result: AnalysisResult


def run_all(view: CaptureView | CardsView) -> list[Ran]:
    """Run every analysis that is installed, on a recording that is decoded already.

    One that fails, or does not load, is in the list with a note that says why: the others still
    tell something.
    """
    registry = load_analyses()
    ran = []
    for name in sorted(registry.analyses, key=_place):
        analysis = registry.analyses[name]
        try:
            result = run_analysis(analysis, view)
        # Someone else's analysis can fail in any way; a report with the others is worth more than none.
        except Exception as error:
            kind = "" if isinstance(error, FreezeframeError) else f"{type(error).__name__}: "
            result = AnalysisResult(name, notes=(f"The analysis failed: {kind}{error}",))
        summary = analysis.summary
        if isinstance(view, CardsView):
            summary = analysis.card_summary
        ran.append(Ran(analysis.title, summary, result))
    for name, why in registry.broken.items():
        ran.append(Ran(name, "", AnalysisResult(name, notes=(f"It does not load: {why}",))))
    return ran


def analyses_section(analyses: Sequence[Ran]) -> Html:
    """Return every analysis that has something to tell; those without are named with their notes."""
    if not analyses:
        return Html("")
    span = extent(ran.result for ran in analyses)
    telling = [ran for ran in analyses if _tells(ran.result)]
    silent = [ran for ran in analyses if not _tells(ran.result)]
    parts = [_one(ran, span) for ran in telling]
    if silent:
        lines = [
            element(
                "li",
                element("strong", ran.title),
                ": ",
                " ".join(ran.result.notes) or "nothing to tell",
            )
            for ran in silent
        ]
        parts.append(element("h3", "Nothing measured"))
        parts.append(element("ul", *lines))
    return join(element("h2", "Analyses", id="analyses"), *parts)


def drawing_figure(drawing: Drawing) -> Html:
    """Return a drawing with its caption and its legend."""
    return element(
        "figure",
        element(
            "figcaption",
            drawing.caption if drawing.moves or drawing.still else f"{drawing.caption} {_STILL}",
        ),
        element("div", Html(drawing.svg), css="scroll"),
        Html(legend_html(drawing.legend)),
    )


def _place(name: str) -> tuple[int, str]:
    """Return what analyses are ordered by: what a reader asks first, then others by name."""
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)


def _tells(result: AnalysisResult) -> bool:
    return bool(
        result.figures or result.series or result.intervals or result.findings or result.tables
    )


def _one(ran: Ran, span: tuple[int, int] | None) -> Html:
    result = ran.result
    parts = [element("h3", f"{ran.title}"), element("p", ran.summary)]
    parts += [element("p", note, css="note") for note in result.notes]
    parts += [
        drawing_figure(drawing) for drawing in drawings(result, span, prefix="of-", moves=True)
    ]
    if result.findings:
        lines = [
            element("li", element("strong", f.diagnosis), f": {f.text}") for f in result.findings
        ]
        parts += [element("p", "It found:"), element("ul", *lines)]
    if result.figures:
        parts.append(_figures(ran.title, result.figures))
    if result.intervals:
        parts.append(_intervals(result))
    parts += [
        _table(result.name, name, frame) for name, frame in result.tables.items() if len(frame)
    ]
    return element("section", *parts, css="analysis", id=f"analysis-{result.name}")


def _figures(title: str, figures: Sequence[Figure]) -> Html:
    shown = listing("", figures, FIGURES)
    if len(figures) <= _OPEN_FIGURES:
        return shown
    return element("details", element("summary", f"{len(figures)} figures: {title}"), shown)


FIGURES: dict[str, Callable[[Figure], str]] = {
    "figure": lambda figure: figure.label,
    "#value": lambda figure: "not known" if figure.value is None else figure_text(figure)[0],
    "unit": lambda figure: figure_text(figure)[1],
    "rests on": lambda figure: figure.note,
}
"""The columns of a table of figures."""


def _lengths_ps(of: _Kind) -> npt.NDArray[np.int64]:
    track, kind = of
    mine: npt.NDArray[np.int64] = np.flatnonzero([name == kind for name in track.kind])
    return np.asarray(track.t_end_ps - track.t_ps, np.int64)[mine]


_Kind = tuple[Intervals, str]
_OF_KIND: dict[str, Callable[[_Kind], str]] = {
    "track": lambda of: of[0].label,
    "kind": lambda of: of[1],
    "#count": lambda of: f"{len(_lengths_ps(of)):,}",
    "#in all": lambda of: format_ps(int(_lengths_ps(of).sum())),
    "#longest": lambda of: format_ps(int(_lengths_ps(of).max())),
}


def _intervals(result: AnalysisResult) -> Html:
    kinds = [(track, kind) for track in result.intervals for kind in dict.fromkeys(track.kind)]
    if not kinds:
        return Html("")
    shown = listing("", kinds, _OF_KIND)
    return element("details", element("summary", "Intervals, kind by kind"), shown)


def _table(analysis: str, name: str, frame: pd.DataFrame) -> Html:
    caption = f"Table {name}: {len(frame):,} row{'s' if len(frame) > 1 else ''}"
    if len(frame) > _ROWS:
        caption = (
            f"Table {name}: the first {_ROWS:,} of {len(frame):,} rows; all of them: "
            f"freezeframe analyze CAPTURE.ff {analysis} --tables DIR"
        )
    return element("details", element("summary", caption), frame_table(frame, caption, _ROWS))
