"""The analysis ``credits``: its declaration; `freezeframe.analyzers.credits.analysis_code` computes it."""

from __future__ import annotations

from freezeframe.analyzers.contract import Analysis
from freezeframe.capture.code import code

CREDITS = Analysis(
    id="credits",
    title="Credit audit",
    summary="The account of every flow, what became of every credit and how long it took, and counters that slip.",
    run=code("freezeframe.analyzers.credits.analysis_code:run"),
    card_lacks="a log of credits as they are sent and taken",
    draws="words outstanding and credits that were lost",
)
