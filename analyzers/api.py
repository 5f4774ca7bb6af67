"""Analyses by name for programs: what ``freezeframe.capture.analyze`` calls through its entry point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from freezeframe.analyzers.analysis import AnalysisResult, Material
from freezeframe.analyzers.registry import load_analyses
from freezeframe.capture.errors import InputError

if TYPE_CHECKING:
    from freezeframe.capture.folder import CaptureFolder

__all__ = ["analyze"]


def analyze(
    capture: CaptureFolder, names: Sequence[str], devices: Sequence[str] | None = None
) -> AnalysisResult | dict[str, AnalysisResult]:
    """Run analyses on one decoding of a capture.

    Returns:
        One result for one name, else all by name, in the order asked; without a name all there are.
    Raises:
        InputError: no analysis of that name, or the capture has no such device.
    """
    registry = load_analyses()
    chosen = [registry.find(name) for name in names or sorted(registry.analyses)]
    known = [device.name for device in capture.devices]
    for name in devices or ():
        if name not in known:
            raise InputError(
                f"{capture.path}: no device {name!r}; the capture holds {', '.join(known)}"
            )
    material = Material(capture, devices)
    results = {analysis.id: analysis.run(material) for analysis in chosen}
    return results[names[0]] if len(names) == 1 else results
