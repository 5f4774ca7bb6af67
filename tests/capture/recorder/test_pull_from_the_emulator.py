"""A pull from the emulated pair over UDP holds what its registers show, read one by one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from freezeframe.capture.errors import RecorderStateError
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.control import arm_all, wait_for
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.recorder.state import read_state
from freezeframe.capture.registers.access import open_devices
from freezeframe.capture.targets.base import open_target
from freezeframe.capture.timebase import TimeBase
from freezeframe.emulator.target import EmulatorTarget
from tests.capture.recorder.fake_recorder import window_bytes
from tests.capture.serving import serving

LIMIT_PS = 20_000_000_000


@pytest.fixture
def emulator(tmp_path: Path) -> Iterator[EmulatorTarget]:
    emulator = EmulatorTarget(
        profile="forth", fault="word-omitted", seed=3, truth_path=tmp_path / "truth.json"
    )
    assert emulator.run_until_frozen(LIMIT_PS)
    yield emulator
    emulator.close()


def test_the_capture_holds_every_word_that_the_windows_show(
    emulator: EmulatorTarget, tmp_path: Path
) -> None:
    with serving(emulator) as url:
        target = open_target(url)
        report = pull(target, tmp_path / "x.ff")
        target.close()
    assert report.complete
    for device, capture in zip(
        open_devices(emulator), CaptureFolder.open(report.path).devices, strict=True
    ):
        for name, memory in capture.memories.items():
            start = device.window(f"trace_{name}")
            slots = device.identity.depth(list(capture.memories).index(name))
            window = emulator.read(range(start, start + 16 * slots, 4))
            assert memory.records.tobytes() == window_bytes(window.reshape(-1, 4))
        for address, value in capture.registers:
            assert emulator.read([device.base + address]).tolist() == [value], hex(address)
        depth, start = device.identity.sampler_depth, device.window("samples")
        written = depth if capture.registers.field("sampler.status", "wrapped") else None
        written = written or capture.registers.value("sampler.write_ptr") or 0
        shown = emulator.read(range(start, start + 8 * written, 4)).reshape(-1, 2)
        assert capture.samples is not None
        assert np.array_equal(capture.samples[:written], shown)


def test_all_domains_of_the_pair_are_on_one_axis(emulator: EmulatorTarget, tmp_path: Path) -> None:
    base = TimeBase.from_folder(CaptureFolder.open(pull(emulator, tmp_path / "x.ff").path))
    assert [c.relation for c in base.clocks.values()] == ["master"] + 3 * ["two pairs"]
    assert base.notes == ()


def test_the_truth_stays_out_of_the_capture(emulator: EmulatorTarget, tmp_path: Path) -> None:
    folder = pull(emulator, tmp_path / "x.ff").path
    for path in folder.rglob("*"):
        if path.is_file():
            assert b"word-omitted" not in path.read_bytes()


def test_a_card_without_a_fault_goes_on_and_is_refused_unless_it_is_to_be_frozen(
    tmp_path: Path,
) -> None:
    healthy = EmulatorTarget(
        profile="forth", fault="none", seed=3, truth_path=tmp_path / "truth.json"
    )
    with pytest.raises(RecorderStateError, match="--freeze"):
        pull(healthy, tmp_path / "x.ff")
    report = pull(healthy, tmp_path / "x.ff", freeze=True)
    assert report.complete
    assert "host" in read_state(open_devices(healthy)[0]).causes


def test_armed_again_it_freezes_again_as_the_next_generation(
    emulator: EmulatorTarget, tmp_path: Path
) -> None:
    devices = open_devices(emulator)
    assert arm_all(devices) == [2, 2]
    assert emulator.run_until_frozen(LIMIT_PS)
    wait_for(devices[0], "frozen", 1)
    capture = CaptureFolder.open(pull(emulator, tmp_path / "x.ff").path)
    assert capture.devices[0].registers.value("ctl.generation") == 2
