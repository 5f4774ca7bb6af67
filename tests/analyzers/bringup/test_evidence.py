"""The recording that a stage failed by is kept, or it stands in the cards: nothing is armed over it."""

from __future__ import annotations

from pathlib import Path

import pytest

from freezeframe.analyzers.bringup.evidence import Evidence
from freezeframe.analyzers.bringup.ladder import StageResult, climb
from freezeframe.analyzers.bringup.recording import under_traffic
from freezeframe.analyzers.explain import explain
from freezeframe.capture.custody.ledger import KEPT, Ledger
from freezeframe.capture.errors import ForeignRecordingError, RecorderStateError
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.control import arm_all, freeze_all
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.recorder.state import read_state
from freezeframe.capture.registers.access import open_devices
from freezeframe.emulator.target import EmulatorTarget


def card(fault: str = "word-omitted") -> EmulatorTarget:
    """Return a pair whose hosts send little of their own, and whose registers answer within 5 us."""
    return EmulatorTarget(fault=fault, seed=1, load="light", access_ps=5_000_000)


def failed(results: list[StageResult]) -> StageResult:
    (one,) = (result for result in results if result.outcome == "failed")
    return one


def named(capture: Path) -> list[str]:
    return [finding.diagnosis for finding in explain(CaptureFolder.open(capture)).findings]


def generation(capture: Path) -> int:
    registers = CaptureFolder.open(capture).devices[0].registers
    found = registers.value("ctl.generation")
    assert found is not None
    return found


def test_the_recording_of_the_stage_that_failed_stands_in_the_folder_and_the_cards_are_armed(
    tmp_path: Path,
) -> None:
    devices = open_devices(card())
    stage = failed(climb(devices, discard=True, keep=tmp_path))
    assert stage.capture == tmp_path / f"{stage.stage}.ff"
    assert list(tmp_path.iterdir()) == [stage.capture]
    assert stage.standing == []
    assert named(stage.capture) == ["word-omitted"]
    kept = Ledger().acts(devices[0].read("id.boot_nonce"))
    assert str(stage.capture) in {entry["path"] for entry in kept if entry["what"] == KEPT}
    for device in devices:
        assert device.read("provoke.link") == 0
        # Armed, over what is kept; this fault strikes again, and may have frozen them anew.
        assert device.read("ctl.generation") > generation(stage.capture)


def test_without_a_folder_nothing_is_armed_over_the_recording_that_shows_the_failure(
    tmp_path: Path,
) -> None:
    target = card()
    devices = open_devices(target)
    stage = failed(climb(devices, discard=True))
    assert stage.capture is None
    states = [read_state(device) for device in devices]
    assert [state.state for state in states] == ["frozen", "frozen"]
    assert stage.standing == [
        f"{state.device} generation {state.generation} ({', '.join(state.causes)}), in loop-back"
        for state in states
    ]
    for device in devices:
        assert device.field("provoke.traffic", "enable") == 0
    with pytest.raises(RecorderStateError, match="are frozen, and this host has not kept it"):
        climb(devices)
    assert [read_state(device).generation for device in devices] == [s.generation for s in states]
    pull(target, tmp_path / "later.ff")
    assert named(tmp_path / "later.ff") == ["word-omitted"]


def test_what_passed_leaves_nothing_in_the_folder(tmp_path: Path) -> None:
    results = climb(open_devices(card("none")), keep=tmp_path)
    assert [result.outcome for result in results] == ["passed"] * 4 + ["not run"]
    assert list(tmp_path.iterdir()) == []


def test_a_second_failure_gets_a_name_of_its_own(tmp_path: Path) -> None:
    first = failed(climb(open_devices(card()), discard=True, keep=tmp_path))
    assert first.capture is not None
    before = (first.capture / "manifest.json").read_bytes()
    second = failed(climb(open_devices(card()), discard=True, keep=tmp_path))
    assert second.capture == tmp_path / f"{first.stage}-2.ff"
    assert (first.capture / "manifest.json").read_bytes() == before


def test_a_failure_without_a_recording_keeps_none_and_arms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing crosses the taps: there is no freeze that shows it."""
    monkeypatch.setattr("freezeframe.analyzers.bringup.recording._LIMIT_S", 0.0)
    devices = open_devices(EmulatorTarget(seed=1, load="light", access_ps=100))
    stage = failed(climb(devices, keep=tmp_path))
    assert stage.stage == "host-dma"
    assert "records in 0 s of pattern traffic" in stage.seen
    assert (stage.capture, stage.standing) == (None, [])
    assert list(tmp_path.iterdir()) == []
    assert [read_state(device).state for device in devices] == ["armed", "armed"]


def test_what_another_program_recorded_is_no_evidence_and_loop_back_is_switched_off() -> None:
    devices = open_devices(card("none"))
    arms = Evidence([devices], by="selftest", discard=True)
    arms.arm()
    with pytest.raises(ForeignRecordingError), under_traffic(devices, arms, loop=True):
        arm_all(devices)  # somebody else
        freeze_all(devices)
        arms.arm()
    assert [device.read("provoke.link") for device in devices] == [0, 0]
    assert [read_state(device).state for device in devices] == ["frozen", "frozen"]
    assert arms.standing == []
