"""decode without a decoder: what it proposes is what can be typed, and it says why."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.capture.recorder.pull import pull
from freezeframe.emulator.target import EmulatorTarget
from tests.decoders.test_guess import draw, i2c, nameless
from tests.gui.cli import refusal, run_inside
from tests.gui.made_capture import made_capture


@pytest.fixture
def bus(tmp_path: Path) -> Path:
    path = tmp_path / "my bus.sr"
    write_sr(nameless(i2c()), path)
    return path


def test_the_proposal_has_its_reasons_and_a_command_that_runs(bus: Path) -> None:
    done = run_inside("decode", str(bus), "--cut", "10us..")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[1].startswith("  D0: ")
    of_channels = [int(line.split()[1].replace(",", "")) for line in lines[1:3]]
    assert lines[0] == f"{bus}: {sum(of_channels):,} edges looked at"
    assert lines[4].startswith("1. i2c:scl=D1,sda=D0  (")
    assert lines[5].startswith("   7 START, 7 STOP; 7 transfers, 0 errors in the whole capture; ")
    program, *command = shlex.split(lines[6])
    assert (program, command[-2:]) == ("freezeframe", ["--cut", "10us.."])
    again = run_inside(*command)
    assert again.code == 0
    assert "0x51 write ACK" in again.out


def test_the_same_as_json(bus: Path) -> None:
    document = json.loads(run_inside("decode", str(bus), "--json").out)
    assert (document["file"], document["whole"]) == (str(bus), True)
    assert [each["name"] for each in document["channels"]] == ["D0", "D1"]
    assert document["edges"] == sum(each["edges"] for each in document["channels"])
    best = document["proposals"][0]
    assert (best["decoder"], best["channels"]) == ("i2c:scl=D1,sda=D0", ["D1", "D0"])
    assert (best["why"][1], best["against"]) == (
        "8 transfers, 0 errors in the whole capture",
        [],
    )
    assert (best["rows"], best["errors"], best["looked_at"]["whole"]) == (8, 0, True)
    assert 0.6 < best["score"] < 1
    assert shlex.split(best["command"])[1:] == ["decode", str(bus), "-d", "i2c:scl=D1,sda=D0"]


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_where_nothing_fits_it_says_so_and_exits_with_2(form: list[str], tmp_path: Path) -> None:
    path = tmp_path / "still.sr"
    write_sr(draw([{"a": 1}] * 100, ("a",)), path)
    done = run_inside("decode", str(path), *form)
    assert done.code == 2
    assert "no decoder that is known fits what is on its channels: no channel changes; " in done.err


def test_a_folder_gives_a_line_for_each_capture(tmp_path: Path) -> None:
    folder = tmp_path / "some"
    (folder / "below").mkdir(parents=True)
    write_sr(i2c(), folder / "bus.sr")
    write_sr(draw([{"a": 1}] * 100, ("a",)), folder / "below" / "still.sr")
    (folder / "README.md").write_text("no capture")
    (folder / "broken.sr").write_bytes(b"PK\x03\x04 nothing more")
    done = run_inside("decode", str(folder))
    head, *lines = done.out.splitlines()
    assert (done.code, head.split()) == (0, ["capture", "decoder", "score", "evidence"])
    # What is on the bus by chance may fit a part as well, in lines after that of the bus.
    still, broken, bus, *_, others = sorted(lines, key=lambda line: line.startswith("1 file"))
    assert still.split(maxsplit=1) == [
        str(folder / "below/still.sr"),
        "none that is known         no channel changes",
    ]
    assert "cannot be read: " in broken
    assert bus.split()[:2] == [str(folder / "bus.sr"), "i2c"]
    assert "named scl, sda; 8 START, 8 STOP; 8 transfers, 0 errors in the whole capture" in bus
    assert others == "1 file of other kinds left out"


def test_a_pattern_and_several_files_are_taken_too_also_as_json(tmp_path: Path) -> None:
    for name in ("a1.sr", "a2.sr", "b.sr"):
        write_sr(i2c(), tmp_path / name)
    done = run_inside("decode", str(tmp_path / "a*.sr"), str(tmp_path / "b.sr"), "--json")
    captures = json.loads(done.out)["captures"]
    assert [Path(each["file"]).name for each in captures] == ["a1.sr", "a2.sr", "b.sr"]
    assert {each["proposals"][0]["decoder"] for each in captures} == {"i2c"}


def test_several_captures_are_decoded_one_by_one(tmp_path: Path) -> None:
    for name in ("a1.sr", "a2.sr"):
        write_sr(i2c(), tmp_path / name)
    said = refusal("decode", str(tmp_path / "a1.sr"), str(tmp_path / "a2.sr"), "-d", "i2c")
    assert "2 captures; -d decodes one capture, without it what each is is told" in said


def test_a_folder_without_a_capture_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    assert "no capture in it; 1 file of other kinds" in refusal("decode", str(tmp_path))


def test_nothing_is_written_without_a_decoder(bus: Path, tmp_path: Path) -> None:
    said = refusal("decode", str(bus), "-o", str(tmp_path / "x.parquet"))
    assert "without a decoder nothing is written; name one with -d" in said


def test_the_recording_of_a_card_is_sent_to_explain(tmp_path: Path) -> None:
    folder = made_capture(tmp_path / "fault.ff").path
    assert f"freezeframe explain {folder}" in refusal("decode", str(folder))


def test_a_capture_folder_in_a_folder_is_one_capture_whatever_it_holds(tmp_path: Path) -> None:
    inner = tmp_path / "night"
    inner.mkdir()
    pull(EmulatorTarget(seed=2), inner / "card.ff", freeze=True)
    (inner / "card.ff" / "beside.csv").write_text("time,a\n0,1\n")
    done = run_inside("decode", str(tmp_path), "--json")
    assert done.code == 0, done.err
    (capture,) = json.loads(done.out)["captures"]
    assert capture["file"] == str(inner / "card.ff")
    assert capture["recording"].startswith("is the recording of a card: freezeframe decode ")


def test_on_a_narrow_terminal_the_evidence_stands_below_each_capture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.sr", "b.sr"):
        write_sr(i2c(), tmp_path / name)
    monkeypatch.setattr("freezeframe.gui.cli.output.text_width", lambda: 60)
    monkeypatch.setattr("freezeframe.gui.cli.work.propose_many.text_width", lambda: 60)
    monkeypatch.setattr("freezeframe.gui.cli.work.propose_many._on_terminal", lambda: True)
    lines = run_inside("decode", str(tmp_path)).out.splitlines()
    assert lines[0] == f"{tmp_path}/a.sr: i2c, 98%"
    assert lines[1].startswith("    named scl, sda; 8 START, 8 STOP; 8 transfers, 0 errors")
    assert max(len(line) for line in lines if line.startswith(" ")) <= 60
