"""emulate: one line when ready, ends when interrupted, frees its port; and a fault on its way."""

from __future__ import annotations

import json
import re
import selectors
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import pytest

import freezeframe as ff
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.capture.recorder.pull import pull
from freezeframe.emulator.target import EmulatorTarget
from tests.decoders.test_guess import i2c
from tests.gui.cli import refusal, run_inside, run_process, started


@contextmanager
def emulating(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the emulator as a process; give it and the line it printed when it was ready."""
    process = started("emulate", *arguments)
    try:
        yield process, ready_line(process)
    finally:
        process.kill()
        process.communicate()


def ready_line(process: subprocess.Popen[str]) -> str:
    out = cast("IO[str]", process.stdout)
    with selectors.DefaultSelector() as selector:
        selector.register(out, selectors.EVENT_READ)
        assert selector.select(180), "the emulator printed nothing for 180 s"
    return out.readline()


def test_the_ready_line_has_the_url_and_says_what_runs() -> None:
    with emulating("--listen", "127.0.0.1:0", "--fault", "none", "--seed", "3") as (_, line):
        assert re.fullmatch(
            r"ready etherbone://127\.0\.0\.1:\d+ profile forth fault none seed 3\n", line
        )
        url = line.split()[1]
        document = json.loads(run_inside("status", url, "--json").out)
        assert document["state"] == "armed"
        assert document["cause"] is None


def test_what_makes_a_long_run_long_is_noted_beside_the_ready_line() -> None:
    fault = "clock-drift:after=1h"
    with emulating("--listen", "127.0.0.1:0", "--fault", fault, "--load", "100ms") as (
        process,
        line,
    ):
        assert line.endswith(f" profile forth fault {fault} seed 0\n")
        process.terminate()
        assert process.communicate()[1] == (
            "note: clock-drift: its slips come between packets too, so idle stretches are simulated from its begin on\n"
        )


def test_a_fault_that_begins_after_a_while_freezes_a_served_pair_then(tmp_path: Path) -> None:
    truth = tmp_path / "truth.json"
    fault = ("--fault", "lane-misaligned:after=10min", "--seed", "3", "--truth", str(truth))
    sparse = ("--load", "5s", "--speed", "0", "--listen", "127.0.0.1:0")
    with emulating(*fault, *sparse) as (_, line):
        out = tmp_path / "night"
        done = run_inside("guard", line.split()[1], "-o", str(out), "--count", "1", "--json")
        assert done.code == 0
    (injection,) = json.loads(truth.read_text())["injections"][:1]
    assert injection["t_ps"] >= 600 * 10**12
    (capture,) = out.glob("*.ff")
    explained = json.loads(run_inside("explain", str(capture), "--json").out)
    assert explained["findings"][0]["diagnosis"] == "lane-misaligned"
    freeze = explained["freeze"]
    assert (
        abs(freeze["since_arm_ps"] - injection["t_ps"]) < freeze["since_arm_uncertainty_ps"] + 10**9
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "terminate"])
def test_it_ends_cleanly_when_interrupted_and_frees_the_port(number: signal.Signals) -> None:
    with emulating("--listen", "127.0.0.1:0") as (process, line):
        port = int(line.split()[1].rpartition(":")[2])
        process.send_signal(number)
        out, errors = process.communicate(timeout=20)
        assert (process.returncode, out, errors) == (0, "", "")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as again:
        again.bind(("127.0.0.1", port))


def test_a_fault_on_a_card_without_traffic_is_refused() -> None:
    done = run_process("emulate", "--card", "forth", "--fault", "word-omitted")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "without traffic and without a fault" in done.err


def test_a_folder_that_cannot_be_served_as_a_card_is_told_by_what_it_is(tmp_path: Path) -> None:
    built_in = tmp_path / "fault.ff"
    pull(EmulatorTarget(seed=2), built_in, freeze=True)
    write_sr(i2c(), tmp_path / "bus.sr")
    samples = tmp_path / "bus.ff"
    assert run_inside("import", str(tmp_path / "bus.sr"), "-o", str(samples)).code == 0
    takes = "--card takes a card file, or a capture of a card that is described by one"
    for folder, said in (
        (
            built_in,
            "is a capture of the built-in card, which is not served again; freezeframe status and reg read it as "
            f"file:{built_in}",
        ),
        (samples, "holds samples of a logic analyzer"),
        (tmp_path, "is a directory, and no capture folder (it has no manifest.json)"),
    ):
        told = refusal("emulate", "--card", str(folder))
        assert told == f"freezeframe: {folder}: {said}; {takes}\n"
    for verb in ("status", "reg"):
        asked = run_inside(verb, f"file:{built_in}")
        assert asked.code == 0, (verb, asked.err)


def test_a_port_in_use_is_an_error_in_one_line() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        done = run_process("emulate", "--listen", f"127.0.0.1:{port}")
    assert done.code == 3
    assert done.err.count("\n") == 1
    assert str(port) in done.err
    assert "in use" in done.err


def test_from_a_fault_to_an_answer_by_the_verbs_alone(tmp_path: Path) -> None:
    truth, capture, report = tmp_path / "t.json", tmp_path / "x.ff", tmp_path / "r.html"
    listen = ("--listen", "127.0.0.1:0", "--fault", "word-omitted", "--seed", "5")
    with emulating(*listen, "--truth", str(truth)) as (_, line):
        url = line.split()[1]
        pulled = run_inside("pull", url, "-o", str(capture), "--wait", "60")
        assert (pulled.code, pulled.err) == (0, "")
        status = json.loads(run_inside("status", url, "--json").out)
        assert status["state"] == "frozen"
        assert status["cause"] in ("pay-crc", "length")
    (finding, *_) = json.loads(run_inside("explain", str(capture), "--json").out)["findings"]
    assert run_inside("report", str(capture), "-o", str(report)).code == 0
    injected = json.loads(truth.read_text())["injections"][0]
    assert finding["diagnosis"] == "word-omitted"
    for key in ("device", "tap", "direction", "flow", "packet", "word"):
        assert finding[key] == injected[key]
    assert "word-omitted: a 64-bit word was lost" in report.read_text()


def test_a_running_card_is_not_pulled_unless_it_is_frozen_for_it(tmp_path: Path) -> None:
    with emulating("--listen", "127.0.0.1:0", "--fault", "none") as (_, line):
        url = line.split()[1]
        assert "--freeze" in refusal("pull", url, "-o", str(tmp_path / "x.ff"), code=3)
        assert run_inside("pull", url, "-o", str(tmp_path / "x.ff"), "--freeze").code == 0
    document = json.loads(run_inside("explain", str(tmp_path / "x.ff"), "--json").out)
    assert document["findings"] == []
    assert document["freeze"]["causes"] == ["host"]


def test_an_idle_pair_that_goes_as_fast_as_it_can_lets_its_counters_be_read() -> None:
    """Hours that pass between two reads of one answer would replace every copy of the counters meanwhile."""
    with (
        emulating("--listen", "127.0.0.1:0", "--load", "10s", "--speed", "0") as (_, line),
        ff.connect(line.split()[1]) as card,
    ):
        for device in 20 * list(card.devices):
            assert device.counters().values
