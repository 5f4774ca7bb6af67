"""The analysis ``pressure``: its declaration; `freezeframe.analyzers.pressure.analysis_code` computes it."""

from __future__ import annotations

from freezeframe.analyzers.contract import Analysis
from freezeframe.capture.code import code

PRESSURE = Analysis(
    id="pressure",
    title="Back-pressure",
    summary="When each flow waited for credit, which resource it waited for, and what finer credits would gain.",
    run=code("freezeframe.analyzers.pressure.analysis_code:run"),
    card_summary="In how many cycles packets waited at each tap, where these were, and which stream stands still.",
    run_card=code("freezeframe.analyzers.card.pressure:run"),
    draws="waits",
)
