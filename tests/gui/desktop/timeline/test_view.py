"""The time line under mouse and keyboard: what a user does, and what the window tells about it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtGui import QColor
from pytestqt.qtbot import QtBot

from freezeframe.capture.errors import InputError
from freezeframe.gui.desktop.timeline.keys import KEYS, key_help
from freezeframe.gui.desktop.timeline.overlay import FLAGS_PX, RULER_PX
from freezeframe.gui.desktop.timeline.scene import GUTTER_PX
from freezeframe.gui.desktop.timeline.view import Cursor, TimelineView
from freezeframe.gui.desktop.view_export import write_png, write_svg
from freezeframe.gui.palette import THEMES
from freezeframe.gui.tracks.tracks import (
    BusTrack,
    IntervalTrack,
    MarkTrack,
    SeriesTrack,
    SliceTrack,
    StateTrack,
    Track,
    WaveTrack,
)
from tests.gui.desktop.timeline.hands import RIGHT, SHIFT, at, click, drag, move, press, wheel
from tests.gui.desktop.timeline.made import packets

Shown = Callable[[Sequence[Track]], TimelineView]


def test_opening_shows_everything(shown: Shown) -> None:
    view = shown([packets()])
    t0, t1 = view.range()
    assert t0 <= 0 and t1 >= 19_600_000
    assert t1 - t0 < 22_000_000


def test_the_first_tick_of_the_axis_has_its_label_at_the_very_edge_too(shown: Shown) -> None:
    view = shown([packets()])
    view.set_range(0, 1_000_000)
    image, ground = view.grab().toImage(), QColor(THEMES["dark"].gutter).rgb()
    label = range(view.gutter_px + 2, view.gutter_px + 20)
    assert {image.pixel(x, y) for x in label for y in range(FLAGS_PX, RULER_PX - 6)} - {ground}


def test_a_click_selects_the_packet_under_the_mouse_and_tells_its_row(
    shown: Shown, qtbot: QtBot
) -> None:
    view = shown([packets()])
    with qtbot.waitSignal(view.selection_changed) as told:
        click(view, at(view, "a", 3_300_000))
    assert told.args is not None
    selection = told.args[0]
    assert (selection.key, selection.item, selection.row) == ("a", 3, 103)
    assert (selection.t_ps, selection.t_end_ps) == (3_000_000, 3_600_000)
    assert "packet 3" in view.accessibleDescription()


def test_a_row_chosen_in_the_table_comes_into_view_without_a_signal_back(
    shown: Shown, qtbot: QtBot
) -> None:
    view = shown([packets()])
    view.set_range(0, 2_000_000)
    with qtbot.assertNotEmitted(view.selection_changed):
        view.select("a", 115)
    selection = view.selection()
    assert selection is not None and selection.item == 15
    t0, t1 = view.range()
    assert t0 < 15_000_000 < t1 and t1 - t0 == 2_000_000
    view.select("a", 5)  # not a row of this track
    assert view.selection() is None


def test_the_wheel_zooms_at_the_pointer(shown: Shown) -> None:
    view = shown([packets()])
    spot = at(view, "a", 5_000_000)
    t0, t1 = view.range()
    wheel(view, spot, 120)
    u0, u1 = view.range()
    assert (t1 - t0) / (u1 - u0) == pytest.approx(1.3, rel=1e-3)
    assert view.x_of(5_000_000) == pytest.approx(spot.x(), abs=1)
    wheel(view, spot, -120)
    assert view.range() == pytest.approx((t0, t1), abs=100)


def test_dragging_pans_a_right_drag_zooms_to_a_box_and_shift_selects_a_stretch(
    shown: Shown, qtbot: QtBot
) -> None:
    view = shown([packets()])
    view.set_range(0, 10_000_000)
    drag(view, at(view, "a", 5_000_000), at(view, "a", 4_000_000))
    assert view.range()[0] == pytest.approx(1_000_000, abs=30_000)
    drag(view, at(view, "a", 4_000_000), at(view, "a", 6_000_000), RIGHT)
    assert view.range() == pytest.approx((4_000_000, 6_000_000), abs=30_000)
    view.toggle_snapping()
    with qtbot.waitSignal(view.time_selection_changed):
        drag(view, at(view, "a", 4_500_000), at(view, "a", 5_500_000), held=SHIFT)
    assert view.time_selection() == pytest.approx((4_500_000, 5_500_000), abs=10_000)
    assert view.selection() is None


def test_a_dragged_cursor_snaps_to_the_edge_of_a_packet_and_keeps_its_delta(
    shown: Shown, qtbot: QtBot
) -> None:
    view = shown([packets()])
    view.set_range(0, 5_000_000)
    view.add_cursor(1_000_000)
    view.add_cursor(2_345_678)
    near = at(view, "a", 3_600_000) + QPoint(5, 0)
    with qtbot.waitSignal(view.cursors_changed):
        drag(view, at(view, "a", 2_345_678), near)
    assert view.cursors.deltas() == [("A", "B", 2_600_000)]  # exactly the end of packet 3
    press(view, "S")
    drag(view, at(view, "a", 3_600_000), near)
    assert view.cursors.deltas()[0][2] == pytest.approx(2_600_000 + 5 * 5_000_000 / 596, abs=9_000)


def test_the_keyboard_alone_reaches_everything(shown: Shown, qtbot: QtBot) -> None:
    view = shown([packets(key="a"), packets(key="b")])
    whole = view.range()
    press(view, "+")
    assert view.range()[1] - view.range()[0] == pytest.approx((whole[1] - whole[0]) / 1.5, rel=1e-3)
    before = view.range()
    press(view, "Right")
    assert view.range()[0] - before[0] == pytest.approx((before[1] - before[0]) / 10, rel=0.01)
    press(view, "F")
    assert view.range() == whole
    press(view, "Down")
    assert view.focus_track() == "b"
    press(view, "Alt+Up")
    assert view.arranged.order() == ["b", "a"]
    press(view, "Space")
    assert view.state()["collapsed"] == ["b"]
    press(view, "Home")
    press(view, "N")
    selection = view.selection()
    assert selection is not None and selection.key == "b"
    press(view, "P")
    assert view.selection() != selection
    press(view, "C")
    press(view, ".")
    chosen = view.selection()
    assert chosen is not None
    assert view.cursors.all() == (Cursor("A", chosen.t_end_ps),)
    press(view, "C")
    press(view, "B")
    assert view.time_selection() == (chosen.t_ps, chosen.t_end_ps)
    press(view, "Z")
    assert view.range()[1] - view.range()[0] == 600_000 * 12 // 10
    for key, signal in (
        ("M", view.mark_requested),
        ("Return", view.item_activated),
        ("/", view.find_requested),
        ("Ctrl+F", view.find_requested),
        ("Menu", view.context_requested),
    ):
        with qtbot.waitSignal(signal):
            press(view, key)
    press(view, "Delete")
    assert len(view.cursors.all()) == 1
    press(view, "Esc")
    assert view.selection() is None and view.time_selection() is None


def test_every_key_is_in_the_help_once_and_stays_out_of_the_reach_of_menus() -> None:
    keys = [key for keys, _, _ in KEYS for key in keys]
    assert len(keys) == len(set(keys)) and all(what for _, what in key_help())


def test_next_goes_through_the_hits_of_all_tracks_in_order_of_time(shown: Shown) -> None:
    view = shown([packets(key="a"), packets(key="b")])
    view.set_hits({"a": np.array([103, 110]), "b": np.array([103, 105]), "gone": np.array([1])})
    view.select("a", 100)
    steps = [view.step(1) for _ in range(4)]
    found = [(s.key, s.row) for s in steps if s is not None]
    assert found == [("a", 103), ("b", 103), ("b", 105), ("a", 110)]
    assert view.step(1) is None
    back = [view.step(-1) for _ in range(3)]
    assert [(s.key, s.row) for s in back if s] == [("b", 105), ("b", 103), ("a", 103)]
    assert view.step(-1) is None


def test_a_hit_and_an_error_are_seen_in_the_picture(shown: Shown) -> None:
    view = shown([packets(200)])
    error = view._theme.role("error")
    image = view.render_image()
    y = view.row_center("a")
    row = [image.pixel(x, y) & 0xFFFFFF for x in range(GUTTER_PX, 780)]
    assert error in row
    assert view.x_of(7_000_000) - 3 <= GUTTER_PX + row.index(error) <= view.x_of(7_600_000)


def test_one_error_among_a_million_packets_is_a_spot_of_its_own_colour_at_full_zoom_out(
    shown: Shown,
) -> None:
    view = shown([packets(1_000_000)])
    image = view.render_image()
    y = view.row_center("a")
    spots = [
        x for x in range(image.width()) if image.pixel(x, y) & 0xFFFFFF == view._theme.role("error")
    ]
    assert 2 <= len(spots) <= 5
    assert abs(spots[0] - view.x_of(7_000_000)) <= 3


def test_names_out_of_a_capture_stay_plain_text_everywhere(shown: Shown, tmp_path: Path) -> None:
    bad = "<b>x</b><img src=file:///etc/passwd>&amp;\x1b[31m\n"
    t_ps = np.array([0, 1_000_000], np.int64)
    hostile = SliceTrack(
        key=bad, name=bad, source=bad, t_ps=t_ps, t_end_ps=t_ps + 900_000, note=bad,
        label=lambda _: bad, tip=lambda _: bad, classes=(bad,),
    )  # fmt: skip
    view = shown([hostile, MarkTrack(key="m", name="m", t_ps=t_ps, text=(bad, bad))])
    move(view, at(view, bad, 500_000))
    assert view.tip.textFormat() == Qt.TextFormat.PlainText
    assert "<b>x</b>" in view.tip.text() and "\x1b" not in view.tip.text()
    view.add_cursor(5, bad)
    path = tmp_path / "view.svg"
    write_svg(view, path)
    texts = [e.text or "" for e in ET.parse(path).iter("{http://www.w3.org/2000/svg}text")]
    assert any("<b>x</b>" in text for text in texts)
    assert not any("\x1b" in text for text in texts)


def test_hovering_tells_name_label_times_and_error(shown: Shown) -> None:
    view = shown([packets()])
    move(view, at(view, "a", 7_200_000))
    assert view.tip.text() == "packets a\npacket 7\nACK\n7 µs to 7.6 µs  (600 ns)\nin error"
    move(view, at(view, "a", 7_900_000))
    assert view.tip.isHidden()


def test_what_is_seen_is_written_as_png_and_as_svg_with_text(shown: Shown, tmp_path: Path) -> None:
    level = (np.arange(40) % 3).astype(np.uint8)
    edges = np.arange(40, dtype=np.int64) * 500_000
    value = np.where(edges > 10_000_000, np.nan, edges / 1e6)
    view = shown(
        [
            packets(),
            WaveTrack(key="w", name="MDC", source="y.sr", t_ps=edges, level=level),
            SeriesTrack(key="s", name="rate", t_ps=edges, value=value, unit="MB/s", limit=5.0),
            MarkTrack(key="m", name="findings", t_ps=edges[4:5], text=("word omitted",)),
        ]
    )
    write_png(view, tmp_path / "v.png")
    write_svg(view, tmp_path / "v.svg")
    assert (tmp_path / "v.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    texts = " ".join(
        e.text or "" for e in ET.parse(tmp_path / "v.svg").iter("{http://www.w3.org/2000/svg}text")
    )
    for shown_text in ("packets a", "MDC", "x.ff", "word omitted", "rate", "µs"):
        assert shown_text in texts
    with pytest.raises(InputError, match=r"nowhere.*cannot be written: No such file"):
        write_svg(view, tmp_path / "nowhere" / "v.svg")


def test_a_mark_near_the_right_edge_has_its_label_before_it(shown: Shown, tmp_path: Path) -> None:
    t_ps = np.array([9_800_000, 9_900_000], np.int64)
    view = shown(
        [packets(), MarkTrack(key="m", name="m", t_ps=t_ps, text=("long, before it", "whole"))]
    )
    view.set_range(0, 10_000_000)
    write_svg(view, tmp_path / "v.svg")
    texts = [e.text for e in ET.parse(tmp_path / "v.svg").iter("{http://www.w3.org/2000/svg}text")]
    assert "long, before it" in texts
    assert "whole" not in texts  # before it is another mark


def test_an_svg_has_some_hundred_bytes_for_an_item_and_for_a_row(
    shown: Shown,
) -> None:
    def bytes_of(rows: int, items: int) -> int:
        t_ps = np.arange(items, dtype=np.int64) * 1_000_000
        tracks = [
            SliceTrack(key=f"{row}", name="", t_ps=t_ps, t_end_ps=t_ps + 700_000)
            for row in range(rows)
        ]
        return len(shown(tracks).render_svg())

    few, more, rows, idle = bytes_of(1, 10), bytes_of(1, 110), bytes_of(11, 10), bytes_of(11, 1)
    assert (more - few) / 100 < 110
    assert (rows - few) / 10 < 2000
    assert (idle - bytes_of(1, 1)) / 10 < 500


def test_the_bytes_of_an_svg_are_bounded_by_its_width_whatever_is_in_it(shown: Shown) -> None:
    edges = np.arange(20_000, dtype=np.int64) * 1_000
    crowd = SliceTrack(
        key="c", name="c", t_ps=edges, t_end_ps=edges + 700, error=edges % 7_000 == 0,
        colour=(np.arange(20_000) % 5).astype(np.uint8), classes=tuple("abcde"),
    )  # fmt: skip
    level = (np.arange(20_000) % 3).astype(np.uint8)
    view = shown([crowd, WaveTrack(key="w", name="w", t_ps=edges, level=level)])
    assert len(view.render_svg()) < 20_000 + 2 * 60 * view.area_width()


def test_a_view_is_saved_and_brought_back(shown: Shown) -> None:
    view = shown([packets(key="a"), packets(key="b"), packets(key="c")])
    view.set_range(1_000_000, 2_000_000)
    view.add_cursor(1_500_000, "here")
    view.arranged.set_order(["c", "a", "b"])
    view.arranged.set_collapsed(["b"], True)
    view.arranged.set_hidden({"a"})
    state = view.state()
    view.arranged.set_order(["a", "b", "c"])
    view.arranged.set_hidden(set())
    view.arranged.set_collapsed(["b"], False)
    view.cursors.replace([])
    view.zoom_fit()
    view.restore(state)
    assert view.state() == state
    with pytest.raises(InputError, match="range_ps"):
        view.restore({"range_ps": "all"})
    assert view.state() == state


def test_dark_and_light_differ_and_an_unknown_theme_is_refused(shown: Shown) -> None:
    view = shown([packets()])
    corner = QPoint(780, 480)
    view.set_theme("light")
    light = QColor(view.render_image().pixel(corner)).lightness()
    view.set_theme("dark")
    assert light > 200 and QColor(view.render_image().pixel(corner)).lightness() < 60
    with pytest.raises(ValueError, match="there are dark, light"):
        view.set_theme("pink")


def test_a_track_that_contradicts_itself_says_so_in_its_row_and_the_others_are_drawn(
    shown: Shown,
) -> None:
    bad = SliceTrack(
        key="bad", name="bad", t_ps=np.array([5, 3], np.int64), t_end_ps=np.array([6, 9], np.int64)
    )
    view = shown([bad, packets()])
    assert "item 1: its time 3 ps is earlier" in view._prepared["bad"].said
    assert view._prepared["a"].said == ""
    move(view, QPoint(20, view.row_center("bad")))
    assert "earlier" in view.tip.text()


def test_live_columns_take_the_place_of_the_old_ones_and_the_view_does_not_move(
    shown: Shown, qtbot: QtBot
) -> None:
    view = shown([packets(20)])
    view.set_range(1_000_000, 3_000_000)
    view.replace_track(packets(40))
    qtbot.waitUntil(lambda: not view.is_building(), timeout=60_000)
    assert view.range() == (1_000_000, 3_000_000)
    assert view.extent() == (0, 39_600_000)
    with pytest.raises(KeyError):
        view.replace_track(packets(3, key="new"))


def test_an_interval_that_began_before_the_recording_has_a_frayed_edge(shown: Shown) -> None:
    edges = {}
    for open_start in (False, True):
        track = IntervalTrack(
            key="i", name="i", t_ps=np.array([0], np.int64), t_end_ps=np.array([10_000_000], np.int64),
            open_start=np.array([open_start]), classes=("busy",),
        )  # fmt: skip
        view = shown([track])
        x, y = round(view.x_of(0)) + 1, view.row_center("i")
        image = view.render_image()
        edges[open_start] = {image.pixel(x, y + dy) for dy in range(-6, 6)}
    assert len(edges[False]) == 1 and len(edges[True]) == 2


def test_no_call_of_the_window_reads_a_whole_track(shown: Shown, qtbot: QtBot) -> None:
    """Ten times the items may not make a step of the window ten times dearer."""
    import time

    def step_s(count: int) -> float:
        view = shown([packets(count)])
        best = []
        for step in range(15):
            start = time.thread_time()
            view.set_range(step * 1_000_000, count * 900_000 + step * 1_000_000)
            view.repaint()
            best.append(time.thread_time() - start)
        return min(best)

    assert step_s(3_000_000) < 5 * step_s(100_000)


def test_a_long_list_of_tracks_scrolls_to_the_chosen_one(shown: Shown) -> None:
    view = shown([packets(key=f"t{i}") for i in range(40)])
    assert view.row_center("t39") > view.height()
    for _ in range(39):
        press(view, "Down")
    assert view.focus_track() == "t39"
    assert RULER_PX < view.row_center("t39") < view.height()
    press(view, "PgUp")
    assert view.row_center("t39") > view.height()


def test_closing_while_building_waits_for_the_thread(qtbot: QtBot) -> None:
    view = TimelineView()
    qtbot.addWidget(view)
    view.set_tracks([packets(2_000_000, key=str(i)) for i in range(3)])
    view.shutdown()
    assert not view.is_building()


def test_a_cancelled_build_leaves_the_rest_hatched_and_goes_on_when_asked(
    shown: Shown, qtbot: QtBot
) -> None:
    count = 12_000_000  # three pieces
    t_ps = np.arange(count, dtype=np.int64) * 1000
    view = shown([])
    view.set_tracks(
        [WaveTrack(key="w", name="w", t_ps=t_ps, level=(t_ps // 1000 % 2).astype(np.uint8))]
    )
    view._builder.advanced.connect(view.cancel_build)
    qtbot.waitUntil(lambda: not view.is_building(), timeout=180_000)
    view.shutdown()  # until its thread is done with the piece
    prepared = view._prepared["w"]
    until = prepared.built_until_ps
    if until is not None:  # else the thread was faster than the signal
        image = view.render_image()
        y = view.row_center("w")
        right = [image.pixel(x, y) for x in range(round(view.x_of(until)) + 20, 770)]
        assert len(set(right)) >= 2
    view._builder.advanced.disconnect()
    view.set_tracks(view.tracks())
    qtbot.waitUntil(lambda: not view.is_building(), timeout=60_000)
    assert prepared.done and prepared.built_until_ps is None


def test_on_a_fine_screen_the_picture_has_every_pixel_of_the_screen(shown: Shown) -> None:
    from freezeframe.gui.desktop.timeline.raster import Raster

    view = shown([packets()])
    scene = view._scene()
    coarse, fine = Raster().paint(scene), Raster()
    image = fine.paint(scene, 2.0)
    assert (image.width(), image.height()) == (2 * coarse.width(), 2 * coarse.height())
    y = view.row_center("a") - RULER_PX
    a = [coarse.pixel(x, y - 8) for x in range(0, coarse.width())]
    b = [image.pixel(2 * x, 2 * (y - 8)) for x in range(0, coarse.width())]
    assert sum(p == q for p, q in zip(a, b, strict=True)) > 0.9 * len(a)


def test_a_window_that_is_deleted_while_it_builds_takes_its_thread_along(
    qtbot: QtBot, capsys: pytest.CaptureFixture[str]
) -> None:
    from PyQt6 import sip

    view = TimelineView()
    view.set_tracks([packets(4_000_000, key=str(i)) for i in range(4)])
    job = view._builder.job
    assert job is not None
    thread = job._thread
    sip.delete(view)
    thread.join(timeout=180)
    assert not thread.is_alive()


def test_a_moment_and_a_narrow_packet_are_named_in_the_idle_time_after_them(
    shown: Shown, tmp_path: Path
) -> None:
    t_ps = np.array([0, 4_000_000, 4_050_000], np.int64)
    track = SliceTrack(
        key="e", name="e", t_ps=t_ps, t_end_ps=t_ps, label=lambda item: f"moment-{item}"
    )
    view = shown([track])
    write_svg(view, tmp_path / "v.svg")
    texts = [e.text for e in ET.parse(tmp_path / "v.svg").iter("{http://www.w3.org/2000/svg}text")]
    assert "moment-0" in texts and "moment-1" not in texts  # no room before the third
    image = view.render_image()
    left, y = round(view.x_of(0)) + 5, view.row_center("e")
    letters = [QColor(image.pixel(left + x, y + dy)) for x in range(70) for dy in range(-6, 6)]
    assert max(colour.lightness() for colour in letters) > 150


def test_the_window_never_compiles_or_loads_a_kernel_whatever_the_columns_are_like(
    shown: Shown,
) -> None:
    """All signatures are there once the worker has built: painting, hovering and steps add none."""
    from freezeframe.gui.desktop.timeline import paint_kernels
    from freezeframe.gui.desktop.timeline.prepared import Prepared
    from freezeframe.gui.desktop.timeline.raster import warm_up
    from freezeframe.gui.plots import kernels, kernels_slices

    def signatures() -> int:
        modules = (paint_kernels, kernels, kernels_slices)
        found = [v for module in modules for v in vars(module).values() if hasattr(v, "signatures")]
        assert len(found) > 10
        return sum(len(kernel.signatures) for kernel in found)

    t_ps = np.arange(300, dtype=np.int64) * 1000
    frozen = t_ps.copy()
    frozen.flags.writeable = False
    shifted = np.frombuffer(b"x" + t_ps.tobytes(), np.int64, offset=1)  # not aligned
    value = np.arange(300)
    kinds: Any = (np.float64, np.int16, np.uint64, np.dtype(">f4"))
    tracks: list[Track] = [
        SeriesTrack(
            key=f"s{i}",
            name="s",
            t_ps=t,
            value=value.astype(kind),
            limit=1000 + i,
            step=bool(i % 2),
        )
        for i, (t, kind) in enumerate(zip((t_ps, frozen, shifted, t_ps), kinds, strict=True))
    ]
    tracks += [
        packets(300, key="all"),
        SliceTrack(key="bare", name="b", t_ps=frozen, t_end_ps=shifted + 10),
        SliceTrack(key="over", name="o", t_ps=t_ps, t_end_ps=t_ps + 9000 - t_ps % 7 * 1000),
        SliceTrack(key="one", name="1", t_ps=t_ps[:1], t_end_ps=t_ps[:1]),
        SliceTrack(key="every2", name="2", t_ps=t_ps[::2], t_end_ps=t_ps[::2] + 5),
        IntervalTrack(key="i", name="i", t_ps=t_ps[:2], t_end_ps=t_ps[:2] + 800,
                      open_start=value[:2] > 0, open_end=value[:2] > 0),
        WaveTrack(key="w", name="w", t_ps=frozen, level=(value % 3).astype(np.uint8)),
        BusTrack(key="b", name="b", t_ps=t_ps, value=value),
        StateTrack(key="st", name="st", t_ps=t_ps, colour=(value % 2).astype(np.uint8), classes=("a", "b")),
        MarkTrack(key="m", name="m", t_ps=t_ps[:2], text=("x", "y")),
        MarkTrack(key="none", name="none"),
    ]  # fmt: skip
    prepared = [Prepared(track) for track in tracks]
    warm_up(one.pyramid for one in prepared)  # as the worker does
    for one in prepared:
        one.build()
    before = signatures()
    view = shown(tracks)
    view.resize(1120, 1400)  # all of them at once
    for t0, t1 in (view.extent(), (100_000, 112_000), (0, 1000), (290_000, 400_000)):
        view.set_range(t0, t1)
        view.toggle_scale()
        view.render_image()
        for track in tracks:
            if view.arranged.row(track.key):
                move(view, at(view, track.key, (t0 + t1) // 2))
                view.set_focus_track(track.key)
                view.step(1)
                view.snapped((t0 + t1) // 2, 300, free=False)
    assert all(not view._prepared[track.key].failed for track in tracks)
    assert signatures() == before
