"""Counters copied by themselves into one of two banks; the throughput sampler and its histogram.

Source: docs/formats.md section 1.2; register files ``snapshot``, ``sampler`` and the histograms of the map.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from freezeframe.emulator.beat import Beat
from freezeframe.emulator.clocks import Clocks
from freezeframe.emulator.config import Config
from freezeframe.emulator.parts import Fifo, Process, Tap
from freezeframe.emulator.ports import Time

COUNTER_W = 64
"""Bits of a counter."""

_OCCUPANCY_BINS = 16


class _Periodic(ABC):
    """What the device does again and again.

    Attributes:
        beat: when it does so next; None until the first time is waited for, and without a period.
    """

    def __init__(self, time: Time, clocks: Clocks, config: Config) -> None:
        self.beat: Beat | None = None
        self._time = time
        self._clocks = clocks
        self._config = config
        self._starts = 0

    def restart(self) -> None:
        """Begin with the period that is set now; 0 is none."""
        self._starts += 1
        self.beat = None  # what is waited for still is of a period that is over
        self._time.env.process(self._run(self._starts))

    @abstractmethod
    def _run(self, start: int) -> Process:
        """Do it until started again; ``start`` says how often that was."""


class Snapshots(_Periodic):
    """Two banks of counters: the device fills the one that is not current, then makes it current."""

    def __init__(
        self, time: Time, clocks: Clocks, config: Config, counters: Callable[[int], dict[str, int]]
    ) -> None:
        """``counters`` returns every counter as it stands at a time."""
        super().__init__(time, clocks, config)
        self.seq = 0
        self.banks: list[dict[str, int]] = [{}, {}]
        self._counters = counters

    def _run(self, start: int) -> Process:
        """Copy all counters every 2^snapshot_log2 bus cycles, until started again."""
        time, clock = self._time, self._clocks.bus
        while True:
            step = 1 << self._config.snapshot_log2
            cycle = (clock.cycle_at(time.now_ps) // step + 1) * step
            self.beat = beat = Beat(time.env, clock, step, cycle)
            yield from beat.come()
            if start != self._starts:
                return
            self.banks[(self.seq + 1) & 1] = self._counters(time.now_ps)
            self.seq += 1

    def skip(self, copies: int) -> None:
        """Have made so many copies that nobody can see any more, as two come after them at least."""
        if copies > 0 and self.beat is not None:
            self.beat.skip(copies)
            self.seq += copies


class Sampler(_Periodic):
    """Cumulative words out and in at equal distances of time, until the recorder freezes."""

    def __init__(
        self,
        time: Time,
        clocks: Clocks,
        config: Config,
        depth: int,
        sent: Tap,
        fifo: Fifo,
        recording: Callable[[], bool],
    ) -> None:
        """Sample the words that passed ``sent`` and those that entered ``fifo`` while ``recording`` says so."""
        super().__init__(time, clocks, config)
        self.stored = 0
        self.last_cycle = 0
        self.slots: npt.NDArray[np.uint32] = np.zeros((depth, 2), np.uint32)
        self.occupancy = [0] * _OCCUPANCY_BINS
        self._sent = sent
        self._fifo = fifo
        self._recording = recording

    def clear(self) -> None:
        """Start at slot 0, as an arm does."""
        self.stored = 0
        self.last_cycle = 0

    def _run(self, start: int) -> Process:
        """Take a sample every sample_period bus cycles from now on while the recorder is armed, until started again."""
        time, clock = self._time, self._clocks.bus
        while step := self._config.sample_period:
            self.beat = beat = Beat(time.env, clock, step, clock.cycle_at(time.now_ps) + step)
            yield from beat.come()
            if start != self._starts:
                return
            if self._recording():
                self._sample(beat.cycle, 1)

    @property
    def still(self) -> bool:
        """Whether every sample is the same until something is entered: no word is under way."""
        now = self._time.now_ps
        taps = (self._sent, self._fifo.entering, self._fifo.leaving)
        return all(tap.words.at(tap.clock.cycle_at(now)) == tap.words.entered for tap in taps)

    def skip(self, samples: int) -> None:
        """Have taken so many samples, all of what stands now."""
        if samples <= 0 or self.beat is None:
            return
        self.beat.skip(samples)
        if self._recording():
            self._sample(self.beat.cycle - self.beat.every, samples)

    def _sample(self, cycle: int, count: int) -> None:
        """Take ``count`` samples of the present, the last one that of ``cycle``."""
        now, fifo = self._time.now_ps, self._fifo
        link, depth = self._clocks.link.cycle_at(now), len(self.slots)
        sample = (
            self._sent.words.at(link) & 0xFFFFFFFF,
            fifo.entering.words.at(link) & 0xFFFFFFFF,
        )
        if count == 1:
            self.slots[self.stored % depth] = sample
        else:
            first = self.stored + max(0, count - depth)
            self.slots[np.arange(first, self.stored + count) % depth] = sample
        self.stored += count
        self.last_cycle = cycle
        level = max(0, fifo.level(now))
        self.occupancy[min(_OCCUPANCY_BINS - 1, level * _OCCUPANCY_BINS // fifo.depth)] += count
