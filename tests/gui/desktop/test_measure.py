"""Measurements over a stretch: against sums made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from freezeframe.capture.errors import InputError
from freezeframe.gui.desktop.measure import measure
from freezeframe.gui.tracks.tracks import (
    BusTrack,
    SeriesTrack,
    SliceTrack,
    StateTrack,
    WaveTrack,
)
from freezeframe.gui.typed_time import parse_time_ps

T_PS = np.array([0, 1_000, 2_000, 5_000], np.int64)


def test_the_mean_of_a_series_that_holds_its_values_is_weighted_by_time() -> None:
    track = SeriesTrack(
        key="s",
        name="rate",
        t_ps=T_PS,
        value=np.array([10.0, 20.0, 0.0, 40.0]),
        unit="MB/s",
        end_ps=6_000,
    )
    found = dict(measure(track, 500, 5_500).lines)
    # 500 ps of 10, 1000 of 20, 3000 of 0, 500 of 40: 45,000 over 5,000 ps
    assert found["mean"] == "9 MB/s"
    assert (found["minimum"], found["maximum"]) == ("0 MB/s", "40 MB/s")
    assert found["count"] == "3"
    assert found["rate"] == "6e+08 a second"


def test_a_value_that_is_not_known_counts_for_nothing_and_its_time_is_said() -> None:
    track = SeriesTrack(
        key="s", name="rate", t_ps=T_PS, value=np.array([10.0, np.nan, 30.0, 30.0]), end_ps=6_000
    )
    found = dict(measure(track, 0, 3_000).lines)
    assert found["mean"] == "20"
    assert found["not known for"] == "1 ns"


def test_slices_are_counted_by_class_and_by_error_with_their_lengths() -> None:
    track = SliceTrack(
        key="p", name="packets", t_ps=T_PS, t_end_ps=T_PS + np.array([500, 100, 1_000, 400]),
        colour=np.array([0, 1, 0, 1], np.uint8), classes=("WRITE", "NOTE"),
        error=np.array([False, True, False, True]),
    )  # fmt: skip
    measured = measure(track, 0, 5_000)
    found = dict(measured.lines)
    assert (found["count"], found["WRITE"], found["NOTE"], found["in error"]) == (
        "3",
        "2",
        "1",
        "1",
    )
    assert found["length, minimum"] == "100 ps"
    assert found["length, mean"] == "533 ps"
    assert found["length, maximum"] == "1 ns"
    assert measured.histogram is not None
    assert measured.histogram.counts.sum() == 3


def test_moments_are_measured_by_the_time_between_them() -> None:
    track = SliceTrack(key="e", name="events", t_ps=T_PS, t_end_ps=T_PS)
    found = dict(measure(track, 0, 6_000).lines)
    assert found["between two, minimum"] == "1 ns"
    assert found["between two, maximum"] == "3 ns"


def test_states_and_levels_are_measured_by_how_long_they_hold() -> None:
    states = StateTrack(
        key="m", name="machine", t_ps=T_PS, colour=np.array([0, 1, 0, 1], np.uint8),
        classes=("idle", "data"), end_ps=6_000,
    )  # fmt: skip
    found = dict(measure(states, 0, 6_000).lines)
    assert found["idle"] == "4 ns (66.7 %)"
    assert found["data"] == "2 ns (33.3 %)"
    wave = WaveTrack(
        key="w", name="clk", t_ps=T_PS, level=np.array([0, 1, 0, 1], np.uint8), end_ps=6_000
    )
    assert dict(measure(wave, 5_000, 6_000).lines)["high"] == "1 ns (100.0 %)"


def test_a_bus_tells_how_many_values_it_had() -> None:
    bus = BusTrack(key="b", name="bus", t_ps=T_PS, value=np.array([7, 9, 7, 7]))
    assert dict(measure(bus, 0, 6_000).lines)["different values"] == "2"


def test_a_stretch_without_anything_has_a_count_of_nothing() -> None:
    track = SeriesTrack(key="s", name="rate", t_ps=T_PS[:0], value=np.empty(0))
    assert dict(measure(track, 10, 10).lines) == {
        "length": "0 ps",
        "count": "0",
        "values": "none known",
    }


@pytest.mark.parametrize(
    ("text", "t_ps"),
    [
        ("12.5us", 12_500_000),
        ("1,234 ns", 1_234_000),
        ("-3 ps", -3),
        ("0.0000015 s", 1_500_000),
        ("2µs", 2_000_000),
    ],
)
def test_a_time_is_typed_with_its_unit(text: str, t_ps: int) -> None:
    assert parse_time_ps(text) == t_ps


@pytest.mark.parametrize("text", ["", "12", "us", "1e9ns", "9999999999s", "1ns 2", "<b>1ns</b>"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_time_ps(text)
