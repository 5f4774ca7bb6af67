"""The drawings: round axes, labels that do not collide, nothing loud ever merged away, all text escaped."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.trace.coverage import Coverage, Hole
from freezeframe.gui.plots.axis import GUTTER, TimeAxis, round_ticks
from freezeframe.gui.plots.marks import Mark
from freezeframe.gui.plots.svg import Svg, text_width
from freezeframe.gui.plots.timeline import Bar, Lane, Tick, timeline_sheet
from freezeframe.gui.plots.track_lanes import lane_of
from freezeframe.gui.tracks.tracks import StateTrack

SPACE = "{http://www.w3.org/2000/svg}"


def elements(svg: str, name: str, css: str = "") -> list[ET.Element]:
    found = ET.fromstring(svg).iter(f"{SPACE}{name}")
    return [one for one in found if css in one.attrib.get("class", "").split() or not css]


def timeline(lanes: list[Lane], marks: list[Mark] | None = None, end: int = 1_000_000) -> str:
    return timeline_sheet("t", lanes, marks or [], 0, end, title="T", desc="D").render()


@pytest.mark.parametrize(
    ("t_ps", "text"),
    [
        (0, "0 ps"),
        (999, "999 ps"),
        (1_500, "1.5 ns"),
        (-1_500, "-1.5 ns"),
        (12_345_678, "12.345678 µs"),
        (10**12, "1 s"),
        (86_400 * 10**12 + 1, "86,400.000000000001 s"),
    ],
)
def test_a_time_is_written_exactly_with_its_unit(t_ps: int, text: str) -> None:
    assert format_ps(t_ps) == text


def test_labels_of_one_axis_share_their_unit() -> None:
    assert [label for _, label in TimeAxis(0, 2_000_000, 0, 100).ticks(5)] == [
        "0 µs",
        "0.5 µs",
        "1 µs",
        "1.5 µs",
        "2 µs",
    ]


@given(st.integers(-(10**15), 10**15), st.integers(0, 10**15), st.integers(1, 12))
def test_ticks_are_round_inside_the_range_and_not_too_many(
    start: int, span: int, most: int
) -> None:
    ticks = round_ticks(start, start + span, most)
    assert len(ticks) <= most
    assert all(start <= tick <= start + span for tick in ticks)
    if len(ticks) > 1:
        step = ticks[1] - ticks[0]
        assert str(step).rstrip("0") in ("1", "2", "5")
        assert all(tick % step == 0 for tick in ticks)


def test_ticks_of_a_reversed_range_are_refused() -> None:
    with pytest.raises(ValueError, match="no ticks"):
        round_ticks(5, 4, 3)


def test_a_loud_bar_is_drawn_wide_enough_to_be_seen_however_long_the_capture() -> None:
    lane = Lane("g", "l", bars=[Bar(500, 501, "error", loud=True, tip="seq 7")])
    (bar,) = elements(timeline([lane], end=10**12), "rect", "error")
    assert float(bar.attrib["width"]) >= 3


def test_quiet_bars_too_thin_to_tell_apart_are_drawn_as_one() -> None:
    bars = [Bar(10 * i, 10 * i + 10, "a") for i in range(10_000)]
    drawn = elements(timeline([Lane("g", "l", bars=bars)], end=10**8), "rect", "a")
    assert len(drawn) == 1
    assert drawn[0].find(f"{SPACE}title").text == "10,000 together"  # type: ignore[union-attr]


def test_a_wide_bar_is_not_merged_with_thin_neighbours() -> None:
    bars = [Bar(0, 500_000, "a", "7"), Bar(500_000, 500_001, "a")]
    drawn = elements(timeline([Lane("g", "l", bars=bars)]), "rect", "a")
    assert len(drawn) == 2


def test_a_label_that_does_not_fit_its_bar_is_left_out() -> None:
    bars = [Bar(0, 500_000, "a", "long enough"), Bar(600_000, 601_000, "a", "too long")]
    texts = [
        text.text for text in elements(timeline([Lane("g", "l", bars=bars)]), "text", "inside")
    ]
    assert texts == ["long enough"]


def test_bars_outside_the_range_are_not_drawn_and_those_across_its_edge_are_cut() -> None:
    bars = [Bar(-500, 500, "a"), Bar(2_000_000, 3_000_000, "a")]
    (bar,) = elements(timeline([Lane("g", "l", bars=bars)]), "rect", "a")
    assert float(bar.attrib["x"]) == GUTTER


@given(st.lists(st.integers(0, 1_000_000), min_size=2, max_size=8))
def test_labels_of_marks_never_overlap_and_stay_inside(times: list[int]) -> None:
    marks = [Mark(t, f"diagnosis number {i}", "finding") for i, t in enumerate(times)]
    svg = timeline([Lane("g", "l")], marks)
    width = float(ET.fromstring(svg).attrib["viewBox"].split()[2])
    spans: dict[float, list[tuple[float, float]]] = {}
    for text in elements(svg, "text", "marklabel"):
        left = float(text.attrib["x"])
        right = left + text_width(text.text or "", 12)
        assert left >= 0
        assert right <= width + 0.01
        spans.setdefault(float(text.attrib["y"]), []).append((left, right))
    for row in spans.values():
        row.sort()
        assert all(a[1] < b[0] for a, b in pairwise(row))


def test_the_band_of_a_mark_is_as_wide_as_its_uncertainty() -> None:
    svg = timeline([Lane("g", "l")], [Mark(500_000, "m", "finding", unc_ps=100_000)])
    (band,) = elements(svg, "rect", "band")
    assert float(band.attrib["width"]) == pytest.approx((1120 - 14 - GUTTER) * 0.2, abs=0.1)


def test_many_ticks_are_one_path_and_few_have_tips() -> None:
    few = Lane("g", "l", ticks=[Tick(5, "c", "credit taken")])
    many = Lane("g", "l", ticks=[Tick(i * 100, "c", "x") for i in range(1_000)])
    assert len(elements(timeline([few]), "line", "c")) == 1
    assert "credit taken" in timeline([few])
    assert len(elements(timeline([many]), "path", "c")) == 1


def test_text_in_a_drawing_is_escaped() -> None:
    svg = Svg('n"', 10, 10, title="<t>", desc="&")
    svg.text(0, 0, "</text><script>", 'a"b', tip="<x>")
    svg.rect(0, 0, 1, 1, "c", tip="</title><script>")
    svg.ticks([0.0], 0, 1, 'p"/>')
    assert ET.fromstring(svg.render()) is not None
    assert "<script" not in svg.render()


def test_numbers_in_a_drawing_are_short() -> None:
    svg = Svg("n", 10, 10, title="t", desc="d")
    svg.rect(1 / 3, 2, 1e-9, 10.10, "c")
    assert re.search(r'x="0.33" y="2" width="0" height="10.1"', svg.render())


def test_what_a_lane_does_not_cover_is_hatched_with_the_reason_and_the_rest_is_not() -> None:
    covered = Coverage.between(250_000, 750_000, "the memory wrapped", "recording closed")
    svg = timeline([Lane("", "A", bars=[Bar(300_000, 310_000, "a")], coverage=covered)])
    left, right = elements(svg, "rect", "hatch")
    axis = TimeAxis(0, 1_000_000, GUTTER, 1106)
    ends = [(float(r.get("x", "")), float(r.get("width", ""))) for r in (left, right)]
    assert ends[0][0] == pytest.approx(axis.x(0), abs=0.01)
    assert sum(ends[0]) == pytest.approx(axis.x(250_000), abs=0.02)
    assert ends[1][0] == pytest.approx(axis.x(750_000), abs=0.01)
    assert sum(ends[1]) == pytest.approx(axis.x(1_000_000), abs=0.02)
    assert [r.findtext(f"{SPACE}title") for r in (left, right)] == [
        "not recorded: the memory wrapped",
        "not recorded: recording closed",
    ]


def test_a_state_is_drawn_only_where_its_change_would_have_been_recorded() -> None:
    track = StateTrack(
        key="k", name="tx_dma", source="s",
        t_ps=np.array([10, 30], np.int64), rows=np.array([0, 1], np.int64),
        colour=np.array([0, 1], np.uint8), classes=("idle", "data"), end_ps=90,
        coverage=Coverage((Hole(15, 20, "lost"), Hole(50, 1_000, "recording closed"))),
    )  # fmt: skip
    bars = [(bar.t0_ps, bar.t1_ps, bar.label) for bar in lane_of(track).bars]
    assert bars == [(10, 15, "idle"), (20, 30, "idle"), (30, 50, "data")]


def test_no_bar_is_narrower_than_a_pixel_and_a_narrow_one_has_no_outline_to_fade_it() -> None:
    svg = timeline([Lane("", "A", bars=[Bar(500_000, 500_010, "warn"), Bar(0, 90_000, "warn")])])
    wide, thin = sorted(elements(svg, "rect", "warn"), key=lambda r: float(r.get("x", "")))
    assert float(thin.get("width", "")) >= 1 and "thin" in thin.get("class", "")
    assert "thin" not in wide.get("class", "")
