"""Captures with less in them than was recorded: the oldest records of memories not read, stretches, whole memories.

What is missing is stated as a pull states it: a gap of so many slots, zeros in it, and a line in the manifest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from freezeframe.capture.folder import CaptureFolder, DeviceCapture, Gap, MemoryImage
from freezeframe.capture.folder.manifest import what_was_lost

ALL = 1 << 30
"""More than any memory holds: the whole of it."""

Cut = Mapping[tuple[str, str], tuple[int, int]]
"""Device and memory -> first and end of the records not read, counted from the oldest."""


def cut(folder: CaptureFolder, cuts: Cut) -> CaptureFolder:
    """Return the capture as a pull would have left it that could not read some records."""
    devices = [_cut_device(device, cuts) for device in folder.devices]
    lost = [line for device in devices for line in what_was_lost(device)]
    return CaptureFolder(folder.path, {**folder.manifest, "lost": lost}, devices)


def _cut_device(device: DeviceCapture, cuts: Cut) -> DeviceCapture:
    memories = dict(device.memories)
    for name, memory in device.memories.items():
        if (device.name, name) in cuts:
            memories[name] = _cut_memory(memory, *cuts[device.name, name])
    return replace(device, memories=memories)


def _cut_memory(memory: MemoryImage, first: int, end: int) -> MemoryImage:
    gone = sorted(memory.slots_in_order()[first:end].tolist())
    records = memory.records.copy()
    records[gone] = 0
    gaps: list[Gap] = []
    for slot in gone:
        last = gaps[-1] if gaps else None
        if last is not None and last.first_slot + last.slots == slot:
            gaps[-1] = last._replace(slots=last.slots + 1)
        else:
            gaps.append(Gap(slot, 1, "not read"))
    return replace(memory, records=records, gaps=gaps)
