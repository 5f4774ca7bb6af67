"""A file of packets in the window: operations, broken rules and TCP of each end, findings that choose their place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from freezeframe.gui.desktop.progress import Progress
from freezeframe.gui.desktop.sources.packets import load_packets
from freezeframe.gui.desktop.window import MainWindow
from freezeframe.gui.tracks.tracks import SeriesTrack, SliceTrack
from tests.capture.packets import build
from tests.decoders.iwarp.breaches import break_stream
from tests.gui.desktop.conftest import Show, wait_loaded


@pytest.fixture(scope="module")
def crc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("packets") / "crc.pcap"
    path.write_bytes(break_stream("mpa-crc", 3)[0].pcap())
    return path


def test_each_end_has_its_operations_rules_tcp_and_throughput(
    qtbot: QtBot, window: MainWindow, crc: Path
) -> None:
    key = wait_loaded(qtbot, window, crc)
    tracks = {track.name: track for track in window.timeline.tracks()}
    assert set(tracks) == {"findings"} | {
        f"{who} {what}"
        for who in ("initiator", "responder")
        for what in ("operations", "rules", "TCP", "rate")
    }
    operations = tracks["responder operations"]
    assert isinstance(operations, SliceTrack)
    assert [operations.label_of(item).partition(" STag")[0] for item in range(4)] == [
        "Write 122 B", "Write 116 B", "Write 63 B", "Write 251 B",
    ]  # fmt: skip
    rules = tracks["responder rules"]
    assert isinstance(rules, SliceTrack) and rules.error is not None
    assert rules.error.tolist() == [True]
    rate = tracks["responder rate"]
    assert isinstance(rate, SeriesTrack)
    width_ps = int(np.diff(rate.t_ps)[0])
    carried = window.workspace.sources[key].tables["tcp.connections"].frame["stream_there_B"][0]
    assert rate.value.sum() * 1e6 / 8 * width_ps / 1e12 == pytest.approx(carried)


def test_no_swatch_of_the_legend_means_an_operation_and_a_broken_rule(
    show: Show, crc: Path
) -> None:
    window = show(crc)
    legend = {look: text for look, text, _ in window.legend.entries}
    assert legend["a"] == "Write"
    assert "mpa-crc" in legend["error"]


def test_the_finding_goes_to_its_event_and_says_how_the_peer_answered(
    show: Show, crc: Path
) -> None:
    window = show(crc)
    key = "1"
    window.choosing.show_finding(key, 0)
    assert window.inspector.title.text().startswith(
        "iwarp.events row 0 at 865.557 ms: mpa-crc: CRC"
    )
    begin, end = window.timeline.range()
    assert begin < 865_557_000_000 < end < 900_000_000_000
    (finding,) = window.workspace.sources[key].findings
    assert finding.packet == 1379
    assert finding.text.endswith("about FPDU 6 of the other side, as the RFC asks.")


def test_packets_without_iwarp_show_what_tcp_did(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    ends = ("10.0.0.1", 7000), ("10.0.0.2", 80)
    sent = [
        build.tcp(*ends, 0, b"a" * 100),
        build.tcp(*ends, 0, b"a" * 100),
        build.tcp(*ends, 300, b"b"),
    ]
    timed = [(10**6 * at, build.ethernet(packet)) for at, packet in enumerate(sent)]
    (tmp_path / "web.pcap").write_bytes(build.pcap(timed))
    key = wait_loaded(qtbot, window, tmp_path / "web.pcap")
    opened = window.workspace.sources[key]
    (tcp,) = [track for track in opened.tracks if track.name == "there TCP"]
    assert [tcp.label_of(item) for item in range(len(tcp))] == ["retransmission 100 B", "gap 200 B"]
    assert opened.answer == "no iWARP in the packets; TCP is shown alone"


def test_what_is_too_much_ends_at_a_time_that_is_said_with_the_way_to_the_rest(crc: Path) -> None:
    opened = load_packets("1", crc, Progress(), most_rows=10)
    assert opened.name == "crc.pcap (to 890.862 ms)"  # all of this file is one block
    (remark,) = [line for line in opened.remarks if "--cut" in line]
    assert "more rows than are held at once" in remark
    assert len(opened.findings) == 1


def test_a_cut_shows_that_time_alone_by_the_numbers_and_times_of_the_file(crc: Path) -> None:
    opened = load_packets("1", crc, Progress(), (600_000_000_000, 800_000_000_000))
    frame = opened.tables["tcp.events"].frame
    assert frame["t_ps"].between(600_000_000_000, 800_000_000_000).all()
    whole = load_packets("2", crc, Progress()).tables["tcp.events"].frame
    assert set(frame["packet"]) <= set(whole["packet"])
