"""What an opened capture gets after its first picture: what went wrong, then what each analysis measured."""

from __future__ import annotations

from freezeframe.analyzers.explain import explain
from freezeframe.analyzers.registry import AnalysisRegistry
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.code import code
from freezeframe.capture.folder import CaptureFolder
from freezeframe.decoders.trace.decode import Trace
from freezeframe.gui.desktop.progress import Progress
from freezeframe.gui.desktop.sources.opened import Opened, Part
from freezeframe.gui.tracks.recording import finding_track

_analysis_parts = code(
    "freezeframe.gui.desktop.sources.analysis_tables:analysis_parts"
)  # behind the findings


def go_on(opened: Opened, progress: Progress, registry: AnalysisRegistry | None = None) -> None:
    """Give `Part` after `Part`: the findings, then each analysis.

    Raises:
        Cancelled: it is no longer wanted.
    """
    folder, trace = opened.folder, opened.trace
    assert folder is not None and trace is not None, "only recordings are explained"
    progress.give(_explained(opened.key, opened.name, folder, trace, progress))
    progress.wait_until_shown()  # the first finding, marked and told, before what nobody has asked for yet
    view = CaptureView(folder, trace=trace)
    for found in _analysis_parts(opened.key, opened.name, view, registry, progress):
        progress.give(found)


def _explained(
    key: str, name: str, folder: CaptureFolder, trace: Trace, progress: Progress
) -> Part:
    progress.report(0, 0, "explaining")
    explanation = explain(folder, trace=trace)
    progress.check()
    findings = list(explanation.findings)
    return Part(
        tracks=[(finding_track(key, name, findings), None)],
        findings=findings,
        remarks=list(explanation.notes),
    )
