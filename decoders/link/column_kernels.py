"""Kernel of the columns of a lane: symbols to groups of four, data or control, with their place checked.

Source: docs/formats.md section 3.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from freezeframe.decoders.link.code_8b10b import ERROR_LSB, K
from freezeframe.decoders.link.lane_rows import EVENT_CODES, FRESH

# What a column is: bits of its bad bytes [0,4]; of a control column also CONTROL, its role and what
# comes next, and BAD_CONTROL where a group is none of those that may stand there.
BAD_BYTES = 0xF
CONTROL = 1 << 4
ROLE = 7 << 5
NOTHING, END, ALIGN, SKIP = 0 << 5, 1 << 5, 2 << 5, 3 << 5
PACKET_NEXT, CREDIT_NEXT = 1 << 8, 1 << 9
BAD_CONTROL = 1 << 10

_COMMA = K | 0xBC  # K28.5
_FILL = 0xB5  # D21.5
_END = K | 0xFD  # K29.7
_ALIGN = K | 0x7C  # K28.3
_SKIP = K | 0x1C  # K28.0
_PACKET = K | 0xFB  # K27.7
_CREDIT = K | 0x5C  # K28.2

_SYMBOL = K | 0xFF
_ERROR = 3 << ERROR_LSB

# Events of columns and of bonding, after those of a lane.
BONDING_CODES = (
    "slip",
    "skew",
    "idle_inserted",
    "idle_removed",
    "misplaced-control",
    "bad-control",
    "lanes-disagree",
    "not-bonded",
)
(
    SLIP,
    SKEW,
    IDLE_INSERTED,
    IDLE_REMOVED,
    MISPLACED_CONTROL,
    BAD_CONTROL_CODE,
    DISAGREE,
    NOT_BONDED,
) = range(len(EVENT_CODES), len(EVENT_CODES) + len(BONDING_CODES))

_STATE = np.dtype(
    [
        ("place", np.int64),  # of the next symbol in its column, -1 while that is not known
        ("slipped_to", np.int64),  # place of the latest comma, where that was not 0; else -1
        ("sample", np.int64),  # where the column begins
        ("half", np.int64),
        ("bad", np.int64),
        ("symbols", np.int64, 4),
    ]
)


def new_column_state() -> npt.NDArray[np.void]:
    """Return the state at the start of a stream: one record."""
    state = np.zeros(1, dtype=_STATE)
    state["place"] = state["slipped_to"] = -1
    return state


@njit(cache=True, nogil=True)
def columns(symbols: Any, state: Any, room: Any, events: Any) -> tuple[int, int]:
    """Put the symbols of a lane into columns.

    Args:
        symbols: first sample (int64) and entry of the decode table with FRESH (uint16).
        state: from `new_column_state`, changed.
        room: columns for the first sample (int64), samples of three of the four symbols (int64), the
            four bytes (uint32), what it is (uint16); there is room for one more than a quarter of the symbols.
        events: ``(m,)`` of EVENT; m at least twice the symbols.
    Returns:
        Columns filled, events filled.
    """
    sample, entry = symbols
    starts, spans, halves, what = room
    s = state[0]
    group = s.symbols
    place = s.place
    count = 0
    event_count = 0
    for i in range(len(sample)):
        symbol = np.int64(entry[i]) & _SYMBOL
        is_bad = entry[i] & _ERROR != 0
        is_comma = symbol == _COMMA
        if entry[i] & FRESH:
            place = -1
        if is_comma:
            if place > 0 and s.slipped_to != place:
                s.slipped_to = place
                _note(events, event_count, sample[i], MISPLACED_CONTROL, place)
                event_count += 1
                is_bad = True
            else:
                if place > 0:
                    _note(events, event_count, sample[i], SLIP, place)
                    event_count += 1
                place = 0
                s.slipped_to = -1
        if place < 0:
            continue
        if place == 0:
            s.sample = sample[i]
            s.half = 0
            s.bad = 0
        group[place] = symbol
        s.half |= (symbol & 0xFF) << 8 * place
        s.bad |= np.int64(is_bad) << place
        place += 1
        if place < 4:
            continue
        place = 0
        starts[count] = s.sample
        spans[count] = sample[i] - s.sample
        halves[count] = s.half
        kind = s.bad
        if group[0] == _COMMA:
            kind |= _control(group, s.bad)
            if kind & BAD_CONTROL:
                _note(events, event_count, s.sample, BAD_CONTROL_CODE, s.half)
                event_count += 1
        else:
            for k in range(4):
                kind |= (group[k] >> 8) << k  # a control group among data is a bad byte
        what[count] = kind
        count += 1
    s.place = place
    return count, event_count


@njit(cache=True, nogil=True)
def _control(group: Any, bad: int) -> int:
    kind = CONTROL
    role, following = group[1], group[3]
    if bad & 2 or role not in (_FILL, _END, _ALIGN, _SKIP):
        kind |= BAD_CONTROL
    elif role == _END:
        kind |= END
    elif role == _ALIGN:
        kind |= ALIGN
    elif role == _SKIP:
        kind |= SKIP
    if bad & 8 or following not in (_FILL, _PACKET, _CREDIT):
        kind |= BAD_CONTROL
    elif following == _PACKET:
        kind |= PACKET_NEXT
    elif following == _CREDIT:
        kind |= CREDIT_NEXT
    if bad & 4 or group[2] != _FILL:
        kind |= BAD_CONTROL
    return kind


@njit(cache=True, nogil=True, inline="always")
def _note(events: Any, at: int, sample: int, code: int, value: int) -> None:
    events[at].sample = sample
    events[at].code = code
    events[at].value = value
