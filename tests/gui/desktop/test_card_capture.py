"""A capture of a described card in the window: tracks of its taps, findings, words, counters, export, comparison."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from freezeframe.analyzers.registry import load_analyses
from freezeframe.capture.card.elaborated import elaborate
from freezeframe.capture.card.reading import read_card
from freezeframe.capture.card.recording import Feature
from freezeframe.capture.card.shipped import shipped_cards
from freezeframe.capture.recorder.pull import pull
from freezeframe.emulator.card_image import SERVED, CardImage, empty_recording
from freezeframe.gui.desktop.export_selection import export_stretch
from freezeframe.gui.desktop.inspection import inspect_place
from freezeframe.gui.desktop.menus import formats_for
from freezeframe.gui.desktop.progress import Progress
from freezeframe.gui.desktop.sources.opened import Opened, Place
from freezeframe.gui.desktop.window import MainWindow
from freezeframe.gui.tracks.tracks import SliceTrack
from tests.campaign.card_model import SHAPES
from tests.decoders.tap.test_event_log import LOG
from tests.decoders.tap.test_event_log import recording as logged
from tests.gui.desktop.conftest import WAIT_MS, MakeWindow, wait_loaded
from tests.gui.test_card_analyses_verbs import recorded


@pytest.fixture(scope="module", params=SHAPES)
def fault(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("card") / "fault.ff"
    pull(CardImage([recorded(request.param, "bits-flipped")]), place)
    return place


def opened_in(window: MainWindow, qtbot: QtBot, path: Path) -> Opened:
    key = wait_loaded(qtbot, window, path)
    return window.workspace.sources[key]


def test_each_tap_has_its_packets_and_words_and_the_finding_its_evidence(
    window: MainWindow, qtbot: QtBot, fault: Path
) -> None:
    opened = opened_in(window, qtbot, fault)
    tracks = {track.key.partition("/")[2]: track for track in opened.tracks}
    assert [key for key in tracks if key.startswith("packets/")] == [
        "packets/A.rx_in",
        "packets/A.rx_out",
    ]
    behind = tracks["packets/A.rx_out"]
    assert isinstance(behind, SliceTrack) and behind.error is not None
    (wrong,) = np.flatnonzero(behind.error)  # the packet whose bits were flipped fails its FCS
    (finding,) = opened.findings
    packets = opened.tables["packets"].frame
    row = behind.row_of(int(wrong))
    assert (packets["source"].iloc[row], packets["verdict"].iloc[row]) == ("A.rx_out", "bad")
    # The evidence points to the first word of the packet at either tap.
    places = [row.row for evidence in finding.evidence for row in evidence.rows]
    assert packets["first_row"].iloc[row] in places
    window.choosing.show_finding(opened.key, 0)
    assert "packet " in window.inspector.title.text()
    assert len(tracks["words/A.rx_in"]) > 20


def test_a_packet_is_inspected_with_its_verdict_and_every_word(
    window: MainWindow, qtbot: QtBot, fault: Path
) -> None:
    opened = opened_in(window, qtbot, fault)
    packets = opened.tables["packets"].frame
    (row,) = np.flatnonzero((packets["verdict"] == "bad").to_numpy())
    shown, word = inspect_place(opened, Place(opened.key, "packets", int(row)))
    assert word is None
    assert [(field.value, field.wrong) for field in shown.verdicts] == [
        ("bad", True),
        ("its CRC does not match", False),
    ]
    first = shown.words[0]
    assert first.name == "0 HEAD" and first.value & 0xFFFFFFFFFFFF == 0x010000000002
    of_word, chosen = inspect_place(opened, Place(opened.key, "words", first.row))
    assert (of_word.title, chosen) == (shown.title, first.row)


def test_counters_laws_and_analyses_are_tables(
    make_window: MakeWindow, qtbot: QtBot, fault: Path
) -> None:
    window = make_window(analyses=load_analyses())
    opened = opened_in(window, qtbot, fault)
    counters = opened.tables["counters"].frame
    assert counters["name"].tolist() == ["rx_in_packets", "rx_out_packets", "rx_dropped"]
    assert counters["of"].tolist()[0] == "packets at rx_in"
    assert opened.tables["laws"].frame["state"].tolist() == ["holds"]
    assert {"throughput: figures", "latency: packets", "taps: differences"} <= set(opened.tables)
    assert any(track.name == "A.rx_in, throughput" for track in opened.tracks)
    assert "dma: could not be asked: needs a log of descriptors and transfers" in opened.remarks
    assert opened.facts["A frozen by"] == "host"


def test_a_stretch_of_packets_is_exported(
    window: MainWindow, qtbot: QtBot, fault: Path, tmp_path: Path
) -> None:
    opened = opened_in(window, qtbot, fault)
    assert {name for name, _, _ in formats_for(opened)} == {
        "pcapng",
        "perfetto",
        "csv",
        "parquet",
    }
    packets = opened.tables["packets"].frame
    begins = packets["t_ps"][packets["source"] == "A.rx_in"]
    stretch = int(begins.iloc[4]), int(begins.iloc[7])
    done = export_stretch(opened, "csv", tmp_path / "x.csv", stretch, Progress())
    lines = (tmp_path / "x.A.rx_in.csv").read_text().splitlines()
    assert len(lines) == 1 + 3 and done.files


def test_a_card_on_which_nothing_happened_is_shown_without_a_track_of_packets(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    card = elaborate(read_card(shipped_cards()["ethernet-8"]))
    pull(CardImage([empty_recording(card)]), tmp_path / "empty.ff")
    opened = opened_in(window, qtbot, tmp_path / "empty.ff")
    assert not any("packets/" in track.key for track in opened.tracks)
    assert len(opened.tables["packets"]) == 0 and opened.findings == []
    assert opened.answer == "nothing found, and not all could be looked at"


def test_two_captures_of_one_card_are_compared_and_of_two_cards_refused(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    for name, shape, what in (
        ("good", "ethernet-8", "none"), ("bad", "ethernet-8", "bad-fcs"), ("other", "ethernet-axis-64", "none"),
    ):  # fmt: skip
        pull(CardImage([recorded(shape, what)]), tmp_path / f"{name}.ff")
    first = wait_loaded(qtbot, window, tmp_path / "good.ff")
    second = wait_loaded(qtbot, window, tmp_path / "bad.ff")
    window.menus.actions["Compare two captures"].trigger()
    opened = window.workspace.sources[first]
    qtbot.waitUntil(lambda: any("taps" in key for key in opened.tables), timeout=WAIT_MS)
    settings = next(table for key, table in opened.tables.items() if key.endswith(": settings"))
    assert settings.frame.to_numpy().tolist() == [["A froze by", "host", "bad_fcs"]]
    window.workspace.close_source(second)
    wait_loaded(qtbot, window, tmp_path / "other.ff")
    window.menus.actions["Compare two captures"].trigger()
    qtbot.waitUntil(
        lambda: "give two captures of one card" in window.trouble.text(), timeout=WAIT_MS
    )


def test_events_and_state_machines_of_the_log_are_tracks(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    made = replace(logged(LOG), features=SERVED | Feature.EVENT_LOG)
    log_alone = replace(made, taps={"t": empty_recording(made.card).taps["t"]})
    pull(CardImage([log_alone]), tmp_path / "log.ff")
    opened = opened_in(window, qtbot, tmp_path / "log.ff")
    tracks = {track.name: track for track in opened.tracks}
    machine, alarm = tracks["A fsm"], tracks["A alarm"]
    assert [machine.label_of(item) for item in range(len(machine))] == ["run", "3", "3"]
    assert machine.t_ps.tolist() == [1_050_000, 1_080_000, 1_110_000]
    assert sorted(alarm.label_of(item) for item in range(len(alarm))) == ["0x3", "0x5a", "0x7"]
    assert opened.tables["events"].frame["kind"].tolist().count("event") == 2
