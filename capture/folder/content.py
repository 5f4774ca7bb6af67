"""What a capture holds of each device: registers, trace memories, throughput samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from freezeframe.capture.folder.records import RECORD_B, Records
from freezeframe.capture.folder.register_image import RegisterImage
from freezeframe.capture.registers.identity import Identity
from freezeframe.capture.registers.names import device_name

__all__ = [
    "CHUNK_RECORDS",
    "DeviceCapture",
    "Gap",
    "MemoryImage",
    "Samples",
    "looped_back",
    "peers_of",
]

CHUNK_RECORDS = 256
"""Records under one entry of the CRC table, unless the device's identity says otherwise."""

Samples = npt.NDArray[np.uint32]


class Gap(NamedTuple):
    """Slots ``[first_slot, first_slot + slots)`` that could not be read, and why."""

    first_slot: int
    slots: int
    reason: str


@dataclass(frozen=True, slots=True)
class HostTrace:
    """A trace of the computer a card is in: text of trace-cmd, of ftrace or of dmesg, unaltered.

    ``name`` is that of the file it came from; ``device`` the card whose accesses are seen in it.
    """

    name: str
    device: str
    text: bytes


@dataclass(frozen=True, slots=True, eq=False)
class MemoryImage:
    """One trace memory as it was read.

    Attributes:
        records: ``(n, 9)`` uint8 in slot order, the whole memory; slots of a gap are zero bytes.
        write_ptr: slot the next record would have taken.
        wrapped: every slot has been written since arm.
        gaps: what could not be read, ascending, not overlapping.
    """

    name: str
    records: Records
    write_ptr: int
    wrapped: bool
    gaps: list[Gap] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Check the shape.

        Raises:
            ValueError: records not ``(n, 9)``, or pointer or gaps outside the memory.
        """
        if self.records.ndim != 2 or self.records.shape[1] != RECORD_B:
            raise ValueError(f"{self.name}: records have shape {self.records.shape}, not (n, 9)")
        slots = len(self.records)
        # A memory that fills exactly before the freeze may leave its pointer at the end or at 0.
        if not 0 <= self.write_ptr <= slots:
            raise ValueError(f"{self.name}: write_ptr {self.write_ptr} is outside 0..{slots}")
        end = 0
        for gap in self.gaps:
            if gap.first_slot < end or gap.slots < 1 or gap.first_slot + gap.slots > slots:
                raise ValueError(
                    f"{self.name}: gap of {gap.slots} slots at {gap.first_slot} overlaps another "
                    f"or lies outside the {slots} slots"
                )
            end = gap.first_slot + gap.slots
            if self.records[gap.first_slot : end].any():
                raise ValueError(
                    f"{self.name}: slots {gap.first_slot}..{end - 1} are stated as not read, "
                    "and hold data"
                )

    def slots_in_order(self) -> npt.NDArray[np.int64]:
        """Return the valid slots, oldest first, by ``write_ptr`` and ``wrapped`` alone."""
        filled = np.arange(self.write_ptr, dtype=np.int64)
        if not self.wrapped:
            return filled
        return np.concatenate(
            [np.arange(self.write_ptr, len(self.records), dtype=np.int64), filled]
        )

    def read_mask(self) -> npt.NDArray[np.bool_]:
        """Return ``(n,)`` bool: True for every slot that was read."""
        mask = np.ones(len(self.records), np.bool_)
        for gap in self.gaps:
            mask[gap.first_slot : gap.first_slot + gap.slots] = False
        return mask

    def verified_chunks(self, chunk_records: int) -> tuple[int, int]:
        """Return the chunks without a gap, and all chunks, of ``chunk_records`` slots each."""
        starts = np.arange(0, len(self.records), chunk_records)
        if not starts.size:
            return 0, 0
        whole = np.logical_and.reduceat(self.read_mask(), starts)
        return int(whole.sum()), len(starts)


@dataclass(frozen=True, slots=True, eq=False)
class DeviceCapture:
    """One device of a capture.

    Attributes:
        index: place in the capture; in a capture of one target also that which the device states.
        name: "A", "B", ... by index.
        base: byte address of the device from the start of its target.
        memories: by name, in the order of the map; without those the device does not have.
        samples: ``(n, 2)`` uint32, words out and words in, slot order; None without a sampler.
            Where the newest stands is in the registers ``sampler.*``.
        sample_gaps: slots of the sampler that could not be read (zeros there).
    """

    index: int
    base: int
    identity: Identity
    registers: RegisterImage
    memories: dict[str, MemoryImage]
    samples: Samples | None = None
    sample_gaps: list[Gap] = field(default_factory=list)
    not_read: list[str] = field(default_factory=list)
    """Names of registers that should be in the image and could not be read."""
    target: int = 0
    """Number of the target it was pulled from; several in one capture have a time line each."""

    @property
    def name(self) -> str:
        """The name of the device: "A" for the first."""
        return device_name(self.index)


def looped_back(devices: Iterable[DeviceCapture]) -> bool:
    """Return whether every card heard its own link: one in loop-back leaves its peer nothing else to hear."""
    return any(device.registers.field("provoke.link", "loopback") for device in devices)


def peers_of(devices: Sequence[DeviceCapture]) -> dict[str, str]:
    """Return the other end of each device's link, by name; without those of which it is not known.

    A target of two devices is a pair, also where only one was captured; so are two targets of one device
    each: they are pulled into one capture because they are linked. A card in loop-back is its own peer.
    """
    if looped_back(devices):
        return {device.name: device.name for device in devices}
    alone = [device for device in devices if device.identity.devices_count == 1]
    if len(devices) == len(alone) == 2 and alone[0].target != alone[1].target:
        return {alone[0].name: alone[1].name, alone[1].name: alone[0].name}
    found = {}
    for device in devices:
        if device.identity.devices_count == 2:
            # In the capture the two stand side by side, in the order in which they count themselves.
            other = device.index + 1 - 2 * device.identity.devices_index
            found[device.name] = device_name(other)
    return found
