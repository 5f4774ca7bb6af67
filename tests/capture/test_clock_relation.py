"""Two clocks related by what was caused by what: `freezeframe.capture.clock_relation`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from freezeframe.capture.clock_relation import Bound, Relation, relate


def test_the_middle_of_both_bounds_is_the_offset_and_half_of_what_is_between_them_the_uncertainty() -> (
    None
):
    # Own 1000 is sent, the reference hears it at 1300; it sends at 1900, own 2000 hears it.
    relation = relate([Bound(1000, 1300, at_most=True), Bound(2000, 1900, at_most=False)], 0)
    assert relation is not None
    # 200 between them and 1 on either side, because instants are rounded down to whole picoseconds.
    assert (relation.offset_ps, relation.offset_unc_ps) == (100, 202)
    assert relation.place(1500) == 1600


@pytest.mark.parametrize("at_most", [True, False])
def test_bounds_from_one_side_relate_nothing(at_most: bool) -> None:
    assert relate([Bound(1000, 1300, at_most), Bound(2000, 2300, at_most)]) is None
    assert relate([]) is None


def test_bounds_that_contradict_each_other_are_refused_with_how_much() -> None:
    with pytest.raises(ValueError, match=r"1 and 1 bounds contradict each other by about 400 ps"):
        relate([Bound(1000, 1000, at_most=True), Bound(1000, 1400, at_most=False)])


def test_an_instant_less_than_a_microsecond_away_has_the_whole_uncertainty_of_the_rate() -> None:
    relation = Relation(0, 0, 0, 0, 500 * 10**6, 2)
    _, unc_ps = relation.place_all(np.array([999_999, -999_999], np.int64), 0)
    assert (unc_ps >= 500).all()


def test_instants_that_were_rounded_down_do_not_contradict_each_other() -> None:
    # The own clock runs 1 ppb fast: at its 1 ps the reference has gone 0.999999999 ps, which rounds down to 0.
    relation = relate([Bound(0, 0, at_most=False), Bound(1, 0, at_most=True)])
    assert relation is not None
    assert abs(relation.offset_ps) <= relation.offset_unc_ps


@settings(max_examples=200)
@example(offset_ps=0, drift_ppb=-1, latencies=[(0, 0, False), (1, 0, True)], asked=0)
@given(
    offset_ps=st.integers(-(10**15), 10**15),
    drift_ppb=st.integers(-400_000, 400_000),
    latencies=st.lists(
        st.tuples(st.integers(0, 10**9), st.integers(0, 10**6), st.booleans()), max_size=60
    ),
    asked=st.integers(-(10**9), 2 * 10**9),
)
def test_the_true_time_lies_within_the_stated_uncertainty_whatever_the_latencies(
    offset_ps: int, drift_ppb: int, latencies: list[tuple[int, int, bool]], asked: int
) -> None:
    def true(own_ps: int) -> int:
        return own_ps + offset_ps + own_ps * drift_ppb // 10**9

    bounds = [
        Bound(own, true(own) + (latency if at_most else -latency), at_most)
        for own, latency, at_most in latencies
    ]
    relation = relate(bounds)
    sides = {at_most for _, _, at_most in latencies}
    assert (relation is None) == (len(sides) < 2)
    if relation is not None:
        distance = np.array([asked - relation.around_ps], np.int64)
        t_ps, unc_ps = relation.place_all(distance, offset_ps)
        assert abs(int(t_ps[0]) + offset_ps - true(asked)) <= int(unc_ps[0]) + 2
        assert abs(relation.place(asked) - int(t_ps[0]) - offset_ps) <= 2
