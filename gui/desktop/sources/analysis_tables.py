"""What each named analysis found, as tables and tracks of the window."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from freezeframe.analyzers.analysis import AnalysisResult
from freezeframe.analyzers.card.view import CardsView, run_analysis
from freezeframe.analyzers.registry import AnalysisRegistry, load_analyses
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.errors import FreezeframeError
from freezeframe.gui.desktop.progress import Progress
from freezeframe.gui.desktop.sources.opened import Part, Table
from freezeframe.gui.tracks.analysis import intervals_key
from freezeframe.gui.tracks.recording import analysis_tracks


def analysis_parts(
    key: str,
    name: str,
    view: CaptureView | CardsView,
    registry: AnalysisRegistry | None,
    progress: Progress,
) -> Iterator[Part]:
    """Yield what each analysis found; one that fails is a remark and stops none of the others.

    Args:
        registry: the analyses; None for all that are installed.
    """
    trace = view.trace if isinstance(view, CaptureView) else None
    known = load_analyses() if registry is None else registry
    yield Part(remarks=[f"analysis {n} does not load: {why}" for n, why in known.broken.items()])
    for number, analysis in enumerate(known.analyses.values()):
        progress.report(number, len(known.analyses), f"analysis {analysis.id}")
        try:
            result = run_analysis(analysis, view)
        except FreezeframeError as error:
            yield Part(remarks=[f"analysis {analysis.id}: {error}"])
            continue
        yield Part(
            tables=list(result_tables(result)),
            tracks=list(analysis_tracks(key, name, trace, result)),
            analyses=[result],
            remarks=[f"{analysis.id}: {note}" for note in result.notes],
        )


def result_tables(result: AnalysisResult) -> Iterator[Table]:
    """Yield the figures, the intervals and the tables of a result as tables of the window."""
    if result.figures:
        yield Table(f"{result.name}: figures", figures_table(result), doc="numbers of the analysis")
    for number, one in enumerate(result.intervals):
        frame = pd.DataFrame(
            {
                "t_ps": one.t_ps,
                "kind": pd.Categorical(list(one.kind)),
                "t_end_ps": one.t_end_ps,
                "flow": one.flow,
                "text": list(one.text),
                "open_start": one.open_start,
                "open_end": one.open_end,
            }
        )
        yield Table(intervals_key(result, number), frame, lambda row: str(row["text"]))
    for title, table in result.tables.items():
        yield Table(f"{result.name}: {title}", table.reset_index(drop=True))
    if result.findings:
        yield Table(
            f"{result.name}: findings", _findings(result), doc="what the analysis found wrong"
        )


def figures_table(result: AnalysisResult) -> pd.DataFrame:
    """Return the figures of a result, one a row; a value that the capture lacks is empty."""
    return pd.DataFrame(
        {
            "name": [figure.name for figure in result.figures],
            "label": [figure.label for figure in result.figures],
            "amount": pd.Series([figure.value for figure in result.figures], dtype=object),
            "unit": [figure.unit for figure in result.figures],
            "plus_minus": pd.Series(
                [figure.uncertainty for figure in result.figures], dtype=object
            ),
            "note": [figure.note for figure in result.figures],
        }
    )


def _findings(result: AnalysisResult) -> pd.DataFrame:
    found = result.findings
    columns: dict[str, list[Any]] = {
        "t_ps": [one.t_ps for one in found],
        "kind": [one.diagnosis for one in found],
        "device": [one.device for one in found],
        "tap": [one.tap for one in found],
        "flow": [one.flow for one in found],
        "packet": [one.packet for one in found],
        "word": [one.word for one in found],
        "text": [one.text for one in found],
    }
    numbers = ("t_ps", "flow", "packet", "word")
    return pd.DataFrame(
        {
            name: pd.array(values, dtype="Int64")
            if name in numbers
            else pd.Series(values, dtype=object)
            for name, values in columns.items()
        }
    )
