"""The sampler kernel: counts that wrap, gaps, runs without a word; one result from any grouping of segments."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.analyzers.throughput.samples import (
    SampleBatch,
    SamplerAnalyzer,
    SampleSummary,
)

Samples = np.ndarray[Any, np.dtype[np.uint32]]


def counts(*rows: tuple[int, int]) -> Samples:
    return np.array(rows, np.uint32)


def summary(*batches: tuple[int, Samples], per_bin: int = 1, full: int = 1000) -> SampleSummary:
    analyzer = SamplerAnalyzer(per_bin=per_bin, full_words=full)
    state = analyzer.init()
    for first, samples in batches:
        state = analyzer.step(state, SampleBatch(samples, first))
    return analyzer.finish(state)


def same(a: SampleSummary, b: SampleSummary) -> bool:
    return (
        (a.samples, a.intervals, a.out, a.into, a.bin_first)
        == (b.samples, b.intervals, b.out, b.into, b.bin_first)
        and a.bin_words.tolist() == b.bin_words.tolist()
        and a.bin_intervals.tolist() == b.bin_intervals.tolist()
    )


def test_an_interval_has_the_words_of_its_difference_also_across_the_wrap_of_32_bits() -> None:
    found = summary((0, counts((0xFFFFFFF0, 5), (0x10, 5), (0x110, 1005))))
    assert found.bin_words.tolist() == [[32, 0], [256, 1000]]
    assert (found.out.words, found.out.least, found.out.most) == (288, 32, 256)
    assert (found.into.idle, found.into.full) == (1, 1)


def test_an_interval_beside_a_sample_that_was_not_read_counts_nowhere() -> None:
    found = summary((0, counts((0, 0), (10, 0))), (3, counts((900, 0), (910, 0))))
    assert found.intervals == 2
    assert found.out.words == 20
    assert found.bin_words.tolist() == [[10, 0], [0, 0], [0, 0], [10, 0]]
    assert found.bin_intervals.tolist() == [1, 0, 0, 1]


def test_a_run_without_a_word_does_not_go_across_a_gap() -> None:
    still = np.zeros((4, 2), np.uint32)
    assert summary((0, still), (4, still)).out.idle_longest == 7
    assert summary((0, still), (5, still)).out.idle_longest == 3
    assert summary((0, still), (5, still[:1]), (7, still)).out.idle_longest == 3


def test_an_interval_may_hold_more_than_half_of_what_32_bits_can() -> None:
    assert summary((0, counts((0, 0), (0xFFFFFFFF, 0), (0xFFFFFFFE, 0)))).out.words == 0x1FFFFFFFE


def test_no_sample_and_one_sample_give_no_interval() -> None:
    assert summary().intervals == 0
    assert summary((0, np.zeros((0, 2), np.uint32))).samples == 0
    one = summary((7, counts((3, 4))))
    assert (one.samples, one.intervals, one.out.words) == (1, 0, 0)


@pytest.mark.parametrize(
    "wrong", [np.zeros((3, 2), np.int64), np.zeros(6, np.uint32), np.zeros((3, 3), np.uint32)]
)
def test_columns_of_another_shape_or_type_are_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"wanted uint32 \(n, 2\)"):
        summary((0, wrong))


def test_samples_that_go_back_are_refused() -> None:
    with pytest.raises(ValueError, match="samples from number 1 on do not follow those up to 1"):
        summary((0, counts((0, 0), (1, 1))), (1, counts((2, 2))))


def test_a_bin_and_a_limit_below_one_are_refused() -> None:
    for bad in ({"per_bin": 0}, {"full_words": 0}):
        with pytest.raises(ValueError, match="must be 1 or more"):
            SamplerAnalyzer(**bad)


def oracle(samples: Samples, read: list[bool], full: int) -> list[tuple[int, ...]]:
    """Words, least, most, idle, full and the longest idle run of each direction, with plain integers."""
    found: list[tuple[int, ...]] = []
    for way in range(2):
        column = [int(v) for v in samples[:, way]]
        words = [
            (b - a) % (1 << 32) if ra and rb else None
            for (a, ra), (b, rb) in itertools.pairwise(zip(column, read, strict=True))
        ]
        known = [w for w in words if w is not None]
        runs = [len(list(g)) for zero, g in itertools.groupby(words, key=lambda w: w == 0) if zero]
        found.append(
            (sum(known), min(known, default=0xFFFFFFFF), max(known, default=0), known.count(0),
             sum(w >= full for w in known), max(runs, default=0))
        )  # fmt: skip
    return found


steps = st.lists(
    st.tuples(st.sampled_from([0, 0, 0, 1, 5, 1000, 0xFFFFFFFF]), st.sampled_from([0, 0, 7, 2000])),
    min_size=1,
    max_size=40,
)


@settings(max_examples=150, deadline=None)
@given(steps, st.data())
def test_any_cut_and_any_grouping_give_what_plain_integers_give(
    moves: list[tuple[int, int]], data: st.DataObject
) -> None:
    start = np.array([[0xFFFFFF00, 3]], np.uint64)
    walk = np.cumsum(np.array(moves, np.uint64), axis=0, dtype=np.uint64) + start
    samples = (np.concatenate([start, walk]) & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    n = len(samples)
    read = data.draw(st.lists(st.booleans() | st.just(True), min_size=n, max_size=n))
    per_bin = data.draw(st.sampled_from([1, 2, 7, 600]))
    analyzer = SamplerAnalyzer(per_bin=per_bin, full_words=1000)
    cuts = sorted(data.draw(st.sets(st.integers(1, n - 1), max_size=6)))
    parts = []
    for a, b in itertools.pairwise([0, *cuts, n]):
        state = analyzer.init()
        for known, group in itertools.groupby(range(a, b), key=lambda i: read[i]):
            places = list(group)
            if known:
                state = analyzer.step(state, SampleBatch(samples[places], places[0]))
        parts.append(state)
    split = data.draw(st.integers(0, len(parts)))
    whole = analyzer.finish(analyzer.merge(parts))
    grouped = analyzer.finish(
        analyzer.merge([analyzer.merge(parts[:split]), analyzer.merge(parts[split:])])
    )
    assert same(whole, grouped)
    expected = oracle(samples, read, 1000)
    for way, wanted in zip((whole.out, whole.into), expected, strict=True):
        assert (way.words, way.least, way.most, way.idle, way.full, way.idle_longest) == wanted
    assert whole.bin_words.sum(axis=0).tolist() == [expected[0][0], expected[1][0]]


def test_a_hundred_segments_of_a_long_recording_give_the_same_as_one() -> None:
    generator = np.random.default_rng(5)
    moves = generator.integers(0, 800, (60_000, 2)) * (generator.random((60_000, 1)) < 0.7)
    moves[20_000:21_500] = 0
    samples = np.cumsum(moves, axis=0).astype(np.uint32)
    analyzer = SamplerAnalyzer(per_bin=64, full_words=790)
    whole = analyzer.finish(analyzer.step(analyzer.init(), SampleBatch(samples)))
    parts = [
        analyzer.step(analyzer.init(), SampleBatch(samples[a : a + 601], a))
        for a in range(0, len(samples), 601)
    ]
    assert len(parts) == 100
    assert same(whole, analyzer.finish(analyzer.merge(parts)))
    words = np.diff(samples.astype(np.int64), axis=0)
    assert whole.out.words == int(words[:, 0].sum())
    assert whole.out.idle == int((words[:, 0] == 0).sum())
    assert whole.out.idle_longest >= 1500
