"""Counters that run on, copied by themselves into one of two banks; the throughput sampler; both histograms.

Source: docs/formats.md section 1.2; register files ``snapshot``, ``sampler`` and the histograms of the map.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from freezeframe.capture.registers.layouts import Memory, State
from freezeframe.capture.registers.map_table import COUNTERS
from freezeframe.emulator.stages import Process

if TYPE_CHECKING:
    from freezeframe.emulator.nic import Nic

__all__ = ["COUNTER_W", "Sampler", "Snapshots", "counter_values"]

COUNTER_W = 64
"""Bits of a counter."""

_OCCUPANCY_BINS = 16


def counter_values(nic: Nic, t_ps: int) -> dict[str, int]:
    """Return every counter of the map as it stands at ``t_ps``."""
    bus, link = nic.bus.clock.cycle_at(t_ps), nic.link.cycle_at(t_ps)
    values = dict.fromkeys(COUNTERS, 0) | nic.counts
    for memory, cycle in (
        (Memory.TX_ENQ, bus),
        (Memory.TX_DEQ, link),
        (Memory.RX_ENQ, link),
        (Memory.RX_DEQ, bus),
    ):
        tap = nic.taps[memory]
        values[f"{memory.name.lower()}_words"] = tap.words.at(cycle)
        values[f"{memory.name.lower()}_packets"] = tap.packets.at(cycle)
    values["bus_cycles"] = nic.bus.owned.at(bus)
    values["bus_data_cycles"] = nic.bus.carried.at(bus)
    values["split_wait_cycles"] = nic.split_wait.at(bus)
    values["pressure_cycles"] = nic.pressure_before + nic.tx_link.pressure_at(t_ps)
    values["events_lost"] = nic.events_lost_before + nic.log.lost
    return values


class Snapshots:
    """Two banks of counters: the device fills the one that is not current, then makes it current."""

    def __init__(self, nic: Nic) -> None:
        self.nic = nic
        self.seq = 0
        self.banks: list[dict[str, int]] = [{}, {}]
        self._starts = 0

    def restart(self) -> None:
        """Begin with the period that is set now."""
        self._starts += 1
        self.nic.env.process(self._run(self._starts))

    def _run(self, start: int) -> Process:
        """Copy all counters every 2^snapshot_log2 bus cycles, until started anew."""
        nic, clock = self.nic, self.nic.bus.clock
        while True:
            step = 1 << nic.config.snapshot_log2
            cycle = (clock.cycle_at(nic.now_ps) // step + 1) * step
            yield nic.env.timeout(clock.edge_ps(cycle) - nic.now_ps)
            if start != self._starts:
                return
            self.banks[(self.seq + 1) & 1] = counter_values(nic, nic.now_ps)
            self.seq += 1


class Sampler:
    """Cumulative words out and in at equal distances of time, until the recorder freezes."""

    def __init__(self, nic: Nic) -> None:
        self.nic = nic
        self.stored = 0
        self.last_cycle = 0
        self.slots: npt.NDArray[np.uint32] = np.zeros(
            (nic.profile.trace_sampler_depth, 2), np.uint32
        )
        self.occupancy = [0] * _OCCUPANCY_BINS
        self._starts = 0

    def clear(self) -> None:
        """Start at slot 0, as an arm does."""
        self.stored = 0
        self.last_cycle = 0

    def restart(self) -> None:
        """Begin with the period that is set now; 0 takes no samples."""
        self._starts += 1
        self.nic.env.process(self._run(self._starts))

    def _run(self, start: int) -> Process:
        """Take a sample every sample_period bus cycles from now on while the recorder is armed, until started anew."""
        nic, clock = self.nic, self.nic.bus.clock
        while step := nic.config.sample_period:
            cycle = clock.cycle_at(nic.now_ps) + step
            yield nic.env.timeout(clock.edge_ps(cycle) - nic.now_ps)
            if start != self._starts:
                return
            if nic.freeze.state in (State.ARMED, State.TRIGGERED):
                self._sample(cycle)

    def _sample(self, cycle: int) -> None:
        nic, now = self.nic, self.nic.now_ps
        link = nic.link.cycle_at(now)
        slot = self.stored % len(self.slots)
        self.slots[slot] = (
            nic.taps[Memory.TX_DEQ].words.at(link) & 0xFFFFFFFF,
            nic.taps[Memory.RX_ENQ].words.at(link) & 0xFFFFFFFF,
        )
        self.stored += 1
        self.last_cycle = cycle
        level = max(0, nic.rx_fifo.level(now))
        self.occupancy[min(_OCCUPANCY_BINS - 1, level * _OCCUPANCY_BINS // nic.rx_fifo.depth)] += 1
