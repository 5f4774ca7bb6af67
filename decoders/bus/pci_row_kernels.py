"""Kernels of PCI that write rows: transactions from begin to end, what is wrong in them, and retries.

Source: PCI Local Bus Specification 3.0, chapter 3; the clause stands beside each rule.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from freezeframe.decoders.bus import pci_signals as at
from freezeframe.decoders.bus.pci_lines import ad, asserted, cbe
from freezeframe.decoders.bus.pci_rows import PENDING_RETRIES, TERMINATIONS, error

__all__ = ["abandon", "begin", "close", "finish", "next_phase", "outside", "tell"]

_SYNC, _SECOND_ADDRESS = 0, 2  # of `mode`
_RETRY = TERMINATIONS.index("retry")
_CUT = error("cut-transaction")
_NOT_REPEATED = error("retry-not-repeated")


@numba.njit(cache=True, nogil=True)
def close(end: int, state: Any, rows: Any) -> int:
    """End the transaction that is open, and tell which were not repeated; return the rows filled.

    ``rows`` has room for one row more than `PENDING_RETRIES`.
    """
    s = state[0][0]
    count = 0
    if s.mode >= _SECOND_ADDRESS:
        count = abandon(state[1], end, _CUT, rows, count)
        s.mode = _SYNC
    for k in range(s.pending):
        count = _not_repeated(state[2][k], rows, count)
    s.pending = 0
    return count


@numba.njit(cache=True, nogil=True)
def begin(s: Any, t: Any, sample: int, now: Any) -> None:
    t.error = 0
    t.number = s.transactions
    s.transactions += 1
    t.sample = sample
    t.end_sample = sample
    t.command = np.int64(cbe(now))
    t.address = np.int64(ad(now))
    t.first_data = s.data_phases
    t.data_sample = -1
    t.first_try = t.number
    t.idsel = np.int64(now >> np.uint64(at.IDSEL) & np.uint64(1))
    t.dual = t.wide = t.data_phases = t.size_B = t.initiator_waits = t.target_waits = 0
    t.devsel = t.termination = t.parity_errors = t.perr = t.serr = t.locked = 0
    t.preempted = t.retries = 0
    t.expected = t.seen = -1
    s.req64 = asserted(now, at.REQ64)
    s.clock = s.phase_clock = s.initiator_waits = s.target_waits = 0
    s.phase_done = s.frame_gone = s.stop = s.stopped = s.selected = 0
    s.told_initiator = s.told_target = s.told_idle = 0
    s.enables = -1


@numba.njit(cache=True, nogil=True)
def next_phase(s: Any, t: Any, sample: int) -> None:
    s.phase_clock = s.clock
    s.phase_at = sample
    t.initiator_waits += s.initiator_waits
    t.target_waits += s.target_waits
    s.initiator_waits = s.target_waits = 0
    s.told_initiator = s.told_target = 0


@numba.njit(cache=True, nogil=True)
def finish(s: Any, current: Any, end: int, pending: Any, rows: Any, count: int) -> int:
    """Give the transaction, with the retries that it had."""
    t = current[0]
    t.end_sample = end
    t.initiator_waits += s.initiator_waits
    t.target_waits += s.target_waits
    place = 0
    # 3.3.3.2.2: a repeated transaction has the same address, command and byte enables.
    while place < s.pending and not (
        pending[place].command == t.command
        and pending[place].address == t.address
        and pending[place].enables == s.enables
    ):
        place += 1
    found = place < s.pending
    if found:
        t.retries = pending[place].count
        t.first_try = pending[place].number
    if t.termination == _RETRY:
        if not found:
            if s.pending == PENDING_RETRIES:
                count = _not_repeated(pending[0], rows, count)
                _forget(s, pending, 0)
                place -= 1
            s.pending += 1
            pending[place].command = t.command
            pending[place].address = t.address
            pending[place].enables = s.enables
            pending[place].count = 0
            pending[place].number = t.number
            pending[place].sample = t.sample
        pending[place].count += 1
        pending[place].end_sample = end
    elif found:
        _forget(s, pending, place)
    rows[count] = t
    return count + 1


@numba.njit(cache=True, nogil=True)
def _forget(s: Any, pending: Any, place: int) -> None:
    s.pending -= 1
    for k in range(place, s.pending):
        pending[k] = pending[k + 1]


@numba.njit(cache=True, nogil=True)
def tell(current: Any, sample: int, end: int, what: int, rows: Any, count: int) -> int:
    """Give an error of the open transaction, with what is known of it."""
    rows[count] = current[0]
    rows[count].error = what
    rows[count].sample = sample
    rows[count].end_sample = end
    rows[count].data_phases = 0  # the data stands in the row of the transaction
    return count + 1


@numba.njit(cache=True, nogil=True)
def tell_parity(
    current: Any, span: tuple[int, int], what: int, said: tuple[int, int], rows: Any, count: int
) -> int:
    """Give an error about parity over samples ``span``, with what was ``said`` (`parities`)."""
    count = tell(current, span[0], span[1], what, rows, count)
    rows[count - 1].expected, rows[count - 1].seen = said
    return count


@numba.njit(cache=True, nogil=True)
def abandon(current: Any, end: int, what: int, rows: Any, count: int) -> int:
    """Give a transaction that did not end as an error, with the data so far."""
    rows[count] = current[0]
    rows[count].error = what
    rows[count].end_sample = end
    return count + 1


@numba.njit(cache=True, nogil=True)
def outside(sample: int, end: int, what: int, rows: Any, count: int) -> int:
    """Give an error outside transactions."""
    r = rows[count]
    r.error = what
    r.sample = sample
    r.end_sample = end
    r.number = r.command = r.address = r.data_sample = r.first_try = -1
    r.expected = r.seen = -1
    r.dual = r.wide = r.first_data = r.data_phases = r.size_B = 0
    r.initiator_waits = r.target_waits = r.devsel = r.termination = 0
    r.parity_errors = r.perr = r.serr = r.locked = r.idsel = r.preempted = r.retries = 0
    return count + 1


@numba.njit(cache=True, nogil=True)
def _not_repeated(pending: Any, rows: Any, count: int) -> int:
    count = outside(pending.sample, pending.end_sample, _NOT_REPEATED, rows, count)
    r = rows[count - 1]
    r.number = r.first_try = pending.number
    r.command = pending.command
    r.address = pending.address
    r.retries = pending.count
    return count
