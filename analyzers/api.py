"""What analyses offer to programs: explain, analyze, check and diff of captures, opened or by their path."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import overload

from freezeframe.analyzers.analysis import AnalysisResult
from freezeframe.analyzers.conservation.analysis_code import Checked, check_laws
from freezeframe.analyzers.explain import explain
from freezeframe.analyzers.registry import load_analyses
from freezeframe.analyzers.run_diff.compare import RunDiff, diff_runs
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.folder.reader import CaptureFolder, as_recording

__all__ = ["analyze", "check", "diff", "explain"]


@overload
def analyze(
    capture: CaptureFolder | Path | str, name: str, /, *, devices: Sequence[str] | None = None
) -> AnalysisResult: ...
@overload
def analyze(
    capture: CaptureFolder | Path | str, /, *, devices: Sequence[str] | None = None
) -> dict[str, AnalysisResult]: ...
@overload
def analyze(
    capture: CaptureFolder | Path | str, first: str, second: str, /, *names: str, devices: Sequence[str] | None = None
) -> dict[str, AnalysisResult]: ...  # fmt: skip
def analyze(
    capture: CaptureFolder | Path | str, *names: str, devices: Sequence[str] | None = None
) -> AnalysisResult | dict[str, AnalysisResult]:
    """Run analyses by name, as ``freezeframe analyze`` lists them, on one decoding of a recording.

    Returns:
        One result for one name; else all by name, in the order asked; without a name all there are.
    Raises:
        InputError: the capture cannot be opened, has no such device, or no analysis has that name.
    """
    registry = load_analyses()
    chosen = [registry.find(name) for name in names or sorted(registry.analyses)]
    view = CaptureView(as_recording(capture), devices)
    results = {analysis.id: analysis.run(view) for analysis in chosen}
    return results[names[0]] if len(names) == 1 else results


def check(capture: CaptureFolder | Path | str) -> list[Checked]:
    """Return each conservation law of a recording: holds, broken or not checkable, with its terms.

    Raises:
        InputError: the capture cannot be opened.
    """
    return check_laws(CaptureView(as_recording(capture)))


def diff(good: CaptureFolder | Path | str, bad: CaptureFolder | Path | str) -> RunDiff:
    """Return where two recordings part, and what changed in their numbers.

    Raises:
        InputError: a capture cannot be opened.
    """
    return diff_runs(CaptureView(as_recording(good)), CaptureView(as_recording(bad)))
