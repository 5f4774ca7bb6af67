"""The pyramid of slices: class, share and errors of each pixel column, exact at any zoom."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.gui.plots.pyramid import TrackError
from freezeframe.gui.plots.slices import NOTHING, SlicePyramid, WavePyramid
from tests.gui.desktop.timeline.made import first_time_of, pixel_of


def built(t_ps: Any, t_end_ps: Any, **options: Any) -> SlicePyramid:
    ends = None if t_end_ps is None else np.asarray(t_end_ps, np.int64)
    pyramid = SlicePyramid(np.asarray(t_ps, np.int64), ends, **options)
    pyramid.build()
    return pyramid


@st.composite
def slices(draw: st.DrawFn, overlapping: bool) -> tuple[list[int], list[int], list[int]]:
    count = draw(st.integers(1, 300))
    gap = draw(st.sampled_from([1, 40, 7_000]))
    times = [i * gap + (i * i) % gap for i in range(count)]
    ends = []
    for i, t in enumerate(times):
        after = times[i + 1] if i + 1 < count else t + gap
        reach = draw(st.sampled_from([0, 1, gap, 30 * gap])) if i % 17 == 0 else (i * 7) % (gap + 1)
        ends.append(t + reach if overlapping else min(t + reach, after))
    return times, ends, [i * 5 % 3 for i in range(count)]


@given(
    slices(overlapping=False), st.integers(-100, 9_000), st.integers(1, 60_000), st.integers(1, 50)
)
@settings(deadline=None, max_examples=80)
def test_each_column_has_the_class_of_most_time_its_share_its_starts_and_its_errors(
    data: tuple[list[int], list[int], list[int]], t0: int, span: int, width: int
) -> None:
    times, ends, classes = data
    wrong = [i % 13 == 5 for i in range(len(times))]
    t1 = t0 + span
    pyramid = built(
        times, ends, colour=np.array(classes, np.uint8), classes=3, error=np.array(wrong)
    )
    columns = pyramid.columns(t0, t1, width)
    for px in range(width):
        begin = first_time_of(px, t0, t1, width)
        end = first_time_of(px + 1, t0, t1, width)
        starts = [i for i, t in enumerate(times) if t >= t0 and pixel_of(t, t0, t1, width) == px]
        stands = [i for i, t in enumerate(times) if t < begin and ends[i] > begin]
        assert columns.starts[px] == len(starts)
        assert columns.wrong[px] == sum(wrong[i] for i in starts + stands)
        if not starts + stands:
            assert columns.colour[px] == NOTHING and columns.cover[px] == 0
            continue
        taken = [0, 0, 0]
        for i in starts:  # one picosecond more each, so that events without length have a class
            taken[classes[i]] += min(ends[i], end) - times[i] + 1
        for i in stands:
            taken[classes[i]] += min(ends[i], end) - begin
        if starts:
            assert taken[columns.colour[px]] == max(taken)
            share = (sum(taken) - len(starts)) / max(end - begin, 1)
            assert columns.cover[px] == pytest.approx(share)
        else:
            assert columns.colour[px] == classes[stands[-1]]


@given(slices(overlapping=True), st.integers(0, 400_000))
@settings(deadline=None, max_examples=80)
def test_where_slices_overlap_the_last_one_that_began_is_found(
    data: tuple[list[int], list[int], list[int]], t_ps: int
) -> None:
    times, ends, _ = data
    pyramid = built(times, ends)
    stands = [i for i, (t, e) in enumerate(zip(times, ends, strict=True)) if t <= t_ps < e]
    assert pyramid.item_at(t_ps) == (stands[-1] if stands else _touching(times, ends, t_ps))


def _touching(times: list[int], ends: list[int], t_ps: int) -> int | None:
    before = [i for i, t in enumerate(times) if t <= t_ps]
    near = [i for i in (before[-1:] or [-1])[0:1] if i >= 0] + [
        i for i in [len(before)] if i < len(times)
    ]
    apart = [max(times[i] - t_ps, t_ps - ends[i], 0) for i in near]
    return next((i for i, d in zip(near, apart, strict=True) if d == 0), None)


def test_a_slice_under_a_hundred_thousand_shorter_ones_is_found_after_they_ended() -> None:
    times = np.arange(100_000, dtype=np.int64) * 10
    ends = times + 5
    ends[7] = 5_000_000
    pyramid = built(times, ends)
    assert pyramid.item_at(3_000_000) == 7
    columns = pyramid.columns(2_000_000, 4_000_000, 100)
    assert (columns.cover == 1).all() and columns.wide.tolist() == [7]
    assert pyramid.latest_end_ps == 5_000_000


def test_one_error_among_three_million_slices_is_seen_when_everything_is_in_view() -> None:
    count = 3_000_000
    t_ps = np.arange(count, dtype=np.int64) * 1000
    error = np.zeros(count, np.bool_)
    error[2_345_678] = True
    columns = built(t_ps, t_ps + 900, error=error).columns(0, count * 1000, 1000)
    assert np.flatnonzero(columns.wrong).tolist() == [2_345_678 // 3000]


def test_values_that_hold_until_the_next_need_no_ends_and_fill_every_column() -> None:
    columns = built(
        [0, 400], None, end_ps=1000, colour=np.array([1, 0], np.uint8), classes=2
    ).columns(0, 1000, 10)
    assert columns.colour.tolist() == [1] * 4 + [0] * 6
    assert (columns.cover == 1).all()


def test_items_wide_enough_for_a_label_are_named_once_and_in_order() -> None:
    pyramid = built([0, 300, 310, 320, 600], [290, 305, 315, 590, 990])
    assert pyramid.columns(0, 1000, 100, wide_px=16).wide.tolist() == [0, 3, 4]
    assert pyramid.columns(650, 750, 100, wide_px=16).wide.tolist() == [4]  # began before the view


@pytest.mark.parametrize("classes", [1, 4, 16])
def test_the_memory_stays_below_a_fifth_of_the_data_whatever_the_classes(classes: int) -> None:
    count = 1_000_000
    t_ps = np.arange(count, dtype=np.int64)
    colour = (t_ps % classes).astype(np.uint8)
    held = built(t_ps, None, colour=colour, classes=classes)
    assert held.memory_B() <= 0.2 * (t_ps.nbytes + colour.nbytes)
    overlapping = built(t_ps, t_ps + 1000 - t_ps % 7 * 100, colour=colour, classes=classes)
    assert overlapping.memory_B() <= 0.2 * (2 * t_ps.nbytes + colour.nbytes)


@pytest.mark.parametrize(
    ("times", "ends", "classes", "said"),
    [
        ([5, 3], [6, 7], [0, 0], "item 1: its time 3 ps is earlier"),
        ([5, 9], [6, 7], [0, 0], "item 1: it ends at 7 ps, before it begins at 9 ps"),
        ([5, 9], [6, 9], [0, 2], r"item 1: class 2 of 2 \(0\.\.1\)"),
    ],
    ids=["out-of-order", "ends-before-it-begins", "class-that-does-not-exist"],
)
def test_columns_that_contradict_themselves_are_refused(
    times: list[int], ends: list[int], classes: list[int], said: str
) -> None:
    with pytest.raises(TrackError, match=said):
        built(times, ends, colour=np.array(classes, np.uint8), classes=2)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=300), st.integers(1, 40))
@settings(deadline=None, max_examples=60)
def test_a_column_of_a_line_has_every_level_that_occurs_in_it(
    levels: list[int], width: int
) -> None:
    t_ps = np.arange(len(levels), dtype=np.int64) * 7
    t0, t1 = 3, max(int(t_ps[-1]) + 7, 4)
    pyramid = WavePyramid(t_ps, np.array(levels, np.uint8), end_ps=t1)
    pyramid.build()
    columns = pyramid.columns(t0, t1, width)
    for px in range(width):
        begin = first_time_of(px, t0, t1, width)
        inside = [
            i for i, t in enumerate(t_ps) if t >= t0 and pixel_of(int(t), t0, t1, width) == px
        ]
        before = [i for i, t in enumerate(t_ps) if t < begin]
        shown = {levels[i] for i in inside + (before[-1:] if begin < t1 else [])}
        assert columns.bits[px] == sum(1 << level for level in shown)
        assert columns.edges[px] == len(inside)


@pytest.mark.parametrize("width", [1, 7, 300])
def test_long_runs_of_slices_are_summed_by_class_as_numpy_sums_them(width: int) -> None:
    count, rng = 20_000, np.random.default_rng(width)
    t_ps = np.cumsum(rng.integers(50, 90, count, dtype=np.int64))
    ends = t_ps + rng.integers(0, 50, count)
    classes = rng.choice(np.array([0, 1, 1, 2, 3], np.uint8), count)
    wrong = rng.random(count) < 0.01
    t0, t1 = int(t_ps[0]), int(t_ps[-1]) + 100
    pyramid = built(t_ps, ends, colour=classes, classes=4, error=wrong)
    columns = pyramid.columns(t0, t1, width)
    edges = [first_time_of(px, t0, t1, width) for px in range(width + 1)]
    inside = np.minimum(ends, np.array(edges)[np.searchsorted(edges, t_ps, side="right")])
    px = np.array([pixel_of(int(t), t0, t1, width) for t in t_ps])
    taken = np.zeros((width, 4), np.int64)
    np.add.at(taken, (px, classes), inside - t_ps + 1)
    over = np.flatnonzero(ends > inside)  # reach into the next column
    np.add.at(taken, (px[over] + 1, classes[over]), ends[over] - inside[over])
    starts = np.bincount(px, minlength=width)
    assert columns.starts.tolist() == starts.tolist()
    errors = np.bincount(px, wrong, width) + np.bincount(px[over] + 1, wrong[over], width)
    assert columns.wrong.tolist() == errors.tolist()
    assert (taken[np.arange(width), columns.colour] == taken.max(axis=1)).all()
    np.testing.assert_allclose(columns.cover, (taken.sum(axis=1) - starts) / np.diff(edges))


def test_among_many_overlapping_slices_the_last_that_stands_is_found_at_any_time() -> None:
    count, rng = 60_000, np.random.default_rng(3)
    t_ps = np.arange(count, dtype=np.int64) * 10
    ends = t_ps + 5
    long = rng.choice(count, 60, replace=False)
    ends[long] += rng.integers(0, 100_000, len(long)) * 4
    pyramid = built(t_ps, ends)
    assert len(pyramid.bases) == 3  # the search climbs over all levels
    for at in rng.integers(0, 10 * count, 500).tolist():
        stands = np.flatnonzero((t_ps <= at) & (ends > at))
        if len(stands):
            assert pyramid.item_at(at) == stands[-1]
        else:
            assert pyramid.item_at(at) in (None, at // 10)


def test_a_level_that_occurs_once_in_the_middle_of_a_column_is_seen() -> None:
    t_ps = np.arange(3000, dtype=np.int64)
    level = np.zeros(3000, np.uint8)
    level[1500] = 2
    pyramid = WavePyramid(t_ps, level, end_ps=3000)
    pyramid.build()
    assert pyramid.columns(0, 3000, 3).bits.tolist() == [1, 5, 1]
