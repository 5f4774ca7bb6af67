"""A small capture of two devices, the same every time, for tests of the folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from freezeframe.capture.folder import (
    CaptureWriter,
    DeviceCapture,
    Gap,
    MemoryImage,
    RegisterImage,
)
from freezeframe.capture.registers.identity import Identity
from freezeframe.capture.registers.map_table import MAP_HASH

IDENTITY = Identity(
    magic=0x46525A46,
    format_major=1,
    format_minor=0,
    map_hash=MAP_HASH,
    build_hash=0xB111D001,
    boot_nonce=0x0B0F00D5,
    devices_count=2,
    devices_index=0,
    devices_stride_log2=24,
    devices_time_master=1,
    trace_mode=1,
    trace_taps=4,
    trace_data_w=64,
    trace_kind_w=4,
    trace_dt_w=4,
    tap_depth=600,
    event_depth=300,
    chunk=256,
    max_burst=255,
    clk_bus=100_000_000,
    clk_link=78_125_000,
    sampler_depth=4,
    counters_count=32,
    counters_width=48,
    flows_count=8,
    flows_credit_w=14,
    tx_fifo=1024,
    rx_fifo=2048,
    credit_unit=64,
    cross_latency=40,
    sync_period=4096,
    event_fifo=16,
    post_drain=1024,
)


def a_device(index: int = 0, gaps: list[Gap] | None = None) -> DeviceCapture:
    """Return a device whose tx_enq memory is 600 records of the bytes 0, 1, 2, ..."""
    records = (np.arange(600 * 9) % 251).astype(np.uint8).reshape(600, 9)
    for gap in gaps or []:
        records[gap.first_slot : gap.first_slot + gap.slots] = 0
    registers = RegisterImage.from_values(
        {
            "ctl.generation": 7,
            "ctl.state": 3 | 1 << 4 | 0x1F << 8,
            "ctl.causes": 1 << 3 | 1 << 4,
            "ctl.cause_cycle_lo": 0x10,
            "ctl.cause_cycle_hi": 0x2,
            ("memory.lost", 4): 5,
            ("pair.status", 1): 0b01,
            ("pair.first_number", 1): 3,
            ("pair.first_lo", 1): 9600,
            ("pair.first_hi", 1): 0,
        }
    )
    return DeviceCapture(
        index=index,
        base=index << 24,
        identity=IDENTITY,
        registers=registers,
        memories={
            "tx_enq": MemoryImage("tx_enq", records, 17, True, gaps or []),
            "event_log": MemoryImage("event_log", np.zeros((300, 9), np.uint8), 2, False),
        },
        samples=np.array([[1, 2], [3, 4], [5, 6], [0xFFFFFFFF, 8]], np.uint32),
    )


def write(path: Path, *devices: DeviceCapture, overwrite: bool = False) -> Path:
    """Write a capture of these devices, or of device A alone."""
    writer = CaptureWriter(path, source="etherbone://192.0.2.1:1234", overwrite=overwrite)
    for device in devices or (a_device(),):
        writer.add_device(device)
    return writer.commit()
