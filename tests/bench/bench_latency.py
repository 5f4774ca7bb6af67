"""Speed of matching events to messages and summing up their phases, one core, columns in memory.

The peer is what numpy offers for the same sums: sort by message and take differences. It gives the same answer
first. The columns are far larger than any cache.
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np

from freezeframe.analyzers.latency.match import EventBatch, PhaseAnalyzer, PhaseResult
from freezeframe.analyzers.latency.phases import phase_table
from tests.bench.common import BenchResult, main, median_s

MESSAGES = 2_000_000
SEGMENTS = 100
MEGA = 1e6
core_s = partial(median_s, clock=time.process_time)


def events(stages: int) -> EventBatch:
    """Return the events of messages whose 16-bit numbers come again and of which several overlap, by time."""
    generator = np.random.default_rng(1)
    steps = generator.integers(10_000, 700_000, (MESSAGES, stages))
    times = np.cumsum(steps, axis=1) + np.arange(MESSAGES)[:, None] * 900_000
    order = np.argsort(times.ravel(), kind="stable")
    number = np.repeat(np.arange(MESSAGES) & 0xFFFF, stages)
    stage = np.tile(np.arange(stages), MESSAGES)
    return EventBatch(
        times.ravel()[order], number[order].astype(np.int32), stage[order].astype(np.uint8)
    )


def by_sorting(batch: EventBatch, stages: int) -> list[tuple[int, int, int]]:
    """Return sum, least and most of each phase: the peer. It needs every message complete."""
    # Within a key the order of time is the order of its messages; a stable sort keeps it.
    order = np.argsort(batch.key, kind="stable")
    times = batch.t_ps[order].reshape(-1, stages)
    made = []
    for phase in range(stages - 1):
        spans = times[:, phase + 1] - times[:, phase]
        made.append((int(spans.sum()), int(spans.min()), int(spans.max())))
    return made


def bench_table(name: str) -> list[BenchResult]:
    """Match the events of a phase table: at once, and in segments that are merged."""
    table = phase_table(name)
    stages = len(table.events)
    batch = events(stages)
    analyzer = PhaseAnalyzer(table)

    def at_once() -> PhaseResult:
        return analyzer.finish(analyzer.step(analyzer.init(), batch))

    def in_segments() -> PhaseResult:
        state = analyzer.init()
        for part in np.array_split(np.arange(len(batch.t_ps)), SEGMENTS):
            here = slice(int(part[0]), int(part[-1]) + 1)
            piece = EventBatch(batch.t_ps[here], batch.key[here], batch.stage[here])
            state = analyzer.merge([state, analyzer.step(analyzer.init(), piece)])
        return analyzer.finish(state)

    found = at_once()
    if found.complete != MESSAGES:
        raise AssertionError(f"{found.complete} of {MESSAGES} messages were matched")
    if [(p.sum_ps, p.min_ps, p.max_ps) for p in found.phases] != by_sorting(batch, stages):
        raise AssertionError("numpy finds other phases")
    if in_segments() != found:
        raise AssertionError(f"{SEGMENTS} segments give another result")
    n = len(batch.t_ps)
    own_s = core_s(at_once)
    peer_s = core_s(lambda: by_sorting(batch, stages), repeats=3)
    parts_s = core_s(in_segments, repeats=3)
    what = f"latency, {len(table.phases)} phases ({name})"
    against = "numpy: stable sort and differences"
    return [
        BenchResult(what, n / own_s / MEGA, "Mevent/s", peer_s / own_s, against, 100, "value"),
        BenchResult(
            f"{what}, {SEGMENTS} segments merged", n / parts_s / MEGA, "Mevent/s",
            own_s / parts_s, "the same at once",
        ),
    ]  # fmt: skip


def run() -> list[BenchResult]:
    """Run all; about a minute and 1.5 GB."""
    return [*bench_table("nic"), *bench_table("bridge")]


if __name__ == "__main__":
    main(run)
