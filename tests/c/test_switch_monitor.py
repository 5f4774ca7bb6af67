"""The monitor of the FORTH paper's switch (section 3.7): what the emulated crossbar forwards, counted by the C hooks in
the third worked example, printed on its serial console, and read back by `freezeframe console`.
"""

from __future__ import annotations

import csv
import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.c.hooks import SOURCES, WARNINGS
from tests.gui.cli import run_inside

HOOKS = Path(__file__).resolve().parents[2] / "firmware-hooks"
EXAMPLE = HOOKS / "examples" / "embedded"
CYCLE_NS = 20  # of the board's processor, 50 MHz


@pytest.fixture(scope="module")
def monitor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("monitor") / "monitor"
    files = [EXAMPLE / "main.c", EXAMPLE / "board_trace.c", *(HOOKS / "c" / name for name in SOURCES)]  # fmt: skip
    include = [f"-I{HOOKS / 'c'}", "-isystem", str(HOOKS / "registers" / "generated")]
    sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    command = ["gcc", "-std=c99", *WARNINGS, "-g", "-O1", *sanitizers, *include]
    subprocess.run([*command, "-o", program, *files], check=True)
    return program


def printed(monitor: Path, trace: str, folder: Path) -> list[dict[str, object]]:
    """Return the lines that the host reads when the switch forwards what a trace says."""
    done = subprocess.run([monitor], input=trace, capture_output=True, text=True, check=True)
    console = folder / "console.txt"
    console.write_text(done.stdout)
    read = run_inside("console", str(console), "--json")
    assert (read.code, read.err) == (0, "")
    return [json.loads(line) for line in read.out.splitlines()]


def test_the_crossbar_s_counts_arrive_on_the_serial_console(monitor: Path, tmp_path: Path) -> None:
    path = tmp_path / "switch.csv"
    assert run_inside("what-if", "switch", "--deliveries", str(path)).code == 0
    rows = list(csv.DictReader(path.read_text().splitlines()))
    words = Counter({int(row["flow"]): 0 for row in rows})
    for row in rows:
        words[int(row["flow"])] += int(row["packets"])
    assert words == dict.fromkeys(range(7), 60 * 64)
    lines = printed(monitor, path.read_text(), tmp_path)
    last = lines[-1]
    assert (last["packets"], last["refused"]) == (420, 0)
    took = [int(row["took_ps"]) // 1000 // CYCLE_NS for row in rows]
    assert (last["least_cycles"], last["most_cycles"]) == (min(took), max(took))
    assert last["cycles"] == sum(took)
    flows = {line["flow"]: line["words"] for line in lines if "flow" in line}
    assert flows == dict(words)
    crosspoints = [line for line in lines if "input" in line]
    assert {(line["input"], line["output"]) for line in crosspoints} == {(i, 7) for i in range(7)}
    most = {i: max(int(r["waiting"]) for r in rows if r["from"] == str(i)) for i in range(7)}
    assert {line["input"]: line["most_words"] for line in crosspoints} == most
    assert max(most.values()) == 128 - 12 - 1  # its credits, but for words on their way there


def test_a_trace_that_ends_early_or_is_none_ends_the_monitor_with_what_it_had(
    monitor: Path, tmp_path: Path
) -> None:
    head = "done_ps,flow,from,to,packets,took_ps,waiting,size_B,born_ps,name\n"
    two = "100000,3,1,2,64,90000,5,512,0,a\n200000,3,1,2,64,90000,48,512,0,a\n"
    lines = printed(monitor, head + two + "300000,3,1", tmp_path)
    assert lines[-1]["packets"] == 2
    assert printed(monitor, "", tmp_path)[-1]["packets"] == 0
