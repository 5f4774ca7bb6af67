"""Find the bit rate of an 8b/10b line from the lengths of its runs.

All runs are 1 to 5 bits (IEEE 802.3-2018 36.2.4.1, table 36-1), and single bits are common. The
period is where all lengths are nearest to whole bits, found from the shortest frequent run.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

WANTED_RUNS = 4096
LEAST_RUNS = 32
_LONGEST_RUN = 5
_MOST_OFF = (
    0.2  # bits, the mean distance of a run from whole bits; lengths without a period have 0.25
)
_MOST_LONG = 0.02  # share of runs that may be longer, for damage
_SHORTEST = 0.05  # quantile that is taken for a single bit, so that glitches do not count


def find_period(lengths: npt.NDArray[np.int64]) -> float | None:
    """Return the bit period in samples, or None where these are not the runs of an 8b/10b line.

    Args:
        lengths: ``(n,)`` int64, samples, of whole runs; at least `LEAST_RUNS` are needed.
    """
    if len(lengths) < LEAST_RUNS:
        return None
    period = float(np.quantile(lengths, _SHORTEST))
    for _ in range(16):
        bits = np.rint(lengths / period)
        kept = (bits >= 1) & (bits <= _LONGEST_RUN)
        if not kept.any():
            return None
        better = float(lengths[kept].sum() / bits[kept].sum())
        if abs(better - period) < 1e-9 * period:
            break
        period = better
    bits = lengths / period
    good = (bits >= 0.5) & (bits < _LONGEST_RUN + 0.5)
    off = np.abs(bits[good] - np.rint(bits[good]))
    if good.mean() < 1 - _MOST_LONG - _SHORTEST or off.mean() >= _MOST_OFF:
        return None
    return period
