"""What a benchmark hands back, how long a call takes, and the table that ``make bench`` prints."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

FAST_COPY_B_S = 20e9
_COPIED_B = 200_000_000


@dataclass(frozen=True, slots=True)
class BenchResult:
    """One speed, and its ratio to a peer or a limit measured in the same run.

    ``value`` is in ``unit`` (a rate: more is better). ``ratio`` is ours over ``against``. ``asked`` is the least that
    will do, of the ratio or (``asked_of="value"``) of the value itself; None when the figure is only for information.
    """

    name: str
    value: float
    unit: str
    ratio: float
    against: str
    asked: float | None = None
    asked_of: Literal["ratio", "value"] = "ratio"

    @property
    def met(self) -> bool:
        """Whether what was asked is reached; true when nothing was asked."""
        return self.asked is None or getattr(self, self.asked_of) >= self.asked


def median_s(
    call: Callable[[], object], repeats: int = 5, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Return the median seconds of ``repeats`` calls, after one call that is not counted.

    The uncounted call compiles kernels and touches the memory for the first time. For a speed on
    one core pass ``time.process_time``: what other programs take of the machine is not counted.
    """
    call()
    times = []
    for _ in range(repeats):
        start = clock()
        call()
        times.append(clock() - start)
    return statistics.median(times)


def copied_B_s() -> float:
    """Return how many bytes numpy copies in a second, far above the size of any cache.

    What is asked of a rate in memory is asked of a machine that copies `FAST_COPY_B_S`, and of others in proportion.
    """
    source = np.ones(_COPIED_B, np.uint8)
    target = np.zeros_like(source)
    return _COPIED_B / median_s(lambda: np.copyto(target, source), clock=time.process_time)


def table(results: Iterable[BenchResult]) -> str:
    """Return the results as a Markdown table that also reads well in a terminal."""
    rows = [("what", "measured", "ratio", "against", "asked", "")]
    for r in results:
        asked = "" if r.asked is None else f">= {_number(r.asked)} {_asked_unit(r)}".rstrip()
        verdict = "" if r.asked is None else ("met" if r.met else "NOT MET")
        measured = f"{_number(r.value)} {r.unit}"
        rows.append((r.name, measured, f"{_number(r.ratio)} x", r.against, asked, verdict))
    widths = [max(len(row[i]) for row in rows) for i in range(6)]
    lines = [
        "| " + " | ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]]) + "\n"


def main(run: Callable[[], list[BenchResult]]) -> None:
    """Run one benchmark module as a script: print its table, exit 1 when something asked is not met."""
    results = run()
    print(table(results), end="")
    raise SystemExit(any(not r.met for r in results))


def _asked_unit(result: BenchResult) -> str:
    return "x" if result.asked_of == "ratio" else result.unit


def _number(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
