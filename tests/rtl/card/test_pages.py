"""docs/liteeth.md and docs/axis-512.md, done: designs that are not ours, from an empty file to the explained fault."""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import sys
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from freezeframe.capture.errors import TargetError
from freezeframe.capture.targets.base import open_target
from tests.gui.cli import Outcome, run_inside
from tests.processes import run_program
from tests.rtl.simulation import REPOSITORY, tool

pytest.importorskip("liteeth", reason="LiteEth and LiteX come with the extra 'peers'")

Changes = dict[str, list[tuple[str, str]]]


@dataclass(frozen=True)
class Page:
    """A page's files by name, its commands, and the lines it shows of the last one's answer."""

    files: dict[str, str]
    commands: list[str]
    answer: list[str]


def read_page(name: str) -> Page:
    page = (REPOSITORY / "docs" / f"{name}.md").read_text("utf-8")
    blocks = dict(re.findall(r"^```(\w+)\n(.*?)^```", page, re.M | re.S))
    commands = blocks["sh"].splitlines()
    card = next(word for word in commands[0].split() if word.endswith(".toml"))
    files = {card: blocks["toml"], "top.py": blocks["python"], "bench.cpp": blocks["cpp"]}
    return Page(files, commands, blocks["text"].splitlines())


PAGES = {name: read_page(name) for name in ("liteeth", "axis-512")}
NARROW: Changes = {  # what the page says of a core of 8 bits
    "mac.toml": [("bits = 32\n", "bits = 8\n"), ('keep = "tail"\n', "")],
    "top.py": [("dw=32", "dw=8")],
    "bench.cpp": [("? 8 : 0", "? 1 : 0")],
}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_it_takes_at_most_12_commands_and_60_lines_of_100_characters(page: Page) -> None:
    lines = [line for text in page.files.values() for line in text.splitlines() if line]
    assert len(page.commands) <= 12
    assert len(lines) <= 60
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize(
    ("page", "changes", "answer_lines"),
    [("liteeth", {}, None), ("liteeth", NARROW, 2), ("axis-512", {}, None)],
    ids=["liteeth-32", "liteeth-8", "axis-512"],
)
def test_the_fault_is_named_in_the_words_of_the_page(
    page: str,
    changes: Changes,
    answer_lines: int | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tool("verilator")
    monkeypatch.chdir(tmp_path)
    said = followed(PAGES[page], changes, tmp_path)
    for line in PAGES[page].answer[:answer_lines]:
        assert line in said


def followed(page: Page, changes: Changes, folder: Path) -> str:
    """Write the files and run the commands of a page, with another port; return what the last command printed.

    Our own verbs run in this process: each start of it costs as much as what it does.
    """
    port = str(_free_port())
    programs = Path(sys.executable).parent
    environment = os.environ | {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "SIM": str(REPOSITORY / "firmware-hooks" / "simulation"),
    }
    bench = None
    try:
        for command in page.commands:
            words = command.replace("1234", port)
            if command.endswith("&"):
                bench = subprocess.Popen([words.removesuffix(" &")], cwd=folder)
                _wait_for(port)
                continue
            verb = shlex.split(words, comments=True)
            if verb[0] == "freezeframe":
                answer = run_inside(*verb[1:])
            else:
                done = run_program(["bash", "-c", words], cwd=folder, env=environment)
                answer = Outcome(done.returncode, done.stdout, done.stderr)
            assert answer.code == 0, (command, answer.out[-2000:] + answer.err[-2000:])
            if "card new" in command:
                for name, text in page.files.items():
                    changed = _changed(text, changes.get(name, []))
                    (folder / name).write_text(changed.replace("1234", port))
    finally:
        if bench is not None:
            bench.kill()
            bench.wait()
    return answer.out


def _changed(text: str, changes: list[tuple[str, str]]) -> str:
    for was, becomes in changes:
        assert was in text
        text = text.replace(was, becomes)
    return text


def _free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: str) -> None:
    """Wait until the bench answers; half a minute without it is a failure."""
    for _ in range(300):
        with suppress(TargetError), closing(open_target(f"etherbone://127.0.0.1:{port}")) as target:
            target.read([0])
            return
        time.sleep(0.1)
    raise AssertionError("the bench does not answer")
