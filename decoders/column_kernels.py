"""Kernel of tables: rows that a kernel wrote, turned into columns."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

_ROWS = 8  # a cache line of each column


@njit(cache=True, nogil=True)
def turned(rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return ``(n, k)`` int64 as ``(k, n)``, contiguous: faster than numpy, a block at a time."""
    count, width = rows.shape
    columns = np.empty((width, count), dtype=np.int64)
    whole = count // _ROWS * _ROWS
    for begin in range(0, whole, _ROWS):
        for column in range(width):
            for row in range(begin, begin + _ROWS):
                columns[column, row] = rows[row, column]
    for row in range(whole, count):
        for column in range(width):
            columns[column, row] = rows[row, column]
    return columns
