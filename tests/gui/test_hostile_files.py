"""Files that lie end in one line, in bounded memory, and at once where nothing has to be unpacked to know.

Those that have to be unpacked first are read by ``make hostile``.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from freezeframe.capture.files.packed import unpacked
from tests.campaign.hostile_files import CASES
from tests.gui.cli import process_environment, refusal, run_inside, started
from tests.processes import run_program


@pytest.fixture(scope="module")
def answers() -> dict[str, tuple[str, dict[str, object]]]:
    """Read every file in a process that may have 512 MiB.

    What must be fast is so by the time of the processor; by the clock a busy machine takes many times as long.
    """
    command = [sys.executable, "-m", "tests.campaign.hostile", "--json", "--at-once"]
    done = run_program(command, env=process_environment(), timeout=3600)
    return {name: (wrong, answer) for name, wrong, answer in json.loads(done.stdout)}


@pytest.mark.parametrize("name", [f"{case.file} {case.name}" for case in CASES if case.at_once])
def test_a_file_that_lies_is_one_line_in_bounded_memory(
    name: str, answers: dict[str, tuple[str, dict[str, object]]]
) -> None:
    wrong, answer = answers[name]
    assert wrong == "", answer


def test_the_limit_of_memory_holds_so_that_the_files_prove_something(
    answers: dict[str, tuple[str, dict[str, object]]],
) -> None:
    _, answer = answers["hungry"]
    assert (answer["code"], answer["err"]) == (99, "MemoryError()")


def test_there_are_sixty_of_them_and_each_kind_that_we_read_is_among_them() -> None:
    assert len(CASES) >= 60
    kinds = {case.file.partition(".")[2] for case in CASES}
    assert kinds >= {"sr", "dsl", "vcd", "fst", "ghw", "csv", "json", "bin", "wav", "isf", "pcap", "pcapng", "pcap.gz",
                     "vcd.gz", "vcd.xz", "vcd.zst", "ff", "ff.zip", "ffrec"}  # fmt: skip


def test_unpacking_can_be_interrupted_and_leaves_nothing_behind(tmp_path: Path) -> None:
    packed, room = tmp_path / "a.vcd.gz", tmp_path / "room"
    room.mkdir()
    with gzip.open(packed, "wb", 1) as file:
        for _ in range(96):
            file.write(bytes(1 << 24))
    with started("decode", str(packed), TMPDIR=str(room)) as process:
        while process.poll() is None and not any(p.is_file() for p in room.rglob("a.vcd")):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
    assert (process.returncode, out, errors) == (130, "", "")
    assert [p.name for p in room.iterdir()] == []


def test_max_unpacked_names_what_to_say_where_the_file_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(
        "FREEZEFRAME_MAX_UNPACKED", ""
    )  # which the option changes for the whole process
    packed = tmp_path / "a.vcd.gz"
    text = b"$timescale 1 ns $end\n$var wire 1 ! rx $end\n$enddefinitions $end\n#0\n0!\n#5\n1!\n"
    packed.write_bytes(gzip.compress(text + b"\n" * 5_000_000))
    assert refusal("decode", str(packed), "--max-unpacked", "1MB") == (
        f"freezeframe: {packed}: unpacks to 4194304 B and more; at most 1000000 B are unpacked; if it is right, say "
        "--max-unpacked 4194304B\n"
    )
    assert run_inside("decode", str(packed), "--max-unpacked", "many").code == 2


def test_unpacking_tells_how_far_it_is(tmp_path: Path) -> None:
    packed = tmp_path / "a.vcd.gz"
    packed.write_bytes(gzip.compress(os.urandom(9_000_000)))
    told: list[tuple[int, int]] = []
    unpacked(packed, lambda done, of: told.append((done, of)))
    size_B = packed.stat().st_size
    assert len(told) >= 3
    assert told == sorted(told)
    assert {of for _, of in told} == {size_B}
    assert told[-1] == (size_B, size_B)
