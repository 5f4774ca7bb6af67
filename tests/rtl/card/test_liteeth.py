"""docs/liteeth.md, done: LiteEth's MAC with the recorder of a card file, from an empty file to the explained fault."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import run_program
from tests.rtl.simulation import REPOSITORY, tool

pytest.importorskip("liteeth", reason="LiteEth comes with the extra 'peers'")

PAGE = (REPOSITORY / "docs" / "liteeth.md").read_text("utf-8")
BLOCKS = dict(re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.M | re.S))
FILES: dict[str, str] = {
    "mac.toml": BLOCKS["toml"],
    "top.py": BLOCKS["python"],
    "bench.cpp": BLOCKS["cpp"],
}
COMMANDS = BLOCKS["sh"].splitlines()
NARROW = {  # what the page says of a core of 8 bits
    "mac.toml": [("bits = 32\n", "bits = 8\n"), ('keep = "tail"\n', "")],
    "top.py": [("dw=32", "dw=8")],
    "bench.cpp": [("? 8 : 0", "? 1 : 0")],
}


def test_it_takes_at_most_12_commands_and_60_lines_of_100_characters() -> None:
    lines = [line for text in FILES.values() for line in text.splitlines() if line]
    assert len(COMMANDS) <= 12
    assert len(lines) <= 60
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("bits", [32, 8])
def test_bits_flipped_on_the_line_are_named_with_their_frame(bits: int, tmp_path: Path) -> None:
    tool("verilator")
    port = str(_free_port())
    programs = Path(sys.executable).parent
    environment = os.environ | {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "SIM": str(REPOSITORY / "firmware-hooks" / "simulation"),
    }
    bench = None
    try:
        for command in COMMANDS:
            words = command.replace("1234", port)
            if command.endswith("&"):
                bench = subprocess.Popen([words.removesuffix(" &")], cwd=tmp_path)
                _wait_for(port, programs, environment)
                continue
            done = run_program(["bash", "-c", words], cwd=tmp_path, env=environment)
            assert done.returncode == 0, (command, done.stdout[-2000:] + done.stderr[-2000:])
            if "card new" in command:
                for name in FILES:
                    (tmp_path / name).write_text(_text(name, bits).replace("1234", port))
    finally:
        if bench is not None:
            bench.kill()
            bench.wait()
    told = (
        BLOCKS["text"].splitlines()
        if bits == 32
        else [
            "1 finding, frozen by bad_fcs",
            "bad-on-arrival: a packet was bad when it came to A.wire",
        ]
    )
    for line in told:
        assert line in done.stdout


def _text(name: str, bits: int) -> str:
    text: str = FILES[name]
    for wide, narrow in NARROW[name] if bits == 8 else []:
        assert wide in text
        text = text.replace(wide, narrow)
    return text


def _free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: str, programs: Path, environment: dict[str, str]) -> None:
    """Wait until the bench answers; half a minute without it is a failure."""
    target = f"etherbone://127.0.0.1:{port}"
    for _ in range(30):
        if (
            run_program([programs / "freezeframe", "targets", target], env=environment).returncode
            == 0
        ):
            return
    raise AssertionError("the bench does not answer")
