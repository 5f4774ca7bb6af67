"""Kernels of PCI-X that write rows: transactions with their attributes, from begin to end.

Source: PCI-X Addendum to the PCI Local Bus Specification 1.0b, chapter 2.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from freezeframe.capture.files.plane_kernels import count_ones
from freezeframe.decoders.bus import pci_signals as at
from freezeframe.decoders.bus.pci_lines import ad, asserted, cbe
from freezeframe.decoders.bus.pci_row_kernels import abandon, tell
from freezeframe.decoders.bus.pcix_rows import TERMINATIONS, error
from freezeframe.decoders.bus.pcix_splits import answer, request, unanswered

__all__ = ["attributes", "begin", "close", "finish", "outside", "set_needed", "set_size"]

_SYNC, _SECOND_ADDRESS = 0, 2  # of `mode`
_SPECIAL, _SPLIT_COMPLETION = 1, 12
_BURSTS = 0xD380  # bit c: command c is a burst
_BOUNDARY_B = 128  # allowable disconnect boundary

_COMPLETION = TERMINATIONS.index("completion")
_INITIATOR = TERMINATIONS.index("initiator-disconnect")
_AT_ADB = TERMINATIONS.index("disconnect-at-adb")
_SINGLE = TERMINATIONS.index("single-data-disconnect")
_RETRY = TERMINATIONS.index("retry")
_SPLIT = TERMINATIONS.index("split")
_TARGET_ABORT = TERMINATIONS.index("target-abort")
_MASTER_ABORT = TERMINATIONS.index("master-abort")

_CUT = error("cut-transaction")
_BROKEN = error("broken-transaction")
_NOT_AT_BOUNDARY = error("not-at-boundary")


@numba.njit(cache=True, nogil=True)
def close(end: int, state: Any, rows: Any) -> int:
    """End the transaction and the splits that are open; return the transactions filled."""
    s = state[0][0]
    count = 0
    if s.mode >= _SECOND_ADDRESS:
        count = abandon(state[1], end, _CUT, rows, count)
        s.mode = _SYNC
    while s.splits > 0:
        unanswered(s, state[2], state[3])
    return count


@numba.njit(cache=True, nogil=True)
def begin(s: Any, t: Any, sample: int, now: Any) -> None:
    t.error = 0
    t.number = s.transactions
    s.transactions += 1
    t.sample = t.end_sample = sample
    t.command = np.int64(cbe(now))
    t.address = np.int64(ad(now))
    t.first_data = s.data_phases
    t.requester = t.tag = t.completer = t.byte_count = t.split_of = -1
    t.message_class = t.message_index = t.data_sample = -1
    t.dual = t.wide = t.relaxed = t.no_snoop = t.modified = t.completion_error = t.message = 0
    t.data_phases = t.size_B = t.target_waits = t.devsel = t.termination = 0
    t.parity_errors = t.perr = t.serr = 0
    t.expected = t.seen = -1
    s.req64 = asserted(now, at.REQ64)
    s.clock = s.selected = s.answered = s.over = s.signal = s.frame_gone = s.told_late = 0
    s.needed = 1
    s.low_data = np.uint64(0)


@numba.njit(cache=True, nogil=True)
def attributes(s: Any, t: Any, word: Any, enables: Any) -> None:
    """Read the attribute phase: requester attributes, or completer attributes of a completion."""
    fields = np.int64(word)
    if t.command == _SPLIT_COMPLETION:
        t.relaxed = t.address >> 29 & 1
        t.tag = t.address >> 24 & 0x1F
        t.requester = t.address >> 8 & 0xFFFF
        t.address &= 0x7F
        t.completer = fields >> 8 & 0xFFFF
        t.modified = fields >> 31 & 1
        t.completion_error = fields >> 30 & 1
        t.message = fields >> 29 & 1
    else:
        t.no_snoop = fields >> 30 & 1
        t.relaxed = fields >> 29 & 1
        t.tag = fields >> 24 & 0x1F
        t.requester = fields >> 8 & 0xFFFF
    if _BURSTS >> t.command & 1:
        t.byte_count = np.int64(enables) << 8 | fields & 0xFF
        if t.byte_count == 0:
            t.byte_count = 4096
    else:
        # A DWORD transaction has its byte enables here.
        t.byte_count = count_ones(~enables & np.uint64(0xF))


@numba.njit(cache=True, nogil=True)
def set_size(t: Any) -> None:
    """Set how much went over in the data phases so far."""
    if _BURSTS >> t.command & 1:
        width_B = 8 if t.wide else 4
        t.size_B = min(t.byte_count, t.data_phases * width_B - t.address % width_B)
    else:
        t.size_B = t.byte_count


@numba.njit(cache=True, nogil=True)
def set_needed(s: Any, t: Any) -> None:
    """Set how many data phases the byte count makes."""
    if _BURSTS >> t.command & 1:
        width_B = 8 if t.wide else 4
        s.needed = (t.address % width_B + t.byte_count + width_B - 1) // width_B
    else:
        s.needed = 1


@numba.njit(cache=True, nogil=True)
def finish(s: Any, current: Any, end: int, state: Any, rows: Any, count: int) -> int:
    """The bus is idle: give the transaction, and open or go on with a split."""
    t = current[0]
    t.end_sample = end
    burst = _BURSTS >> t.command & 1
    if not s.selected:
        t.termination = _COMPLETION if t.command == _SPECIAL else _MASTER_ABORT
    elif s.signal in (_TARGET_ABORT, _RETRY, _SPLIT):
        t.termination = s.signal
    elif t.data_phases >= s.needed:
        t.termination = _COMPLETION
    elif t.data_phases == 0:
        return abandon(current, end, _BROKEN, rows, count)
    elif s.signal == _SINGLE:
        t.termination = _SINGLE
    else:
        t.termination = _AT_ADB if s.signal == _AT_ADB else _INITIATOR
        if burst and (t.address + t.size_B) % _BOUNDARY_B != 0:
            count = tell(current, t.sample, end, _NOT_AT_BOUNDARY, rows, count)
    what = 0
    if t.termination == _SPLIT:
        what = request(s, t, state[2], state[3])
    elif t.command == _SPLIT_COMPLETION and t.data_phases > 0:
        what = answer(s, t, state[2], state[3])
    if what:
        count = tell(current, t.sample, end, what, rows, count)
    rows[count] = t
    return count + 1


@numba.njit(cache=True, nogil=True)
def outside(sample: int, end: int, what: int, rows: Any, count: int) -> int:
    """Give an error outside transactions."""
    r = rows[count]
    r.error = what
    r.sample = sample
    r.end_sample = end
    r.number = r.command = r.address = r.requester = r.tag = r.completer = r.byte_count = -1
    r.message_class = r.message_index = r.data_sample = r.split_of = -1
    r.dual = r.wide = r.relaxed = r.no_snoop = r.modified = r.completion_error = r.message = 0
    r.first_data = r.data_phases = r.size_B = r.target_waits = r.devsel = r.termination = 0
    r.parity_errors = r.perr = r.serr = 0
    r.expected = r.seen = -1
    return count + 1
