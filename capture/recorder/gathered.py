"""What a pull has gathered of one device so far, and the capture that is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from freezeframe.capture.errors import TargetError
from freezeframe.capture.folder import DeviceCapture, Gap, MemoryImage, RegisterImage
from freezeframe.capture.recorder.chunks import MemoryReader
from freezeframe.capture.recorder.plan import MemoryPlan, sample_addresses
from freezeframe.capture.registers.access import Device, RegisterAt
from freezeframe.capture.targets.base import Words

__all__ = ["Gathered"]


@dataclass(slots=True)
class Gathered:
    """One device of a pull.

    Attributes:
        plans: the memories it has.
        registers: as two readings agreed on.
        not_read: labels of registers that never did.
        samples: words of the sampler's slots from 0 on, zero where they never agreed; empty until
            they were read.
    """

    device: Device
    plans: Sequence[MemoryPlan]
    registers: RegisterImage = field(default_factory=lambda: RegisterImage({}))
    not_read: list[str] = field(default_factory=list)
    samples: Words = field(default_factory=lambda: np.zeros(0, np.uint32))
    sample_gaps: list[Gap] = field(default_factory=list)

    def take_registers(
        self, entries: Sequence[RegisterAt], words: Words, good: npt.NDArray[np.bool_]
    ) -> None:
        """Keep the registers that two readings agreed on, and the names of the others.

        Raises:
            TargetError: one without which the memories mean nothing is missing or contradicts them.
        """
        read = list(zip(entries, words.tolist(), good.tolist(), strict=True))
        self.registers = RegisterImage({entry.offset: word for entry, word, ok in read if ok})
        self.not_read = [entry.label for entry, _, ok in read if not ok]
        for plan in self.plans:
            self.end_of(plan)
        self.sample_addresses()

    def end_of(self, plan: MemoryPlan) -> tuple[int, bool]:
        """Return the write pointer of a memory, and whether it wrapped.

        Raises:
            TargetError: they were not read, or lie outside the memory.
        """
        write_ptr = self._must("memory.write_ptr", plan.memory)
        self._must("memory.status", plan.memory)
        if write_ptr > plan.slots:
            raise TargetError(
                f"{self.device.target.url}: device {self.device.name}: {plan.name} has "
                f"{plan.slots} slots and its write pointer is at {write_ptr}; the device "
                "contradicts itself"
            )
        return write_ptr, bool(self.registers.field("memory.status", "wrapped", plan.memory))

    def sample_addresses(self) -> Words:
        """Return the addresses of the sampler words written since arm; none without a sampler."""
        if not self.device.identity.sampler_depth:
            return np.zeros(0, np.uint32)
        write_ptr = self._must("sampler.write_ptr")
        self._must("sampler.status")
        wrapped = bool(self.registers.field("sampler.status", "wrapped"))
        return sample_addresses(self.device, write_ptr, wrapped)

    def take_samples(self, words: Words, good: npt.NDArray[np.bool_]) -> None:
        """Keep the samples of which both words agreed; the others are gaps."""
        whole = good.reshape(-1, 2).all(axis=1)
        self.samples = np.where(np.repeat(whole, 2), words, 0).astype(np.uint32)
        self.sample_gaps = [
            Gap(int(slot), 1, "never read the same twice") for slot in np.flatnonzero(~whole)
        ]

    def lose_samples(self, reason: str) -> None:
        """State that the samples were not read, unless they were."""
        slots = len(self.sample_addresses()) // 2
        if slots and not self.samples.size:
            self.sample_gaps = [Gap(0, slots, reason)]

    def capture(self, memories: MemoryReader) -> DeviceCapture:
        """Return the capture of this device, with what the reader has verified of its memories."""
        device = self.device
        images = {}
        for plan in self.plans:
            images[plan.name] = MemoryImage(
                plan.name,
                memories.records[plan.device, plan.memory],
                *self.end_of(plan),
                memories.gaps(plan.device, plan.memory),
            )
        return DeviceCapture(
            index=device.index,
            base=device.base,
            identity=device.identity,
            registers=self.registers,
            memories=images,
            samples=self._sample_table(),
            sample_gaps=self.sample_gaps,
            not_read=self.not_read,
        )

    def _sample_table(self) -> Words | None:
        depth = self.device.identity.sampler_depth
        if not depth:
            return None
        # Slots not written since arm are zeros here, whatever the device's memory holds there.
        table = np.zeros(2 * depth, np.uint32)
        table[: len(self.samples)] = self.samples
        return table.reshape(-1, 2)

    def _must(self, name: str, *indices: int) -> int:
        value = self.registers.value(name, *indices)
        if value is None:
            label = name + "".join(f"[{index}]" for index in indices)
            raise TargetError(
                f"{self.device.target.url}: device {self.device.name}: {label} never read the same "
                "twice, and the memories mean nothing without it; nothing is kept"
            )
        return value
