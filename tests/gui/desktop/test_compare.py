"""Two captures on one time base, aligned by packet; and what of a table is exported for a stretch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from freezeframe.analyzers.view import TAPS
from freezeframe.capture.folder import CaptureFolder
from freezeframe.decoders.trace.decode import Trace, decode_capture
from freezeframe.gui.desktop.export_selection import _cut
from freezeframe.gui.desktop.pairing import pair_packets
from freezeframe.gui.desktop.window import MainWindow
from pytestqt.qtbot import QtBot

from tests.gui.desktop.conftest import WAIT_MS, settle, wait_loaded
from tests.gui.made_capture import BAD_PACKET, made_capture


def later(trace: Trace, by_ps: int) -> Trace:
    packets = trace.packets.copy()
    packets["t_ps"] += by_ps
    packets["t_end_ps"] += by_ps
    return replace(trace, packets=packets)


def test_the_same_capture_is_equal_to_itself_and_the_offset_is_found(tmp_path: Path) -> None:
    trace = decode_capture(made_capture(tmp_path / "made.ff"))
    pairs = pair_packets(trace, later(trace, 123_456_789))
    assert pairs.offset_ps == -123_456_789
    assert set(pairs.table["kind"]) == {"same"}
    assert (pairs.table["later_ps"] == 0).all()
    known = int((trace.packets["seq"] >= 0).sum())
    assert pairs.paired == len(pairs.table) == known


def test_a_word_that_differs_is_named_with_its_place(tmp_path: Path) -> None:
    trace = decode_capture(made_capture(tmp_path / "made.ff"))
    row = int(
        np.flatnonzero(
            (trace.packets["seq"] == BAD_PACKET) & (trace.packets["source"] == "A.tx_enq")
        )[0]
    )
    at = int(trace.packets["first_row"].iloc[row]) + 5
    words = trace.words.copy()
    data = words["data"].to_numpy().copy()
    data[at] ^= 0x10
    words["data"] = data
    pairs = pair_packets(trace, replace(trace, words=words))
    unlike = pairs.table[pairs.table["kind"] == "differs"]
    assert unlike["row"].tolist() == [row]
    assert unlike["differs"].iloc[0].startswith("word 5 of 27: ")
    assert unlike["differs"].iloc[0].endswith("; 1 differ")


def test_packets_of_one_capture_alone_are_listed_as_such(tmp_path: Path) -> None:
    trace = decode_capture(made_capture(tmp_path / "made.ff"))
    fewer = replace(trace, packets=trace.packets.iloc[3:])
    kinds = pair_packets(trace, fewer).table["kind"].value_counts().to_dict()
    assert kinds["only in the first"] == 3
    kinds = pair_packets(fewer, trace).table["kind"].value_counts().to_dict()
    assert kinds["only in the second"] == 3
    nothing = pair_packets(replace(trace, packets=trace.packets.iloc[:0]), trace)
    assert (nothing.paired, nothing.offset_ps) == (0, 0)


def test_two_runs_are_shown_beside_each_other(
    qtbot: QtBot, window: MainWindow, fault_capture: Path, other_capture: Path
) -> None:
    first, second = (
        wait_loaded(qtbot, window, fault_capture),
        wait_loaded(qtbot, window, other_capture),
    )
    settle(qtbot, window)
    window.menus.actions["Compare two captures"].trigger()
    qtbot.waitUntil(
        lambda: any("compared" in t for t in window.workspace.sources[first].tables),
        timeout=WAIT_MS,
    )
    settle(qtbot, window)
    one, two = window.workspace.sources[first], window.workspace.sources[second]
    assert one.trace is not None and two.trace is not None
    expected = pair_packets(one.trace, two.trace)
    assert two.offset_ps == expected.offset_ps
    shown = window.table.shown
    assert shown is not None and shown[1].key == f"compared with {two.name}"
    taps = one.tables[f"compared with {two.name}: taps"].frame
    assert set(taps["tap"]) <= {f"{device}.{tap}" for device in "AB" for tap in TAPS}
    verdicts = [line for line in one.remarks if line.startswith(f"compared with {two.name}: ")]
    assert verdicts[0].endswith(": differs")
    keys = [track.key.split("/")[0] for track in window.timeline.tracks()]
    assert keys == sorted(keys)  # those of the second stand below those of the first
    assert f"{first}/compare/{second}" in {t.key for t in window.timeline.tracks()}


def test_comparing_needs_two_recordings(
    qtbot: QtBot, window: MainWindow, fault_capture: Path
) -> None:
    wait_loaded(qtbot, window, fault_capture)
    window.menus.actions["Compare two captures"].trigger()
    status = window.statusBar()
    assert status is not None
    assert "comparing needs two recordings" in status.currentMessage()


def test_an_exported_stretch_holds_whole_packets_and_rows_that_count_right(
    fault_capture: Path,
) -> None:
    trace = decode_capture(CaptureFolder.open(fault_capture))
    middle = trace.packets[trace.packets["source"] == "A.tx_deq"].iloc[5]
    t0, t1 = int(middle["t_ps"]) + 1, int(middle["t_end_ps"]) - 1
    cut = {name: table.to_pandas() for name, table in _cut(trace.tables(), t0, t1).items()}
    packets, words = cut["packets"], cut["words"]
    reaching = trace.packets[(trace.packets["t_ps"] < t1) & (trace.packets["t_end_ps"] > t0)]
    assert packets["seq"].tolist() == reaching["seq"].tolist()
    for at in range(len(packets)):
        now, before = packets.iloc[at], reaching.iloc[at]
        mine = words["data"].iloc[int(now["first_row"]) : int(now["end_row"])].tolist()
        whole = trace.words["data"].iloc[int(before["first_row"]) : int(before["end_row"])].tolist()
        assert mine == whole
    owned = words[words["packet"] >= 0]
    for at, row in owned.iterrows():
        packet = packets.iloc[int(row["packet"])]
        assert packet["first_row"] <= at < packet["end_row"]
    events = cut["events"]
    assert ((events["t_ps"] >= t0) & (events["t_ps"] < t1)).all()
