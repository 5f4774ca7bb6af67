"""The access log: one line an access, by the names of the map."""

from __future__ import annotations

import pytest

from freezeframe.capture.errors import BusError
from freezeframe.capture.registers.access import open_devices
from freezeframe.capture.targets.logged import LoggedTarget
from tests.capture.targets.fake_device import OUTSIDE, FakeTarget


def test_every_access_is_one_line_with_device_name_address_and_data() -> None:
    lines: list[str] = []
    target = LoggedTarget(FakeTarget(), lines.append)
    target.read([0x0, 0x1000000])
    target.write(0x50C, [0xFFFFF00F, 2])
    assert lines == [
        "A rd id.magic addr=0x00000000 data=0x46525a46",
        "B rd id.magic addr=0x01000000 data=0x46525a46",
        "A wr provoke.traffic_seed addr=0x0000050c data=0xfffff00f",
        "A wr provoke.inject addr=0x00000510 data=0x00000002",
    ]


def test_windows_and_arrays_have_their_names_too() -> None:
    lines: list[str] = []
    LoggedTarget(FakeTarget(), lines.append).read([0x40010, 0x470 + 4])
    assert [line.split(" addr=")[0] for line in lines] == [
        "A rd trace_tx_enq+0x0010",
        "A rd frozen.lane.underflows[1]",
    ]


def test_a_failed_access_is_logged_with_its_error() -> None:
    lines: list[str] = []
    target = LoggedTarget(FakeTarget(), lines.append)
    with pytest.raises(BusError):
        target.read([OUTSIDE])
    with pytest.raises(BusError):
        target.write(0, [1])
    assert lines == [
        "A rd nothing addr=0x00f00000 fail=BusError",
        "A wr id.magic addr=0x00000000 data=0x00000001 fail=BusError",
    ]


def test_a_device_can_be_opened_over_a_log() -> None:
    lines: list[str] = []
    target = LoggedTarget(FakeTarget(), lines.append)
    device = open_devices(target)[1]
    lines.clear()
    device.modify("provoke.traffic", enable=1)
    assert [line.split(" addr=")[0] for line in lines] == [
        "B rd provoke.traffic",
        "B wr provoke.traffic",
    ]
