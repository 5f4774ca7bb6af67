"""Two captures on one time base, aligned by packet; and what of a table is exported for a stretch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PyQt6.QtCore import QPoint
from pytestqt.qtbot import QtBot

from freezeframe.analyzers.run_diff.packets import align_taps
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.folder import CaptureFolder
from freezeframe.decoders.trace.decode import decode_capture
from freezeframe.gui.desktop.export_selection import _cut
from freezeframe.gui.desktop.pairing import Pairs, pair_packets, pair_tracks
from freezeframe.gui.desktop.sources.opened import Place
from freezeframe.gui.desktop.window import MainWindow
from freezeframe.gui.tracks.tracks import MarkTrack, SliceTrack, Track
from tests.analyzers.bench_pair import Pair
from tests.analyzers.run_diff.test_run_diff import workload
from tests.gui.desktop.conftest import WAIT_MS, click, settle, wait_loaded

SHIFT = 0xFFF5 - 100  # of the second run's sequence numbers


def good() -> Pair:
    """Thirty packets from A to B over two flows, from sequence number 100 on."""
    return workload()[0]


def bad() -> Pair:
    """The same traffic from 0xfff5 on: one word lost in A, one packet between the cards, four not recorded."""
    pair, sent = workload(first_seq=0xFFF5)
    for words in sent[17].from_tap("tx_deq"):
        del words[5]
    sent[22].rx_enq.clear()
    sent[22].rx_deq.clear()
    for crossing in sent[:4]:
        pair.crossings.remove(crossing)
    return pair


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The good run and the bad one. Only to be read."""
    folder = tmp_path_factory.mktemp("runs")
    good().write(folder / "good.ff")
    bad().write(folder / "bad.ff")
    return folder / "good.ff", folder / "bad.ff"


def paired(first: Path, second: Path) -> tuple[Pairs, list[Track]]:
    one, two = (CaptureView(CaptureFolder.open(path)) for path in (first, second))
    pairs = pair_packets(align_taps(one, two), one.trace, two.trace)
    return pairs, list(pair_tracks("1/compare/2", "good", "bad", pairs, one.trace, two.trace))


def test_a_capture_beside_itself_is_the_same_everywhere(runs: tuple[Path, Path]) -> None:
    pairs, tracks = paired(runs[0], runs[0])
    assert pairs.table["kind"].tolist() == ["same"] * 120  # 30 packets at four taps
    assert (pairs.offset_ps, pairs.paired, pairs.first) == (0, 120, None)
    assert (pairs.table["later_ps"] == 0).all()
    assert (pairs.table["row"] == pairs.table["other_row"]).all()
    assert not any(isinstance(track, MarkTrack) for track in tracks)


def test_each_packet_is_what_the_alignment_says_of_it(runs: tuple[Path, Path]) -> None:
    pairs, _ = paired(*runs)
    counts = pairs.table["kind"].value_counts().to_dict()
    assert {kind: count for kind, count in counts.items() if count} == {
        "same": 120 - 16 - 3 - 2,
        "differs": 3,  # behind the FIFO that lost the word
        "only in the first": 2,  # at both taps of B
        "not recorded in the second": 16,  # four packets before its beginning, at four taps
    }
    both = pairs.table[(pairs.table["row"] >= 0) & (pairs.table["other_row"] >= 0)]
    assert (((both["other_seq"] - both["seq"]) & 0xFFFF) == SHIFT).all()
    assert pairs.offset_ps == int(np.median(_apart(runs, both)))


def _apart(runs: tuple[Path, Path], both: object) -> list[int]:
    """Return the differences of time of packets, from the captures themselves."""
    import pandas as pd

    assert isinstance(both, pd.DataFrame)
    one, two = (decode_capture(CaptureFolder.open(path)).packets["t_ps"] for path in runs)
    return [
        int(one.iloc[a]) - int(two.iloc[b])
        for a, b in zip(both["row"], both["other_row"], strict=True)
    ]


def test_the_first_divergence_is_a_mark_at_its_packet(runs: tuple[Path, Path]) -> None:
    pairs, tracks = paired(*runs)
    assert pairs.first is not None
    said = pairs.table.iloc[pairs.first]
    assert (said["source"], said["seq"], said["other_seq"]) == ("A.tx_deq", 117, 6)
    assert said["differs"].startswith("word 3 omitted; ")
    mark = tracks[0]
    assert isinstance(mark, MarkTrack)
    assert mark.t_ps.tolist() == [said["t_ps"]]
    assert mark.text[0].startswith("first divergence: A.tx_deq, packet 117 / 6 word 3 omitted")


def test_the_taps_of_both_stand_in_pairs_and_a_pair_is_one_row(runs: tuple[Path, Path]) -> None:
    pairs, tracks = paired(*runs)
    assert [track.name for track in tracks[1:]] == [
        f"{tap} {side}"
        for tap in ("A.tx_enq", "A.tx_deq", "B.rx_enq", "B.rx_deq")
        for side in ("first", "second")
    ]
    first, second = tracks[3:5]
    assert isinstance(first, SliceTrack) and isinstance(second, SliceTrack)
    row = pairs.first
    assert row is not None
    a, b = first.item_of(row), second.item_of(row)
    assert a is not None and b is not None
    assert first.label_of(a).startswith("117 / 6 word 3 omitted")
    assert first.error is not None and first.error[a]
    assert int(second.t_ps[b]) - int(first.t_ps[a]) == pairs.table["later_ps"].iloc[row]
    gone = pairs.table.index[pairs.table["kind"] == "not recorded in the second"][0]
    enq = tracks[1]
    assert isinstance(enq, SliceTrack) and enq.error is not None
    at = enq.item_of(int(gone))
    assert at is not None and not enq.error[at]  # nothing follows from what was not recorded


def test_each_side_of_a_tap_is_hatched_where_its_own_memory_does_not_reach(
    runs: tuple[Path, Path],
) -> None:
    pairs, tracks = paired(*runs)
    one, two = (CaptureView(CaptureFolder.open(path)).trace for path in runs)
    first, second = tracks[3:5]
    assert first.coverage == one.coverage.words("A.tx_deq")
    assert second.coverage == two.coverage.words("A.tx_deq").shifted(pairs.offset_ps)
    assert second.coverage.holes and pairs.offset_ps


def test_nothing_in_common_pairs_nothing(tmp_path: Path, runs: tuple[Path, Path]) -> None:
    workload(6)[0].write(tmp_path / "other.ff")
    pairs, _ = paired(runs[0], tmp_path / "other.ff")
    assert (pairs.offset_ps, pairs.paired, pairs.first) == (0, 0, None)
    kinds = {"not recorded in the first", "not recorded in the second"}
    assert set(pairs.table["kind"]) == kinds


def test_two_runs_are_shown_beside_each_other_and_followed_by_click(
    qtbot: QtBot, window: MainWindow, runs: tuple[Path, Path]
) -> None:
    first, second = (wait_loaded(qtbot, window, path) for path in runs)
    settle(qtbot, window)
    window.menus.actions["Compare two captures"].trigger()
    qtbot.waitUntil(
        lambda: any("compared" in t for t in window.workspace.sources[first].tables),
        timeout=WAIT_MS,
    )
    settle(qtbot, window)
    one, two = window.workspace.sources[first], window.workspace.sources[second]
    expected, _ = paired(*runs)
    assert two.offset_ps == expected.offset_ps
    shown = window.table.shown
    title = f"compared with {two.name}"
    assert shown is not None and shown[1].key == title
    taps = one.tables[f"{title}: taps"].frame
    assert set(taps["tap"]) <= {
        f"{device}.{tap}" for device in "AB" for tap in ("tx_enq", "tx_deq", "rx_enq", "rx_deq")
    }
    verdicts = [line for line in one.remarks if line.startswith(f"{title}: ")]
    assert verdicts[0].endswith(": differs")
    assert "first divergence at A.tx_deq: flow 1, packet 6 (117 in run A): word 3" in verdicts[1]
    # The first divergence is chosen and in view, in the table and on the time line.
    assert window.table.current_row() == expected.first
    chosen = window.timeline.selection()
    assert chosen is not None
    assert (chosen.key, chosen.row) == (f"{first}/compare/{second}/A.tx_deq/first", expected.first)
    begin, end = window.timeline.range()
    assert begin < chosen.t_ps < chosen.t_end_ps < end
    assert window.inspector.title.text().startswith("packet 117, RDMA_WRITE, flow 1, at A.tx_deq")
    # A click on the packet of the second shows that one.
    key = f"{first}/compare/{second}/A.tx_deq/second"
    middle = round(window.timeline.x_of((chosen.t_ps + chosen.t_end_ps) // 2))
    click(window.timeline, QPoint(middle, window.timeline.row_center(key)))
    assert window.inspector.title.text().startswith("packet 6, RDMA_WRITE, flow 1, at A.tx_deq")
    assert window.table.current_row() == expected.first


def test_a_pair_of_which_the_second_was_closed_is_still_listed(
    qtbot: QtBot, window: MainWindow, runs: tuple[Path, Path]
) -> None:
    first, second = (wait_loaded(qtbot, window, path) for path in reversed(runs))
    settle(qtbot, window)
    window.menus.actions["Compare two captures"].trigger()
    title = f"compared with {window.workspace.sources[second].name}"
    qtbot.waitUntil(lambda: title in window.workspace.sources[first].tables, timeout=WAIT_MS)
    settle(qtbot, window)
    window.workspace.close_source(second)
    kinds = window.workspace.sources[first].tables[title].frame["kind"]
    alone = int(np.flatnonzero(kinds == "only in the second")[0])
    window.choosing.choose(Place(first, title, alone), "findings")
    assert window.inspector.title.text().endswith(": only in the second")


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
