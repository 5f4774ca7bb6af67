"""docs/litex.md, done: LiteX builds and simulates a SoC with the recorder in five lines; its own server reads it."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from freezeframe.analyzers.card.explain import explain_card
from freezeframe.capture.card.build.outputs import outputs
from freezeframe.capture.card.device import open_any
from freezeframe.capture.card.elaborated import elaborate
from freezeframe.capture.card.reading import parse_card
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.capture.recorder.case import pull_case
from freezeframe.capture.recorder.control import arm
from freezeframe.capture.targets.base import open_target
from tests.rtl.simulation import REPOSITORY, tool

pytest.importorskip("litex", reason="LiteX comes with the extra 'peers'")
pytest.importorskip("pythondata_misc_tapcfg", reason="it comes with the extra 'peers'")

PAGE = (REPOSITORY / "docs" / "litex.md").read_text("utf-8")
CHEAPLY = {  # one file, not optimized, and not again what was compiled in another folder
    "MAKEFLAGS": "-- OPT_FAST=-O0 OPT_GLOBAL=-O0 VM_PARALLEL_BUILDS=0",
    "CCACHE_NOHASHDIR": "1",
}
BLOCKS = dict(re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.M | re.S))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(words: list[str], folder: Path, port: int) -> Iterator[None]:
    """A program, from when it listens at a port of TCP; what it prints goes to a file of the port's number."""
    log = folder / f"{port}.log"
    with log.open("w") as out:
        process = subprocess.Popen(
            words, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
            env=os.environ | CHEAPLY,
        )  # fmt: skip
        try:
            while not _listens(port):
                assert process.poll() is None, log.read_text()[-4000:]
                time.sleep(0.1)
            yield
        finally:
            os.killpg(process.pid, 9)  # LiteX starts the simulation from a shell
            process.wait()


def _listens(port: int) -> bool:
    """Tell whether a program listens, without connecting: LiteX's simulation takes one client."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(int(words[1][-4:], 16) == port and words[3] == "0A" for words in lines)


def test_five_lines_put_the_recorder_in_a_soc_that_litex_builds_simulates_and_reads(
    tmp_path: Path,
) -> None:
    tool("verilator")
    assert re.findall(r"# (\d)$", BLOCKS["python"], re.M) == ["1", "2", "3", "4", "5"]
    (tmp_path / "soc.py").write_text(BLOCKS["python"])
    card = elaborate(parse_card(BLOCKS["toml"]))
    for place, text in outputs(card).items():
        (tmp_path / "own" / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "own" / place).write_text(text, "utf-8")
    line, port = free_port(), free_port()
    server = [sys.executable, "-m", "litex.tools.litex_server", "--uart",
              f"--uart-port=socket://127.0.0.1:{line}", "--bind-port", str(port)]  # fmt: skip
    with (
        running([sys.executable, "soc.py", str(line)], tmp_path, line),
        running(server, tmp_path, port),
    ):
        base = json.loads((tmp_path / "csr.json").read_text())["memories"]["ff"]["base"]
        url = f"litex://127.0.0.1:{port}?base={base:#x}"
        assert url.replace(str(port), "4568") in BLOCKS["sh"]
        target = open_target(url)
        (device,) = open_any(target)
        assert arm(device) == 1
        report = pull_case([target], tmp_path / "words.ff", freeze=True)
        target.close()
    assert report.complete, report.lost
    assert device.found.card.hash == card.hash
    assert device.identity.boot_nonce > 0  # the cycle of the first access
    (pulled,) = CardFolder.open(tmp_path / "words.ff").devices
    tap = explain_card(pulled.recording()).streams["rx"]
    packets = [tap.content(n) for n in range(len(tap)) if tap.stream.whole[n]]
    first = int.from_bytes(packets[0][:4], "little")
    assert first % 4 == 0 and len(packets) >= 3
    words = np.arange(first, first + 4 * len(packets), dtype="<u4")
    assert b"".join(packets) == words.tobytes()
