"""Tracks check what they are given; lanes, colours, order and saved views follow their rules."""

from __future__ import annotations

import itertools
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.capture.errors import InputError
from freezeframe.gui.desktop.timeline.layout import COLLAPSED_PX, HEADING_PX, Layout
from freezeframe.gui.desktop.timeline.positions import Cursor, Cursors
from freezeframe.gui.desktop.timeline.saved import ViewState
from freezeframe.gui.tracks.lanes import lanes_of, split_lanes
from freezeframe.gui.tracks.tracks import (
    BusTrack,
    MarkTrack,
    SeriesTrack,
    SliceTrack,
    StateTrack,
    WaveTrack,
)
from tests.gui.desktop.timeline.made import packets

TWO = np.array([0, 10], np.int64)
FLOATS: Any = TWO * 1.0
WORDS: Any = TWO


def test_tracks_can_be_used_where_there_is_no_qt() -> None:
    code = (
        "import sys; sys.modules['PyQt6'] = None\n"
        "import freezeframe.gui.tracks.recording, freezeframe.gui.tracks.analysis, freezeframe.gui.tracks.card\n"
        "import freezeframe.gui.tracks.lanes, freezeframe.gui.desktop.timeline.prepared\n"
        "import freezeframe.gui.plots.pyramid, freezeframe.gui.plots.slices\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_row_of_the_table_and_an_item_of_the_track_lead_to_each_other() -> None:
    track = packets()
    assert (track.row_of(3), track.item_of(103), track.item_of(5)) == (103, 3, None)
    assert track.items_of(np.array([104, 99, 101], np.int64)).tolist() == [1, 4]
    with pytest.raises(IndexError, match="a: item 20 of 20"):
        track.row_of(20)


def test_rows_in_any_order_are_found() -> None:
    track = MarkTrack(key="m", name="m", t_ps=TWO, text=("x", "y"), rows=np.array([9, 4]))
    assert (track.item_of(9), track.item_of(4)) == (0, 1)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: SeriesTrack(key="s", name="s", t_ps=TWO, value=np.zeros(3)), "3 entries for 2"),
        (lambda: SeriesTrack(key="s", name="s", t_ps=FLOATS, value=np.zeros(2)), "float64"),
        (lambda: SliceTrack(key="s", name="s", t_ps=TWO, t_end_ps=TWO[:1]), "1 entries for 2"),
        (lambda: WaveTrack(key="s", name="s", t_ps=TWO, level=WORDS), "wanted uint8"),
        (lambda: MarkTrack(key="s", name="s", t_ps=TWO, text=("a",)), "1 entries for 2"),
        (
            lambda: StateTrack(
                key="s", name="s", t_ps=TWO, colour=np.zeros(2, np.uint8), classes=("a",) * 17
            ),
            "17 classes; wanted 1..16",
        ),
    ],
    ids=["length", "float-times", "ends", "levels", "texts", "classes"],
)
def test_columns_that_do_not_fit_each_other_are_refused(make: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make()


def test_a_value_of_a_bus_is_shown_in_hexadecimal_of_its_width_or_as_its_format_says() -> None:
    value = np.array([-1, 0x1234], np.int64)
    bus = BusTrack(key="b", name="b", t_ps=TWO, value=value, width_bits=20)
    assert [bus.label_of(i) for i in (0, 1)] == ["fffff", "01234"]
    shown = BusTrack(key="b", name="b", t_ps=TWO, value=value, format=lambda v: f"<{v}>")
    assert shown.label_of(1) == "<4660>"
    assert (bus.end_of(0), bus.end_of(1)) == (10, 10)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 60)), max_size=60))
@settings(deadline=None)
def test_no_two_slices_of_a_lane_overlap_and_no_lane_is_more_than_needed(
    pairs: list[tuple[int, int]],
) -> None:
    starts = np.cumsum([gap for gap, _ in pairs], dtype=np.int64)
    ends = starts + np.array([length for _, length in pairs], np.int64)
    lanes = lanes_of(starts, ends)
    for lane in set(lanes.tolist()):
        mine = np.flatnonzero(lanes == lane)
        assert all(ends[a] <= starts[b] for a, b in itertools.pairwise(mine))
    # every slice needs a lane beside those before it that still stand when it begins
    most = max((int((ends[:i] > t).sum()) + 1 for i, t in enumerate(starts)), default=1)
    assert len(set(lanes.tolist())) <= most


def test_where_too_many_slices_overlap_the_rest_shares_the_last_lane() -> None:
    starts = np.arange(6, dtype=np.int64)
    assert lanes_of(starts, starts + 100, most=3).tolist() == [0, 1, 2, 2, 2, 2]


def test_a_lane_keeps_the_rows_labels_and_errors_of_its_slices() -> None:
    t_ps = np.array([0, 5, 10], np.int64)
    track = SliceTrack(
        key="k", name="n", t_ps=t_ps, t_end_ps=t_ps + 8, label=lambda i: f"#{i}",
        error=np.array([False, True, False]),
    )  # fmt: skip
    first, second = split_lanes(track)
    assert (second.key, second.row_of(0), second.label_of(0)) == ("k/2", 1, "#1")
    assert second.error is not None and second.error.tolist() == [True]
    assert [first.label_of(i) for i in range(2)] == ["#0", "#2"]
    assert split_lanes(packets())[0].key == "a"


# Machado, Oliveira, Fernandes, "A Physiologically-based Model for Simulation of Color Vision
# Deficiency" (2009), table 1, severity 1.0: protanopia, deuteranopia, tritanopia
def test_tracks_of_one_source_stand_together_under_its_name_and_keep_the_users_order() -> None:
    a, b, c = packets(key="a"), packets(key="b", source="y.sr"), packets(key="c")
    layout = Layout()
    layout.set_tracks([a, b])
    layout.set_tracks([a, b, c])
    assert layout.order() == ["a", "c", "b"]
    assert [row.heading for row in layout.rows] == ["x.ff", "", "y.sr"]
    assert layout.rows[0].y == HEADING_PX and layout.rows[1].y == HEADING_PX + 28
    assert layout.move("c", -1) and layout.order() == ["c", "a", "b"]
    assert not layout.move("c", -1)
    layout.set_hidden({"a"})
    layout.set_collapsed(["c"], True)
    assert [(row.key, row.height) for row in layout.rows] == [("c", COLLAPSED_PX), ("b", 28)]
    with pytest.raises(ValueError, match="two tracks have the key 'a'"):
        layout.set_tracks([a, a])


def test_cursors_take_free_letters_and_tell_the_time_to_the_next() -> None:
    cursors = Cursors()
    cursors.add(30)
    cursors.add(10)
    cursors.add(12, "start")
    assert cursors.deltas() == [("B", "start", 2), ("start", "A", 18)]
    cursors.remove("A")
    assert cursors.add(5).name == "A"
    assert cursors.nearest(11, 0) is None and cursors.nearest(13, 1) == Cursor("start", 12)
    with pytest.raises(ValueError, match="there is a cursor 'B' already"):
        cursors.rename("start", "B")
    with pytest.raises(ValueError, match="needs a name"):
        cursors.add(1, " ")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([], "is an object with fields, not list"),
        ({}, "range_ps is not a pair"),
        ({"range_ps": [0, "x"]}, "range_ps is 'x'; wanted an integer"),
        ({"range_ps": [0, 1 << 70]}, "wanted an integer below"),
        ({"range_ps": [5, 5]}, "ends at 5, before it begins at 5"),
        ({"range_ps": [0, 9], "order": "a"}, "order is not a list"),
        ({"range_ps": [0, 9], "hidden": [1]}, "hidden holds something that is no text"),
        ({"range_ps": [0, 9], "cursors": [{"t_ps": 3}]}, "a cursor without a name"),
        ({"range_ps": [0, 9], "cursors": [{"name": "A", "t_ps": 1}] * 2}, "not unique"),
    ],
)
def test_a_saved_view_that_was_altered_is_refused_by_field(data: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        ViewState.from_json(data)


def test_a_saved_view_comes_back_as_it_was() -> None:
    state = ViewState(5, 1 << 60, ("a",), ("b",), ("c",), (Cursor("A", 7),), 12, True, False)
    assert ViewState.from_json(state.to_json()) == state


@given(st.lists(st.integers(0, 12), max_size=30), st.lists(st.integers(-2, 14), max_size=12))
def test_all_items_of_given_rows_are_found_in_any_order_of_rows(
    rows: list[int], wanted: list[int]
) -> None:
    for column in (rows, sorted(rows)):
        track = MarkTrack(
            key="m", name="m", t_ps=np.arange(len(rows), dtype=np.int64), text=("",) * len(rows),
            rows=np.array(column, np.int64),
        )  # fmt: skip
        found = track.items_of(np.array(wanted, np.int64)).tolist()
        assert found == [item for item, row in enumerate(column) if row in wanted]
