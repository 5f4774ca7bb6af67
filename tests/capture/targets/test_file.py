"""A capture folder as a target: what was recorded, and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from freezeframe.capture.errors import BusError, CaptureFormatError, InputError, TargetError
from freezeframe.capture.folder import (
    CaptureWriter,
    DeviceCapture,
    Gap,
    MemoryImage,
    RegisterImage,
)
from freezeframe.capture.registers.access import open_devices
from freezeframe.capture.targets.base import open_target
from tests.capture.targets.fake_device import FakeTarget
from tests.capture.targets.places import recorded

FAKE = FakeTarget(devices=1, depth=64)
(DEVICE,) = open_devices(FAKE)


def small(path: Path) -> Path:
    """Write a capture of device B alone: two registers, and a memory whose slot 2 is missing."""
    records = np.array(
        [
            [0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0xF1],
            [1, 2, 3, 4, 5, 6, 7, 8, 0x12],
            [0] * 9,
            [0xFF] * 9,
        ],
        np.uint8,
    )
    writer = CaptureWriter(path, source="fake:")
    writer.add_device(
        DeviceCapture(
            index=1,
            base=0x1000000,
            identity=DEVICE.identity,
            registers=RegisterImage({0x0: 0x46525A46, 0x100: 7}),
            memories={"tx_deq": MemoryImage("tx_deq", records, 0, True, [Gap(2, 1, "vanished")])},
        )
    )
    return writer.commit()


def test_registers_and_records_stand_where_the_device_had_them(tmp_path: Path) -> None:
    target = open_target(f"file:{small(tmp_path / 'x.ff')}")
    assert target.read([0x1000000, 0x1000100]).tolist() == [0x46525A46, 7]
    assert target.read([0x1080000, 0x1080004, 0x1080008, 0x108000C]).tolist() == [
        0x44332211, 0x88776655, 0xF1, 0,
    ]  # fmt: skip
    assert target.read([0x1080030, 0x1080034, 0x1080038]).tolist() == [0xFFFFFFFF] * 2 + [0xFF]


@pytest.mark.parametrize(
    ("address", "what"),
    [
        (0x1000004, "id.format"),
        (0x1080020, "trace_tx_deq+0x0020"),
        (0x1080040, "trace_tx_deq+0x0040"),
        (0x1040000, "trace_tx_enq+0x0000"),
        (0x0000000, "id.magic"),
        (0x1F00000, "nothing"),
    ],
    ids=["register", "gap", "beyond the depth", "memory", "device", "outside the map"],
)
def test_what_was_not_recorded_is_a_bus_error(tmp_path: Path, address: int, what: str) -> None:
    target = open_target(f"file:{small(tmp_path / 'x.ff')}")
    with pytest.raises(BusError) as info:
        target.read([0x1000000, address])
    assert f"{address:#010x} ({what}) is not in the recording" in str(info.value)


def test_the_devices_of_a_recording_are_opened_like_any_other(tmp_path: Path) -> None:
    target = open_target(f"file:{recorded(tmp_path / 'x.ff', FAKE)}")
    (device,) = open_devices(target)
    assert device.identity == DEVICE.identity
    assert device.read("frozen.tx_level") == FAKE.get(0, "frozen.tx_level")


def test_a_word_of_all_ones_in_a_recording_is_data(tmp_path: Path) -> None:
    target = open_target(f"file:{recorded(tmp_path / 'x.ff', FAKE)}")
    (device,) = open_devices(target)
    at = device.window("trace_tx_enq") + 32
    assert device.read_words([at, at + 4]).tolist() == [0xFFFFFFFF] * 2


def test_writing_into_a_recording_is_refused_with_the_reason(tmp_path: Path) -> None:
    target = open_target(f"file:{small(tmp_path / 'x.ff')}")
    with pytest.raises(TargetError, match=r"cannot write 0x01000108: this is a recording"):
        target.write(0x1000108, [1])


def test_a_folder_that_is_none_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(CaptureFormatError, match="does not exist"):
        open_target(f"file:{tmp_path / 'no.ff'}")
    with pytest.raises(InputError, match=r"write file:NAME\.ff"):
        open_target("file:")
