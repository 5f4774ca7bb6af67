"""What each named analysis found, as tables and tracks of the window."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from freezeframe.analyzers.analysis import AnalysisResult
from freezeframe.analyzers.card.view import CardsView, run_analysis
from freezeframe.analyzers.declarations import PRESSURE
from freezeframe.analyzers.registry import AnalysisRegistry, load_analyses
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.errors import FreezeframeError
from freezeframe.decoders.trace.decode import Trace
from freezeframe.gui.desktop.progress import Cancelled, Progress
from freezeframe.gui.desktop.sources.opened import Part, Table
from freezeframe.gui.tracks.analysis import analysis_tracks, intervals_key, waits_told

_WAITS = "waits"


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
        except Cancelled:
            raise
        # Someone else's analysis can fail in any way; the window has the others.
        except Exception as error:
            kind = "" if isinstance(error, FreezeframeError) else f"{type(error).__name__}: "
            yield Part(remarks=[f"analysis {analysis.id}: {kind}{error}"])
            continue
        yield Part(
            tables=list(result_tables(result, trace)),
            tracks=list(analysis_tracks(key, name, trace, result)),
            analyses=[result],
            remarks=[f"{analysis.id}: {note}" for note in result.notes],
        )


def result_tables(result: AnalysisResult, trace: Trace | None) -> Iterator[Table]:
    """Yield the figures, the intervals and the tables of a result as tables of the window.

    Of waits for credit they are those of the recording once more: its own table takes what each was for.
    """
    if result.figures:
        yield Table(f"{result.name}: figures", figures_table(result), doc="numbers of the analysis")
    told = trace is not None and result.name == PRESSURE.id and _WAITS in result.tables
    if trace is not None and told:
        yield Table("intervals", told_waits(trace, result), doc="when a flow waited, and for what")
    for number, one in enumerate(() if told else result.intervals):
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
        if not (told and title == _WAITS):
            yield Table(f"{result.name}: {title}", table.reset_index(drop=True))
    if result.findings:
        yield Table(
            f"{result.name}: findings", _findings(result), doc="what the analysis found wrong"
        )


def told_waits(trace: Trace, result: AnalysisResult) -> pd.DataFrame:
    """Return the table of waits of a recording with what each was for, in columns after its own."""
    waits, place = trace.intervals.reset_index(drop=True), ["device", "t_ps", "flow"]
    said = result.tables[_WAITS].rename(columns={"kind": "waited_for"})
    said["device"] = said.pop("direction").astype(str).str.partition("->")[0]
    said = said.drop(columns="t_end_ps").drop_duplicates(place).set_index(place)
    said = said.convert_dtypes()  # whole numbers stay so beside what is not known
    places = pd.MultiIndex.from_frame(waits[place].astype({"device": str}))
    words = waits_told(result)
    waits["text"] = [words.get(one, "") for one in places]
    return waits.join(said.reindex(places).reset_index(drop=True))


def figures_table(result: AnalysisResult) -> pd.DataFrame:
    """Return the figures of a result, one a row; a value that the capture lacks is empty."""
    columns = ("name", "label", "amount", "unit", "plus_minus", "note")
    rows = [(f.name, f.label, f.value, f.unit, f.uncertainty, f.note) for f in result.figures]
    return pd.DataFrame(rows, columns=columns, dtype=object)


def _findings(result: AnalysisResult) -> pd.DataFrame:
    numbers = ("t_ps", "flow", "packet", "word")
    rows = [
        (f.t_ps, f.diagnosis, f.device, f.tap, f.flow, f.packet, f.word, f.text)
        for f in result.findings
    ]
    columns = ("t_ps", "kind", "device", "tap", "flow", "packet", "word", "text")
    frame = pd.DataFrame(rows, columns=columns, dtype=object)
    return frame.astype(dict.fromkeys(numbers, "Int64"))
