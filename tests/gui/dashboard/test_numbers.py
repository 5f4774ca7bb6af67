"""Numbers and spark lines fit their width and hide nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freezeframe.gui.dashboard.numbers import age_text, count_cell, fit, rate_cell, spark


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (None, "-"), (0, "0"), (0.25, "0.25"), (1.0, "1"), (9.999, "10.0"), (12.34, "12.3"), (123.4, "123"),
        (999.4, "999"), (999.6, "1.00k"), (12_345, "12.3k"), (999_999, "1.00M"), (1.5e9, "1.50G"), (-2.0, "-2"),
    ],
)  # fmt: skip
def test_a_rate_has_three_places_and_a_prefix(rate: float | None, text: str) -> None:
    assert rate_cell(rate) == text


@given(st.floats(0, 1e24))
def test_every_rate_fits_seven_places(rate: float) -> None:
    assert len(rate_cell(rate)) <= 7


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1_234_567, "       1,234,567"),
        (10**13, "  10000000000000"),
        ((1 << 64) - 1, "  1.84467441e+19"),
    ],
    ids=["commas", "no commas", "rounded"],
)
def test_a_value_is_shown_whole_as_long_as_it_fits(value: int, text: str) -> None:
    assert count_cell(value, 16) == text


@given(st.integers(-(1 << 64), 1 << 64), st.integers(10, 30))
def test_a_value_takes_exactly_its_width(value: int, width: int) -> None:
    assert len(count_cell(value, width)) == width


@given(st.lists(st.floats(0, 1e18), max_size=40), st.integers(1, 30))
def test_what_is_above_zero_is_higher_than_nothing_and_the_highest_is_full(
    bins: list[float], width: int
) -> None:
    drawn = spark(bins, width)
    assert len(drawn) == width
    last = bins[-width:]
    assert set(drawn[width - len(last) :]) <= set("▁▂▃▄▅▆▇█")
    if max(last, default=0) > 0:
        assert drawn[width - len(last) + last.index(max(last))] == "█"


def test_a_spark_line_shows_the_newest_at_the_right() -> None:
    assert spark([0, 8, 4, 0], 6) == "  ▁█▄▁"
    assert spark([0, 0], 4) == "  ▁▁"
    assert spark([], 3) == "   "


def test_text_that_does_not_fit_says_so() -> None:
    assert (fit("abcdef", 4), fit("abc", 4), fit("abc", 3)) == ("abc…", "abc ", "abc")


@pytest.mark.parametrize(
    ("age_ns", "text"),
    [
        (4_250_000_000, "4.2 s"),
        (190 * 10**9, "3 min 10 s"),
        (7500 * 10**9, "2 h 5 min"),
        (-5, "0.0 s"),
    ],
)
def test_an_age_is_in_words(age_ns: int, text: str) -> None:
    assert age_text(age_ns) == text
