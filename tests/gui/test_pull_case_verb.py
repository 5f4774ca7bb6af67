"""``freezeframe pull`` of several targets, and ``emulate --apart``: over real sockets, in processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gui.cli import run_inside


@pytest.fixture(scope="module")
def urls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, Path]]:
    trace = tmp_path_factory.mktemp("host") / "b.txt"
    command = [
        sys.executable, "-m", "freezeframe", "emulate", "--listen", "127.0.0.1:0", "--apart",
        "--fault", "word-omitted", "--seed", "2", "--speed", "0", "--host-trace", f"B={trace}",
        "--until-stdin-ends",
    ]  # fmt: skip
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        ready = process.stdout.readline().split()
        assert ready[0] == "ready" and ready[2].startswith("etherbone://")
        yield ready[1], ready[2], trace
        process.stdin.close()
        process.wait(20)


def test_two_targets_become_one_capture_and_one_explanation(
    urls: tuple[str, str, Path], tmp_path: Path
) -> None:
    a, b, trace = urls
    place = tmp_path / "case.ff"
    done = run_inside(
        "pull", a, b, "-o", str(place), "--wait", "60", "--host-trace", f"B={trace}", "--json"
    )
    assert done.code == 0, done.err
    said = json.loads(done.out)
    assert said["devices"] == ["A", "B"] and said["targets"] == [a, b] and said["complete"]
    explained = json.loads(run_inside("explain", str(place), "--json").out)
    assert explained["findings"][0]["diagnosis"] == "word-omitted"
    assert (place / "raw" / "host.0.txt").read_bytes() == trace.read_bytes()


def test_a_target_that_is_given_twice_is_refused(
    urls: tuple[str, str, Path], tmp_path: Path
) -> None:
    done = run_inside("pull", urls[0], urls[0], "-o", str(tmp_path / "x.ff"))
    assert done.code == 2 and "is given twice" in done.err


def test_a_host_trace_that_cannot_be_read_is_said_before_the_card_is_touched(
    tmp_path: Path,
) -> None:
    done = run_inside(
        "pull", "etherbone://127.0.0.1:9", "-o", str(tmp_path / "x.ff"), "--host-trace", "none.txt"
    )
    assert done.code == 2 and "--host-trace none.txt: cannot be read" in done.err


def test_a_host_trace_of_which_nothing_can_be_placed_is_said_before_the_card_is_touched(
    tmp_path: Path,
) -> None:
    trace = tmp_path / "dmesg.txt"
    trace.write_text("[Mon Jan  1 12:00:00 2024] link is down\n")
    done = run_inside(
        "pull", "etherbone://127.0.0.1:9", "-o", str(tmp_path / "x.ff"), "--host-trace", str(trace)
    )
    assert done.code == 3  # no card there: the note came before
    assert (
        "note: --host-trace dmesg.txt: none of 1 line has a time of the kernel's clock" in done.err
    )
