"""The analysis ``latency``: its declaration; `freezeframe.analyzers.latency.analysis_code` computes it."""

from __future__ import annotations

from freezeframe.analyzers.contract import Analysis
from freezeframe.capture.code import code

LATENCY = Analysis(
    id="latency",
    title="Latency breakdown",
    summary="How long messages took from the sender's first store to the receiver's memory, phase by "
    "phase, and which were the slowest.",
    run=code("freezeframe.analyzers.latency.analysis_code:latency"),
    card_summary="How long packets took from tap to tap along each path.",
    run_card=code("freezeframe.analyzers.card.latency:run"),
    draws="latencies",
)
