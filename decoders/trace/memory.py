"""One trace memory as columns: its records in the order they were stored, dated in cycles.

Source: docs/formats.md section 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from freezeframe.capture.folder import DeviceCapture, Gap, MemoryImage
from freezeframe.capture.registers.layouts import MEMORY_NAMES, Memory
from freezeframe.capture.timebase import DOMAIN_OF_MEMORY
from freezeframe.decoders.trace import kernels
from freezeframe.decoders.trace.kernels import Bytes, Dated, Unpacked

__all__ = ["Reading", "Skipped", "read_memory"]

Int64 = npt.NDArray[np.int64]

_SELECT = 0  # id.trace.mode: one memory serves one selected tap


@dataclass(frozen=True, slots=True)
class Skipped:
    """``count`` records from ``first_slot`` on that were not read, just before row ``record``."""

    record: int  # the number of rows where nothing newer was read
    first_slot: int
    count: int
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The records of one memory, oldest first; those of gaps are left out.

    Attributes:
        device: "A".
        source: "A.tx_enq".
        tap: what was recorded; in SELECT mode the selected tap.
        records: ``(n, 9)`` uint8.
        slot: ``(n,)`` int64, where each record stood.
        missing: ``(n,)`` int64, records that were not read just before each one.
        skipped: the gaps, oldest first.
    """

    device: str
    source: str
    tap: Memory
    records: Bytes
    slot: Int64
    missing: Int64
    columns: Unpacked
    dated: Dated
    skipped: tuple[Skipped, ...]

    def __len__(self) -> int:
        return len(self.slot)

    @property
    def is_log(self) -> bool:
        return self.tap == Memory.EVENT_LOG

    @property
    def domain(self) -> str:
        return DOMAIN_OF_MEMORY[MEMORY_NAMES[self.tap]]


def read_memory(device: DeviceCapture, image: MemoryImage) -> Reading:
    """Put the records of a memory in order, unpack and date them. Nothing on the wire raises."""
    tap = _tap(device, image.name)
    slots = image.slots_in_order()
    read = image.read_mask()[slots]
    order = np.flatnonzero(read)
    missing = np.diff(order, prepend=-1) - 1
    records = image.records[slots[order]]
    columns = kernels.unpack_records(records)
    return Reading(
        device=device.name,
        source=f"{device.name}.{MEMORY_NAMES[tap]}",
        tap=tap,
        records=records,
        slot=slots[order],
        missing=missing,
        columns=columns,
        dated=kernels.date_records(columns, missing, 0 if tap == Memory.EVENT_LOG else 1),
        skipped=_skipped(image.gaps, slots, read),
    )


def _tap(device: DeviceCapture, memory: str) -> Memory:
    tap = Memory(MEMORY_NAMES.index(memory))
    if device.identity.trace_mode == _SELECT and tap != Memory.EVENT_LOG:
        selected = device.registers.field("ctl.options", "select_tap")
        if selected is not None and selected < Memory.EVENT_LOG:
            return Memory(selected)
    return tap


def _skipped(gaps: list[Gap], slots: Int64, read: npt.NDArray[np.bool_]) -> tuple[Skipped, ...]:
    edges = np.flatnonzero(np.diff(np.concatenate([[True], read, [True]]).astype(np.int8)))
    rows_before = np.cumsum(read)
    gaps_met = []
    for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        slot = int(slots[start])
        reason = next(g.reason for g in gaps if g.first_slot <= slot < g.first_slot + g.slots)
        gaps_met.append(Skipped(int(rows_before[start]), slot, end - start, reason))
    return tuple(gaps_met)
