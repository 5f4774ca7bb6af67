"""The analysis ``taps``: its declaration; `freezeframe.analyzers.taps.analysis_code` computes it."""

from __future__ import annotations

from freezeframe.analyzers.contract import Analysis
from freezeframe.capture.code import code

TAPS = Analysis(
    id="taps",
    title="Tap comparison",
    summary="Which words were omitted, duplicated, altered or reordered between the taps, and where first.",
    run=code("freezeframe.analyzers.taps.analysis_code:run"),
    card_summary="What became of each packet between two taps of a path.",
    run_card=code("freezeframe.analyzers.card.taps:run"),
    draws="",
)
