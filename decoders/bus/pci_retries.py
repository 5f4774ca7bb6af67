"""Kernels of retries: which transaction repeats one that the target told to try again.

Source: PCI Local Bus Specification 3.0, 3.3.3.2.2.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from freezeframe.decoders.bus.pci_names import PCI_NAMES
from freezeframe.decoders.bus.pci_row_kernels import error, outside
from freezeframe.decoders.bus.pci_rows import PENDING_RETRIES

_RETRY = PCI_NAMES.terminations.index("retry")
_NOT_REPEATED = error("retry-not-repeated")


@njit(cache=True, nogil=True)
def follow_retries(m: Any) -> None:
    """Note in the transaction that has ended the retries that it had; remember it if it is one."""
    s = m.state
    t = m.current
    waiting = m.retries
    place = 0
    # A repeated transaction has the same address, command and byte enables.
    while place < s.retries and not (
        waiting[place].command == t.command
        and waiting[place].address == t.address
        and waiting[place].enables == s.enables
    ):
        place += 1
    known = place < s.retries
    if known:
        t.retries = waiting[place].count
        t.first_try = waiting[place].number
    if t.termination == _RETRY:
        if not known:
            if s.retries == PENDING_RETRIES:
                not_repeated(m, 0)
                _forget(s, waiting, 0)
                place -= 1
            s.retries += 1
            waiting[place].command = t.command
            waiting[place].address = t.address
            waiting[place].enables = s.enables
            waiting[place].count = 0
            waiting[place].number = t.number
            waiting[place].sample = t.sample
        waiting[place].count += 1
        waiting[place].end_sample = t.end_sample
    elif known:
        _forget(s, waiting, place)


@njit(cache=True, nogil=True)
def _forget(s: Any, waiting: Any, place: int) -> None:
    s.retries -= 1
    for k in range(place, s.retries):
        waiting[k] = waiting[k + 1]


@njit(cache=True, nogil=True)
def not_repeated(m: Any, place: int) -> None:
    """Give the error about a transaction that was not repeated."""
    waiting = m.retries[place]
    outside(m, (waiting.sample, waiting.end_sample), _NOT_REPEATED)
    row = m.rows[m.state.rows - 1]
    row.number = row.first_try = waiting.number
    row.command = waiting.command
    row.address = waiting.address
    row.retries = waiting.count
