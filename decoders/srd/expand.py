"""Edges back into samples, in chunks of one size: what libsigrokdecode takes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit


@njit(cache=True, nogil=True)
def fill(
    out: npt.NDArray[np.unsignedinteger],
    begin_sample: int,
    sample: npt.NDArray[np.int64],
    value: npt.NDArray[np.uint64],
    held: np.uint64,
) -> tuple[int, np.uint64]:
    """Write the samples ``[begin_sample, begin_sample + len(out))``.

    Args:
        out: ``(n,)`` unsigned, filled whole.
        sample, value: ``(m,)``, the changes from ``begin_sample`` on; more than fit are left.
        held: the value before the first change.
    Returns:
        How many changes were used, and the value that is held after the last sample.
    """
    end_sample = begin_sample + len(out)
    at = 0
    used = 0
    while used < len(sample) and sample[used] < end_sample:
        until = sample[used] - begin_sample
        out[at:until] = held
        at = until
        held = value[used]
        used += 1
    out[at:] = held
    return used, held


def packed(value: npt.NDArray[np.uint64], bits: tuple[int, ...]) -> npt.NDArray[np.uint64]:
    """Return the values with bit i taken from ``bits[i]``; the same array when nothing moves."""
    if bits == tuple(range(len(bits))):
        return value
    moved = np.zeros_like(value)
    for to, bit in enumerate(bits):
        moved |= (value >> np.uint64(bit) & np.uint64(1)) << np.uint64(to)
    return moved
