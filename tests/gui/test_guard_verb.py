"""guard: pulls, explains, arms again; says so on its output, in its log, and for a machine."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event

import pytest

from freezeframe.capture.custody.guard_log import LOG, GuardLog, read_log
from freezeframe.capture.custody.telling import tellers
from freezeframe.capture.journal import segments
from freezeframe.gui.cli.work.night_watch import NightWatch, summary
from tests.capture.recorder.fake_recorder import FakeRecorder
from tests.capture.serving import serving
from tests.gui.cli import process_environment, refusal, run_inside, started


def test_a_freeze_is_pulled_explained_and_the_recorder_armed_again(tmp_path: Path) -> None:
    recorder = FakeRecorder()
    with serving(recorder) as url:
        done = run_inside("guard", url, "-o", str(tmp_path / "caught"), "--count", "1")
    assert (done.code, done.err) == (0, "")
    (folder,) = (tmp_path / "caught").glob("*.ff")
    assert folder.name == "0001-0b000000-1-pay-crc.ff"
    assert recorder.get(0, "ctl.generation") == 2
    log = read_log(tmp_path / "caught")
    (document,) = log.explanations
    assert document["capture"] == folder.name
    assert {"findings", "notes", "lost", "freeze"} <= document.keys()
    assert any("ms after its last word: A generation 2, B" in line for _, line in log.lines)
    assert log.missing == []
    stamp = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ ")
    assert all(stamp.match(line) for line in done.out.splitlines()[:-1])
    assert done.out.splitlines()[-1] == f"1 capture pulled into {tmp_path / 'caught'}"


def test_with_json_each_capture_is_one_line_and_nothing_else(tmp_path: Path) -> None:
    with serving(FakeRecorder()) as url:
        done = run_inside("guard", url, "-o", str(tmp_path / "caught"), "--count", "1", "--json")
    (line,) = done.out.splitlines()
    assert json.loads(line)["capture"].endswith(".ff")


def test_a_guard_waits_for_a_card_that_is_not_up_and_ends_with_0_when_it_is_told_to(
    tmp_path: Path,
) -> None:
    process = started("guard", "etherbone://127.0.0.1:1", "-o", str(tmp_path / "caught"))
    assert process.stdout is not None
    assert "; going on" in process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    out, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert out.splitlines()[-1] == f"0 captures pulled into {tmp_path / 'caught'}"


def test_a_recording_is_no_card_to_guard(tmp_path: Path) -> None:
    said = refusal("guard", "file:old fault.ff", "-o", str(tmp_path / "captures"))
    assert "is a recording already, so there is nothing to pull" in said
    assert not (tmp_path / "captures").exists()


@pytest.mark.parametrize("url", ["emu:?fault=nope", "nowhere:1"])
def test_what_is_no_target_is_refused_before_anything_is_written(url: str, tmp_path: Path) -> None:
    with serving(FakeRecorder()) as up:
        done = run_inside("guard", up, url, "-o", str(tmp_path / "caught"))
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert not (tmp_path / "caught").exists()


def test_keeping_no_capture_is_bad_input(tmp_path: Path) -> None:
    done = run_inside("guard", "etherbone://127.0.0.1:1", "-o", str(tmp_path), "--keep", "0")
    assert done.code == 2


def test_a_guard_ends_cleanly_on_ctrl_c(tmp_path: Path) -> None:
    caught = tmp_path / "caught"
    with serving(FakeRecorder(frozen=False)) as url:
        process = started("guard", url, "-o", str(caught))
        end = time.monotonic() + 30
        while not (caught / LOG).exists() and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (0, "")
    assert out.splitlines()[-1] == f"0 captures pulled into {caught}"


def test_a_capture_that_a_killed_guard_never_explained_is_explained_at_the_next_start(
    tmp_path: Path,
) -> None:
    """The power went while its explanation was being written."""
    caught = tmp_path / "caught"
    with serving(FakeRecorder()) as url:
        run_inside("guard", url, "-o", str(caught), "--count", "1")
    (segment,) = segments(caught / LOG)
    whole = segment.read_bytes()
    segment.write_bytes(whole[: whole.index(b'"explained"') + 900])
    (folder,) = caught.glob("*.ff")
    assert read_log(caught).explanations == []
    with serving(FakeRecorder(nonce=0x0C000000)) as url:
        run_inside("guard", url, "-o", str(caught), "--count", "1")
    again, new = read_log(caught).explanations
    assert again["capture"] == folder.name
    assert new["capture"].startswith("0002-0c000000")


def test_what_no_process_could_explain_is_said_and_counted_and_explained_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caught = tmp_path / "caught"
    shut = tmp_path / "python3"
    shut.touch(mode=0o600)  # which is no program
    with serving(FakeRecorder()) as url, monkeypatch.context() as patched:
        patched.setattr("sys.executable", str(shut))
        done = run_inside("guard", url, "-o", str(caught), "--count", "1")
    (folder,) = caught.glob("*.ff")
    assert (
        f"{folder.name}: not explained, which the next start does: {shut}: Permission denied"
        in done.out
    )
    assert done.out.splitlines()[-1] == (
        f"1 capture pulled into {caught}; 1 capture not explained yet, which the next start does"
    )
    assert read_log(caught).explanations == []
    with serving(FakeRecorder(nonce=0x0C000000)) as url:
        run_inside("guard", url, "-o", str(caught), "--count", "1")
    again, _ = read_log(caught).explanations
    assert again["capture"] == folder.name


def test_that_explaining_falls_behind_is_said_from_ten_captures_on_and_at_each_doubling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = Event()

    def explained(_: NightWatch, path: Path) -> None:
        go_on.wait(60)

    monkeypatch.setattr(NightWatch, "_explained", explained)
    lines: list[str] = []
    log = GuardLog(tmp_path, lines.append)
    work = NightWatch(tellers([], [], []), lambda _: None)
    work.begin(log)
    try:
        for number in range(45):
            work.explain(tmp_path / f"{number:04d}-0b000000-1-pay-crc.ff")
    finally:
        go_on.set()
        work.finish(drop=False)
        log.close()
    said = [line.partition("Z ")[2] for line in lines]
    assert said == [
        f"{count} captures wait to be explained; they come faster than that is done"
        for count in (10, 20, 40)
    ]


def test_the_log_of_a_guard_is_a_recording_like_others(tmp_path: Path) -> None:
    caught = tmp_path / "caught"
    with serving(FakeRecorder()) as url:
        said = run_inside("guard", url, "-o", str(caught), "--count", "1").out.splitlines()
    listed = run_inside("recording", str(caught / LOG))
    assert (listed.code, listed.err) == (0, "")
    assert [line[21:] for line in listed.out.splitlines()][:2] == [line[21:] for line in said[:2]]
    assert run_inside("recording", str(caught / LOG), "-o", str(tmp_path / "log.csv")).code == 0
    assert "stands on the disk; armed" in (tmp_path / "log.csv").read_text()
    assert run_inside("verify", str(caught / LOG)).code == 0
    assert run_inside("recover", str(caught / LOG)).code == 0


def test_a_rule_that_holds_at_the_first_look_freezes_the_card(tmp_path: Path) -> None:
    with serving(FakeRecorder(frozen=False)) as url:
        done = run_inside(
            *("guard", url, "-o", str(tmp_path / "caught"), "--count", "1"),
            *("--freeze-on", f"exit:{sys.executable} -c pass"),
        )
    assert (done.code, done.err) == (0, "")
    assert re.search(r"exit.*ms", done.out)
    assert len(list((tmp_path / "caught").glob("*.ff"))) == 1


@pytest.mark.parametrize(
    ("where", "more"), [("/dev/full", ["--json"]), ("a pipe that nobody reads", [])]
)
def test_a_guard_whose_output_cannot_be_written_goes_on_and_its_log_says_so(
    where: str, more: list[str], tmp_path: Path
) -> None:
    caught = tmp_path / "caught"
    if where == "/dev/full":
        output = os.open(where, os.O_WRONLY)
    else:
        reader, output = os.pipe()
        os.close(reader)
    with serving(FakeRecorder()) as url:
        command = [
            sys.executable,
            "-m",
            "freezeframe",
            "guard",
            url,
            "-o",
            str(caught),
            "--count",
            "1",
        ]
        done = subprocess.run(
            [*command, *more], stdout=output, stderr=subprocess.PIPE, timeout=120, check=False,
            env=process_environment(),
        )  # fmt: skip
    os.close(output)
    assert b"Traceback" not in done.stderr
    log = read_log(caught)
    assert [each["what"] for each in log.accounts] == ["kept"]
    assert [each["capture"] for each in log.explanations] == ["0001-0b000000-1-pay-crc.ff"]
    lines = [line for _, line in log.lines]
    assert any("stands on the disk; armed" in line for line in lines)
    assert any(line.startswith("watching ends; 1 pulled") for line in lines)
    if not more:
        (told,) = [line for line in lines if line.startswith("standard output: ")]
        assert told.endswith("the guard goes on, and guard.ffrec has all")


def test_what_the_shell_has_closed_takes_no_file_of_evidence_for_the_output(
    tmp_path: Path,
) -> None:
    with serving(FakeRecorder()) as url:
        words = [sys.executable, "-m", "freezeframe", "guard", url, "-o", str(tmp_path / "caught")]
        done = subprocess.run(
            ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *words, "--count", "1"],
            timeout=120,
            check=False,
            env=process_environment(),
        )
    assert done.returncode == 0
    log = read_log(tmp_path / "caught")
    assert (log.missing, len(log.explanations)) == ([], 1)


def test_a_stall_of_a_healthy_pair_stands_in_the_line_of_its_capture() -> None:
    pair = {"capture": "0001.ff", "findings": [], "answer": "stalled, and no fault found"}
    assert summary(pair) == "0001.ff: stalled, and no fault found"
    cards = {"capture": "0002.ff", "findings": [], "devices": [{"answer": "no fault found"}]}
    assert summary(cards) == "0002.ff: no fault found"
