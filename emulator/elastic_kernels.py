"""A receiver's synchronization FIFO between two clocks, correction group by correction group.

Between two groups the level moves evenly, so its extremes and the column in which it leaves the FIFO are exact: whole
numbers of 10^-9 columns throughout, nothing is rounded that could add up.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from freezeframe.decoders.kernel_numbers import ZERO

COLUMN = 1_000_000_000
"""A column, in the unit of levels."""

GROUP_COLUMNS = 3
"""A correction group is align, skip, skip (docs/formats.md section 3.1, rule 2)."""

FIRST, SLIPS, CORRECTED, GROUPS, COLUMNS, HIGHEST, LOWEST = range(7)
"""Places in what `run_fifo` gives: the column of the first slip (-1: none), slips, idles put in or taken out, groups,
and columns of the run; the extremes of the level, from where it began.
"""

_COLUMN, _GROUP, _ONE, _NONE, _SHORTEST, _SPAN = np.array(
    [COLUMN, GROUP_COLUMNS, 1, -1, 4, 1 << 30], np.int64
)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFTS = np.array([30, 27, 31], np.uint64)


@njit(nogil=True, cache=True)
def run_fifo(
    drift: int, every: int, longest: int, gap: int, below: int, above: int, most: int, seed: int
) -> npt.NDArray[np.int64]:
    """Run one FIFO.

    Args:
        drift: units of level that each column adds (the sender is faster) or takes.
        every: columns after which the next gap has a correction group; 0: there are none.
        longest: columns of a packet, at most; they are drawn evenly from 4 on. gap: columns between two.
        below, above: units that the level may fall and rise before the FIFO is read empty, or written full.
        most: columns to run.
    Returns:
        ``(7,)``: see `FIRST`.
    """
    told = np.zeros(7, np.int64)
    told[FIRST] = _NONE
    level, column, state = ZERO, ZERO, np.uint64(seed)
    while column < most:
        span = ZERO if every > 0 else min(_SPAN, most - column)
        while every > 0:
            state += _MIX
            drawn = (state ^ (state >> _SHIFTS[0])) * _MIX_1
            drawn = (drawn ^ (drawn >> _SHIFTS[1])) * _MIX_2
            drawn ^= drawn >> _SHIFTS[2]
            span += _SHORTEST + np.int64(drawn % np.uint64(longest - _SHORTEST + _ONE))
            if span >= every:
                break
            span += gap
            if column + span >= most:
                break
        if every > 0:
            span = min(span + _GROUP, most - column)
        left = span
        while True:
            end = level + drift * left
            if end > above:
                room, step = above - level, -_COLUMN
            elif end < -below:
                room, step = level + below, _COLUMN
            else:
                break
            size = drift if drift > 0 else -drift
            # The column that goes over: the first at whose end there is no room any more.
            passed = room // size + _ONE
            if told[FIRST] < 0:
                told[FIRST] = column + (span - left) + passed
            told[SLIPS] += 1
            level += drift * passed + step
            left -= passed
        level += drift * left
        told[HIGHEST], told[LOWEST] = max(told[HIGHEST], level), min(told[LOWEST], level)
        column += span
        if every > 0 and column < most:
            told[GROUPS] += 1
            if level >= _COLUMN:
                level -= _COLUMN
                told[CORRECTED] += 1
            elif level <= -_COLUMN:
                level += _COLUMN
                told[CORRECTED] += 1
    told[COLUMNS] = column
    return told
