"""The pci: target over a sysfs tree of files: what each thing that can be wrong says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from freezeframe.capture.errors import BusError, InputError, TargetError
from freezeframe.capture.targets.pci import open_pci
from tests.capture.targets.fake_device import FakeTarget
from tests.capture.targets.places import pci_tree

ADDRESS = "0000:03:00.0"
FAKE = FakeTarget(devices=1, depth=64)


@pytest.fixture
def device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FREEZEFRAME_SYSFS", str(tmp_path))
    return pci_tree(tmp_path, FAKE)


@pytest.mark.parametrize(
    "url", ["pci:0000:03:00.0", "pci:03:00.0", "pci:0000:03:00.0/bar0", "pci:0000:03:00.0?base=0"]
)
def test_the_device_is_found_by_its_address(device: Path, url: str) -> None:
    target = open_pci(url)
    assert target.read([0]).tolist() == [0x46525A46]
    target.close()


def test_another_bar_can_be_named(device: Path) -> None:
    (device / "resource0").rename(device / "resource2")
    target = open_pci(f"pci:{ADDRESS}/bar2")
    assert target.read([0]).tolist() == [0x46525A46]
    target.close()


def test_words_are_little_endian_in_the_bar(device: Path) -> None:
    (device / "resource0").write_bytes(bytes.fromhex("465a5246 78563412").ljust(4096, b"\0"))
    target = open_pci(f"pci:{ADDRESS}")
    assert target.read([0, 4]).tolist() == [0x46525A46, 0x12345678]
    target.write(8, [0xAABBCCDD])
    target.close()
    assert (device / "resource0").read_bytes()[8:12] == bytes.fromhex("ddccbbaa")


def test_device_0_may_stand_at_an_offset_in_the_bar(device: Path) -> None:
    (device / "resource0").write_bytes(bytes(0x1000) + bytes.fromhex("465a5246") + bytes(0xFFC))
    target = open_pci(f"pci:{ADDRESS}?base=0x1000")
    assert target.read([0]).tolist() == [0x46525A46]
    with pytest.raises(BusError, match="address 0x00001000 lies beyond the BAR, which ends at 0x0"):
        target.read([0x1000])
    target.close()


def test_an_address_beyond_the_bar_is_a_bus_error_and_nothing_is_written(device: Path) -> None:
    (device / "resource0").write_bytes(bytes(4096))
    target = open_pci(f"pci:{ADDRESS}")
    with pytest.raises(BusError, match=r"0x00001000 lies beyond the BAR, which ends at 0x00001000"):
        target.read([0, 0x1000])
    with pytest.raises(BusError, match="0x00001000 lies beyond"):
        target.write(0xFF8, [1, 2, 3])
    target.close()
    assert (device / "resource0").read_bytes() == bytes(4096)


def test_no_such_device(device: Path) -> None:
    with pytest.raises(TargetError, match=r"no such PCI device .*lspci -D"):
        open_pci("pci:0000:04:00.0")


def test_no_such_bar_says_which_there_are(device: Path) -> None:
    (device / "resource4").write_bytes(bytes(16))
    with pytest.raises(TargetError, match="no memory BAR 1; it has bar0, bar4"):
        open_pci(f"pci:{ADDRESS}/bar1")
    (device / "resource0").unlink()
    (device / "resource4").unlink()
    with pytest.raises(TargetError, match="no memory BAR 1; it has none at all"):
        open_pci(f"pci:{ADDRESS}/bar1")


def test_a_bar_that_cannot_hold_the_identity_is_too_small(device: Path) -> None:
    (device / "resource0").write_bytes(bytes(64))
    with pytest.raises(
        TargetError, match=r"BAR 0 has 64 B; the identity registers alone end at 92 B"
    ):
        open_pci(f"pci:{ADDRESS}")


def test_memory_space_switched_off_in_the_command_register(device: Path) -> None:
    (device / "config").write_bytes(bytes.fromhex("ee10 2470 0400 1000"))
    with pytest.raises(
        TargetError, match=r"switched off.*echo 1 \| sudo tee .*0000:03:00\.0/enable"
    ):
        open_pci(f"pci:{ADDRESS}")


def test_memory_space_switched_off_where_there_is_no_config_file(device: Path) -> None:
    (device / "config").unlink()
    (device / "enable").write_text("0\n")
    with pytest.raises(TargetError, match="switched off"):
        open_pci(f"pci:{ADDRESS}")


def test_a_virtual_function_is_not_judged_by_its_command_register(device: Path) -> None:
    (device / "config").write_bytes(bytes.fromhex("ffff ffff 0000 1000"))
    (device / "physfn").symlink_to(".")
    target = open_pci(f"pci:{ADDRESS}")
    assert target.read([0]).tolist() == [0x46525A46]
    target.close()


def test_no_permission_says_sudo_and_the_udev_rule(
    device: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resource = device / "resource0"
    really_open = os.open

    def refuse(path: Path, flags: int, *rest: int) -> int:
        if Path(path) == resource:  # file modes do not stop root, whom tests may run as
            raise PermissionError(13, "Permission denied", str(path))
        return really_open(path, flags, *rest)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(TargetError, match=r"not yours to open; run with sudo.*udev rule") as info:
        open_pci(f"pci:{ADDRESS}")
    assert str(resource) in str(info.value)


@pytest.mark.parametrize(
    "url", ["pci:", "pci:3", "pci:0000:03:00", "pci:03:00.8", "pci:03:00.0/bar6", "pci:03:00.0/bar"]
)
def test_a_wrong_url_says_what_to_write(url: str) -> None:
    with pytest.raises(InputError, match=r"write pci:DOMAIN:BUS:DEVICE\.FUNCTION"):
        open_pci(url)


def test_an_unknown_option_is_refused(device: Path) -> None:
    with pytest.raises(InputError, match=r"no option 'bar'; there are base= .*, sysfs= "):
        open_pci(f"pci:{ADDRESS}?bar=1")
