"""docs/quickstart.md: every line of it is typed, in its order."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.gui.cli import run_inside, run_process

PAGE = Path(__file__).parents[2] / "docs" / "quickstart.md"
BLOCKS = re.findall(r"^```\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
CARD, SAMPLES = "etherbone://", "freezeframe demo --samples"


def typed() -> list[tuple[str, str]]:
    """Return each command of the page with what the page shows below it."""
    found = []
    for block in BLOCKS:
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            line, _, shown = part.partition("\n")
            found.append((line, shown))
    return found


def begin(commands: list[tuple[str, str]]) -> int:
    return next(i for i, (line, _) in enumerate(commands) if line.startswith(SAMPLES))


def test_the_captures_of_the_quickstart_decode_to_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    commands = typed()
    commands = commands[begin(commands) :]
    assert len(commands) >= 3
    for line, shown in commands:
        done = run_inside(*shlex.split(line)[1:])
        assert (done.code, done.out) == (0, shown), line
    # and what the first of them prints can be typed too
    for line in commands[0][1].splitlines():
        done = run_inside(*shlex.split(line)[1:])
        assert (done.code, done.err) == (0, "")


@contextmanager
def card(line: str) -> Iterator[str]:
    """Run the emulated card of the page on a free port; its URL."""
    words = shlex.split(line.replace("127.0.0.1:1234", "127.0.0.1:0"))[1:]
    with subprocess.Popen(
        [sys.executable, "-m", "freezeframe", *words], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[1]
        finally:
            process.send_signal(signal.SIGINT)


def test_the_lines_of_the_quickstart_about_a_card_can_be_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    commands = [line for line, _ in typed()]
    first = next(i for i, line in enumerate(commands) if " emulate " in line)
    with card(commands[first]) as url:
        for line in commands[first + 1 : begin(typed())]:
            words = shlex.split(line.replace("etherbone://127.0.0.1:1234", url))[1:]
            done = run_process(*words)
            while words[0] == "status" and "frozen" not in done.out:
                done = run_process(*words)
            assert (done.code, done.err) == (0, ""), line
            assert done.out
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "events.trace.events.parquet",
        "events.trace.intervals.parquet",
        "events.trace.packets.parquet",
        "events.trace.words.parquet",
        "fault.ff",
        "fault.html",
    ]
