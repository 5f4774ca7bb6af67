"""Kernels of PCI and PCI-X that write rows: what is wrong, in a transaction and outside."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from freezeframe.decoders.bus.pci_names import ERRORS


def error(name: str) -> Any:
    """Return the number of an error, for a constant of a kernel.

    Of numpy's type: for every int that stands in a call, numba compiles what is called anew.
    """
    return np.int64(ERRORS.index(name))


@njit(cache=True, nogil=True)
def give(m: Any) -> None:
    """Give the transaction that has ended."""
    m.rows[m.state.rows] = m.current
    m.state.rows += 1


@njit(cache=True, nogil=True)
def tell(m: Any, span: tuple[int, int], what: int) -> None:
    """Give an error of the open transaction over these samples, with what is known of it."""
    give(m)
    row = m.rows[m.state.rows - 1]
    row.error = what
    row.sample, row.end_sample = span
    row.data_phases = 0  # the data stands in the row of the transaction


@njit(cache=True, nogil=True)
def tell_parity(m: Any, span: tuple[int, int], what: int, expected: Any, seen: Any) -> None:
    """Give an error about parity, with what PAR should have been and what it was."""
    tell(m, span, what)
    row = m.rows[m.state.rows - 1]
    row.expected = expected
    row.seen = seen


@njit(cache=True, nogil=True)
def abandon(m: Any, end: int, what: int) -> None:
    """Give a transaction that did not end as an error, with the data so far."""
    give(m)
    row = m.rows[m.state.rows - 1]
    row.error = what
    row.end_sample = end


@njit(cache=True, nogil=True)
def outside(m: Any, span: tuple[int, int], what: int) -> None:
    """Give an error outside transactions."""
    s = m.state
    m.rows[s.rows] = m.blank
    row = m.rows[s.rows]
    row.error = what
    row.sample, row.end_sample = span
    s.rows += 1
