"""A 512-bit path of LiteX's FIFOs whose frames come from cocotbext-eth and -axi, recorded and explained."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from freezeframe.analyzers.card.explain import explain_card
from freezeframe.capture.card.device import open_any
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.capture.recorder.case import pull_case
from freezeframe.capture.recorder.control import arm, wait_for
from freezeframe.capture.recorder.state import read_state
from freezeframe.capture.targets.base import open_target
from tests.processes import run_program
from tests.rtl.card.test_card_device import written
from tests.rtl.foreign.running import HERE
from tests.rtl.simulation import REPOSITORY, tool

pytest.importorskip("litex", reason="LiteX comes with the extra 'peers'")
pytest.importorskip("cocotbext.axi", reason="cocotbext-axi comes with the extra 'peers'")

RUN = """
from pathlib import Path
from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner
runner = get_runner("icarus")
sources = [Path("top.v"), *map(Path, Path("small_freezeframe.f").read_text().split())]
runner.build(sources=sources, hdl_toplevel="top", build_args=["-g2005"], build_dir="sim", timescale=("1ps", "1ps"))
print(get_results(runner.test(hdl_toplevel="top", hdl_toplevel_lang="verilog", test_dir=".", build_dir="sim",
                              test_module="tests.rtl.foreign.cocotb_frames")))
"""
POST = 4  # records after the cause


def simulated(folder: Path) -> dict[str, list[bytes]]:
    """Arm the simulated card, let the traffic pass, and pull ``folder/run.ff``; return what the bench knows."""
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(
            [sys.executable, "-c", RUN], cwd=folder, stdout=log, stderr=log,
            env=os.environ | {"PYTHONPATH": str(REPOSITORY), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        ) as simulation,
    ):  # fmt: skip
        try:
            target = open_target(_told(folder / "url", simulation))
            (device,) = open_any(target)
            for tap in device.found.card.recorders:
                device.write("tap.post", POST, tap.number)
            while not all(clock.alive for clock in read_state(device).clocks.values()):
                time.sleep(0.1)
            arm(device)
            (folder / "go").touch()
            told = json.loads(_told(folder / "done", simulation))
            wait_for(device, "frozen", 60)
            report = pull_case([target], folder / "run.ff")
            target.close()
        finally:
            (folder / "stop").touch()
            simulation.wait(60)
    assert "(1, 0)" in (folder / "log").read_text()
    assert report.complete, report.lost
    return {key: [bytes.fromhex(text) for text in told[key]] for key in told}


def _told(file: Path, simulation: subprocess.Popen[bytes]) -> str:
    while not file.exists():
        assert simulation.poll() is None, (file.parent / "log").read_text()[-4000:]
        time.sleep(0.05)
    return file.read_text()


def test_frames_of_cocotbext_come_back_byte_by_byte_and_each_that_was_spoilt_is_named(
    tmp_path: Path,
) -> None:
    tool("iverilog")
    written(HERE / "cards" / "small.toml", tmp_path)
    done = run_program(
        [sys.executable, "-m", "tests.rtl.foreign.design", tmp_path, "small", "512"], cwd=REPOSITORY
    )
    assert done.returncode == 0, done.stderr
    told = simulated(tmp_path)
    sent, received = told["sent"], told["received"]
    no_room, changed, bad = told["spoilt"]
    there = bytes(byte ^ 0xA0 * (place % 64 == 9) for place, byte in enumerate(changed))
    assert received == [there if f == changed else f for f in sent if f not in (no_room, bad)]

    (pulled,) = CardFolder.open(tmp_path / "run.ff").devices
    recording = pulled.recording()
    explanation = explain_card(recording)
    assert recording.cause_names == ("bad_fcs",)
    for tap, frames in (("rx_in", sent), ("rx_out", received)):
        end = explanation.streams[tap]
        recorded = [end.content(n) for n in range(len(end)) if end.stream.whole[n]]
        first = frames.index(recorded[0])
        assert len(recorded) >= 9
        assert recorded == frames[first : first + len(recorded)]
    wire = explanation.streams["rx_in"]
    assert [
        (finding.diagnosis, finding.tap, wire.content(finding.packet or 0))
        for finding in explanation.findings
    ] == [
        ("packet-dropped", "rx_out", no_room),
        ("bits-altered", "rx_out", changed),
        ("bad-on-arrival", "rx_in", bad),
    ]
