"""The analysis ``throughput``: its declaration; `freezeframe.analyzers.throughput.analysis_code` computes it."""

from __future__ import annotations

from freezeframe.analyzers.contract import Analysis
from freezeframe.capture.code import code

THROUGHPUT = Analysis(
    id="throughput",
    title="Throughput",
    summary="How fast words went in each direction and flow, against the limits of link and bus; ramps and stalls.",
    run=code("freezeframe.analyzers.throughput.analysis_code:run"),
    card_summary="How fast bytes passed each tap, against a beat in each cycle.",
    run_card=code("freezeframe.analyzers.card.throughput:run"),
    draws="rates, their levels and stalls",
)
