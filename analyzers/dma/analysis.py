"""The analysis ``dma``: its declaration; `freezeframe.analyzers.dma.analysis_code` computes it."""

from __future__ import annotations

from freezeframe.analyzers.contract import Analysis
from freezeframe.capture.code import code

DMA = Analysis(
    id="dma",
    title="DMA and interrupts",
    summary="What the DMA engines did on the bus (data cycles, split waits, retries), and whether each "
    "transfer was finished, told to its host and interrupted for.",
    run=code("freezeframe.analyzers.dma.analysis_code:dma"),
    card_lacks="a log of descriptors and transfers",
    draws="transfers",
)
