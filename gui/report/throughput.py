"""The throughput sampler of a capture as series: words a second out and in, as the device counted them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from freezeframe.capture.folder import DeviceCapture
from freezeframe.gui.plots.series import Series

if TYPE_CHECKING:
    from freezeframe.capture.timebase import TimeBase

__all__ = ["throughput_series"]

_WORD_B = 8
_PER_MB = 1_000_000


def throughput_series(device: DeviceCapture, timebase: TimeBase) -> list[Series]:
    """Return megabytes a second out and in; none where the device has no sampler or took under two samples.

    A sample holds cumulative words; the device dates the newest, the others lie a period apart.
    """
    registers = device.registers
    samples = device.samples
    pointer = registers.value("sampler.write_ptr")
    newest = registers.value64("sampler.last_cycle")
    period = registers.value("ctl.sample_period")
    if samples is None or pointer is None or newest is None or not period:
        return []
    order = np.arange(pointer)
    if registers.field("sampler.status", "wrapped"):
        order = np.concatenate([np.arange(pointer, len(samples)), order])
    unread = [s for gap in device.sample_gaps for s in range(gap.first_slot, gap.first_slot + gap.count)]
    taken = samples[order].astype(np.int64)
    if len(order) < 2 or (device.name, "bus") not in timebase.clocks:
        return []
    cycles = newest - period * np.arange(len(order) - 1, -1, -1, dtype=np.int64)
    times, _ = timebase.times_ps(device.name, "bus", cycles)
    words = np.diff(taken, axis=0) & 0xFFFFFFFF  # the counts wrap at 32 bits
    rates = words * _WORD_B * device.identity.clk_bus // (period * _PER_MB)
    known = ~np.isin(order, unread)
    usable = known[1:] & known[:-1]
    return [
        Series(
            f"{device.name} {label}",
            css,
            (
                (int(times[0]), 0),
                *(
                    (int(t), int(rate))
                    for t, rate, ok in zip(times[1:], rates[:, column], usable, strict=True)
                    if ok
                ),
            ),
        )
        for column, (label, css) in enumerate((("out", "out"), ("in", "in")))
    ]
