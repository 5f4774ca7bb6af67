"""The analysis ``transactions`` of a capture with the built-in map: it says that there are none."""

from __future__ import annotations

from freezeframe.analyzers.analysis import AnalysisResult
from freezeframe.analyzers.view import CaptureView


def run(view: CaptureView) -> AnalysisResult:
    """Return no figure, and a note that says why."""
    return AnalysisResult(
        "transactions",
        notes=(
            "could not be asked: needs a card file with [transactions]; the built-in map has no transaction IDs",
        ),
    )
