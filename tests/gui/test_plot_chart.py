"""Charts of series and lanes of intervals: no peak lost, gaps stay gaps, names stay text, ticks are round."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freezeframe.analyzers.analysis import AnalysisResult, Intervals, Series
from freezeframe.decoders.trace.coverage import Coverage
from freezeframe.gui.plots.axis import GUTTER, value_ticks
from freezeframe.gui.plots.chart import MOST_LINES, chart_sheet
from freezeframe.gui.plots.figures import drawings, extent
from freezeframe.gui.plots.picture import picture_svg
from freezeframe.gui.plots.timeline import hatched

SPACE = "{http://www.w3.org/2000/svg}"
HOSTILE = '</text><script>alert("x")</script>&'


def series(
    values: list[float],
    *,
    name: str = "A.out",
    step: bool = True,
    unit: str = "MB/s",
    limit: float | None = None,
) -> Series:
    times = np.arange(len(values), dtype=np.int64) * 1_000
    return Series(name, f"{name} label", unit, times, np.array(values), step, limit, "limit of it")


def lines(svg: str, css: str = "s0") -> list[list[tuple[float, float]]]:
    found = [e for e in ET.fromstring(svg).iter(f"{SPACE}polyline") if e.attrib["class"] == css]
    return [
        [(float(x), float(y)) for x, y in (pair.split(",") for pair in e.attrib["points"].split())]
        for e in found
    ]


def chart(one: Series, end: int = 10_000) -> str:
    return chart_sheet("c", [one], 0, end, title="T", desc="D").render()


@given(st.floats(-1e12, 1e12), st.floats(1e-6, 1e12), st.integers(3, 10))
def test_value_ticks_span_the_range_are_equally_apart_and_not_too_many(
    low: float, span: float, most: int
) -> None:
    if not low < low + span:
        return
    ticks = value_ticks(low, low + span, most)
    assert 2 <= len(ticks) <= most
    tolerance = 1e-6 * max(abs(low), span)
    assert ticks[0] <= low + tolerance
    assert ticks[-1] >= low + span - tolerance


def test_round_values_are_1_2_or_5_times_a_power_of_ten() -> None:
    assert value_ticks(0, 596.05, 5) == [0, 200, 400, 600]
    assert value_ticks(0, 0.7, 5) == [0, 0.2, 0.4, 0.6, 0.8]
    assert value_ticks(-3, 4, 4) == [-5, 0, 5]


@pytest.mark.parametrize(("low", "high", "most"), [(1, 1, 5), (0, math.inf, 5), (0, 1, 2)])
def test_ticks_of_no_range_are_refused(low: float, high: float, most: int) -> None:
    with pytest.raises(ValueError, match="no ticks"):
        value_ticks(low, high, most)


def test_a_step_holds_until_the_next_and_a_gap_breaks_the_line() -> None:
    drawn = lines(chart(series([5, 5, math.nan, 7, 7])))
    assert len(drawn) == 2
    (x0, y0), (x1, y1) = drawn[0][0], drawn[0][-1]
    assert y0 == y1
    assert x1 - x0 == pytest.approx(
        (1120 - 14 - GUTTER) * 0.2, abs=0.05
    )  # to where it is not known


@pytest.mark.parametrize("step", [True, False])
def test_one_peak_among_a_hundred_thousand_values_is_drawn_at_its_height(step: bool) -> None:
    values = np.zeros(100_000)
    values[54_321] = 1_000
    times = np.arange(100_000, dtype=np.int64) * 1_000
    one = Series("A.x", "x", "", times, values, step)
    drawn = lines(chart_sheet("c", [one], 0, 10**8, title="T", desc="D").render())
    corners = [corner for line in drawn for corner in line]
    highest = min(y for _, y in corners)
    assert max(y for _, y in corners) - highest == pytest.approx(130, abs=0.1)
    (x,) = {x for x, y in corners if y == highest}
    assert x == pytest.approx(GUTTER + 0.54321 * (1120 - 14 - GUTTER), abs=1.1)
    assert len(corners) < 5_000


def test_a_gap_among_many_values_stays_a_gap() -> None:
    values = np.ones(50_000)
    values[20_000:30_000] = math.nan
    one = Series("A.x", "x", "", np.arange(50_000, dtype=np.int64), values, True)
    drawn = lines(chart_sheet("c", [one], 0, 50_000, title="T", desc="D").render())
    width = 1120 - 14 - GUTTER
    assert len(drawn) == 2
    assert drawn[0][-1][0] == pytest.approx(GUTTER + 0.4 * width, abs=1.5)
    assert drawn[1][0][0] == pytest.approx(GUTTER + 0.6 * width, abs=1.5)


def test_a_near_limit_is_a_line_and_a_far_one_is_said() -> None:
    near, far = chart(series([5, 6], limit=10)), chart(series([5, 6], limit=1_000))
    assert [e for e in ET.fromstring(near).iter(f"{SPACE}line") if e.attrib["class"] == "limit"]
    assert "limit of it 10" in near
    assert not [e for e in ET.fromstring(far).iter(f"{SPACE}line") if e.attrib["class"] == "limit"]
    assert "limit of it 1,000 lies above" in far


def test_series_without_any_known_value_are_drawn_as_an_empty_chart() -> None:
    assert lines(chart(series([math.nan, math.nan]))) == []


def test_a_series_that_was_not_recorded_everywhere_has_a_row_of_its_name_below_the_axis() -> None:
    late = series([float("nan")] * 5 + [1.0] * 6, name="B.in")
    whole = series([2.0] * 11, name="A.out")
    late_from = Coverage.between(5_000, 20_000, "no value before 5 ns", "")
    covered = [Coverage(), late_from]
    sheet = chart_sheet("c", [whole, late], 0, 10_000, title="T", desc="D", coverage=covered)
    (hole,) = [s for s in sheet.shapes if s.kind == "hatch"]
    (row,) = [s for s in sheet.shapes if s.css == "label row"]
    (axis,) = [s for s in sheet.shapes if s.css == "axis" and s.points[0][0] < s.points[1][0]]
    assert (row.text, hole.tip) == ("B.in label", "not recorded: no value before 5 ns")
    (x0, top), (x1, bottom) = hole.points
    assert x0 == GUTTER and x1 == (GUTTER + axis.points[1][0]) / 2
    assert axis.points[0][1] < top < row.points[0][1] <= bottom <= sheet.height


def test_the_legend_of_a_hatch_says_why_in_the_picture_itself() -> None:
    reasons = ["overwritten before 5 ns", "recording closed at 9 ns"]
    covered = [Coverage.between(5_000, 9_000, *reasons)]
    assert hatched(covered, (0, 10_000)) == (("hatch", f"not recorded: {'; '.join(reasons)}", ""),)
    assert hatched(covered, (5_000, 9_000)) == ()
    many = [Coverage.between(t, 10_000, f"no value before {t} ps", "") for t in range(1, 9)]
    (said,) = hatched(many, (0, 10_000))
    assert said.text.endswith("no value before 3 ps; 5 more")


def test_what_makes_no_chart_is_refused() -> None:
    with pytest.raises(ValueError, match="1 to 8 series of one unit"):
        chart_sheet("c", [], 0, 1, title="T", desc="D").render()
    mixed = [series([1.0]), series([1.0], unit="words")]
    with pytest.raises(ValueError, match="of one unit"):
        chart_sheet("c", mixed, 0, 1, title="T", desc="D").render()


def test_a_chart_that_can_move_has_every_point_its_gap_and_the_time_of_each_dot() -> None:
    values = [*range(2_000), math.nan, *range(1_000)]
    many = [series(values, step=False)]
    still, moving = (
        chart_sheet("c", many, 0, 3_000_000, title="T", desc="D", moves=moves).render()
        for moves in (False, True)
    )
    assert list(map(len, lines(moving))) == [2_000, 1_000]
    assert "data-" not in still and "data-all=" in moving
    few = chart_sheet(
        "c", [series([1, math.nan, 3], step=False)], 0, 2_000, title="T", desc="D", moves=True
    )
    assert re.findall(r'data-at="(.*?)"', few.render()) == ["0", "2000"]


def intervals(times: list[tuple[int, int]], kind: str = "k", label: str = "track") -> Intervals:
    n = len(times)
    t0, t1 = (np.array([pair[i] for pair in times], np.int64) for i in (0, 1))
    no = np.zeros(n, np.bool_)
    return Intervals("n", label, t0, t1, (kind,) * n, ("text",) * n, np.zeros(n, np.int64), no, no)


def test_intervals_that_overlap_stand_in_lanes_of_their_own() -> None:
    result = AnalysisResult("x", intervals=(intervals([(0, 10), (5, 15), (10, 20)]),))
    (drawing,) = drawings(result, moves=True)
    bars = re.findall(r'<rect [^>]*y="([0-9.]+)"[^>]*data-t="([0-9 ]+)"', drawing.svg)
    assert [t for _, t in bars] == ["0 10", "10 20", "5 15"]
    assert bars[0][0] == bars[1][0] and float(bars[2][0]) > float(bars[0][0])


def test_intervals_that_find_no_lane_are_counted() -> None:
    result = AnalysisResult("x", intervals=(intervals([(i, 100) for i in range(11)]),))
    (drawing,) = drawings(result)
    assert "3 that overlap more than 8 others are drawn over each other" in drawing.caption


def test_series_stand_together_when_unit_place_and_kind_are_the_same_at_most_eight() -> None:
    many = [series([1.0, 2.0], name=f"A.flow{i}.traced") for i in range(MOST_LINES + 1)]
    others = [series([1.0], name="B.flow0.traced"), series([1.0], name="A.x.traced", unit="words")]
    made = drawings(AnalysisResult("x", series=(*many, *others)))
    assert [len(re.findall(r'<line [^>]*class="s[0-7]"', one.svg)) for one in made] == [8, 1, 1, 1]


def test_a_result_without_series_and_intervals_has_no_drawings_and_no_extent() -> None:
    empty = AnalysisResult("x")
    assert drawings(empty) == []
    assert extent([empty]) is None


def test_hostile_names_stay_text_in_drawings_and_pictures() -> None:
    one = Series("A.x", HOSTILE, HOSTILE, np.array([0, 5]), np.array([1, 2]), False, 2.0, HOSTILE)
    result = AnalysisResult(
        "x", series=(one,), intervals=(intervals([(0, 9)], HOSTILE, "\x1b[31m" + HOSTILE),)
    )
    made = drawings(result)
    picture = picture_svg(made, HOSTILE)
    for svg in (*(drawing.svg for drawing in made), picture):
        assert "<script" not in svg
        assert "\x1b" not in svg
        ET.fromstring(svg)


def test_every_drawing_has_a_title_a_description_and_a_role() -> None:
    for drawing in drawings(AnalysisResult("x", series=(series([1, 2]),))):
        svg = ET.fromstring(drawing.svg)
        assert svg.attrib["role"] == "img"
        assert svg.find(f"{SPACE}title").text  # type: ignore[union-attr]
        assert "1 to 2 MB/s" in str(svg.find(f"{SPACE}desc").text)  # type: ignore[union-attr]
