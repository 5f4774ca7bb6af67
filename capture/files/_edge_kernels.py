"""Kernels of the reduction from samples to edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from freezeframe.capture.files.plane_kernels import LANES, count_ones, lowest, moves

_ONE = np.uint64(1)


@njit(cache=True, nogil=True)
def count_changes(
    samples: npt.NDArray[np.unsignedinteger[Any]], mask: np.uint64, previous: np.uint64
) -> int:
    """Return how many edges `changes` would write."""
    count = 0
    before = previous & mask
    i = 0
    while i < len(samples):
        if i and i + LANES <= len(samples):
            count += count_ones(moves(samples, i, mask))
            i += LANES
            before = np.uint64(samples[i - 1]) & mask
        else:
            now = np.uint64(samples[i]) & mask
            count += now != before
            before = now
            i += 1
    return count


@njit(cache=True, nogil=True)
def changes(
    samples: npt.NDArray[np.unsignedinteger[Any]],
    mask: np.uint64,
    previous: np.uint64,
    begin_sample: int,
    edges: tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]],
) -> int:
    """Write index and masked value of every sample that differs from the one before; count them.

    Args:
        mask: the bits that matter.
        previous: the sample before the first.
        begin_sample: index of the first sample in the capture.
        edges: room for indices and values; where it is full, the changes after it are left out.
    """
    sample, value = edges
    count = 0
    before = previous & mask
    i = 0
    while i < len(samples) and count < len(sample):
        if i and i + LANES <= len(samples):
            changed = moves(samples, i, mask)
            while changed and count < len(sample):
                at = i + lowest(changed)
                sample[count] = begin_sample + at
                value[count] = np.uint64(samples[at]) & mask
                count += 1
                changed &= changed - _ONE
            i += LANES
            before = np.uint64(samples[i - 1]) & mask
        else:
            now = np.uint64(samples[i]) & mask
            if now != before:
                sample[count] = begin_sample + i
                value[count] = now
                count += 1
            before = now
            i += 1
    return count


@njit(cache=True, nogil=True)
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
