"""Tracks in groups in a real window: folded, searched, pinned, chosen by presets; values at a cursor."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PyQt6.QtCore import QMimeData, QPoint, QPointF, QRect, Qt, QUrl
from PyQt6.QtGui import QDropEvent
from pytestqt.qtbot import QtBot

from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.serial.mdio_encode import MdioFrame, encode_frames
from freezeframe.gui.desktop.sources.opened import Part
from freezeframe.gui.desktop.timeline.overlay import RULER_PX
from freezeframe.gui.desktop.window import MainWindow
from freezeframe.gui.desktop.workspace import Workspace
from freezeframe.gui.tracks.tracks import WaveTrack
from tests.gui.desktop.conftest import (
    NO_ANALYSES,
    MakeWindow,
    Show,
    click,
    settle,
    type_text,
    wait_loaded,
)
from tests.gui.desktop.timeline import hands


def shown(window: MainWindow) -> list[str]:
    hidden = window.timeline.arranged.hidden
    return [key for key in window.timeline.arranged.order() if key not in hidden]


def click_group(window: MainWindow, name: str) -> None:
    line = next(one for one in window.timeline.arranged.groups if one.name == name)
    y = RULER_PX + line.y + 5 - window.timeline._bar.value()
    click(window.timeline, QPoint(20, y))


def test_fifteen_tracks_are_open_and_a_click_on_a_group_opens_the_rest_of_it(
    qtbot: QtBot, make_window: MakeWindow, fault_capture: Path
) -> None:
    window = make_window(analyses=None)
    wait_loaded(qtbot, window, fault_capture)
    settle(qtbot, window)
    assert len(shown(window)) == 15 < len(window.timeline.arranged.order())
    assert "1/findings" in shown(window)
    assert "1/words/A.tx_deq" in shown(window)  # the evidence
    assert "1/words/B.tx_deq" not in shown(window)
    click_group(window, "B packets")
    assert {f"1/words/B.{t}" for t in ("tx_enq", "tx_deq", "rx_enq", "rx_deq")} < set(shown(window))
    click_group(window, "B packets")
    assert not [key for key in shown(window) if key.startswith(("1/words/B.", "1/packets/B."))]


def evidence_in_view(window: MainWindow) -> bool:
    view, keys = window.timeline, window.control.choice.evidence
    seen = [key for key in keys if view.arranged.row(key)]
    return bool(seen) and all(RULER_PX < view.row_center(key) < view.height() for key in seen)


def test_the_evidence_comes_into_view_also_behind_another_capture_and_stays_there(
    qtbot: QtBot, window: MainWindow, fault_capture: Path, other_capture: Path
) -> None:
    wait_loaded(qtbot, window, other_capture)
    second = wait_loaded(qtbot, window, fault_capture)
    settle(qtbot, window)
    bar = window.timeline._bar
    window.findings.select(second, 0, tell=True)
    assert all(key.startswith("2/") for key in window.control.choice.evidence)
    assert evidence_in_view(window)

    bar.setValue(bar.value() - 3)
    here = bar.value()
    window.choosing.show_finding(second, 0)
    assert bar.value() == here  # it is in view: the view stays where the user has it

    def more(first: int) -> None:
        t_ps = np.array([0, 1_000], np.int64)
        level = np.array([0, 1], np.uint8)
        opened = window.workspace.sources["1"]
        made = [
            WaveTrack(
                key=f"1/wave{n}/x",
                name=f"x{n}",
                source=opened.name,
                t_ps=t_ps,
                level=level,
                end_ps=2_000,
            )
            for n in range(first, first + 40)
        ]
        window.control.choice.by_hand |= dict.fromkeys([track.key for track in made], True)
        opened.absorb(Part(tracks=[(track, None) for track in made]))
        window.workspace.changed.emit("1", "all")
        settle(qtbot, window)

    before = bar.value()
    more(0)  # above the evidence: an analysis of the first capture has ended
    assert bar.value() > before and evidence_in_view(window)
    bar.setValue(0)
    more(40)
    assert bar.value() == 0  # the user has scrolled away


def test_signals_stand_in_place_of_find_the_fault_where_there_is_none_to_find(
    qtbot: QtBot, window: MainWindow, fault_capture: Path, tmp_path: Path
) -> None:
    frame = MdioFrame(22, "read", phy=1, reg=2, data=7)
    write_sr(encode_frames([frame], samplerate_hz=10_000_000), tmp_path / "phy.sr")
    presets = window.toolbar.presets
    assert presets.currentData() == "fault"
    wait_loaded(qtbot, window, tmp_path / "phy.sr")
    assert presets.currentText() == "Logic analyzer"
    assert window.control.own_preset == "fault"  # what is kept for the next time
    wait_loaded(qtbot, window, fault_capture)
    assert presets.currentText() == "Find the fault"
    window.control.take_preset("all")
    window.workspace.close_source("2")
    assert presets.currentText() == "Everything"  # a choice of the user stands


@pytest.mark.parametrize(
    ("screen", "size"),
    [((1024, 768), (1024, 768)), ((2560, 1440), (1600, 900)), ((1920, 800), (1600, 800))],
)
def test_a_new_window_is_no_larger_than_the_screen(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, screen: tuple[int, int], size: tuple[int, int]
) -> None:
    room = SimpleNamespace(availableGeometry=lambda: QRect(0, 0, *screen))
    monkeypatch.setattr(MainWindow, "screen", lambda self: room)
    window = MainWindow(Workspace(analyses=NO_ANALYSES))
    qtbot.addWidget(window)
    assert (window.width(), window.height()) == size


def test_an_inspector_without_a_choice_has_no_headings(show: Show, window: MainWindow) -> None:
    assert window.inspector.tree.isHeaderHidden()
    show()
    assert not window.inspector.tree.isHeaderHidden()


def test_a_search_shows_what_it_names_and_its_end_what_was_there_before(opened: MainWindow) -> None:
    before = shown(opened)
    opened.menus.actions["Tracks"].trigger()
    type_text(opened.tracks.search, "b credits")
    assert shown(opened) == ["1/events/B.event_log/CREDIT"]
    opened.tracks.search.clear()
    assert shown(opened) == before


def test_a_pinned_track_stands_on_top_through_every_preset(opened: MainWindow) -> None:
    opened.control.show(["1/state/B.event_log/rx_dma"], True)
    opened.timeline.set_focus_track("1/state/B.event_log/rx_dma")
    opened.menus.actions["Pin track"].trigger()
    assert shown(opened)[:2] == ["1/findings", "1/state/B.event_log/rx_dma"]
    opened.menus.actions["3 Credits"].trigger()
    assert opened.toolbar.presets.currentText() == "Credits"
    assert shown(opened)[:2] == ["1/findings", "1/state/B.event_log/rx_dma"]
    assert "1/events/A.event_log/CREDIT" in shown(opened)
    assert "1/state/A.event_log/rx_dma" not in shown(opened)
    opened.menus.actions["Pin track"].trigger()
    assert "1/state/B.event_log/rx_dma" not in shown(opened)


def test_a_row_that_is_chosen_opens_its_track(
    qtbot: QtBot, window: MainWindow, fault_capture: Path
) -> None:
    from freezeframe.gui.desktop.sources.opened import Place

    key = wait_loaded(qtbot, window, fault_capture)
    settle(qtbot, window)
    assert f"{key}/words/B.rx_enq" not in shown(window)
    frame = window.workspace.sources[key].tables["words"].frame
    row = int((frame["source"] == "B.rx_enq").to_numpy().nonzero()[0][0])
    window.choosing.choose(Place(key, "words", row), "findings")
    assert f"{key}/words/B.rx_enq" in shown(window)
    selection = window.timeline.selection()
    assert selection is not None and selection.row == row


def test_the_boxes_of_the_tree_show_and_hide(opened: MainWindow) -> None:
    tree = opened.tracks.tree
    device = next(tree.topLevelItem(n) for n in range(tree.topLevelItemCount())
                  if tree.topLevelItem(n).text(0) == "B")  # type: ignore[union-attr]  # fmt: skip
    assert device is not None and device.checkState(0) == Qt.CheckState.PartiallyChecked
    device.setCheckState(0, Qt.CheckState.Unchecked)
    assert not [key for key in shown(opened) if "/B." in key]
    device.setCheckState(0, Qt.CheckState.Checked)
    assert len([k for k in shown(opened) if "/B." in k]) == len(
        [k for k in opened.timeline.arranged.order() if "/B." in k]
    )


def test_a_saved_view_brings_its_tracks_back(opened: MainWindow) -> None:
    opened.control.show(["1/packets/B.tx_enq"], False)
    state, kept = opened.view_state(), shown(opened)
    opened.menus.actions["6 Everything"].trigger()
    assert shown(opened) == opened.timeline.arranged.order()
    opened.restore_view(state)
    assert shown(opened) == kept


def test_beside_a_cursor_every_track_says_its_value_and_where_nothing_was_recorded(
    opened: MainWindow,
) -> None:
    view = opened.timeline
    assert view.cursors.active is None
    t_ps = 229_952_400
    hands.move(view, hands.at(view, "1/packets/A.tx_deq", t_ps))
    hands.press(view, "C")
    read = view.cursors.active
    assert read is not None and abs(read.t_ps - t_ps) < 50_000  # it snaps to an edge
    assert view._prepared["1/packets/A.tx_deq"].value_at(t_ps) == "69 RDMA_WRITE f0"
    assert view._prepared["1/words/A.tx_deq"].value_at(t_ps) == "14c1d3c4484bfb5a"
    assert view._prepared["1/packets/A.tx_deq"].value_at(1_000) == "not recorded"
    view.cursors.replace(())
    assert view.cursors.active is None


def test_the_label_column_is_dragged_wider_and_the_strip_above_follows(opened: MainWindow) -> None:
    view, t_ps = opened.timeline, 229_952_400
    edge = QPoint(view.gutter_px, RULER_PX + 40)
    hands.drag(view, edge, edge + QPoint(130, 0))
    assert view.gutter_px == opened.overview.gutter_px == 350
    assert abs(view.time_at(view.x_of(t_ps)) - t_ps) < view._per_pixel_ps()
    hands.drag(view, QPoint(350, RULER_PX + 40), QPoint(5_000, RULER_PX + 40))
    assert view.gutter_px < view.width() - 100
    hands.drag(view, QPoint(view.gutter_px, 80), QPoint(2, 80))
    assert view.gutter_px == 90


def test_an_empty_window_says_what_to_do_and_takes_what_is_dropped(
    qtbot: QtBot, window: MainWindow, fault_capture: Path, tmp_path: Path
) -> None:
    assert window.welcome.isVisible() and not window.timeline.isVisible()
    (tmp_path / "bad.sr").write_text("garbage")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(p)) for p in (tmp_path / "bad.sr", fault_capture)])
    drop = QDropEvent(QPointF(100, 100), Qt.DropAction.CopyAction, data,
                      Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)  # fmt: skip
    window.dropEvent(drop)
    qtbot.waitUntil(lambda: not window.workspace.opening, timeout=60_000)
    settle(qtbot, window)
    assert window.timeline.isVisible() and not window.welcome.isVisible()
    assert [s.path for s in window.workspace.sources.values()] == [fault_capture]
    assert "bad.sr" in window.trouble.text()
    assert window.kept.settings.recent[0] == str(fault_capture.resolve())
    for key in list(window.workspace.sources):
        window.workspace.close_source(key)
    assert window.welcome.isVisible()
    assert window.welcome.recent.item(0).text() == str(fault_capture.resolve())  # type: ignore[union-attr]


def test_it_begins_at_the_time_it_is_given_and_chooses_the_finding_there(
    qtbot: QtBot, fault_capture: Path
) -> None:
    from freezeframe.gui.desktop.workspace import Workspace
    from tests.gui.desktop.conftest import NO_ANALYSES

    for at_ps, row in ((229_952_400, 0), (100_000_000, -1)):
        window = MainWindow(Workspace(analyses=NO_ANALYSES), at_ps=at_ps)
        qtbot.addWidget(window)
        window.show()
        wait_loaded(qtbot, window, fault_capture)
        settle(qtbot, window)
        t0, t1 = window.timeline.range()
        assert t0 < at_ps < t1 < t0 + 10_000_000
        assert [cursor.t_ps for cursor in window.timeline.cursors.all()] == [at_ps]
        assert window.findings.list.currentRow() == row
        window.close()


def test_names_of_any_length_and_kind_are_shown_as_text(qtbot: QtBot, window: MainWindow) -> None:
    import numpy as np

    from freezeframe.gui.tracks.tracks import SliceTrack

    name = "<b>&\x1b[31m\u202e" + "x" * 300
    t_ps = np.array([0], np.int64)
    window.timeline.set_tracks(
        [SliceTrack(key="1/packets/A.t", name=name, source=name, t_ps=t_ps, t_end_ps=t_ps + 9,
                    classes=(name,))]
    )  # fmt: skip
    window.control.given()
    window.timeline.set_gutter(120)
    window.grab()
    leaf = window.tracks.tree.topLevelItem(0)
    assert leaf is not None and "\x1b" not in window.legend.toolTip()
    assert "<b>" not in window.legend.toolTip() and "&lt;b&gt;" in window.legend.toolTip()
