"""Pictures of findings: each proves its sentence, stands at the finding's time, and is the same everywhere."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from freezeframe.analyzers.analysis import Series
from freezeframe.analyzers.card.view import run_analysis
from freezeframe.analyzers.contract import Evidence, Finding
from freezeframe.analyzers.credits.staircases import fifo_level, staircases
from freezeframe.analyzers.declarations import PRESSURE
from freezeframe.analyzers.explain import NAMES, explain
from freezeframe.analyzers.view import CaptureView
from freezeframe.decoders.trace.coverage import Coverage
from freezeframe.gui.moments import freezes
from freezeframe.gui.palette import ROLES
from freezeframe.gui.plots.axis import GUTTER, TimeAxis
from freezeframe.gui.plots.card_path import Part, Tap, Way, path_sheet
from freezeframe.gui.plots.chart import Gap, filled
from freezeframe.gui.plots.figures import Drawing
from freezeframe.gui.plots.picture import picture_svg
from freezeframe.gui.plots.proof import PROVES, finding_drawings
from freezeframe.gui.plots.sizes import counted
from freezeframe.gui.plots.svg import Shape, text_width
from freezeframe.gui.plots.timeline import Lane, Link, timeline_sheet
from freezeframe.gui.tracks.analysis import result_tracks
from freezeframe.gui.tracks.recording import wait_tracks
from freezeframe.gui.tracks.said import legend_of, tip_of
from freezeframe.gui.tracks.tracks import IntervalTrack
from tests.analyzers.emulated import pulled
from tests.gui.made_capture import BAD_PACKET, made_capture

WIDTH = 1120 - 14
HALF = (WIDTH - GUTTER) / 2
DATA = {*ROLES, "tick", "s0", "s1", "s2", "s3"}
HOSTILE = '</text><script>alert("x")</script>&'


def steps(name: str, points: list[tuple[int, float]], *, step: bool = True) -> Series:
    t_ps, values = zip(*points, strict=True)
    return Series(name, name, "words", np.array(t_ps), np.array(values, np.float64), step)


def of(drawing: Drawing, kind: str, css: str) -> list[Shape]:
    """Return the marks of a drawing that have this look."""
    assert drawing.sheet is not None
    return [s for s in drawing.sheet.shapes if s.kind == kind and css.split() == s.css.split()]


def test_a_gap_is_filled_where_the_upper_staircase_is_above_the_lower_one() -> None:
    told = steps("told", [(0, 10), (40, 30), (100, 30)])
    credited = steps("credited", [(20, 10), (60, 30), (100, 30)])
    shape = filled(Gap(credited, told, "owed", ""), TimeAxis(0, 100, 0, 100), lambda v: -v)
    assert shape == [[(40, -30), (60, -30), (60, -10), (40, -10)]]


def test_a_line_that_crosses_a_limit_is_filled_from_the_crossing_on() -> None:
    limit = steps("limit", [(0, 50), (100, 50)])
    sent = steps("sent", [(0, 0), (100, 100)], step=False)
    shape = filled(Gap(limit, sent, "beyond", ""), TimeAxis(0, 100, 0, 100), lambda v: -v)
    assert shape == [[(50, -50), (100, -100), (100, -50), (50, -50)]]


def test_nothing_is_filled_where_one_of_both_is_not_known() -> None:
    early, late = steps("a", [(0, 1), (10, 1)]), steps("b", [(20, 5), (30, 5)])
    assert filled(Gap(early, late, "owed", ""), TimeAxis(0, 40, 0, 40), lambda v: -v) == []


def test_a_link_leads_from_the_foot_of_one_bar_to_the_head_of_the_next_and_a_lost_one_ends_halfway() -> (
    None
):
    lanes = [Lane("", "first"), Lane("", "second")]
    links = [Link(0, 50, 0, 1, "way"), Link(20, 80, 0, 1, "way lost", lost=True)]
    sheet = timeline_sheet("n", lanes, [], 0, 100, title="t", desc="d", links=links, apart=40)
    (kept,) = [s for s in sheet.shapes if s.css == "way"]
    (lost,) = [s for s in sheet.shapes if s.css == "way lost"]
    # Lanes of 24 px begin at 4 and at 68; a bar is 16 px high, 4 px below the begin of its lane.
    assert kept.points == ((GUTTER, 24), (GUTTER + HALF, 72))
    assert lost.points[0] == pytest.approx((GUTTER + 0.4 * HALF, 24))
    assert lost.points[1] == (GUTTER + HALF, 48)
    assert len([s for s in sheet.shapes if s.css == "crossed"]) == 2


def test_the_broken_part_of_a_way_is_red_and_no_other() -> None:
    parts = (Part("host"), Part("fifo", ("level 3 of 4",), True, 0.75), Part("link", line=True))
    sheet = path_sheet("n", [Way("A", (Tap("in"), Tap("out")), parts)], title="t", desc="d")
    third = (1120 - 28) / 3
    (box,) = [s for s in sheet.shapes if s.css == "box broken"]
    assert [round(x, 6) for x, _ in box.points] == [
        round(14 + third + 18, 6),
        round(14 + 2 * third - 18, 6),
    ]
    (full,) = [s for s in sheet.shapes if s.css == "full"]
    assert full.points[1][0] - full.points[0][0] == pytest.approx((third - 40) * 0.75)
    assert [s.text for s in sheet.shapes if s.kind == "text" and "broken" in s.css] == [
        "fifo",
        "level 3 of 4",
    ]


def test_a_way_of_many_taps_goes_on_in_the_next_row_and_all_its_names_stay_inside() -> None:
    taps = tuple(Tap(f"tap_{n}_" + "x" * 300, (HOSTILE,)) for n in range(11))
    parts = tuple(Part(f"part {n} {HOSTILE}", ("y" * 300,)) for n in range(12))
    sheet = path_sheet("n", [Way("A", taps, parts)], title=HOSTILE, desc="d")
    ET.fromstring(sheet.render())
    assert "<script" not in sheet.render()
    xs = [x for s in sheet.shapes for x, _ in s.points]
    assert min(xs) >= 0
    assert max(xs) <= 1120
    assert len({s.points[0][1] for s in sheet.shapes if s.css == "edge"}) == 3


@pytest.mark.parametrize("count", [1, 974, 4_294_967_295])
def test_what_is_said_below_a_part_is_broken_into_lines_and_none_is_cut(count: int) -> None:
    said = f"{count:,} words apart, each at its own freeze"
    parts = (*(Part(f"part {n}") for n in range(4)), Part("link", (said,), line=True))
    taps = tuple(Tap(f"tap {n}") for n in range(4))
    plain, sheet = (
        path_sheet("n", [Way("A", taps, held)], title="t", desc="d")
        for held in ((*parts[:4], Part("link", ("x",), line=True)), parts)
    )
    lines = [s for s in sheet.shapes if s.css == "small"]
    assert " ".join(s.text for s in lines) == said
    assert all(text_width(s.text, 11) <= (1120 - 28) / 5 for s in lines)
    assert [b.points[0][1] - a.points[0][1] for a, b in pairwise(lines)] == [14.0]
    assert sheet.height == plain.height + 14


def test_a_name_without_room_takes_two_small_lines_before_it_is_cut() -> None:
    names = [
        "A->B one",
        "A->B slowest messages (12)",
        "B in, flow not known, in the trace",
        "word " * 20,
    ]
    lanes = [Lane("", name, tip="what it holds") for name in names]
    sheet = timeline_sheet("n", lanes, [], 0, 100, title="t", desc="d")
    shown = [
        s
        for s in sheet.shapes
        if s.kind == "text" and s.css.startswith("label") and s.points[0][0] < GUTTER
    ]
    assert [(s.css, s.text) for s in shown[:4]] == [
        ("label", "A->B one"),
        ("label row", "A->B slowest messages (12)"),
        ("label row", "B in, flow not known, in the"),
        ("label row", "trace"),
    ]
    assert [s.text[-1] for s in shown[4:6]] == ["d", "…"]
    assert [s.tip for s in shown[:4]] == ["what it holds"] * 4
    assert shown[5].tip == f"{names[3]}: what it holds"
    # All within its own lane of 24 px, from 4 on.
    assert [int(s.points[0][1] - 4) // 24 for s in shown[:6]] == [0, 1, 2, 2, 3, 3]


def test_a_way_needs_a_part_before_each_tap_and_one_behind_the_last() -> None:
    with pytest.raises(ValueError, match="2 taps and 2 parts make no way"):
        Way("A", (Tap("a"), Tap("b")), (Part("p"), Part("q")))


def test_sizes_are_counted_in_ranges_that_double() -> None:
    assert counted([1, 1, 2, 3, 4, 9]) == [(1, 1, 2), (2, 2, 1), (3, 4, 2), (5, 8, 0), (9, 16, 1)]
    assert counted([0, 1]) == [(0, 0, 1), (1, 1, 1)]


def test_every_name_that_explain_gives_has_pictures_of_its_own() -> None:
    more = {"stall", "recorder-suspect", "packet-dropped", "packet-duplicated", "packets-reordered"}
    assert {*NAMES, *more} <= set(PROVES)


@pytest.fixture(scope="module")
def lost_credits(tmp_path_factory: pytest.TempPathFactory) -> CaptureView:
    return pulled(tmp_path_factory.mktemp("proof"), 2, fault="credit-lost")


def test_the_staircases_of_a_flow_are_those_of_both_logs_and_end_at_the_registers(
    lost_credits: CaptureView,
) -> None:
    view = lost_credits
    (finding,) = explain(view.folder).findings
    assert finding.flow is not None
    books = staircases(view, "A", "B", finding.flow)
    events = view.trace.events
    sent = events[
        (events["device"] == "B") & (events["kind"] == "CREDIT") & (events["code"] == "sent")
    ]
    sent = sent[sent["flow"] == finding.flow]
    assert books.told is not None
    assert books.told.t_ps[:-1].tolist() == sent["t_ps"].tolist()
    assert books.told.value[-1] == view.value("B", "frozen_flow.reported", finding.flow)
    assert books.credited is not None
    assert books.credited.value[-1] == view.value("A", "frozen_flow.credited", finding.flow)
    assert books.sent is not None
    assert books.sent.value[-1] == view.value("A", "frozen_flow.sent", finding.flow)
    assert books.limit is not None
    allowed = view.value("A", "frozen_flow.limit", finding.flow)
    assert books.limit.value[-1] - books.credited.value[-1] == allowed
    if books.freed is not None:
        assert books.freed.value[-1] <= view.value("B", "frozen_flow.freed", finding.flow)
    assert (np.diff(books.told.value) >= 0).all()


def test_the_level_of_a_fifo_is_never_below_0_and_never_above_its_depth(
    lost_credits: CaptureView,
) -> None:
    level = fifo_level(lost_credits, "B")
    assert level is not None
    assert level.limit is not None
    assert 0 <= level.value.min() <= level.value.max() <= level.limit
    assert level.value[-1] == lost_credits.value("B", "frozen.rx_level")


def test_credits_that_were_told_and_not_taken_are_a_filled_gap_up_to_the_edge(
    lost_credits: CaptureView,
) -> None:
    (finding,) = explain(lost_credits.folder).findings
    drawn = finding_drawings(lost_credits, finding, [])
    (books,) = [one for one in drawn if one.title.startswith("Books")]
    owed = of(books, "polygon", "owed")
    assert max(x for shape in owed for x, _ in shape.points) == pytest.approx(WIDTH, abs=0.1)
    assert ("owed", "told by B, not yet credited to A", "") in books.legend


@pytest.fixture(scope="module")
def omitted(tmp_path_factory: pytest.TempPathFactory) -> CaptureView:
    return CaptureView(made_capture(tmp_path_factory.mktemp("proof") / "made.ff"))


def test_a_packet_is_led_from_tap_to_tap_across_both_cards(omitted: CaptureView) -> None:
    (finding,) = explain(omitted.folder).findings
    drawn = finding_drawings(omitted, finding, [])
    (ladder,) = [one for one in drawn if one.title.startswith("Ladder")]
    assert finding.packet == BAD_PACKET
    # Begin to begin and end to end, over three ways between four taps.
    assert len(of(ladder, "line", "way mine")) == 6
    assert len(of(ladder, "rect", "error")) >= 3


def test_an_end_that_was_not_recorded_is_hatched_with_the_reason(omitted: CaptureView) -> None:
    lone = CaptureView(omitted.folder, ["A"])
    finding = Finding("word-omitted", "t", "A", "tx_deq", "A->?", t_ps=0, evidence=(Evidence("e"),))
    path = finding_drawings(lone, finding, [])[0]
    reasons = {s.tip for s in path.sheet.shapes if s.kind == "hatch"} if path.sheet else set()
    assert reasons == {"not recorded: this end is not in the capture"}


def test_a_finding_of_no_known_name_without_time_flow_and_packet_has_a_picture(
    omitted: CaptureView,
) -> None:
    finding = Finding("of-tomorrow", "t", evidence=(Evidence("e"),))
    first = next(iter(finding_drawings(omitted, finding, [])))
    assert first.title == "Where of-tomorrow is"


def test_the_pictures_stand_alone_as_one_well_formed_file(omitted: CaptureView) -> None:
    (finding,) = explain(omitted.folder).findings
    drawn = finding_drawings(omitted, finding, freezes(omitted.folder, omitted.trace))
    root = ET.fromstring(picture_svg(drawn, HOSTILE))
    assert len(list(root)) > len(drawn)


@pytest.mark.parametrize("fault", NAMES)
def test_every_fault_has_pictures_whose_marks_stand_at_its_time(fault: str, tmp_path: Path) -> None:
    seed, load = (
        (1, "light") if fault == "interrupt-lost" else (2, None)
    )  # a busy line is never lost
    view = pulled(tmp_path, seed, fault=fault, load=load)
    explanation = explain(view.folder)
    found = [f for f in explanation.findings if f.diagnosis == fault]
    assert found
    drawn = finding_drawings(view, found[0], freezes(view.folder, explanation.trace))
    assert len(drawn) >= 2
    marked = [one for one in drawn if of(one, "line", "mark finding")]
    assert (found[0].t_ps is None) == (not marked)
    for one in marked:
        (line,) = of(one, "line", "mark finding")
        assert GUTTER <= line.points[0][0] <= WIDTH
        assert one.sheet is not None
        data = [s for s in one.sheet.shapes if s.css.split()[0] in DATA and s.kind != "text"]
        assert data, one.title


def test_the_coverage_of_lanes_is_in_the_picture(omitted: CaptureView) -> None:
    covered = Coverage.between(0, 50, "before", "closed")
    sheet = timeline_sheet("n", [Lane("", "l", coverage=covered)], [], 0, 100, title="t", desc="d")
    (hole,) = [s for s in sheet.shapes if s.kind == "hatch"]
    assert (hole.points[0][0], hole.tip) == (GUTTER + HALF, "not recorded: closed")


def test_back_pressure_has_one_colour_whoever_tells_of_it(tmp_path: Path) -> None:
    view = pulled(tmp_path, 2, fault="credit-too-coarse")
    logged = [track for track, _ in wait_tracks("1", "x", view.trace)]
    blamed = [track for track, _ in result_tracks("1", "x", run_analysis(PRESSURE, view))]
    lasting = [track for track in blamed if isinstance(track, IntervalTrack)]
    assert lasting and logged
    for track in (*logged, *lasting):
        assert legend_of([track]) == [("warn", "waits", "back-pressure")]
    assert any("credit-" in tip_of(lasting[0], item) for item in range(len(lasting[0]))), (
        "what each wait was for is told by its tip"
    )
