"""Zoom and pan are exact to the picosecond at the start and a day later."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from freezeframe.gui.desktop.timeline.window import LEAST_SPAN_PS, Window, axis_labels

DAY_PS = 86_400 * 10**12


def opened(t0_ps: int, t1_ps: int) -> Window:
    window = Window()
    window.set_extent(t0_ps, t1_ps)
    window.fit()
    return window


@given(st.integers(0, DAY_PS), st.integers(1000, DAY_PS), st.floats(0.1, 10), st.floats(0, 1))
def test_the_time_under_the_mouse_stays_under_the_mouse_when_zooming(
    first: int, length: int, factor: float, share: float
) -> None:
    window = opened(first, first + length)
    at = window.t0_ps + int(window.span_ps * share)
    before = (at - window.t0_ps) / window.span_ps
    span = window.span_ps
    window.zoom(factor, at)
    if LEAST_SPAN_PS < window.span_ps < 2 * length:  # not stopped at an end
        assert abs((at - window.t0_ps) - before * window.span_ps) <= 2 + window.span_ps // 10**6
        assert abs(window.span_ps - span / factor) <= 2 + span // 10**5


@given(st.integers(-DAY_PS, DAY_PS), st.integers(1, DAY_PS), st.integers(-(1 << 64), 1 << 64))
def test_some_of_the_data_stays_in_view_however_far_one_pans(
    first: int, length: int, by_ps: int
) -> None:
    window = opened(first, first + length)
    window.move(by_ps)
    assert window.t0_ps < first + length and window.t1_ps > first
    assert window.span_ps >= LEAST_SPAN_PS


def test_a_picosecond_a_day_into_the_capture_is_not_lost() -> None:
    window = opened(0, DAY_PS)
    window.show(DAY_PS - 1000, DAY_PS)
    assert window.time_at(501, 1000) - window.time_at(500, 1000) == 1
    assert window.x_of(DAY_PS - 499, 1000) - window.x_of(DAY_PS - 500, 1000) == 1.0


def test_times_far_outside_are_far_outside_and_not_an_overflow() -> None:
    window = opened(0, 1000)
    assert window.x_of(1 << 62, 1000) == 1e6 and window.x_of(-(1 << 62), 1000) == -1e6


def test_deep_in_a_capture_the_axis_names_its_base_once_and_then_offsets() -> None:
    start = 12_345_678_901_230
    labels = axis_labels(start, start + 30, 4)
    assert labels.base == "12.34567890123 s"
    assert [text for _, text in labels.ticks] == ["+0 ps", "+10 ps", "+20 ps", "+30 ps"]
    shallow = axis_labels(0, 30_000_000, 4)
    assert shallow.base == "" and shallow.ticks[1][1] == "10 µs"
