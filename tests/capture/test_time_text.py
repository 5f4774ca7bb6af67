"""Times as people read them, one by one and many with one unit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freezeframe.capture.time_text import (
    format_doubt,
    format_lasted,
    format_ps,
    parse_time,
    times_like,
)

TIMES = st.one_of(st.integers(-(10**6), 10**6), st.integers(-(2**63), 2**63 - 1))


@pytest.mark.parametrize(
    ("t_ps", "like_ps", "text"),
    [
        (0, 0, "0 ps"),
        (999, 0, "999 ps"),
        (12_345_678, 0, "12.345678 µs"),
        (5, 10**12, "0.000000000005 s"),
        (1_500 * 10**12, 0, "1,500 s"),
        (-2_500, 0, "-2.5 ns"),
    ],
)
def test_a_time_is_exact_with_the_unit_of_the_larger_one(
    t_ps: int, like_ps: int, text: str
) -> None:
    assert format_ps(t_ps, like_ps) == text
    assert times_like(like_ps)(t_ps) == text


@pytest.mark.parametrize(
    ("unc_ps", "text"),
    [
        (5_190, "14.164813 µs ± 5.19 ns"),
        (
            0,
            "14.164813 µs",
        ),  # counted by the clock of the time base: there is nothing to be unsure of
        (None, "14.164813 µs"),
        (-1, "14.164813 µs ± unknown"),
    ],
)
def test_a_time_says_how_far_it_may_be_off_where_it_may(unc_ps: int | None, text: str) -> None:
    assert format_doubt(14_164_813, unc_ps) == text


@given(st.lists(TIMES, min_size=1, max_size=20), TIMES)
def test_many_times_are_written_as_each_alone(times_ps: list[int], like_ps: int) -> None:
    text = times_like(like_ps)
    assert [text(t_ps) for t_ps in times_ps] == [format_ps(t_ps, like_ps) for t_ps in times_ps]


@pytest.mark.parametrize(
    ("t_ps", "unc_ps", "text"),
    [
        (3_599_835_992_639_769, 360_004_079_263, "59 min 59.8 s ± 0.4 s"),
        (3_600_000_889_019_007, 1, "1 h 00 min 00.000889019007 s ± 0.000000000001 s"),
        (3_600_000_889_019_007, 0, "1 h 00 min 00.000889019007 s ± 0.000000000001 s"),
        (3_599_960_000_000_000, 100_000_000_000, "1 h 00 min 00.0 s ± 0.1 s"),
        (65 * 10**12, 20_480_000 + 6_500_000_000, "1 min 05.000 s ± 0.007 s"),
        (1000 * 3600 * 10**12, 360 * 10**12, "1,000 h 00 min 00 s ± 360 s"),
        (0, 10**12, "0 min 00 s ± 1 s"),
    ],
)
def test_a_long_time_has_hours_and_no_digit_that_is_not_known(
    t_ps: int, unc_ps: int, text: str
) -> None:
    assert format_lasted(t_ps, unc_ps) == text


@pytest.mark.parametrize(
    ("text", "t_ps"),
    [("1h", 3600 * 10**12), ("1.5 min", 90 * 10**12), ("0", 0), ("2ms", 2 * 10**9)],
)
def test_options_take_hours_and_minutes(text: str, t_ps: int) -> None:
    assert parse_time("--cut", text) == t_ps
