"""Kernel of bonding: the columns of two lanes, joined by their times, to words and their places in packets.

Source: docs/formats.md section 3.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from freezeframe.decoders.link.column_kernels import (
    ALIGN,
    BAD_BYTES,
    BAD_CONTROL,
    CONTROL,
    CREDIT_NEXT,
    DISAGREE,
    END,
    IDLE_INSERTED,
    IDLE_REMOVED,
    PACKET_NEXT,
    ROLE,
    SKEW,
    SKIP,
)

WORD_KINDS = ("HEAD", "BODY", "TAIL", "CREDIT", "STRAY", "error")
# Of numpy's type: for every int that stands in a call, numba compiles what is called anew.
_HEAD, _BODY, _TAIL, _CREDIT, _STRAY, _ERROR = np.arange(6)
WORD_ERRORS = ("", "no-end", "no-start", "no-credit", "short-packet", "cut-packet")
_NO_END, _NO_START, _NO_CREDIT, _SHORT, _CUT = np.arange(1, 6)

MOST_SKEW_COLUMNS = 7
_SKIPS = 2  # after an align column, as sent
_NOWHERE, _IN_PACKET, _BEFORE_CREDIT = 0, 1, 2
_MISSING = BAD_BYTES  # a lane without a column gives four bad bytes

_STATE = np.dtype(
    [
        ("skew", np.int64),  # samples that lane 1 comes after lane 0
        ("told_skew", np.int64),
        (
            "align",
            np.int64,
            2,
        ),  # sample of the latest align column of each lane without a partner, -1
        ("where", np.int64),
        ("word", np.int64),  # words of the packet so far
        ("held", np.int64),  # whether its latest word waits for what comes after it
        ("held_sample", np.int64),
        ("held_data", np.uint64),
        ("held_bad", np.int64),
        ("first", np.int64),  # the next word given is the first of its packet
        ("stray", np.int64),
        ("skips", np.int64),  # skip columns since the align column, -1 where there was none
    ]
)


def new_bond_state() -> npt.NDArray[np.void]:
    """Return the state at the start of a stream: one record."""
    state = np.zeros(1, dtype=_STATE)
    state["align"] = state["skips"] = -1
    state["told_skew"] = -(1 << 62)  # the first one is told
    return state


@njit(cache=True, nogil=True)
def first_pair(lane0: Any, lane1: Any, begin: int, known_to: int) -> tuple[int, int]:
    """Find the first align column of lane 0, from number ``begin`` on, that has a partner in lane 1.

    Args:
        lane0, lane1: columns, as `column_kernels.columns` fills them.
        known_to: all columns of lane 1 that begin before this sample are there.
    Returns:
        The numbers of the two; the second is -1 where there is none, and then the first is the column
        of lane 0 to begin with when more is known.
    """
    at0, span0, _, what0 = lane0
    at1, _, _, what1 = lane1
    j = 0
    for i in range(begin, len(at0)):
        if not _is_align(what0[i]):
            continue
        reach = MOST_SKEW_COLUMNS * span0[i] * 4 // 3
        if at0[i] + reach >= known_to:
            return i, -1
        while j < len(at1) and at1[j] < at0[i] - reach:
            j += 1
        best = -1
        k = j
        while k < len(at1) and at1[k] <= at0[i] + reach:
            if _is_align(what1[k]) and (best < 0 or abs(at1[k] - at0[i]) < abs(at1[best] - at0[i])):
                best = k
            k += 1
        if best >= 0:
            return i, best
    return len(at0), -1


@njit(cache=True, nogil=True)
def join_lanes(
    lane0: Any, lane1: Any, known_to: Any, state: Any, words: Any, events: Any
) -> tuple[int, int, int, int]:
    """Join columns to words until one lane's are used up and the other lane may still have a partner.

    Args:
        lane0, lane1: columns, as `column_kernels.columns` fills them.
        known_to: for each lane, the sample before which all columns that begin are there.
        state: from `new_bond_state`, changed.
        words: columns for the sample (int64), data (uint64), bad bytes (uint8), kind (uint8, of WORD_KINDS),
            error (uint8, of WORD_ERRORS), whether the first of a packet (bool); room for four rows a column.
        events: ``(m,)`` of EVENT, room for three rows a column.
    Returns:
        Columns taken of lane 0 and 1, words filled, events filled.
    """
    at0, span0, half0, what0 = lane0
    at1, span1, half1, what1 = lane1
    s = state[0]
    i = j = count = event_count = 0
    while True:
        there0, there1 = i < len(at0), j < len(at1)
        if not there0 and not there1:
            break
        near = (span0[i] if there0 else span1[j]) * 2 // 3  # half a column
        time0 = at0[i] if there0 else known_to[0]
        time1 = (at1[j] if there1 else known_to[1]) - s.skew
        # What is not there yet cannot come before known_to.
        if there0 and there1:
            both = abs(time1 - time0) <= near
            only0 = not both and time0 < time1
        elif there0:
            both, only0 = False, True
            if time1 <= time0 + near:
                break
        else:
            both, only0 = False, False
            if time0 <= time1 + near:
                break
        if both:
            data = _spread(half0[i]) | _spread(half1[j]) << np.uint64(8)
            a, b = np.int64(what0[i]), np.int64(what1[j])
        elif only0:
            data = _spread(half0[i])
            a, b = np.int64(what0[i]), np.int64(_MISSING)
        else:
            data = _spread(half1[j]) << np.uint64(8)
            a, b = np.int64(_MISSING), np.int64(what1[j])
        at = time1 if not both and not only0 else time0
        if both and _is_align(a) and _is_align(b):
            s.skew = at1[j] - at0[i]
            event_count = _tell_skew(s, span0[i], at, events, event_count)
            s.align[0] = s.align[1] = -1
        elif _is_align(a) or _is_align(b):
            if both or only0:
                s.align[0] = at0[i] if _is_align(a) else s.align[0]
            if both or not only0:
                s.align[1] = at1[j] if _is_align(b) else s.align[1]
            apart = s.align[1] - s.align[0]
            span = span0[i] if both or only0 else span1[j]
            if min(s.align[0], s.align[1]) >= 0 and abs(apart) <= MOST_SKEW_COLUMNS * span * 4 // 3:
                s.skew = apart
                event_count = _tell_skew(s, span, at, events, event_count)
                s.align[0] = s.align[1] = -1
        i += both or only0
        j += both or not only0
        kind = _decided(a, b)
        if kind < 0:
            event_count = _note(events, event_count, at, DISAGREE, 0)
            kind = CONTROL
        event_count = _count_skips(s, kind, at, events, event_count)
        if kind & CONTROL:
            count = _take_control(s, kind, at, words, count)
        else:
            bad = _spread(_bad_bytes(a), 1) | _spread(_bad_bytes(b), 1) << np.uint64(1)
            count = _take_word(s, at, data, np.int64(bad), words, count)
    return i, j, count, event_count


@njit(cache=True, nogil=True)
def last_word(end_sample: int, state: Any, words: Any) -> int:
    """Give what the end of the capture leaves open (at most 2 rows) and return how many."""
    s = state[0]
    if s.where == _NOWHERE:
        return 0
    count = _give_held(s, False, words, 0)
    return _put(words, count, end_sample, np.uint64(0), 0, _ERROR, _CUT, False)


@njit(cache=True, nogil=True)
def _decided(a: Any, b: Any) -> Any:
    """Return what the two lanes say together, -1 where both are whole and differ.

    A lane that is damaged here follows the other one.
    """
    if a & CONTROL and b & CONTROL:
        if a & BAD_CONTROL:
            return b
        return a if (a ^ b) & ~BAD_BYTES == 0 or b & BAD_CONTROL else -1
    if not (a & CONTROL or b & CONTROL):
        return 0
    control, data = (a, b) if a & CONTROL else (b, a)
    if data & BAD_BYTES:
        return control
    return 0 if control & BAD_BYTES else -1


@njit(cache=True, nogil=True)
def _take_control(s: Any, kind: int, at: int, words: Any, count: int) -> int:
    ended = kind & ROLE == END
    if s.where == _IN_PACKET:
        length = s.word
        count = _give_held(s, ended and length > 2, words, count)
        if not ended:
            count = _put(words, count, at, np.uint64(0), 0, _ERROR, _NO_END, False)
        elif length <= 2:
            count = _put(words, count, at, np.uint64(0), 0, _ERROR, _SHORT, False)
    elif s.where == _BEFORE_CREDIT:
        count = _put(words, count, at, np.uint64(0), 0, _ERROR, _NO_CREDIT, False)
    elif ended and not s.stray:
        count = _put(words, count, at, np.uint64(0), 0, _ERROR, _NO_START, False)
    s.where = _NOWHERE
    s.stray = 0
    if kind & PACKET_NEXT:
        s.where = _IN_PACKET
        s.word = 0
        s.first = 1
    elif kind & CREDIT_NEXT:
        s.where = _BEFORE_CREDIT
    return count


@njit(cache=True, nogil=True)
def _take_word(s: Any, at: int, data: Any, bad: Any, words: Any, count: int) -> int:
    if s.where == _IN_PACKET:
        count = _give_held(s, False, words, count)
        s.held = 1
        s.held_sample, s.held_data, s.held_bad = at, data, bad
        s.word += 1
        return count
    if s.where == _BEFORE_CREDIT:
        s.where = _NOWHERE
        return _put(words, count, at, data, bad, _CREDIT, 0, False)
    s.stray = 1
    return _put(words, count, at, data, bad, _STRAY, 0, False)


@njit(cache=True, nogil=True)
def _give_held(s: Any, is_tail: bool, words: Any, count: int) -> int:
    if not s.held:
        return count
    kind = _TAIL if is_tail else _HEAD if s.word <= 2 else _BODY
    s.held = 0
    first = s.first == 1
    s.first = 0
    return _put(words, count, s.held_sample, s.held_data, s.held_bad, kind, 0, first)


@njit(cache=True, nogil=True)
def _put(
    words: Any, count: int, at: int, data: Any, bad: Any, kind: Any, error: Any, first: bool
) -> int:
    sample, datas, bads, kinds, errors, firsts = words
    sample[count] = at
    datas[count] = data
    bads[count] = bad
    kinds[count] = kind
    errors[count] = error
    firsts[count] = first
    return count + 1


@njit(cache=True, nogil=True)
def _count_skips(s: Any, kind: int, at: int, events: Any, event_count: int) -> int:
    """Count skip columns after an align column; tell where they are not as many as were sent."""
    control = kind & CONTROL != 0
    if control and kind & ROLE == SKIP:
        s.skips = s.skips + 1 if s.skips >= 0 else _SKIPS + 1
        return event_count
    if s.skips > _SKIPS:
        event_count = _note(events, event_count, at, IDLE_INSERTED, s.skips - _SKIPS)
    elif 0 <= s.skips < _SKIPS:
        event_count = _note(events, event_count, at, IDLE_REMOVED, _SKIPS - s.skips)
    s.skips = 0 if control and kind & ROLE == ALIGN else -1
    return event_count


@njit(cache=True, nogil=True)
def _tell_skew(s: Any, span: int, at: int, events: Any, event_count: int) -> int:
    """Tell a skew that is another one by more than a bit, which is a thirtieth of three symbols."""
    if abs(s.skew - s.told_skew) <= span // 30 + 1:
        return event_count
    s.told_skew = s.skew
    return _note(events, event_count, at, SKEW, s.skew)


@njit(cache=True, nogil=True)
def _bad_bytes(what: Any) -> Any:
    """Return which bytes of a lane are not those of a word: of a control column all."""
    return BAD_BYTES if what & CONTROL else what & BAD_BYTES


@njit(cache=True, nogil=True)
def _is_align(what: Any) -> Any:
    return what & (CONTROL | ROLE | BAD_CONTROL) == CONTROL | ALIGN


@njit(cache=True, nogil=True)
def _spread(value: Any, bits: int = 8) -> Any:
    """Return the four fields of so many bits, each followed by a gap of the same width."""
    x = np.uint64(value)
    if bits == 1:
        return (
            x & np.uint64(1)
            | (x & np.uint64(2)) << np.uint64(1)
            | (x & np.uint64(4)) << np.uint64(2)
            | (x & np.uint64(8)) << np.uint64(3)
        )
    x = (x | x << np.uint64(16)) & np.uint64(0x0000FFFF0000FFFF)
    return (x | x << np.uint64(8)) & np.uint64(0x00FF00FF00FF00FF)


@njit(cache=True, nogil=True)
def _note(events: Any, at: int, sample: int, code: int, value: int) -> int:
    events[at].sample = sample
    events[at].code = code
    events[at].value = value
    return at + 1
