"""The fake recorders laid out where transports without a server find them: a BAR, a capture."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from freezeframe.capture.folder import CaptureWriter, DeviceCapture, MemoryImage, RegisterImage
from freezeframe.capture.registers import names
from freezeframe.capture.registers.access import open_devices
from freezeframe.capture.registers.layouts import MEMORY_NAMES
from freezeframe.capture.registers.map_table import WINDOWS
from tests.capture.targets.fake_device import STRIDE_B, FakeTarget

NEVER_STILL = ("id.bus_errors", "id.bus_error_addr")


def known_words(fake: FakeTarget) -> dict[int, int]:
    """Return words of both devices that stand still: registers, all trace memories, samples."""
    words = {}
    for device in open_devices(fake):
        for entry in device.dump_registers():
            if entry.name not in NEVER_STILL:
                words[device.base + entry.offset] = fake.get(
                    device.index, entry.name, *entry.indices
                )
        for window in WINDOWS:
            depth = fake.words_there(window)
            if window.frozen_only and window.name != "crc_table":
                row = fake.words[device.index, window.address // 4 :][:depth].tolist()
                at = device.base + window.address
                words.update({at + 4 * place: word for place, word in enumerate(row)})
    return words


def pci_tree(root: Path, fake: FakeTarget, address: str = "0000:03:00.0") -> Path:
    """Make a sysfs tree with one device whose BAR 0 is a file that holds the recorders."""
    device = root / "bus" / "pci" / "devices" / address
    device.mkdir(parents=True)
    (device / "config").write_bytes(bytes.fromhex("ee10 2470 0600 1000").ljust(64, b"\0"))
    (device / "enable").write_text("1\n")
    with (device / "resource0").open("wb") as bar:
        for index in range(fake.devices):
            bar.seek(index * STRIDE_B)
            bar.write(fake.words[index].astype("<u4").tobytes())
        bar.truncate(fake.devices * STRIDE_B)
    return device


def recorded(path: Path, fake: FakeTarget) -> Path:
    """Write a capture of the recorders; slots 2, 0 and 1 in every window's fourth word is 0."""
    writer = CaptureWriter(path, source="fake:")
    for device in open_devices(fake):
        index = device.index
        memories = {}
        for number, name in enumerate(MEMORY_NAMES):
            at = names.window(f"trace_{name}").address // 4
            slots = fake.words[index, at : at + 4 * fake.depth].reshape(-1, 4)
            records = np.zeros((fake.depth, 9), np.uint8)
            records[:, :8] = slots[:, :2].astype("<u4").view(np.uint8).reshape(-1, 8)
            records[:, 8] = slots[:, 2]
            pointer = fake.get(index, "memory.write_ptr", number) % fake.depth
            memories[name] = MemoryImage(name, records, pointer, True)
        at = names.window("samples").address // 4
        writer.add_device(
            DeviceCapture(
                index=index,
                base=device.base,
                identity=device.identity,
                registers=RegisterImage(
                    {e.offset: fake.get(index, e.name, *e.indices) for e in device.dump_registers()}
                ),
                memories=memories,
                samples=fake.words[index, at : at + 2 * fake.sampler_depth].reshape(-1, 2),
            )
        )
    return writer.commit()
