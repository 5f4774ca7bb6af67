"""The device of a card file as it is built: clean in three tools, and pulled over UDP out of a running simulation.

The bench (bench_mac.cpp) is a FIFO between two clocks that drops bad frames; the host is the one that users have.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from freezeframe.capture.card.build.outputs import outputs
from freezeframe.capture.card.build.ports import module_name
from freezeframe.capture.card.elaborated import ElaboratedCard, elaborate
from freezeframe.capture.card.reading import read_card
from freezeframe.capture.card.shipped import shipped_cards
from tests.gui.cli import Outcome, run_inside
from tests.processes import run_program
from tests.rtl.recorded import recorded, version
from tests.rtl.simulation import REPOSITORY, tool

CARDS = {
    **{path.stem: path for path in (Path(__file__).parent / "cards").glob("*.toml")},
    **{
        name: path
        for name, path in shipped_cards().items()
        if (said := read_card(path)).tap and said.card.map != 1
    },
}
SIMULATION = REPOSITORY / "firmware-hooks" / "simulation"


def built(name: str, folder: Path) -> tuple[ElaboratedCard, str]:
    """Write the device of a card to a folder; return the card and the name of its top."""
    return written(CARDS[name], folder)


def written(path: Path, folder: Path) -> tuple[ElaboratedCard, str]:
    """The same of a card file."""
    card = elaborate(read_card(path))
    for place, text in outputs(card).items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text, "utf-8")
    return card, module_name(card)


@pytest.mark.parametrize("name", CARDS)
def test_verilator_icarus_and_yosys_find_nothing_in_a_built_device(
    name: str, tmp_path: Path
) -> None:
    _, top = built(name, tmp_path)
    sources = (tmp_path / f"{top}.f").read_text("utf-8").split()
    commands = [
        ["verilator", "--lint-only", "-Wall", "--top-module", top, "-f", f"{top}.f"],
        ["iverilog", "-g2005", "-Wall", "-Wno-timescale", "-s", top, "-o", "out.vvp", "-c", f"{top}.f"],
        ["yosys", "-q", "-e", ".*", "-p",
         f"read_verilog {' '.join(sources)}; hierarchy -check -top {top}; proc; check -assert"],
    ]  # fmt: skip
    inputs = [
        *map(str, commands),
        *(version(*asking) for asking in (("verilator", "--version"), ("iverilog", "-V"), ("yosys", "-V"))),
        *((tmp_path / source).read_text("utf-8") for source in sources),
    ]  # fmt: skip

    def answers() -> list[str]:
        done = [run_program(command, cwd=tmp_path) for command in commands]
        return [f"{run.returncode}: {run.stdout}{run.stderr}" for run in done]

    assert recorded(f"clean {name}", inputs, answers) == ["0: "] * len(commands)


def bench_of(card: str, source: str, folder: Path, *more: str | Path) -> Path:
    """Build a card's device with the bench that drives it, with more for Verilator; return the program."""
    _, top = built(card, folder)
    done = run_program(
        [tool("verilator"), "--cc", "--exe", "--build", "-O3", "-Wall", "--prefix", "Vtop", "--top-module", top,
         "-CFLAGS", f"-O1 -std=c++17 -I{SIMULATION}", *more, "-f", f"{top}.f", Path(__file__).with_name(source),
         SIMULATION / "etherbone.cpp", "-Mdir", "obj", "-o", "bench"], cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "obj" / "bench"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the bench of ethernet-axis-64; return the program."""
    return bench_of("ethernet-axis-64", "bench_mac.cpp", tmp_path_factory.mktemp("mac"))


@contextmanager
def running(bench: Path, *arguments: int) -> Iterator[str]:
    """Give the URL of a running bench."""
    command = [str(bench), *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        try:
            yield run.stdout.readline().strip()
        finally:
            run.kill()


def told(outcome: Outcome) -> str:
    assert outcome.code == 0, outcome.err
    return outcome.out


def names(capture: Path) -> set[tuple[str, str]]:
    """Return the diagnoses of a capture's one device, each with its tap."""
    (device,) = json.loads(told(run_inside("explain", str(capture), "--json")))["devices"]
    return {(finding["diagnosis"], finding["tap"]) for finding in device["findings"]}


def frozen(url: str) -> None:
    """Wait until the card is frozen; a minute without it is a failure."""
    for _ in range(600):
        if json.loads(told(run_inside("status", url, "--json")))["devices"][0]["state"] == "frozen":
            return
        time.sleep(0.1)
    raise AssertionError("not frozen after a minute")


def test_a_frame_with_a_bad_fcs_freezes_the_card_and_is_named_with_its_bytes_in_the_memory(
    bench: Path, tmp_path: Path
) -> None:
    with running(bench, 1, 60_000, 0, 0) as url:
        told(run_inside("arm", url, "--discard"))
        frozen(url)
        assert "16,451 of 16,451 words verified" in told(
            run_inside("pull", url, "-o", str(tmp_path / "bad.ff"))
        )
        again = told(run_inside("counters", url, "--json"))
    assert names(tmp_path / "bad.ff") == {("bad-on-arrival", "rx_in")}
    assert '"rx_dropped"' in again


def test_a_frame_that_the_fifo_loses_just_before_is_named_too(bench: Path, tmp_path: Path) -> None:
    capture = tmp_path / "lost.ff"
    with running(bench, 2, 60_010, 60_000, 0) as url:
        told(run_inside("arm", url, "--discard"))
        frozen(url)
        told(run_inside("pull", url, "-o", str(capture)))
    assert names(capture) == {("packet-dropped", "rx_out"), ("bad-on-arrival", "rx_in")}


def test_a_clock_that_stands_still_neither_blocks_arming_nor_freezing_and_is_told(
    bench: Path, tmp_path: Path
) -> None:
    with running(bench, 3, 0, 0, 20_000) as url:
        for _ in range(100):
            if "clock rx stands still" in told(run_inside("status", url)):
                break
            time.sleep(0.1)
        told(run_inside("arm", url, "--discard"))
        assert "verified" in told(
            run_inside("pull", url, "-o", str(tmp_path / "still.ff"), "--freeze")
        )
    assert "rx" in told(run_inside("explain", str(tmp_path / "still.ff")))
