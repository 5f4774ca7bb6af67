"""What a pull has gathered of one device, and how a capture is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from freezeframe.capture.errors import TargetError
from freezeframe.capture.folder import DeviceCapture, Gap, MemoryImage, RegisterImage
from freezeframe.capture.recorder.chunks import MemoryReader
from freezeframe.capture.recorder.plan import MemoryPlan, sample_addresses
from freezeframe.capture.registers.access import Device, RegisterAt
from freezeframe.capture.targets.base import Words

__all__ = ["DeviceRegisters", "MemoryEnd", "SamplesRead", "device_capture", "memory_ends"]


@dataclass(slots=True)
class DeviceRegisters:
    """The registers of one device as they were agreed on."""

    image: RegisterImage
    not_read: list[str]

    def must(self, device: Device, name: str, *indices: int) -> int:
        """Return a register without which the recording cannot be read.

        Raises:
            TargetError: it could not be read.
        """
        value = self.image.value(name, *indices)
        if value is None:
            raise TargetError(
                f"{device.target.url}: device {device.name}: {name}{list(indices) or ''} never "
                "read the same twice, and nothing can be made of the memories without it"
            )
        return value


@dataclass(slots=True)
class SamplesRead:
    """The sampler of one device, and which words of it were agreed on."""

    addresses: Words
    words: Words = field(default_factory=lambda: np.zeros(0, np.uint32))
    gaps: list[Gap] = field(default_factory=list)


def device_registers(read: Sequence[tuple[RegisterAt, int, bool]]) -> DeviceRegisters:
    return DeviceRegisters(
        RegisterImage({entry.offset: word for entry, word, good in read if good}),
        [entry.label for entry, _, good in read if not good],
    )


def images(
    device: Device, registers: DeviceRegisters, plans: Sequence[MemoryPlan]
) -> list[tuple[MemoryPlan, int, bool]]:
    """Return the memories of a device with where each was last written.

    Raises:
        TargetError: a pointer was not read, or lies outside its memory.
    """
    images = []
    for plan in plans:
        if plan.device != device.index:
            continue
        write_ptr = registers.must(device, "memory.write_ptr", plan.memory)
        registers.must(device, "memory.status", plan.memory)
        wrapped = registers.image.field("memory.status", "wrapped", plan.memory)
        if write_ptr > plan.slots:
            raise TargetError(
                f"{device.target.url}: device {device.name}: {plan.name} has {plan.slots} slots "
                f"and its write pointer is at {write_ptr}; the device contradicts itself"
            )
        images.append((plan, write_ptr, bool(wrapped)))
    return images


def samples_plan(device: Device, registers: DeviceRegisters) -> SamplesRead | None:
    if not device.identity.sampler_depth:
        return None
    write_ptr = registers.must(device, "sampler.write_ptr")
    registers.must(device, "sampler.status")
    wrapped = bool(registers.image.field("sampler.status", "wrapped"))
    return SamplesRead(sample_addresses(device, write_ptr, wrapped))


def whole_gap(samples: SamplesRead, reason: str) -> list[Gap]:
    slots = len(samples.addresses) // 2
    return [Gap(0, slots, reason)] if slots else []


def capture(
    device: Device,
    registers: DeviceRegisters,
    samples: SamplesRead | None,
    images: Sequence[tuple[MemoryPlan, int, bool]],
    memories: MemoryReader,
) -> DeviceCapture:
    table = None
    if samples is not None:
        # Slots not written since arm are zeros here whatever the device's memory holds there.
        table = np.zeros((device.identity.sampler_depth, 2), np.uint32)
        table.reshape(-1)[: len(samples.words)] = samples.words
    return DeviceCapture(
        index=device.index,
        base=device.base,
        identity=device.identity,
        registers=registers.image,
        memories={
            plan.name: MemoryImage(
                plan.name,
                memories.records[plan.device, plan.memory],
                write_ptr,
                wrapped,
                memories.gaps(plan.device, plan.memory),
            )
            for plan, write_ptr, wrapped in images
        },
        samples=table,
        sample_gaps=samples.gaps if samples is not None else [],
        not_read=registers.not_read,
    )
