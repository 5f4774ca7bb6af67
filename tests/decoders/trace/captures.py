"""Small captures for tests, made from records without a device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from freezeframe.capture.folder import (
    CaptureFolder,
    CaptureWriter,
    DeviceCapture,
    Gap,
    MemoryImage,
    RegisterImage,
    pack_register,
)
from freezeframe.capture.registers.identity import IDENTITY_REGISTERS, Identity
from freezeframe.capture.registers.map_table import MAP_HASH
from tests.decoders.trace.recorder_model import Stored, memory_of

BUS_HZ = 100_000_000  # 10,000 ps a cycle
LINK_HZ = 78_125_000  # 12,800 ps a cycle


def identity(index: int, **changes: int) -> Identity:
    """Return the identity of one of two devices; A is the time master."""
    zero = Identity.from_registers(lambda name: 0).to_json()
    assert len(IDENTITY_REGISTERS) > 10
    values = {
        **zero,
        "magic": 0x46525A46,
        "format_major": 1,
        "map_hash": MAP_HASH,
        "devices_count": 2,
        "devices_index": index,
        "devices_stride_log2": 24,
        "devices_time_master": 1 - index,
        "trace_mode": 1,
        "trace_taps": 4,
        "clk_bus": BUS_HZ,
        "clk_link": LINK_HZ,
        "sync_period": 4096,
    }
    return Identity.from_json({**values, **changes})


def image(name: str, stored: Sequence[Stored], depth: int = 64) -> MemoryImage:
    """Return a memory of ``depth`` slots after ``stored`` has been written to it."""
    data, write_ptr, wrapped = memory_of(list(stored), depth)
    records = np.frombuffer(data, np.uint8).reshape(-1, 9)
    return MemoryImage(name, records, write_ptr, wrapped)


def raw_image(name: str, records: Sequence[bytes], gaps: Sequence[Gap] = ()) -> MemoryImage:
    """Return a memory that holds exactly these records from slot 0 on, not wrapped."""
    data = np.frombuffer(b"".join(records), np.uint8).reshape(-1, 9).copy()
    for gap in gaps:
        data[gap.first_slot : gap.first_slot + gap.slots] = 0
    return MemoryImage(name, data, len(data), False, list(gaps))


def device(
    index: int,
    *memories: MemoryImage,
    pairs: Mapping[str, tuple[int, int, int, int]] | None = None,
    registers: Mapping[str | tuple[str | int, ...], int] | None = None,
    **changes: int,
) -> DeviceCapture:
    """Return a device. ``pairs``: domain to first number, first cycle, last number, last cycle."""
    values: dict[str | tuple[str | int, ...], int] = dict(registers or {})
    for domain, (number, cycle, last_number, last_cycle) in (pairs or {}).items():
        d = ("bus", "link").index(domain)
        values[("pair.status", d)] = pack_register("pair.status", first_valid=1, last_valid=1)
        for which, n, c in (("first", number, cycle), ("last", last_number, last_cycle)):
            values[(f"pair.{which}_number", d)] = n
            values[(f"pair.{which}_lo", d)] = c & 0xFFFFFFFF
            values[(f"pair.{which}_hi", d)] = c >> 32
    return DeviceCapture(
        index=index,
        base=index << 24,
        identity=identity(index, **changes),
        registers=RegisterImage.from_values(values),
        memories={memory.name: memory for memory in memories},
    )


def capture(*devices: DeviceCapture, path: Path | None = None) -> CaptureFolder:
    """Return a capture of these devices; on disk when ``path`` is given, else in memory only."""
    if path is None:
        return CaptureFolder(Path("memory.ff"), {"digest": "0" * 64}, list(devices))
    writer = CaptureWriter(path, source="test:")
    for one in devices:
        writer.add_device(one)
    return CaptureFolder.open(writer.commit())
