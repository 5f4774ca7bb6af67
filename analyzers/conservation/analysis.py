"""The analysis ``conservation``: its declaration; `freezeframe.analyzers.conservation.analysis_code` computes it."""

from __future__ import annotations

from freezeframe.analyzers.contract import Analysis
from freezeframe.capture.code import code

CONSERVATION = Analysis(
    id="conservation",
    title="Conservation laws",
    summary="Whether counters, frozen registers and traces of a capture add up, and which terms do not.",
    run=code("freezeframe.analyzers.conservation.analysis_code:run"),
    card_summary="Whether the counters of the card add up, by its own laws and those that follow from its paths.",
    run_card=code("freezeframe.analyzers.card.conservation:run"),
    draws="",
)
