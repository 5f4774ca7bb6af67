"""Which faults of the open world the simulated board has, too: in cells and registers of the Verilog as it runs.

`firmware-hooks/board/cells.cpp` makes them.
"""

from __future__ import annotations

IN_VERILOG: tuple[str, ...] = (
    "out-bit",
    "out-words-swapped",
    "out-bytes-swapped",
    "out-word-stale",
    "out-header-flow",
    "link-burst",
    "link-word-zero",
    "link-words-swapped",
    "link-bit-stuck",
    "lanes-crossed",
    "lane-idle",
    "lane-inverted",
    "in-bit",
    "in-words-swapped",
    "in-bytes-swapped",
    "in-word-zero",
    "in-word-stale",
    "in-header-flow",
    "trace-bit-upset",
    "trace-two-bits-upset",
    "trace-column-upset",
    "trace-kind-upset",
    "trace-time-upset",
    "trace-bit-stuck",
    "log-bit-upset",
    "log-time-upset",
    "level-one-off",
    "level-upset",
    "flow-count-upset",
    "flow-limit-read-upset",
    "flow-words-upset",
    "sequence-upset",
    "freeze-cycle-upset",
    "underflows-upset",
    "completions-upset",
    "counter-upset",
)
