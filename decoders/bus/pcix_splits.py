"""Kernel of Split Transactions: which Split Completion answers which request.

Source: PCI-X Addendum 1.0b, chapter 2 (Split Transactions, Split Completion Message).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from freezeframe.decoders.bus.pci_row_kernels import error
from freezeframe.decoders.bus.pci_rows import PENDING_SPLITS

BURSTS, _READS = 0xD380, 0x4545  # bit c: command c is a burst, reads
_DWORD_B = 4

_TAG_REUSED = error("tag-reused")
_UNEXPECTED = error("unexpected-completion")
_COUNT = error("completion-count")
_ADDRESS = error("completion-address")
_ERROR = error("completion-error")
_UNANSWERED = error("split-unanswered")


@njit(cache=True, nogil=True)
def _find(m: Any) -> int:
    """Return the open request with requester and tag of the transaction, -1 for none."""
    t = m.current
    pending = m.splits
    for place in range(m.state.splits):
        if pending[place].requester == t.requester and pending[place].tag == t.tag:
            return place
    return -1


@njit(cache=True, nogil=True)
def request(m: Any) -> int:
    """Remember a request that got a Split Response; return the error in it, 0 for none."""
    s = m.state
    t = m.current
    place = _find(m)
    what = 0
    if place >= 0:
        what = _TAG_REUSED
        _give(m, place, _UNANSWERED)
    if s.splits == PENDING_SPLITS:
        unanswered(m)
    r = m.splits[s.splits]
    s.splits += 1
    r.error = r.received_B = r.completions = 0
    r.request = t.number
    r.completion = r.completer = r.message_class = r.message_index = r.answer_sample = -1
    r.requester = t.requester
    r.tag = t.tag
    r.command = t.command
    r.address = t.address
    r.byte_count = 0
    if _READS >> t.command & 1:
        # A DWORD comes whole, whatever bytes were enabled.
        r.byte_count = t.byte_count if BURSTS >> t.command & 1 else _DWORD_B
    r.sample = t.sample
    r.split_sample = r.end_sample = t.end_sample
    return what


@njit(cache=True, nogil=True)
def answer(m: Any) -> Any:
    """Match a Split Completion that brought data or a message; return the error, 0 for none."""
    t = m.current
    if t.message:
        word = np.int64(m.state.low_data)
        t.message_class = word >> 28
        t.message_index = word >> 20 & 0xFF
    place = _find(m)
    if place < 0:
        return _UNEXPECTED
    r = m.splits[place]
    t.split_of = r.request
    r.completion = t.number
    r.completer = t.completer
    r.completions += 1
    r.end_sample = t.end_sample
    if r.answer_sample < 0:
        r.answer_sample = t.sample
    what = 0
    if t.message:
        r.message_class = t.message_class
        r.message_index = t.message_index
        if t.message_class != 0 or r.byte_count > 0:
            what = _ERROR
        _give(m, place, what)
        return what
    left_B = r.byte_count - r.received_B
    # A modified byte count ends at the first boundary; it may only be less.
    if t.byte_count > left_B or (not t.modified and t.byte_count != left_B):
        what = _COUNT
    elif BURSTS >> r.command & 1 and (r.address + r.received_B - t.address) & 0x7F:
        what = _ADDRESS
    r.received_B += t.size_B
    if r.received_B >= r.byte_count:
        _give(m, place, 0)
    return what


@njit(cache=True, nogil=True)
def unanswered(m: Any) -> None:
    """Give the oldest request that is open."""
    _give(m, 0, _UNANSWERED)


@njit(cache=True, nogil=True)
def _give(m: Any, place: int, what: int) -> None:
    """Move a split to those that ended."""
    s = m.state
    pending = m.splits
    m.ended[s.ended] = pending[place]
    m.ended[s.ended].error = what
    s.ended += 1
    s.splits -= 1
    for k in range(place, s.splits):
        pending[k] = pending[k + 1]
