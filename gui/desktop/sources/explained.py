"""What an opened capture gets after its first picture: what went wrong, then what each analysis measured."""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.analyzers.card.view import run_analysis
from freezeframe.analyzers.explain import explain
from freezeframe.analyzers.registry import AnalysisRegistry, load_analyses
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.errors import FreezeframeError
from freezeframe.capture.folder import CaptureFolder
from freezeframe.decoders.trace.decode import Trace
from freezeframe.gui.desktop.progress import Progress
from freezeframe.gui.desktop.sources.analysis_tables import result_tables
from freezeframe.gui.desktop.sources.opened import Opened, Part
from freezeframe.gui.tracks.analysis import result_tracks
from freezeframe.gui.tracks.recording import finding_track


def go_on(
    opened: Opened,
    progress: Progress,
    registry: AnalysisRegistry | None = None,
    decoded: Trace | None = None,
) -> None:
    """Give `Part` after `Part`: the findings, then each analysis.

    Args:
        decoded: what was decoded of the recording just now; None: that is done for the findings.
    Raises:
        Cancelled: it is no longer wanted.
    """
    folder, trace = opened.folder, opened.trace
    assert folder is not None and trace is not None, "only recordings are explained"
    progress.give(_explained(opened.key, opened.name, folder, decoded, progress))
    for found in _analyses(opened.key, opened.name, folder, trace, registry, progress):
        progress.give(found)


def _explained(
    key: str, name: str, folder: CaptureFolder, decoded: Trace | None, progress: Progress
) -> Part:
    progress.report(0, 0, "explaining")
    explanation = explain(folder, trace=decoded)
    progress.check()
    findings = list(explanation.findings)
    return Part(
        tracks=[(finding_track(key, name, findings), None)],
        findings=findings,
        remarks=list(explanation.notes),
    )


def _analyses(
    key: str,
    name: str,
    folder: CaptureFolder,
    trace: Trace,
    registry: AnalysisRegistry | None,
    progress: Progress,
) -> Iterator[Part]:
    """Run every analysis; one that fails is a remark and stops none of the others."""
    known = load_analyses() if registry is None else registry
    view = CaptureView(folder, trace=trace)
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
            tracks=list(result_tracks(key, name, result)),
            analyses=[result],
            remarks=[f"{analysis.id}: {note}" for note in result.notes],
        )
