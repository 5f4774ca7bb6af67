"""The second job: a logic-analyzer capture as waves and buses, decoded with a decoder of one's choice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QApplication, QComboBox, QLineEdit
from pytestqt.qtbot import QtBot

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.registry import load_decoders
from freezeframe.decoders.run import decode_file
from freezeframe.decoders.serial.mdio_encode import encode_frames
from freezeframe.decoders.serial.uart_encode import encode_characters
from freezeframe.gui.desktop.decoder_choice import (
    bases_for,
    checked_spec,
    offered,
    proposed_probes,
    written_spec,
)
from freezeframe.gui.desktop.panels.decoder_dialog import DecoderDialog
from freezeframe.gui.desktop.window import MainWindow
from freezeframe.gui.tracks.tracks import BusTrack, SliceTrack, WaveTrack
from tests.gui.desktop.conftest import click, settle, wait_loaded
from tests.gui.mdio import FRAMES


@pytest.fixture
def serial(tmp_path: Path) -> Path:
    """A line whose name tells no decoder what it is."""
    path = tmp_path / "serial.sr"
    write_sr(encode_characters(b"Freeze", samplerate_hz=1_000_000, baud=9600, name="D+"), path)
    return path


def test_the_waves_are_the_edges_of_the_file(qtbot: QtBot, window: MainWindow, phy: Path) -> None:
    wait_loaded(qtbot, window, phy)
    edges = encode_frames(FRAMES, samplerate_hz=10_000_000)
    tracks = {track.name: track for track in window.timeline.tracks()}
    for bit, name in enumerate(edges.channels):
        wave = tracks[name]
        assert isinstance(wave, WaveTrack)
        level = (edges.value >> np.uint64(bit) & np.uint64(1)).astype(np.uint8)
        keep = np.concatenate([[True], level[1:] != level[:-1]])
        assert wave.t_ps.tolist() == edges.t_ps()[keep].tolist()
        assert wave.level.tolist() == level[keep].tolist()
        assert wave.end_ps == edges.end_sample * 100_000


def test_a_bus_is_one_track_and_not_its_bits(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    path = tmp_path / "bus.vcd"
    path.write_text(
        "$timescale 1 ns $end\n$var wire 4 # addr $end\n$var wire 1 ! clk $end\n$enddefinitions $end\n"
        "#0 b0000 # 0!\n#5 b1010 # 1!\n#9 b1010 # 0!\n#12 b0011 #\n#20\n"
    )
    wait_loaded(qtbot, window, path)
    tracks = {track.name: track for track in window.timeline.tracks()}
    assert set(tracks) == {"addr", "clk"}
    bus = tracks["addr"]
    assert isinstance(bus, BusTrack)
    assert bus.t_ps.tolist() == [0, 5_000, 12_000]
    assert [bus.label_of(item) for item in range(3)] == ["0", "a", "3"]


def test_decoding_adds_a_table_and_slices_as_the_command_line_gives_them(
    qtbot: QtBot, window: MainWindow, phy: Path
) -> None:
    key = wait_loaded(qtbot, window, phy, "mdio")
    settle(qtbot, window)
    expected = decode_file(phy, ["mdio"])[0].table.to_pandas()
    table = window.workspace.sources[key].tables["mdio"]
    assert table.frame.equals(expected)
    track = {t.key: t for t in window.timeline.tracks()}[f"{key}/table/mdio"]
    assert isinstance(track, SliceTrack)
    assert track.t_ps.tolist() == expected["t_ps"].tolist()
    assert "read PHY 1 register 2" in track.label_of(0)
    window.table.show_table(key, "mdio")
    assert "read PHY 1 register 2" in window.table.model.cell(0, 0)


def test_the_dialog_is_made_from_the_declaration_and_decodes(
    qtbot: QtBot, window: MainWindow, serial: Path
) -> None:
    key = wait_loaded(qtbot, window, serial)
    window.menus.actions["Decode signals"].trigger()

    def dialog() -> DecoderDialog:
        found = [
            w
            for w in QApplication.topLevelWidgets()
            if isinstance(w, DecoderDialog) and w.isVisible()
        ]
        assert found
        return found[0]

    qtbot.waitUntil(lambda: bool(dialog()), timeout=30_000)
    shown = dialog()
    qtbot.waitUntil(lambda: not window.workspace.jobs.running, timeout=30_000)
    assert any("uart" in spec for spec in shown._proposals)
    shown.choose("uart")
    declared = load_decoders().find("uart")
    names = {
        w.accessibleName() for w in shown.findChildren((QComboBox, QLineEdit)) if w.accessibleName()
    }
    for channel in declared.channels:
        assert f"channel {channel.id}" in names
    for option in declared.options:
        if not isinstance(option.default, bool):
            assert f"option {option.id}" in names
    for channel in declared.channels:
        if not channel.optional:
            shown.channels[channel.id].setCurrentText("D+")
    baud = next(w for w in shown.findChildren(QLineEdit) if w.accessibleName() == "option baud")
    baud.setText("fast")
    assert "option baud=fast: not a" in shown.trouble.text()
    assert shown.ok is not None and not shown.ok.isEnabled()
    baud.setText("9600")
    assert "rx=D+," in shown.spec.text()  # a plus in a name is no stack
    assert shown.trouble.text() == ""
    spec = shown.spec.text()
    click(shown.ok)
    qtbot.waitUntil(lambda: bool(window.workspace.sources[key].tables), timeout=30_000)
    (table,) = window.workspace.sources[key].tables.values()
    assert bytes(table.frame["data"].tolist()) == b"Freeze"
    assert window.workspace.sources[key].specs == [spec]


def test_what_is_missing_for_a_decoder_is_said_before_it_runs() -> None:
    registry = load_decoders()
    with pytest.raises(InputError, match="has no probe"):
        checked_spec("mdio", registry, ["a", "b"])
    with pytest.raises(InputError, match="no probe 'c'"):
        checked_spec("mdio:mdc=a,mdio=c", registry, ["a", "b"])
    assert checked_spec("mdio:mdc=a,mdio=b", registry, ["a", "b"])


def test_a_spec_is_written_so_that_it_is_read_back() -> None:
    registry = load_decoders()
    mdio = registry.find("mdio")
    defaults = {option.id: option.default for option in mdio.options}
    probes = {"mdc": "a:b,c=d+e\\", "mdio": "MDIO"}
    spec = written_spec(mdio, probes, {**defaults, "clause": "45"})
    from freezeframe.decoders.spec import parse_spec

    step = parse_spec(spec, registry).steps[0]
    assert dict(step.probes) == probes
    assert step.options["clause"] == "45"
    assert all(step.options[name] == value for name, value in defaults.items() if name != "clause")


def test_decoders_are_offered_where_what_they_take_can_be_made() -> None:
    registry = load_decoders()
    ids = [decoder.id for decoder in offered(registry, [])]
    assert "uart" in ids and "enc28j60" in ids
    assert "trace" not in ids  # takes the recording of a card
    assert bases_for(registry.find("enc28j60"), registry, ["spi:clk=SCK"])[0] == "spi:clk=SCK"
    assert proposed_probes(registry.find("mdio"), ["X", "MDC", "mdio"]) == {
        "mdc": "MDC",
        "mdio": "mdio",
    }


def test_hostile_names_stay_text(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "evil.sr"
    name = "<img src=x>\x1b[31m&amp;<b>"
    edges = Edges(
        np.array([0, 5], np.int64),
        np.array([0, 1], np.uint64),
        ("<h1>big</h1>&mdc",),
        1_000_000,
        0,
        10,
    )
    write_sr(edges, path)
    key = wait_loaded(qtbot, window, path)
    opened = window.workspace.sources[key]
    opened.remarks.append(name)
    window.workspace.changed.emit(key, "all")
    from PyQt6.QtWidgets import QLabel

    for label in window.findChildren(QLabel):
        if "<" in label.text():
            assert label.textFormat() == Qt.TextFormat.PlainText, label.accessibleName()
    window.say_trouble(name)
    assert window.trouble.text() == "⚠ <img src=x>\\x1b[31m&amp;<b>"
    tree = window.sources.tree.topLevelItem(0)
    assert tree is not None
    texts = [
        child.text(1) for at in range(tree.childCount()) if (child := tree.child(at)) is not None
    ]
    assert "<img src=x>\\x1b[31m&amp;<b>" in texts
    assert window.timeline.tracks()[0].name == "<h1>big</h1>&mdc"
    assert not window.timeline.render_image().isNull()


def test_several_sources_share_the_time_base_with_an_offset(
    qtbot: QtBot, window: MainWindow, phy: Path, serial: Path
) -> None:
    first, second = wait_loaded(qtbot, window, phy, "mdio"), wait_loaded(qtbot, window, serial)
    settle(qtbot, window)
    before = {t.key: int(t.t_ps[-1]) for t in window.timeline.tracks()}
    window.workspace.set_offset(second, 7_000_000)
    settle(qtbot, window)
    after = {t.key: int(t.t_ps[-1]) for t in window.timeline.tracks()}
    assert set(after) == set(before)
    for key, t_ps in after.items():
        assert t_ps - before[key] == (7_000_000 if key.startswith(f"{second}/") else 0)
    window.workspace.close_source(first)
    assert {t.key.split("/")[0] for t in window.timeline.tracks()} == {second}


@pytest.mark.parametrize("form", ["vcd", "sr", "csv", "parquet"])
def test_the_chosen_stretch_of_samples_is_exported(
    qtbot: QtBot, window: MainWindow, phy: Path, tmp_path: Path, form: str
) -> None:
    key = wait_loaded(qtbot, window, phy)
    window.timeline.set_time_selection((2_000_000, 9_000_000))
    place = tmp_path / f"cut.{form}"
    job = window.commands.write_export(window.workspace.sources[key], form, place)
    with qtbot.waitSignal(job.ended, timeout=60_000):
        pass
    assert window.trouble.text() == ""
    if form in ("vcd", "sr"):
        from freezeframe.capture.files.edges import join
        from freezeframe.capture.files.open import read_edges

        cut = join(list(read_edges(place)))
        whole = encode_frames(FRAMES, samplerate_hz=10_000_000)
        inside = (whole.t_ps() > 2_000_000) & (whole.t_ps() < 9_000_000)
        moved = whole.t_ps()[inside] - 2_000_000
        assert set(cut.t_ps().tolist()) - {0} == set(moved.tolist()) - {0}
