"""demo: the whole way in one command, over a real process and real UDP, and nothing left running."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from freezeframe.capture.folder import CaptureFolder
from tests.gui.cli import refusal, run_inside, run_process, started


def is_running(pid: int) -> bool:
    """Return whether a process is there and not only waiting to be reaped by whoever adopted it."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def emulator_of(text: str) -> int:
    found = re.search(r"process (\d+)", text)
    assert found is not None
    return int(found[1])


@contextmanager
def kept_demo(out: Path, **environment: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Start a demo that keeps its card; give it, and the card's process, once that is there."""
    environment = {"PYTHONUNBUFFERED": "1", **environment}
    with started("demo", "-o", str(out), "--keep", **environment) as process:
        assert process.stdout is not None
        said = ""
        while "1. A pair of emulated" not in said:
            line = process.stdout.readline()
            assert line, "the demo ended before its first step"
            said += line
        yield process, emulator_of(said)


def ends(pid: int) -> bool:
    """Return whether a process is gone within 10 s."""
    end = time.monotonic() + 10
    while is_running(pid) and time.monotonic() < end:
        time.sleep(0.05)
    return not is_running(pid)


def test_the_demo_ends_with_a_right_explanation_and_a_report(tmp_path: Path) -> None:
    out = tmp_path / "demo"
    done = run_process("demo", "-o", str(out))
    assert (done.code, done.err) == (0, "")
    assert "The explanation is right." in done.out
    # The truth is opened after the explanation has been printed, and says so.
    assert done.out.index("Evidence") < done.out.index("Only now the truth file")
    assert sorted(entry.name for entry in out.iterdir()) == [
        "capture.ff",
        "report.html",
        "truth.json",
    ]
    assert len(CaptureFolder.open(out / "capture.ff").devices) == 2
    assert "word-omitted" in (out / "report.html").read_text()
    assert not is_running(emulator_of(done.out))
    manifest = (out / "capture.ff" / "manifest.json").read_text()  # holds nothing of the truth
    assert "word-omitted" not in manifest
    assert "seed" not in manifest


def test_a_demo_without_a_fault_finds_none(tmp_path: Path) -> None:
    done = run_inside("demo", "-o", str(tmp_path / "demo"), "--fault", "none")
    assert done.code == 0
    assert "no fault found, frozen by host" in done.out


@pytest.mark.parametrize("place", ["demo", "new/deep/demo"])
def test_an_unknown_fault_is_refused_with_the_list_and_no_directory_is_left(
    tmp_path: Path, place: str
) -> None:
    said = refusal("demo", "-o", str(tmp_path / place), "--fault", "bit-rot")
    assert "word-omitted" in said
    assert list(tmp_path.iterdir()) == []


def test_an_earlier_demo_is_not_replaced_unless_told(tmp_path: Path) -> None:
    out = tmp_path / "demo"
    (out / "capture.ff").mkdir(parents=True)
    said = refusal("demo", "-o", str(out))
    assert "capture.ff: stands there from an earlier run; --force replaces it" in said


def test_a_signal_ends_the_demo_and_the_card(tmp_path: Path) -> None:
    with kept_demo(tmp_path / "demo") as (process, card):
        os.kill(process.pid, signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM
    assert "Traceback" not in errors
    assert ends(card)


def test_the_card_ends_with_a_demo_that_is_killed(tmp_path: Path) -> None:
    with kept_demo(tmp_path / "demo", TMPDIR=str(tmp_path)) as (process, card):
        process.kill()
        process.communicate(timeout=30)
    assert ends(card)


def test_earlier_results_stand_until_the_new_ones_do(tmp_path: Path) -> None:
    out = tmp_path / "demo"
    out.mkdir()
    (out / "report.html").write_text("earlier")
    (out / "mine.txt").write_text("mine")
    failed = run_inside("demo", "-o", str(out), "--force", "--fault", "bit-rot")
    assert failed.code == 2
    assert (out / "report.html").read_text() == "earlier"
    assert sorted(entry.name for entry in out.iterdir()) == ["mine.txt", "report.html"]
    done = run_inside("demo", "-o", str(out), "--force")
    assert (done.code, done.err) == (0, "")
    assert "Freezeframe report of demo/capture.ff" in (out / "report.html").read_text()
    names = sorted(entry.name for entry in out.iterdir())
    assert names == ["capture.ff", "mine.txt", "report.html", "truth.json"]


def test_a_file_is_no_place_for_a_demo(tmp_path: Path) -> None:
    file = tmp_path / "out.html"
    file.write_text("mine")
    said = refusal("demo", "-o", str(file), "--force")
    assert "out.html: is a file; -o names the directory for capture and report" in said
    assert file.read_text() == "mine"
