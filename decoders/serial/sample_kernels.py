"""What the kernels over samples share: a stretch of samples as edges, for the kernels over edges.

A kernel over samples does the usual case itself and leaves the rest, a stretch at a time, to the
kernel over edges, which knows all rules. Both go on from the same state.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from freezeframe.capture.files.plane_kernels import LANES, lowest, moves

__all__ = ["edges_between", "union", "value_at"]

_ONE = np.uint64(1)


@numba.njit(cache=True, nogil=True)
def union(masks: npt.NDArray[np.uint64]) -> np.uint64:
    """Return the bits of all channels, or of some: ``masks`` as `Samples.masks` gives them."""
    all_bits = np.uint64(0)
    for mask in masks:
        all_bits |= mask
    return all_bits


@numba.njit(cache=True, nogil=True)
def value_at(sample: np.uint64, masks: npt.NDArray[np.uint64]) -> np.uint64:
    """Return a sample as the value of an edge: bit i is channel i."""
    value = np.uint64(0)
    for channel in range(len(masks)):
        if sample & masks[channel]:
            value |= _ONE << np.uint64(channel)
    return value


@numba.njit(cache=True, nogil=True)
def edges_between(
    samples: npt.NDArray[np.unsignedinteger[Any]],
    masks: npt.NDArray[np.uint64],
    span: tuple[int, int],
    begin_sample: int,
    edges: tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]],
) -> int:
    """Write samples ``[span[0], span[1])`` as edges and count them; the first is always one.

    Args:
        begin_sample: index of ``samples[0]`` in the capture.
        edges: room for as many indices and values as there are samples.
    """
    sample, value = edges
    every = union(masks)
    first, stop = span
    if first == stop:
        return 0
    sample[0] = begin_sample + first
    value[0] = value_at(np.uint64(samples[first]), masks)
    count = 1
    i = first + 1
    while i < stop:
        if i + LANES <= stop:
            changed = moves(samples, i, every)
            step = LANES
        else:
            changed = np.uint64((np.uint64(samples[i] ^ samples[i - 1]) & every) != 0)
            step = 1
        while changed:
            at = i + lowest(changed)
            sample[count] = begin_sample + at
            value[count] = value_at(np.uint64(samples[at]), masks)
            count += 1
            changed &= changed - _ONE
        i += step
    return count
