"""decode without a decoder: what it proposes is what can be typed, and it says why."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from freezeframe.capture.files.sigrok_sr_writer import write_sr
from tests.decoders.test_guess import draw, i2c, nameless
from tests.gui.cli import run_inside
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
    assert lines[0].endswith("edges looked at")
    assert lines[1].startswith("  D0: ")
    assert lines[4].startswith("1. i2c:scl=D1,sda=D0  (")
    assert lines[5].startswith("   - 7 START and 7 STOP: D0 moves while D1 is high 15 times, and ")
    program, *command = shlex.split(lines[7])
    assert (program, command[-2:]) == ("freezeframe", ["--cut", "10us.."])
    again = run_inside(*command)
    assert again.code == 0
    assert "0x51 write ACK" in again.out


def test_the_same_as_json(bus: Path) -> None:
    document = json.loads(run_inside("decode", str(bus), "--json").out)
    assert (document["file"], document["whole"]) == (str(bus), True)
    assert [each["name"] for each in document["channels"]] == ["D0", "D1"]
    best = document["proposals"][0]
    assert (best["decoder"], best["channels"]) == ("i2c:scl=D1,sda=D0", ["D1", "D0"])
    assert 0.6 < best["score"] <= 1
    assert shlex.split(best["command"])[1:] == ["decode", str(bus), "-d", "i2c:scl=D1,sda=D0"]


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_where_nothing_fits_it_says_so_and_exits_with_2(form: list[str], tmp_path: Path) -> None:
    path = tmp_path / "still.sr"
    write_sr(draw([{"a": 1}] * 100, ("a",)), path)
    done = run_inside("decode", str(path), *form)
    assert done.code == 2
    assert "no decoder fits what is on its channels; name one with -d" in done.err


def test_nothing_is_written_without_a_decoder(bus: Path, tmp_path: Path) -> None:
    done = run_inside("decode", str(bus), "-o", str(tmp_path / "x.parquet"))
    assert done.code == 2
    assert "without a decoder nothing is written; name one with -d" in done.err


def test_the_recording_of_a_card_is_sent_to_explain(tmp_path: Path) -> None:
    folder = made_capture(tmp_path / "fault.ff").path
    done = run_inside("decode", str(folder))
    assert done.code == 2
    assert f"freezeframe explain {folder}" in done.err
