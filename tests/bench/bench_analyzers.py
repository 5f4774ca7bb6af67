"""Speed of the analyzers that work over columns: the sampler's series and the credit ledger.

Each gives the same answer as its peer in numpy first. The columns are far larger than any cache.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.credits.columns import SENT, TAKEN, ColumnLedger, LedgerBatch
from freezeframe.analyzers.throughput.samples import SampleBatch, SamplerAnalyzer
from tests.bench.common import BenchResult, main, median_s

SAMPLES = 16_000_000
EVENTS = 16_000_000
FLOWS = 8
CREDIT_W = 13
MEGA = 1e6
core_s = partial(median_s, clock=time.process_time)


def samples(idle: float) -> npt.NDArray[np.uint32]:
    """Return cumulative counts of a link at random load, without a word in a share of the intervals."""
    generator = np.random.default_rng(1)
    words = generator.integers(1, 800, (SAMPLES, 2))
    words[generator.random(SAMPLES) < idle] = 0
    return np.cumsum(words, axis=0).astype(np.uint32)


def numpy_summary(counts: npt.NDArray[np.uint32]) -> list[tuple[int, int, int, int]]:
    """The peer: sum, least, most and intervals without a word of each direction."""
    words = np.diff(counts, axis=0)  # uint32: wraps as the counts do
    return [
        (int(w.sum(dtype=np.int64)), int(w.min()), int(w.max()), int((w == 0).sum()))
        for w in words.T
    ]


def bench_samples(name: str, idle: float, asked: float | None) -> BenchResult:
    counts = samples(idle)
    analyzer = SamplerAnalyzer(per_bin=512, full_words=790)

    def ours() -> Any:
        return analyzer.finish(analyzer.step(analyzer.init(), SampleBatch(counts)))

    found = ours()
    mine = [(way.words, way.least, way.most, way.idle) for way in (found.out, found.into)]
    if mine != numpy_summary(counts):
        raise AssertionError("numpy sums the samples up to something else")
    own_s, peer_s = core_s(ours), core_s(lambda: numpy_summary(counts), repeats=3)
    rate = len(counts) / own_s / MEGA
    against = "numpy diff, sum, min, max, zeros; without runs and bins"
    return BenchResult(name, rate, "Msample/s", peer_s / own_s, against, asked, "value")


def events() -> LedgerBatch:
    """Return words sent and credits taken of eight flows, in random order of flows."""
    generator = np.random.default_rng(2)
    flow = generator.integers(0, FLOWS, EVENTS).astype(np.uint8)
    event = np.where(generator.random(EVENTS) < 0.5, SENT, TAKEN).astype(np.uint8)
    value = np.full(EVENTS, 64, np.int32)
    for number in range(FLOWS):
        mine = np.flatnonzero((flow == number) & (event == TAKEN))
        value[mine] = np.arange(len(mine)) * 64 & (1 << CREDIT_W) - 1
    return LedgerBatch(flow, event, value)


def numpy_ledger(batch: LedgerBatch) -> list[tuple[int, int, int]]:
    """The peer: words, credits and words credited of each flow, by masks."""
    found = []
    for number in range(FLOWS):
        mine = batch.flow == number
        words = int(batch.value[mine & (batch.event == SENT)].sum(dtype=np.int64))
        credits = batch.value[mine & (batch.event == TAKEN)]
        steps = np.diff(credits) & (1 << CREDIT_W) - 1
        found.append((words, len(credits), int(steps.sum(dtype=np.int64))))
    return found


def bench_ledger() -> BenchResult:
    batch = events()
    ledger = ColumnLedger(FLOWS, CREDIT_W)

    def ours() -> Any:
        return ledger.finish(ledger.step(ledger.init(), batch))

    if [(f.words, f.credits, f.credited) for f in ours()] != numpy_ledger(batch):
        raise AssertionError("numpy keeps other books")
    own_s, peer_s = core_s(ours), core_s(lambda: numpy_ledger(batch), repeats=3)
    rate = EVENTS / own_s / MEGA
    against = "numpy masks; words and steps only, nothing outstanding"
    return BenchResult(
        "credit ledger, 8 flows", rate, "Mevent/s", peer_s / own_s, against, 100, "value"
    )


def bench_merge() -> BenchResult:
    """A hundred segments merged, against one: the cost of cutting."""
    counts = samples(0.0)
    analyzer = SamplerAnalyzer(per_bin=512)
    size = -(-len(counts) // 100)
    cuts = range(0, len(counts), size)

    def cut() -> Any:
        parts = [analyzer.step(analyzer.init(), SampleBatch(counts[a : a + size], a)) for a in cuts]
        return analyzer.finish(analyzer.merge(parts))

    def one() -> Any:
        return analyzer.finish(analyzer.step(analyzer.init(), SampleBatch(counts)))

    a, b = cut(), one()
    if (a.out, a.into, a.bin_words.tolist()) != (b.out, b.into, b.bin_words.tolist()):
        raise AssertionError("a hundred segments give another result than one")
    own_s, peer_s = core_s(cut), core_s(one)
    name = "sampler series, 100 segments merged"
    return BenchResult(
        name, len(counts) / own_s / MEGA, "Msample/s", peer_s / own_s, "the same in one piece"
    )


def run() -> list[BenchResult]:
    """Run all; about half a minute and 1 GB."""
    return [
        bench_samples("sampler series", 0.0, 500),
        bench_samples("sampler series, 30 % of intervals idle at random", 0.3, None),
        bench_merge(),
        bench_ledger(),
    ]


if __name__ == "__main__":
    main(run)
