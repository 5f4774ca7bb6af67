"""Where samples change, for pieces in which they hardly do: numpy alone, no kernel is loaded for it.

The kernels of `_edge_kernels` are as fast, but to load the first kernel of a program takes as long as to
look at a billion samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["few_changes"]

_AT_ONCE_B = 1 << 18  # stays in the cache of a core


def few_changes(
    samples: npt.NDArray[np.unsignedinteger[Any]], limit: int
) -> npt.NDArray[np.int64] | None:
    """Return where samples differ from the one before.

    Args:
        samples: ``(n,)``, of any machine word.
        limit: that many are too many.
    Returns:
        ``(m,)`` int64, rising, the first sample always among them; None where there are ``limit`` or
        more, or no sample.
    """
    if not len(samples):
        return None
    found = [np.zeros(1, dtype=np.int64)]
    count = 1
    step = _AT_ONCE_B // samples.itemsize
    for begin in range(1, len(samples), step):
        now = samples[begin : begin + step]
        moved = now != samples[begin - 1 : begin - 1 + len(now)]
        if moved.any():
            found.append(np.flatnonzero(moved) + begin)
            count += len(found[-1])
        if count >= limit:
            return None
    return np.concatenate(found) if count < limit else None
