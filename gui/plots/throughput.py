"""The throughput sampler of a capture as series: out and in, as the device counted them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from freezeframe.capture.folder import DeviceCapture
from freezeframe.capture.timebase import TimeBase

Int64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_WORD_B = 8
_PER_MB = 1_000_000


@dataclass(frozen=True, slots=True)
class Series:
    """Values that each held until a time: ``(t_ps, value)``, times rising.

    The first point only says when the series begins; None where the value is not known.
    """

    label: str
    css: str
    points: tuple[tuple[int, int | None], ...]


def throughput_series(device: DeviceCapture, timebase: TimeBase) -> list[Series]:
    """Return megabytes (10^6) a second out and in; none where there are under two samples.

    A sample holds cumulative words; the device dates the newest, the others lie a period apart.
    """
    registers = device.registers
    samples = device.samples
    pointer = registers.value("sampler.write_ptr")
    newest = registers.value64("sampler.last_cycle_")
    period = registers.value("ctl.sample_period")
    if samples is None or pointer is None or newest is None or not period:
        return []
    order = np.arange(pointer, dtype=np.int64)
    if registers.field("sampler.status", "wrapped"):
        order = np.concatenate([np.arange(pointer, len(samples)), order])
    read = np.ones(len(samples), np.bool_)
    for gap in device.sample_gaps:
        read[gap.first_slot : gap.first_slot + gap.slots] = False
    taken = samples[order].astype(np.int64)
    if len(order) < 2 or (device.name, "bus") not in timebase.clocks:
        return []
    cycles = newest - period * np.arange(len(order) - 1, -1, -1, dtype=np.int64)
    times, _ = timebase.times_ps(device.name, "bus", cycles)
    words = np.diff(taken, axis=0) & 0xFFFFFFFF  # the counts wrap at 32 bits
    rates = words * _WORD_B * device.identity.clk_bus // (period * _PER_MB)
    usable = read[order][1:] & read[order][:-1]
    return [
        Series(f"{device.name} {way}", way, _points(times, rates[:, column], usable))
        for column, way in enumerate(("out", "in"))
    ]


def _points(times: Int64, rates: Int64, usable: Bools) -> tuple[tuple[int, int | None], ...]:
    values = [int(rate) if ok else None for rate, ok in zip(rates, usable, strict=True)]
    return tuple(zip(times.tolist(), [None, *values], strict=True))
