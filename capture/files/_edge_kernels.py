"""Kernels of the reduction from samples to edges."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

__all__ = ["changes", "gather_bits"]

# Words of 64 bits that are compared at once before any is looked at alone. 8-bit samples with a
# change in every 10,000 / 100 / 3: 40 / 3.1 / 0.8 Gsample/s; sample by sample 0.8 (bench_edges.py).
_BLOCK = 32


@numba.njit(cache=True, nogil=True)
def changes(
    words: npt.NDArray[np.uint64],
    layout: tuple[int, np.uint64, np.uint64],
    begin_sample: int,
    sample: npt.NDArray[np.int64],
    value: npt.NDArray[np.uint64],
) -> int:
    """Write index and masked value of every sample that differs from the one before; count them.

    Args:
        words: samples, 8, 4, 2 or 1 in each, the first in the lowest bits.
        layout: bits of a sample, the mask of those that matter, and the sample before the first.
        begin_sample: index of the first sample in the capture.
        sample, value: room for one more edge than there are samples; the last place is scratch.
    """
    bits, mask, previous = layout
    lanes = 64 // bits
    ones = np.uint64(0)
    for lane in range(lanes):
        ones |= np.uint64(1) << np.uint64(lane * bits)
    mask_word = mask * ones
    half = np.uint64(bits // 2)
    top = np.uint64(64 - bits)
    count = 0
    for begin in range(0, len(words), _BLOCK):
        block = words[begin : begin + _BLOCK]
        still = previous * ones
        differs = np.uint64(0)
        for word in block:
            differs |= word ^ still
        if differs & mask_word:
            for k in range(len(block)):
                word = block[k]
                # Each sample against the one before it; in two shifts, for 64 at once shift nothing.
                differs = (word ^ (word << half << half | previous)) & mask_word
                # A branch for one or two samples costs more than the samples.
                if differs or lanes <= 2:
                    before = previous & mask
                    first = begin_sample + (begin + k) * lanes
                    for lane in range(lanes):
                        now = word >> np.uint64(lane * bits) & mask
                        # Written always and counted when it is a change: no branch to predict.
                        sample[count] = first + lane
                        value[count] = now
                        count += now != before
                        before = now
                previous = word >> top
        else:
            previous = block[len(block) - 1] >> top
    return count


@numba.njit(cache=True, nogil=True)
def gather_bits(
    value: npt.NDArray[np.uint64], bits: npt.NDArray[np.int64]
) -> npt.NDArray[np.uint64]:
    """Return values whose bit i is bit ``bits[i]`` of the given ones."""
    gathered = np.zeros_like(value)
    for bit in range(len(bits)):
        source = np.uint64(bits[bit])
        target = np.uint64(bit)
        for i in range(len(value)):
            gathered[i] |= (value[i] >> source & np.uint64(1)) << target
    return gathered
