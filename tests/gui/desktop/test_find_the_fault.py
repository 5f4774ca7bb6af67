"""The first job, as a user does it: open, find the fault, follow the evidence, note it, export it."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QInputDialog
from pytestqt.qtbot import QtBot

from freezeframe.analyzers.registry import AnalysisRegistry, load_analyses
from freezeframe.capture.folder import CaptureFolder
from freezeframe.decoders.query.evaluate import matching
from freezeframe.decoders.trace.decode import Trace, decode_capture
from freezeframe.gui.desktop.sources.opened import Place
from freezeframe.gui.desktop.window import MainWindow
from tests.gui.desktop.conftest import MakeWindow, click, press, settle, type_text, wait_loaded


def chosen_cells(window: MainWindow) -> dict[str, str]:
    row = window.table.current_row()
    assert row is not None
    model = window.table.model
    return {name: model.cell(row, at) for at, name in enumerate(model.column_names())}


def test_a_capture_is_decoded_once_for_its_picture_its_finding_and_its_analyses(
    qtbot: QtBot, window: MainWindow, fault_capture: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded = []

    def counted(folder: CaptureFolder, *more: Any) -> Trace:
        decoded.append(folder.path)
        return decode_capture(folder, *more)

    for module in ("freezeframe.gui.desktop.sources.capture", "freezeframe.analyzers.view"):
        monkeypatch.setattr(f"{module}.decode_capture", counted)
    wait_loaded(qtbot, window, fault_capture)
    assert decoded == [fault_capture]
    assert window.findings.list.count() == 1


def test_every_analysis_that_is_installed_adds_what_it_found(
    qtbot: QtBot, make_window: MakeWindow, fault_capture: Path
) -> None:
    window = make_window(analyses=None)
    key = wait_loaded(qtbot, window, fault_capture)
    opened = window.workspace.sources[key]
    assert set(opened.analyses) == set(load_analyses().analyses)
    series = {
        f"{key}/{r.name}/series/{s.name}"
        for r in opened.analyses.values()
        for s in r.series
        if len(s.t_ps)
    }
    assert series <= {track.key for track in window.timeline.tracks()}
    tables = {f"{r.name}: {t}" for r in opened.analyses.values() for t in r.tables}
    assert tables - set(opened.tables) == {"pressure: waits"}  # told in the table of the recording
    found = {f"{r.name}: findings" for r in opened.analyses.values() if r.findings}
    assert found <= set(opened.tables)
    # Whatever an analysis puts into its tables, every one of them can be shown, chosen and searched.
    for table in opened.tables.values():
        window.table.show_table(key, table.key)
        for row in {0, len(table) // 2, len(table) - 1} if len(table) else ():
            window.choosing.choose(Place(key, table.key, row), "test")
            assert window.table.current_row() == row, table.key
        assert len(matching(table.frame, "0x7 or nothing_here")) == len(table)


def test_waits_for_credit_are_listed_once_and_what_each_was_for_comes_into_their_table(
    qtbot: QtBot, make_window: MakeWindow, fault_capture: Path
) -> None:
    pressure = load_analyses().analyses["pressure"]
    window = make_window(analyses=AnalysisRegistry({"pressure": pressure}))
    before: list[tuple[int, list[str]]] = []

    def look_at_it(key: str) -> None:
        window.choosing.choose(Place(key, "intervals", 0), "test")
        before.append((window.table.current_row() or 0, window.table.model.column_names()))

    window.workspace.added.connect(look_at_it)
    key = wait_loaded(qtbot, window, fault_capture)
    opened = window.workspace.sources[key]
    settle(qtbot, window)
    assert [name for name in opened.tables if "wait" in name or name == "intervals"] == [
        "intervals"
    ]
    cells = chosen_cells(window)  # the same row, in the table that was looked at meanwhile
    assert (cells["t_ps"], cells["flow"], cells["waited_for"]) == ("59.53 µs", "0", "receiver-fifo")
    assert cells["text"].startswith("flow 0 waited for credit: the receiver's FIFO")
    assert cells["receiver_fifo_ps"] == "7.003062 µs"
    assert before == [(0, list(cells)[:9])]


def test_opening_shows_everything_recorded_and_the_finding(opened: MainWindow) -> None:
    keys = {track.key for track in opened.timeline.tracks()}
    assert {"1/packets/A.tx_enq", "1/words/A.tx_deq", "1/findings"} <= keys
    assert any(key.startswith("1/state/") for key in keys)
    assert any(key.startswith("1/intervals/") for key in keys)
    opened.timeline.zoom_fit()
    first, last = opened.timeline.range()
    extent = opened.timeline.extent()
    assert first <= extent[0] and last >= extent[1]  # everything is in view
    item = opened.findings.list.item(0)
    assert item is not None
    assert item.text().startswith("word-omitted, A.tx_deq, flow 0, packet 69, word 3, ")
    assert opened.windowTitle().endswith("fault.ff - Freezeframe")


def test_a_click_on_the_finding_shows_the_evidence_in_all_views(
    qtbot: QtBot, opened: MainWindow
) -> None:
    window = opened
    rect = window.findings.list.visualItemRect(window.findings.list.item(0))
    viewport = window.findings.list.viewport()
    click(viewport, rect.center())
    settle(qtbot, window)
    finding = window.workspace.sources["1"].findings[0]
    assert finding.t_ps is not None
    first, last = window.timeline.range()
    assert first < finding.t_ps < last
    assert last - first < 100_000_000  # close enough to read
    selection = window.timeline.selection()
    assert selection is not None
    assert selection.key == "1/words/A.tx_deq"
    assert selection.t_ps <= finding.t_ps < selection.t_end_ps
    cells = chosen_cells(window)
    assert (cells["source"], cells["word"]) == ("A.tx_deq", "3")
    assert window.inspector.title.text().startswith("packet 69, RDMA_WRITE, flow 0, at A.tx_deq")
    assert "Payload word 3 of packet 69" in window.findings.text.toPlainText()


def test_the_evidence_leads_to_the_word_that_is_missing_at_the_next_tap(
    qtbot: QtBot, opened: MainWindow
) -> None:
    window = opened
    window.findings.list.setCurrentRow(0)
    top = window.findings.evidence.topLevelItem(0)
    assert top is not None
    only = next(
        child
        for at in range(top.childCount())
        if (child := top.child(at)) is not None and "only here" in child.text(0)
    )
    window.findings.evidence.setCurrentItem(only)
    settle(qtbot, window)
    cells = chosen_cells(window)
    assert (cells["source"], cells["word"]) == ("A.tx_enq", "3")
    assert cells["data"] == only.text(3)


def test_the_table_and_the_time_line_choose_together_both_ways(
    qtbot: QtBot, opened: MainWindow
) -> None:
    window = opened
    window.table.show_table("1", "packets")
    window.table.show_place(Place("1", "packets", 0))
    window.table.view.setFocus()
    press(window.table.view, Qt.Key.Key_Down)
    selection = window.timeline.selection()
    assert selection is not None
    assert (selection.key, selection.row) == ("1/packets/A.tx_enq", 1)
    window.timeline.setFocus()
    window.timeline.set_hits({})
    window.timeline.set_focus_track("1/packets/A.tx_enq")
    press(window.timeline, Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
    assert window.table.current_row() == 2
    assert window.inspector.title.text().startswith("packet 62, RDMA_WRITE, flow 0, at A.tx_enq,")


def test_find_goes_from_hit_to_hit_and_marks_them_on_the_time_line(
    qtbot: QtBot, opened: MainWindow
) -> None:
    window = opened
    window.table.show_table("1", "packets")
    type_text(window.table.find_edit, "payload_ok == false")
    press(window.table.find_edit, Qt.Key.Key_Return)
    settle(qtbot, window)
    frame = window.workspace.sources["1"].tables["packets"].frame
    bad = np.flatnonzero((frame["payload_ok"] == False).fillna(False).to_numpy(bool))  # noqa: E712
    assert len(bad) > 1
    assert window.table.count.text() == f"80 rows, {len(bad)} hits"
    assert window.table.current_row() == bad[0]
    window.menus.actions["Next hit"].trigger()
    assert window.table.current_row() == bad[1]
    window.menus.actions["Previous hit"].trigger()
    window.menus.actions["Previous hit"].trigger()
    assert window.table.current_row() == bad[-1]  # around the end
    step = window.timeline.step(-1)
    assert step is not None and step.row in bad  # the keys n and p go through the hits as well


def test_a_filter_leaves_only_what_matches_in_the_table_and_on_the_time_line(
    qtbot: QtBot, opened: MainWindow
) -> None:
    window = opened
    window.table.show_table("1", "packets")
    window.table.filter_edit.setText("flow == 0 and source ~ A.tx_enq")
    settle(qtbot, window)
    frame = window.workspace.sources["1"].tables["packets"].frame
    expected = np.flatnonzero((frame["flow"] == 0) & (frame["source"].astype(str) == "A.tx_enq"))
    assert window.table.model.shown == len(expected)
    assert window.table.count.text() == f"{len(expected)} of 80 rows"
    tracks = {track.key: track for track in window.timeline.tracks()}
    assert len(tracks["1/packets/A.tx_enq"]) == len(expected)
    assert len(tracks["1/packets/B.tx_enq"]) == 0
    whole = next(t for t in window.workspace.sources["1"].tracks if t.key == "1/packets/A.tx_enq")
    shown = tracks["1/packets/A.tx_enq"]
    assert [shown.label_of(i) for i in range(len(shown))] == [
        whole.label_of(item) for row in expected if (item := whole.item_of(int(row))) is not None
    ]
    window.menus.actions["Clear find and filter"].trigger()
    settle(qtbot, window)
    assert len({t.key: t for t in window.timeline.tracks()}["1/packets/A.tx_enq"]) == len(whole)
    assert window.table.model.shown == 80


def test_an_error_in_a_filter_is_underlined_at_its_place_and_nothing_is_hidden(
    qtbot: QtBot, opened: MainWindow
) -> None:
    window = opened
    window.table.show_table("1", "packets")
    window.table.filter_edit.setText("flow == 0 and sorce ~ A")
    settle(qtbot, window)
    assert window.table.trouble.isVisible()
    assert window.table.trouble.text() == (
        "filter: character 15: there is no column 'sorce'; did you mean source?"
    )
    assert window.table.filter_edit.wrong == (14, 19)
    assert window.table.model.shown == 80
    window.table.filter_edit.setText("flow == 0")
    settle(qtbot, window)
    assert not window.table.trouble.isVisible()
    assert window.table.filter_edit.wrong is None


def test_a_filter_for_a_text_that_a_column_never_has_says_so(
    qtbot: QtBot, opened: MainWindow
) -> None:
    window = opened
    window.table.show_table("1", "packets")
    window.table.filter_edit.setText("kind == RDMA_WRTE")
    settle(qtbot, window)
    assert window.table.trouble.text() == (
        "filter: kind is never 'RDMA_WRTE'; did you mean RDMA_WRITE?"
    )
    assert window.table.model.shown == 0
    window.table.filter_edit.setText("kind == RDMA_WRITE")
    settle(qtbot, window)
    assert not window.table.trouble.isVisible()


def test_a_measurement_over_a_stretch_counts_what_is_in_it(
    qtbot: QtBot, opened: MainWindow
) -> None:
    window = opened
    frame = window.workspace.sources["1"].tables["packets"].frame
    mine = frame[frame["source"].astype(str) == "A.tx_deq"]
    t0, t1 = int(mine["t_ps"].iloc[2]), int(mine["t_ps"].iloc[7])
    window.timeline.set_time_selection((t0, t1))
    window.measurements.choose("1/packets/A.tx_deq")
    window.measurements.track_chosen.emit("1/packets/A.tx_deq")
    settle(qtbot, window)
    tree = window.measurements.numbers
    shown = {}
    for at in range(tree.topLevelItemCount()):
        line = tree.topLevelItem(at)
        assert line is not None
        shown[line.text(0)] = line.text(1)
    assert shown["count"] == "5"
    assert window.measurements.histogram.accessibleDescription().startswith("lengths: most, ")


def test_notes_are_kept_beside_the_capture_and_can_be_undone(
    qtbot: QtBot,
    make_window: MakeWindow,
    fault_capture: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copy = tmp_path / "copy.ff"
    shutil.copytree(fault_capture, copy)
    window = make_window()
    wait_loaded(qtbot, window, copy)
    window.findings.list.setCurrentRow(0)
    monkeypatch.setattr(
        QInputDialog, "getMultiLineText", lambda *a, **k: ("<b>here</b> & there", True)
    )
    window.menus.actions["Add note"].trigger()
    qtbot.waitUntil(lambda: not window.workspace.unsaved and (copy / "notes.json").exists())
    held = json.loads((copy / "notes.json").read_text())
    assert [note["text"] for note in held["notes"]] == ["<b>here</b> & there"]
    assert held["notes"][0]["table"] == "words"
    track = {t.key: t for t in window.timeline.tracks()}["1/notes"]
    assert track.label_of(0) == "<b>here</b> & there"
    window.menus.actions["Undo"].trigger()
    assert "1/notes" not in {t.key for t in window.timeline.tracks()}
    qtbot.waitUntil(lambda: not window.workspace.unsaved)
    assert json.loads((copy / "notes.json").read_text())["notes"] == []
    window.menus.actions["Redo"].trigger()
    window.commands.keep_view("the fault")
    seen = window.timeline.range()
    window.close()
    again = make_window()
    wait_loaded(qtbot, again, copy)
    assert [note.text for note in again.workspace.books["1"].notes] == ["<b>here</b> & there"]
    again.commands.show_view("1", "the fault")
    assert again.timeline.range() == seen
    shown = again.table.shown
    assert shown is not None and shown[1].key == "words"


def test_what_is_seen_is_exported_as_png_svg_and_csv(
    qtbot: QtBot, opened: MainWindow, tmp_path: Path
) -> None:
    window = opened
    window.findings.list.setCurrentRow(0)
    settle(qtbot, window)
    for form in ("png", "svg", "csv"):
        window.commands.write_view(form, tmp_path / f"view.{form}")
    assert window.trouble.text() == ""
    assert (tmp_path / "view.png").read_bytes().startswith(b"\x89PNG")
    assert "word-omitted" in (tmp_path / "view.svg").read_text(encoding="utf-8")
    with (tmp_path / "view.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    first, last = window.timeline.range()
    assert all(int(line["t_end_ps"]) >= first and int(line["t_ps"]) <= last for line in lines)
    marks = [line for line in lines if line["track"] == "findings"]
    assert [line["text"] for line in marks] == ["word-omitted"]


def test_a_picture_is_not_written_into_the_evidence(
    opened: MainWindow, fault_capture: Path
) -> None:
    opened.commands.write_view("png", fault_capture / "view.png")
    assert "which is evidence and is only read" in opened.trouble.text()
    assert not (fault_capture / "view.png").exists()


@pytest.mark.parametrize("form", ["vcd", "pcapng", "csv", "parquet", "perfetto"])
def test_the_selection_is_exported_in_every_format_a_recording_has(
    qtbot: QtBot, opened: MainWindow, tmp_path: Path, form: str
) -> None:
    window = opened
    finding = window.workspace.sources["1"].findings[0]
    assert finding.t_ps is not None
    window.timeline.set_time_selection((finding.t_ps - 2_000_000, finding.t_ps + 1_000_000))
    job = window.commands.write_export(
        window.workspace.sources["1"], form, tmp_path / f"out.{form}"
    )
    with qtbot.waitSignal(job.ended, timeout=60_000):
        pass
    assert window.trouble.text() == ""
    assert list(tmp_path.glob("out*"))
