"""What analyses offer to programs: explain, analyze, check and diff of captures, opened or by their path."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import overload

from freezeframe.analyzers import explain as _explain
from freezeframe.analyzers.analysis import AnalysisResult, Material
from freezeframe.analyzers.conservation.analysis import Checked, check_laws
from freezeframe.analyzers.contract import Explanation
from freezeframe.analyzers.registry import load_analyses
from freezeframe.analyzers.run_diff.compare import RunDiff, diff_runs
from freezeframe.capture.errors import InputError
from freezeframe.capture.folder.opening import as_recording
from freezeframe.capture.folder.reader import CaptureFolder

__all__ = ["analyze", "check", "diff", "explain"]


def explain(
    capture: CaptureFolder | Path | str, devices: Sequence[str] | None = None
) -> Explanation:
    """Return what went wrong in a recording: findings, best first, and what limits the answer.

    Args:
        devices: names of the devices whose recordings may be used; all without.
    Raises:
        InputError: the capture cannot be opened, or has no such device.
    """
    return _explain.explain(as_recording(capture), devices)


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
    folder = as_recording(capture)
    registry = load_analyses()
    chosen = [registry.find(name) for name in names or sorted(registry.analyses)]
    known = [device.name for device in folder.devices]
    for name in devices or ():
        if name not in known:
            raise InputError(
                f"{folder.path}: no device {name!r}; the capture holds {', '.join(known)}"
            )
    material = Material(folder, devices)
    results = {analysis.id: analysis.run(material) for analysis in chosen}
    return results[names[0]] if len(names) == 1 else results


def check(capture: CaptureFolder | Path | str) -> list[Checked]:
    """Return each conservation law of a recording: holds, broken or not checkable, with its terms.

    Raises:
        InputError: the capture cannot be opened.
    """
    return check_laws(Material(as_recording(capture)).view)


def diff(good: CaptureFolder | Path | str, bad: CaptureFolder | Path | str) -> RunDiff:
    """Return where two recordings part, and what changed in their numbers.

    Raises:
        InputError: a capture cannot be opened.
    """
    return diff_runs(Material(as_recording(good)), Material(as_recording(bad)))
