"""The analysis ``host``: its declaration; `freezeframe.analyzers.host_code` computes it."""

from __future__ import annotations

from freezeframe.analyzers.contract import Analysis
from freezeframe.capture.code import code

HOST = Analysis(
    id="host",
    title="Interrupts and their handlers",
    summary="Whether the host's handler ran for each interrupt of the card, and how long it took to be entered.",
    run=code("freezeframe.analyzers.host_code:run"),
    card_lacks="the computer's trace of its interrupts beside the recording",
    draws="handlers of interrupts and messages of the kernel",
)
