"""Clock domains: cycle numbers to picoseconds and back, exactly, and how a signal crosses from one to another.

Each domain counts its own cycles from its own reset, with its own period and phase. Periods are whole femtoseconds, so
that a crystal's deviation of a few parts per billion is kept although the simulation's time is whole picoseconds.

Source: docs/formats.md section 6.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

CROSSING_CYCLES = 3
"""A signal is seen this many edges after the last edge before it changed: 2 to 3 cycles later (two flip-flops)."""

_FS_PER_S = 10**15
_PPB = 10**9


class Clock:
    """One clock domain. Cycle 0 is the first edge after its reset; all numbers are integers."""

    __slots__ = ("hz", "name", "period_fs", "phase_fs", "ppb")

    def __init__(self, name: str, hz: int, ppb: int = 0, phase_fs: int = 0) -> None:
        """Make a clock.

        Args:
            name: for messages, like "A.bus".
            hz: nominal frequency.
            ppb: how much faster than nominal it runs, parts per billion (may be negative).
            phase_fs: time of edge 0, femtoseconds.
        """
        self.name = name
        self.hz = hz
        self.ppb = ppb
        self.period_fs = _FS_PER_S * _PPB // (hz * (_PPB + ppb))
        self.phase_fs = phase_fs

    def edge_ps(self, cycle: int) -> int:
        """Return the time of the edge with which ``cycle`` begins, rounded down to picoseconds."""
        return (self.phase_fs + cycle * self.period_fs) // 1000

    def cycle_at(self, t_ps: int) -> int:
        """Return the cycle that runs at ``t_ps``: the last whose edge is not after it (negative before edge 0)."""
        return (t_ps * 1000 + 999 - self.phase_fs) // self.period_fs

    def edges_ps(self, first: int, cycles: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return ``(n,)`` int64, as `edge_ps` of ``first + cycles``, which span 2 h at most."""
        whole, part = divmod(self.phase_fs + first * self.period_fs, 1000)
        return whole + (part + cycles * self.period_fs) // 1000

    def cycles_at(self, times_ps: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return ``(n,)`` int64, as `cycle_at`, of times that span 2 h at most."""
        first_ps = int(times_ps[0])
        whole, part = divmod(first_ps * 1000 + 999 - self.phase_fs, self.period_fs)
        return whole + (part + (times_ps - first_ps) * 1000) // self.period_fs

    def crossed(self, t_ps: int) -> int:
        """Return the cycle in which a change made at ``t_ps`` in another domain is seen here."""
        return self.cycle_at(t_ps) + CROSSING_CYCLES


class Clocks(NamedTuple):
    """The clocks of a card, in the order of the register map's clock domains."""

    bus: Clock
    link: Clock
