"""A device's sampler memory in order of time: batches without a gap, and when each interval was.

The device dates its newest sample; the others lie a sample period apart, oldest first by pointer and wrap.

Source: docs/formats.md sections 1.2 and 7; registers ``sampler.*``, ``ctl.sample_period``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.throughput.samples import SampleBatch
from freezeframe.capture.folder import DeviceCapture
from freezeframe.capture.timebase import TimeBase
from freezeframe.decoders.trace.coverage import MOST_CYCLES

Int64 = npt.NDArray[np.int64]


CLOCK_PPM = 1000
"""How far the two clocks of a card may be off each other before a count counts as impossible."""


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """The samples of one device, oldest first.

    Attributes:
        samples: ``(n, 2)`` uint32, words out and in; zeros where ``read`` is False.
        t_ps, t_unc_ps: ``(n,)`` int64, when each was taken.
        period_cycles: bus cycles between two of them.
        limit_words: words that the link can carry in one interval.
    """

    device: str
    samples: npt.NDArray[np.uint32]
    read: npt.NDArray[np.bool_]
    t_ps: Int64
    t_unc_ps: Int64
    period_cycles: int
    limit_words: float

    def __len__(self) -> int:
        return len(self.samples)

    def batches(self) -> list[SampleBatch]:
        """Return the stretches between samples that were not read."""
        edges = np.flatnonzero(np.diff(self.read.astype(np.int8), prepend=0, append=0))
        return [
            SampleBatch(self.samples[a:b], a)
            for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
        ]

    def words(self) -> Int64:
        """Return ``(n - 1, 2)`` int64: words of each interval, -1 beside a sample that was not read."""
        counts = self.samples.astype(np.int64)
        differences: Int64 = (counts[1:] - counts[:-1]) & 0xFFFFFFFF
        differences[~(self.read[1:] & self.read[:-1])] = -1
        return differences


def sampled(device: DeviceCapture, timebase: TimeBase) -> Sampled | str:
    """Return a device's samples, or a sentence that says why there are none."""
    name, registers, samples = device.name, device.registers, device.samples
    if samples is None or not device.identity.sampler_depth:
        return f"{name} has no throughput sampler; its traces and counters still tell."
    pointer = registers.value("sampler.write_ptr")
    newest = registers.value64("sampler.last_cycle_")
    period = registers.value("ctl.sample_period")
    if pointer is None or newest is None or period is None:
        return f"{name}: registers of the sampler were not read, so its samples have no times."
    if pointer > len(samples):
        return (
            f"{name}: the sampler's pointer says slot {pointer}, and it has {len(samples)}: "
            "its samples have no order."
        )
    if not period:
        return f"{name}: the sampler was off (ctl.sample_period 0); set a period and record again."
    order = np.arange(pointer, dtype=np.int64)
    if registers.field("sampler.status", "wrapped"):
        order = np.concatenate([np.arange(pointer, len(samples), dtype=np.int64), order])
    cause = registers.value64("ctl.cause_cycle_")
    after = (
        0
        if not cause or cause >= newest or newest >= MOST_CYCLES
        else -(-(newest - cause) // period)
    )
    if (
        0 < after <= len(order) - 2
    ):  # the cards were stopping: what happened then is no rate of theirs
        order, newest = order[:-after], newest - after * period
    if len(order) < 2:
        return (
            f"{name}: {len(order)} throughput samples were taken, and a rate needs two: the recording was "
            f"shorter than two periods of {period} bus cycles."
        )
    if newest >= MOST_CYCLES or period * (len(order) - 1) > newest:
        return (
            f"{name}: {len(order)} samples of {period} cycles do not fit before cycle {newest} of the newest: "
            "the period was changed while it recorded, or the registers were not read right; its samples have no times."
        )
    cycles = newest - period * np.arange(len(order) - 1, -1, -1, dtype=np.int64)
    read = np.ones(len(samples), np.bool_)
    for gap in device.sample_gaps:
        read[gap.first_slot : gap.first_slot + gap.slots] = False
    t_ps, t_unc_ps = timebase.times_ps(name, "bus", cycles)
    identity = device.identity
    return Sampled(
        name,
        samples[order],
        read[order],
        t_ps,
        t_unc_ps,
        period,
        period * identity.clk_link / identity.clk_bus,
    )
