"""Kernel of Split Transactions: which Split Completion answers which request.

Source: PCI-X Addendum 1.0b, chapter 2 (Split Transactions, Split Completion Message).
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from freezeframe.decoders.bus.pcix_rows import PENDING_SPLITS, error

__all__ = ["answer", "request", "unanswered"]

_BURSTS, _READS = 0xD380, 0x4545  # bit c: command c is a burst, reads
_DWORD_B = 4

_TAG_REUSED = error("tag-reused")
_UNEXPECTED = error("unexpected-completion")
_COUNT = error("completion-count")
_ADDRESS = error("completion-address")
_ERROR = error("completion-error")
_UNANSWERED = error("split-unanswered")


@numba.njit(cache=True, nogil=True)
def _find(s: Any, t: Any, pending: Any) -> int:
    for place in range(s.splits):
        if pending[place].requester == t.requester and pending[place].tag == t.tag:
            return place
    return -1


@numba.njit(cache=True, nogil=True)
def request(s: Any, t: Any, pending: Any, ended: Any) -> int:
    """Remember a request that got a Split Response; return the error in it, 0 for none."""
    place = _find(s, t, pending)
    what = 0
    if place >= 0:
        what = _TAG_REUSED
        _give(s, pending, ended, place, _UNANSWERED)
    if s.splits == PENDING_SPLITS:
        unanswered(s, pending, ended)
    r = pending[s.splits]
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
        r.byte_count = t.byte_count if _BURSTS >> t.command & 1 else _DWORD_B
    r.sample = t.sample
    r.split_sample = r.end_sample = t.end_sample
    return what


@numba.njit(cache=True, nogil=True)
def answer(s: Any, t: Any, pending: Any, ended: Any) -> int:
    """Match a Split Completion that brought data or a message; return the error, 0 for none."""
    if t.message:
        word = np.int64(s.low_data)
        t.message_class = word >> 28
        t.message_index = word >> 20 & 0xFF
    place = _find(s, t, pending)
    if place < 0:
        return _UNEXPECTED
    r = pending[place]
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
        _give(s, pending, ended, place, what)
        return what
    left_B = r.byte_count - r.received_B
    # A modified byte count ends at the first boundary; it may only be less.
    if t.byte_count > left_B or (not t.modified and t.byte_count != left_B):
        what = _COUNT
    elif _BURSTS >> r.command & 1 and (r.address + r.received_B - t.address) & 0x7F:
        what = _ADDRESS
    r.received_B += t.size_B
    if r.received_B >= r.byte_count:
        _give(s, pending, ended, place, 0)
    return what


@numba.njit(cache=True, nogil=True)
def unanswered(s: Any, pending: Any, ended: Any) -> None:
    """Give the oldest request that is open."""
    _give(s, pending, ended, 0, _UNANSWERED)


@numba.njit(cache=True, nogil=True)
def _give(s: Any, pending: Any, ended: Any, place: int, what: int) -> None:
    """Move a split to those that ended."""
    ended[s.ended] = pending[place]
    ended[s.ended].error = what
    s.ended += 1
    s.splits -= 1
    for k in range(place, s.splits):
        pending[k] = pending[k + 1]
