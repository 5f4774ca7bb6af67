"""Every fault of the emulated pair, pulled and explained in process: the small form of `make campaign`.

The truth is read after the explanation, for the comparison only.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from freezeframe.analyzers.diagnosis.ranking import NAMES
from freezeframe.analyzers.explain import explain
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.control import freeze
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.registers.access import open_devices
from freezeframe.emulator.target import EmulatorTarget

PLACED = NAMES[:6]  # the packet can be known
LIMIT_PS = 40_000_000_000
FREEZE_PS = 2_000_000_000  # until the CRC tables are ready


def captured(path: Path, fault: str, seed: int, limit_ps: int = LIMIT_PS) -> CaptureFolder:
    target = EmulatorTarget("forth", fault, seed, path / "truth.json", access_ps=0)
    if fault == "none":
        target.run_until_frozen(limit_ps)
    else:
        assert target.run_until_evident(limit_ps)
    if not target.frozen:  # the host freezes what no check of the hardware finds
        for device in open_devices(target):
            freeze(device)
        target.run_until_frozen(FREEZE_PS)
    target.advance(FREEZE_PS)
    pull(target, path / "run.ff")
    return CaptureFolder.open(path / "run.ff")


@pytest.mark.parametrize("seed", [1001])
@pytest.mark.parametrize("fault", NAMES)
def test_a_fault_of_the_emulated_pair_is_named_and_placed(
    tmp_path: Path, fault: str, seed: int
) -> None:
    folder = captured(tmp_path, fault, seed)
    first = explain(folder).findings[0]
    ends = [found for name in "AB" for found in explain(folder, [name]).findings[:1]]
    truth = json.loads((tmp_path / "truth.json").read_text())["injections"][-1]
    assert first.diagnosis == fault
    assert (first.device, first.tap, first.flow) == (truth["device"], truth["tap"], truth["flow"])
    assert (first.packet, first.word) == (truth["packet"], truth["word"])
    for finding in ends:
        assert finding.diagnosis in (fault, "undetermined")
        if finding.diagnosis == fault and fault in PLACED:
            assert finding.packet == truth["packet"]
            assert finding.word in (truth["word"], None)


@pytest.mark.parametrize("seed", range(2000, 2008))
def test_a_clean_run_of_the_emulated_pair_has_no_finding(tmp_path: Path, seed: int) -> None:
    assert explain(captured(tmp_path, "none", seed, 400_000_000)).findings == []
