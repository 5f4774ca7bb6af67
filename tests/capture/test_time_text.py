"""Times as people read them, one by one and many with one unit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freezeframe.capture.time_text import format_ps, times_like

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


@given(st.lists(TIMES, min_size=1, max_size=20), TIMES)
def test_many_times_are_written_as_each_alone(times_ps: list[int], like_ps: int) -> None:
    text = times_like(like_ps)
    assert [text(t_ps) for t_ps in times_ps] == [format_ps(t_ps, like_ps) for t_ps in times_ps]
