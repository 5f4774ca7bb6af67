"""Cycles of readings as times on the axis of the capture, each with its uncertainty."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from freezeframe.capture.timebase import UNKNOWN_PS, TimeBase
from freezeframe.decoders.trace.memory import Reading

__all__ = ["Times", "at_earliest", "times_of"]

Int64 = npt.NDArray[np.int64]
Times = tuple[Int64, Int64]

_MOST_SLACK = 1 << 48  # cycles; a month at 100 MHz, and its picoseconds still fit


def at_earliest(timebase: TimeBase, readings: Sequence[Reading]) -> TimeBase:
    """Return the time base with the earliest record of all readings as its origin.

    A record whose time is not known at all counts only where a capture has no other.
    """
    placed: list[tuple[str, str, int]] = []
    vague: list[tuple[str, str, int]] = []
    for reading in readings:
        known = reading.dated.slack >= 0
        for wanted, into in ((known, placed), (~known, vague)):
            cycles = reading.dated.cycle[wanted]
            if len(cycles):
                into.append((reading.device, reading.domain, int(cycles.min())))
    return timebase.starting_at(placed or vague)


def times_of(
    timebase: TimeBase, reading: Reading, rows: Int64 | None = None, after_cycles: int = 0
) -> Times:
    """Return ``t_ps`` and ``t_unc_ps`` of records, or of so many cycles after them.

    Args:
        rows: records of the reading; all of them when not given.
    Returns:
        Two ``(n,)`` int64. The uncertainty covers the clock's and that of a record without a date;
        UNKNOWN_PS where either is not known. The records of a memory that has no TIME at all are
        laid out from the origin on, with UNKNOWN_PS.
    """
    cycle, slack = reading.dated.cycle, reading.dated.slack
    afloat = len(cycle) > 0 and not (slack >= 0).any()
    first = cycle[:1]
    if rows is not None:
        cycle, slack = cycle[rows], slack[rows]
    t_ps, unc_ps = timebase.times_ps(reading.device, reading.domain, cycle + after_cycles)
    if afloat:
        t_ps = t_ps - timebase.times_ps(reading.device, reading.domain, first)[0]
    if slack.any():
        period_ps = -(-timebase.clocks[reading.device, reading.domain].ps_per_cycle // 1)
        known = (unc_ps != UNKNOWN_PS) & (slack >= 0) & (slack < _MOST_SLACK)
        unc_ps = np.where(known, unc_ps + np.where(known, slack, 0) * int(period_ps), UNKNOWN_PS)
    return t_ps, unc_ps
