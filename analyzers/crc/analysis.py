"""The analysis ``crc``: its declaration; `freezeframe.analyzers.crc.analysis_code` computes it."""

from __future__ import annotations

from freezeframe.analyzers.contract import Analysis
from freezeframe.capture.code import code

CRC = Analysis(
    id="crc",
    title="CRC forensics",
    summary="What can have happened to each packet with a wrong CRC, and how many explanations fit equally well.",
    run=code("freezeframe.analyzers.crc.analysis_code:run"),
    card_summary="Which packets pass the checks of their format at each tap, and why others do not.",
    run_card=code("freezeframe.analyzers.card.crc:run"),
    draws="",
)
