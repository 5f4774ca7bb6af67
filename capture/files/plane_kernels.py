"""64 samples at once: which of them have a bit set, which changed, and what one line says at those.

A plane is a uint64 whose bit i belongs to sample i of 64; the comparison is one of the vector unit (`vector`), and
the loops that count bits become the processor's one instruction for it. The caller keeps
``[at, at + 64)`` inside the array.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from freezeframe.capture.files import vector

LANES = vector.LANES

_Data = npt.NDArray[np.unsignedinteger[Any]]
_ONE = np.uint64(1)
_SWAPS = tuple(
    (np.uint64(1 << step), np.uint64(mask))
    for step, mask in enumerate(
        (
            0x5555555555555555,
            0x3333333333333333,
            0x0F0F0F0F0F0F0F0F,
            0x00FF00FF00FF00FF,
            0x0000FFFF0000FFFF,
            0x00000000FFFFFFFF,
        )
    )
)


@njit(cache=True, nogil=True)
def differs(data: _Data, at: int, mask: np.uint64, value: np.uint64) -> np.uint64:
    """Return the plane of samples ``at .. at + 63`` that are not ``value`` under ``mask``; ``data`` in one run."""
    plane: np.uint64 = vector.differs(data, np.int64(at), np.uint64(mask), np.uint64(value))
    return plane


@njit(cache=True, nogil=True)
def moves(data: _Data, at: int, mask: np.uint64) -> np.uint64:
    """Return the plane of samples that differ under ``mask`` from the one before; ``at`` >= 1; ``data`` in one run."""
    plane: np.uint64 = vector.moves(data, np.int64(at), np.uint64(mask))
    return plane


@njit(cache=True, nogil=True)
def has_bit(raw: npt.NDArray[np.uint8], at_B: int, unit_B: int, bit: np.uint64) -> np.uint64:
    """Return the plane of units of 3, 5, 6 or 7 bytes, the first at ``raw[at_B]``, that have a bit in the byte there
    under ``bit``; up to ``unit_B`` - 1 bytes after the last of them are looked at too."""
    # The step of a vector is a number in the source.
    if unit_B == 3:
        plane: np.uint64 = vector.every(raw, np.int64(at_B), 3, np.uint64(bit))
    elif unit_B == 5:
        plane = vector.every(raw, np.int64(at_B), 5, np.uint64(bit))
    elif unit_B == 6:
        plane = vector.every(raw, np.int64(at_B), 6, np.uint64(bit))
    else:
        plane = vector.every(raw, np.int64(at_B), 7, np.uint64(bit))
    return plane


@njit(cache=True, nogil=True)
def fetch(raw: npt.NDArray[np.uint8], at_B: int) -> None:
    """Ask the processor for the cache line with byte ``at_B``, which may be beyond the end; nothing waits for it."""
    vector.fetch(raw, np.int64(at_B))


@njit(cache=True, nogil=True)
def unit_at(units: _Data, i: int) -> np.uint64:
    """Return sample ``i`` of ``Samples.units`` as uint64, whatever their form."""
    if units.ndim == 2:
        unit = np.uint64(0)
        for byte in range(units.shape[1]):
            unit |= np.uint64(units[i, byte]) << np.uint64(8 * byte)
        return unit
    return np.uint64(units[i])


@njit(cache=True, nogil=True)
def count_ones(plane: np.uint64) -> int:
    """Return the number of ones."""
    count = 0
    while plane:
        plane &= plane - _ONE
        count += 1
    return count


@njit(cache=True, nogil=True)
def lowest(plane: np.uint64) -> int:
    """Return the place of the lowest one; 64 when there is none."""
    place = LANES
    while plane:
        plane <<= _ONE
        place -= 1
    return place


@njit(cache=True, nogil=True)
def reverse(plane: np.uint64) -> np.uint64:
    """Return the bits in the opposite order."""
    for step, mask in _SWAPS:
        plane = plane >> step & mask | (plane & mask) << step
    return plane
