"""The pyramid of a series gives each pixel column exactly what lies in it, at any zoom."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.gui.desktop.progress import Cancelled
from freezeframe.gui.plots.pyramid import SeriesPyramid, TrackError
from tests.gui.desktop.timeline.made import first_time_of, pixel_of

RNG = np.random.default_rng(7)


def built(t_ps: Any, value: Any, **options: Any) -> SeriesPyramid:
    pyramid = SeriesPyramid(np.asarray(t_ps, np.int64), np.asarray(value), **options)
    pyramid.build()
    return pyramid


@st.composite
def series(draw: st.DrawFn) -> tuple[list[int], list[float]]:
    gaps = draw(st.lists(st.sampled_from([0, 1, 3, 50, 10_000]), min_size=1, max_size=400))
    times = np.cumsum(gaps) + draw(st.sampled_from([0, -5_000, 1 << 61]))
    value = draw(st.sampled_from([float("nan"), 1.5]))
    values = [float(i * 37 % 101) if i % 11 else value for i in range(len(gaps))]
    return [int(t) for t in times], values


@given(series(), st.integers(-200, 20_000), st.integers(1, 30_000), st.integers(1, 60))
@settings(deadline=None, max_examples=80)
def test_a_step_series_shows_all_values_of_a_column_and_the_one_that_holds_when_it_begins(
    data: tuple[list[int], list[float]], offset: int, span: int, width: int
) -> None:
    times, values = data
    t0 = times[0] + offset
    t1 = t0 + span
    columns = built(times, values).columns(t0, t1, width)
    for px in range(width):
        inside = [i for i, t in enumerate(times) if t >= t0 and pixel_of(t, t0, t1, width) == px]
        begin = first_time_of(px, t0, t1, width)
        before = [i for i, t in enumerate(times) if t < begin]
        holds = before[-1:] if before and begin <= times[-1] else []
        numbers = [values[i] for i in inside + holds if not np.isnan(values[i])]
        assert columns.low[px] == min(numbers, default=np.inf)
        assert columns.high[px] == max(numbers, default=-np.inf)
        assert columns.points[px] == len(inside)
        unknown = sum(np.isnan(values[i]) for i in (inside or holds))
        assert columns.gap[px] == unknown


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.int16, np.uint8])
def test_values_of_every_type_give_the_extremes_that_numpy_finds(kind: type) -> None:
    count, width = 300_000, 640
    t_ps = np.cumsum(RNG.integers(1, 900, count, dtype=np.int64))
    value: Any = RNG.integers(0, 200, count).astype(kind)
    value[123_456] = 250
    t0, t1 = int(t_ps[1000]), int(t_ps[-1])
    columns = built(t_ps, value).columns(t0, t1, width)
    px = (t_ps[1000:-1] - t0) * width // (t1 - t0)  # by the definition: no product overflows
    starts = np.searchsorted(px, np.arange(width))
    held = value[999 + starts].astype(float)
    low = np.minimum(np.minimum.reduceat(value[1000:-1], starts), held)
    high = np.maximum(np.maximum.reduceat(value[1000:-1], starts), held)
    np.testing.assert_array_equal(columns.low, low)
    np.testing.assert_array_equal(columns.high, high)


def test_one_spike_among_three_million_values_is_seen_when_everything_is_in_view() -> None:
    value = np.ones(3_000_000, np.float32)
    value[1_234_567] = 9
    t_ps = np.arange(3_000_000, dtype=np.int64) * 1000
    columns = built(t_ps, value).columns(0, 3_000_000_000, 1000)
    assert columns.high.max() == 9
    assert int(columns.high.argmax()) == 1_234_567 // 3000


def test_points_are_joined_by_lines_also_over_columns_without_a_point() -> None:
    columns = built([0, 1000], [0.0, 10.0], step=False).columns(0, 1000, 10)
    np.testing.assert_allclose(columns.low, np.arange(10))
    np.testing.assert_allclose(columns.high, np.arange(10) + 1)


def test_no_line_is_drawn_to_or_from_a_value_that_is_not_known() -> None:
    columns = built([0, 500, 1000], [1.0, np.nan, 3.0], step=False).columns(0, 1000, 10)
    assert not (columns.low <= columns.high)[1:].any()
    assert columns.gap.sum() == 1


def test_the_last_value_holds_until_the_end_that_was_given_and_no_longer() -> None:
    columns = built([0], [5], end_ps=500).columns(0, 1000, 10)
    assert (columns.low[:5] == 5).all()
    assert np.isinf(columns.low[5:]).all()


def test_the_memory_of_a_pyramid_is_a_few_per_cent_of_the_data() -> None:
    t_ps = np.arange(1_000_000, dtype=np.int64)
    for kind in (np.float64, np.int16):
        value: Any = np.zeros(1_000_000, kind)
        assert built(t_ps, value).memory_B() <= 0.05 * (t_ps.nbytes + value.nbytes)


def test_columns_in_read_only_memory_are_drawn_without_a_copy() -> None:
    t_ps, value = np.arange(1000, dtype=np.int64), np.arange(1000.0)
    t_ps.flags.writeable = value.flags.writeable = False
    pyramid = SeriesPyramid(t_ps, value)
    pyramid.build()
    assert np.shares_memory(pyramid.t_ps, t_ps) and np.shares_memory(pyramid.value, value)
    assert pyramid.columns(0, 1000, 10).high[-1] == 999


def test_times_that_decrease_are_refused_by_name() -> None:
    with pytest.raises(TrackError, match=r"item 2: its time 3 ps is earlier .* \(9 ps\)"):
        built([0, 9, 3, 10], [1, 2, 3, 4])


def test_a_cancelled_build_can_be_drawn_so_far_and_goes_on_where_it_stopped() -> None:
    count = 9_000_000  # three pieces
    pyramid = SeriesPyramid(np.arange(count, dtype=np.int64), np.ones(count, np.float32))
    seen: list[int] = []

    def enough(done: int, total: int) -> None:
        seen.append(done)
        raise Cancelled

    with pytest.raises(Cancelled):
        pyramid.build(enough)
    assert 0 < pyramid.built < count and not pyramid.done
    drawn = pyramid.columns(0, count, 9).points
    assert drawn.sum() == pyramid.built
    pyramid.build(lambda done, _: seen.append(done))
    assert seen == sorted(set(seen)) and seen[-1] == count
    assert pyramid.columns(0, count, 9).points.tolist() == [1_000_000] * 9


def test_a_series_without_points_has_columns_without_a_line() -> None:
    columns = built([], np.empty(0)).columns(0, 1000, 10)
    assert not (columns.low <= columns.high).any()
