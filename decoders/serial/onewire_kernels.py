"""Kernels of 1-Wire: edges of one line to resets and time slots, those to commands, addresses and data.

How long the line is low says what it is; a slot ends 60 us (overdrive: 6 us) after it began, or when the line rises.

Source: Maxim application note 126 and the data sheets' timing; 187 (search); 27 (CRC-8, x**8 + x**5 + x**4 + 1).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from freezeframe.decoders.kernel_numbers import ZERO, int64s

ERRORS = (
    "",
    "short-recovery",
    "short-low",
    "short-slot",
    "long-low",
    "long-reset",
    "early-presence",
    "short-presence",
    "long-presence",
    "short-pause",
    "cut-slot",
    "unknown-command",
    "bad-crc",
    "no-device",
    "cut-byte",
)
_NONE, _RECOVERY, _SHORT_LOW, _SHORT_SLOT, _LONG_LOW, _LONG_RESET = int64s(0, 6)
_EARLY, _SHORT_PRESENCE, _LONG_PRESENCE, _SHORT_PAUSE, _CUT_SLOT = int64s(6, 5)
_UNKNOWN, _BAD_CRC, _NO_DEVICE, _CUT_BYTE = int64s(11, 4)
RESET, PRESENCE, BIT = int64s(0, 3)
COMMAND, ADDRESS, DATA = int64s(2, 3)  # of a byte row; a reset and presence are RESET there

# Microseconds, regular and overdrive.
_RESET_LOW, _RESET_LOW_MOST = (480, 48), (960, 80)
_RESET_HIGH = (480, 48)
_PRESENCE_FROM, _PRESENCE_BY = (15, 2), (60, 6)
_PRESENCE_LOW, _PRESENCE_LOW_MOST = (60, 8), (240, 24)
_SLOT, _SLOT_LOW_MOST, _ONE_LOW = (60, 6), (120, 16), (15, 2)
_LEAST = 1
_MICROS = 1_000_000

SLOT_ROW = np.dtype(
    [
        (name, np.int64)
        for name in ("error", "kind", "sample", "end_sample", "bit", "present", "overdrive", "low")
    ]
)
_STATE = np.dtype(
    [
        (name, np.int64)
        for name in (
            "level",  # -1 before the capture
            "phase",
            "fall",
            "rise",
            "deadline",  # of what goes on, a sample
            "bit",
            "low",
            "overdrive",
            "early",  # errors of the presence, told after it
            "length",
            "bits",  # of the command after a reset, -1 when that is over
            "command",
        )
    ]
)
_WAIT, _IDLE, _LOW, _IN_SLOT, _BEFORE_PRESENCE, _IN_PRESENCE, _AFTER_PRESENCE = range(7)
_NEVER = 1 << 62


def new_slots(overdrive: bool) -> npt.NDArray[np.void]:
    """Return the state of `slots` at the start of a stream: an array of one record."""
    state = np.zeros(1, dtype=_STATE)
    state["level"] = state["rise"] = state["bits"] = -1
    state["deadline"] = _NEVER
    state["overdrive"] = overdrive
    return state


@njit(cache=True, nogil=True)
def slots(sample: Any, value: Any, end_sample: int, rate: int, s: Any, rows: Any) -> int:
    """Go along edges of the line (bit 0), and then to ``end_sample``.

    Args:
        rate: samples a second.
        s: of `new_slots`, changed.
        rows: ``(5 * n + 5,)`` of SLOT_ROW, to be filled.
    Returns:
        Rows filled.
    """
    count, i = ZERO, 0
    while i <= len(sample):
        at = sample[i] if i < len(sample) else end_sample
        if s.deadline <= at:
            count = _deadline(s, s.deadline, rows, count)
        if s.phase == _IDLE and s.bits < 0 and s.rise > 0:
            done = _usual(sample[i:], value[i:], rate, s, rows[count:])
            i += 2 * done
            count += done
            at = sample[i] if i < len(sample) else end_sample
        if i == len(sample):
            break
        level = np.int64(value[i] & np.uint64(1))
        i += 1
        if level == s.level:
            continue
        began, s.level = s.level < 0, level
        if level == 1:
            count = _rise(s, at, rate, rows, count)
        elif not began:
            count = _fall(s, at, rate, rows, count)
    return count


@njit(cache=True, nogil=True)
def _usual(sample: Any, value: Any, rate: int, s: Any, rows: Any) -> int:
    """Write the slots in which nothing is to be said, as far as they follow each other; return how many.

    The same as what `_fall`, `_rise` and `_deadline` do, in a quarter of the time.
    """
    speed = s.overdrive
    least = -(-_LEAST * rate // _MICROS)
    one, most = -(-_ONE_LOW[speed] * rate // _MICROS), -(-_SLOT_LOW_MOST[speed] * rate // _MICROS)
    slot = _SLOT[speed] * rate // _MICROS
    rise, low_before = s.rise, s.low
    count = ZERO
    while 2 * count + 2 < len(sample):
        at = np.uint64(2 * count)
        fall, up, after = sample[at], sample[at + np.uint64(1)], sample[at + np.uint64(2)]
        levels = value[at] & np.uint64(1), value[at + np.uint64(1)] & np.uint64(1)
        low = up - fall
        end = max(up, fall + slot)
        if (
            levels[0]
            or not levels[1]
            or not least <= low < most
            or fall - rise < least
            or after < end
        ):
            break
        row = rows[count]
        row.error = 0
        row.kind = BIT
        row.sample, row.end_sample = fall, end
        row.bit = low < one
        row.present = -1
        row.overdrive = speed
        row.low = low
        rise, low_before = up, low
        count += 1
    s.rise, s.low = rise, low_before
    return count


@njit(cache=True, nogil=True)
def close_slots(end_sample: int, s: Any, rows: Any) -> int:
    """Write what the end of the capture cut off; return rows (at most 3)."""
    if s.phase in (_IN_SLOT, _AFTER_PRESENCE):
        # What it is was known with the rise.
        return _deadline(s, end_sample, rows, ZERO)
    if s.phase in (_WAIT, _IDLE):
        return 0
    s.low = 0
    return _put(s, rows, ZERO, _CUT_SLOT, BIT, s.fall, end_sample)


@njit(cache=True, nogil=True)
def _fall(s: Any, at: int, rate: int, rows: Any, count: int) -> int:
    if s.phase == _IDLE:
        if s.rise > 0 and (at - s.rise) * _MICROS < _LEAST * rate:
            count = _put(s, rows, count, _RECOVERY, BIT, s.rise, at)
    elif s.phase == _IN_SLOT:
        count = _deadline(s, at, rows, count)
        count = _put(s, rows, count, _SHORT_SLOT, BIT, s.fall, at)
    elif s.phase == _BEFORE_PRESENCE:
        if (at - s.rise) * _MICROS < _PRESENCE_FROM[s.overdrive] * rate:
            s.early = _EARLY
        s.fall = at
        s.phase = _IN_PRESENCE
        s.deadline = _NEVER
        return count
    elif s.phase == _AFTER_PRESENCE:
        count = _deadline(s, at, rows, count)
        count = _put(s, rows, count, _SHORT_PAUSE, PRESENCE, s.rise, at)
    s.fall = at
    s.phase = _LOW
    s.deadline = _NEVER
    return count


@njit(cache=True, nogil=True)
def _rise(s: Any, at: int, rate: int, rows: Any, count: int) -> int:
    speed = s.overdrive
    low = (at - s.fall) * _MICROS
    if s.phase == _IN_PRESENCE:
        s.low = at - s.fall
        if low < _PRESENCE_LOW[speed] * rate:
            s.length = _SHORT_PRESENCE
        elif low > _PRESENCE_LOW_MOST[speed] * rate:
            s.length = _LONG_PRESENCE
        s.phase = _AFTER_PRESENCE
        s.deadline = max(at, s.rise + _RESET_HIGH[speed] * rate // _MICROS)
        return count
    s.rise = at
    if s.phase != _LOW:
        s.phase = _IDLE
        return count
    s.low = at - s.fall
    regular = low >= _RESET_LOW[0] * rate
    fast = _RESET_LOW[1] * rate <= low < _RESET_LOW_MOST[1] * rate
    if regular or (speed and fast):
        s.overdrive = 0 if regular else 1
        count = _put(s, rows, count, _NONE, RESET, s.fall, at)
        if regular and low > _RESET_LOW_MOST[0] * rate:
            count = _put(s, rows, count, _LONG_RESET, RESET, s.fall, at)
        s.phase = _BEFORE_PRESENCE
        s.deadline = at + _PRESENCE_BY[s.overdrive] * rate // _MICROS
    elif low < _SLOT_LOW_MOST[speed] * rate:
        if low < _LEAST * rate:
            count = _put(s, rows, count, _SHORT_LOW, BIT, s.fall, at)
        s.bit = low < _ONE_LOW[speed] * rate
        s.phase = _IN_SLOT
        s.deadline = max(at, s.fall + _SLOT[speed] * rate // _MICROS)
    else:
        count = _put(s, rows, count, _LONG_LOW, BIT, s.fall, at)
        s.phase = _IDLE
    return count


@njit(cache=True, nogil=True)
def _deadline(s: Any, at: int, rows: Any, count: int) -> int:
    """End what goes on at the sample ``at``: a slot, or the time after a reset."""
    s.deadline = _NEVER
    if s.phase == _IN_SLOT:
        count = _put(s, rows, count, _NONE, BIT, s.fall, at)
        if s.bits >= 0:
            s.command |= s.bit << s.bits
            s.bits += 1
        if s.bits == 8:
            s.bits = -1
            if s.command in (0x3C, 0x69):
                s.overdrive = 1
    else:
        count = _put(s, rows, count, _NONE, PRESENCE, s.rise, at)
        rows[count - 1].present = s.phase == _AFTER_PRESENCE
        if s.early:
            count = _put(s, rows, count, s.early, PRESENCE, s.rise, at)
        if s.length:
            count = _put(s, rows, count, s.length, PRESENCE, s.rise, at)
        s.early = s.length = 0
        s.bits = s.command = 0
    if s.phase == _AFTER_PRESENCE:
        s.rise = at
    s.phase = _IDLE
    return count


@njit(cache=True, nogil=True)
def _put(s: Any, rows: Any, count: int, error: int, kind: int, begin: int, end: int) -> int:
    row = rows[count]
    row.error = error
    row.kind = kind
    row.sample = begin
    row.end_sample = end
    row.bit = s.bit if error == 0 and kind == BIT else -1
    row.present = -1
    row.overdrive = s.overdrive
    row.low = s.low
    return count + 1


BYTE_ROW = np.dtype(
    [
        (name, np.int64)
        for name in (
            "error",
            "kind",
            "sample",
            "end_sample",
            "value",
            "present",
            "overdrive",
            "rom",  # of the device that is selected
            "crc_ok",
            "conflicts",
            "expected",
            "seen",
        )
    ]
)
_BYTE_STATE = np.dtype(
    [
        ("phase", np.int64),
        ("bits", np.int64),
        ("value", np.int64),
        ("begin", np.int64),
        ("end", np.int64),
        ("step", np.int64),  # of a search: 0 the bit, 1 its complement, 2 the way taken
        ("first", np.int64),
        ("conflicts", np.int64),
        ("rom", np.int64),
        ("overdrive", np.int64),
        ("unsure", np.int64),  # 1: no reset so far; the first octet may be a command
    ]
)
_AT_COMMAND, _AT_ADDRESS, _AT_SEARCH, _AT_DATA = 0, 1, 2, 3


def new_bytes() -> npt.NDArray[np.void]:
    """Return the state of `join_bits` at the start of a stream: an array of one record."""
    state = np.zeros(1, dtype=_BYTE_STATE)
    state["rom"] = -1
    state["unsure"] = 1
    return state


@njit(cache=True, nogil=True)
def join_bits(found: Any, last: bool, s: Any, rows: Any) -> int:
    """Make commands, addresses and data of the rows of `slots`.

    Args:
        found: ``(n,)`` of SLOT_ROW.
        last: no more come.
        s: of `new_bytes`, changed.
        rows: ``(2 * n + 2,)`` of BYTE_ROW, to be filled.
    Returns:
        Rows filled.
    """
    count = ZERO
    for i in range(len(found)):
        slot = found[i]
        s.overdrive = slot.overdrive
        if slot.error:
            continue
        if slot.kind == RESET:
            count = _cut(s, rows, count)
            s.phase, s.bits, s.value, s.step, s.conflicts = _AT_COMMAND, 0, 0, 0, 0
            s.unsure = 0
            continue
        if slot.kind == PRESENCE:
            count = _row(s, rows, count, _NONE, RESET, slot.sample, slot.end_sample)
            rows[count - 1].present = slot.present
            rows[count - 1].value = rows[count - 1].rom = -1
            continue
        if s.bits == 0 and s.step == 0:
            s.begin, s.value = slot.sample, 0
        s.end = slot.end_sample
        if s.phase == _AT_SEARCH and s.step < 2:
            s.conflicts += s.step == 1 and s.first == 0 and slot.bit == 0
            if s.step == 1 and s.first == 1 and slot.bit == 1:
                count = _row(s, rows, count, _NO_DEVICE, ADDRESS, s.begin, s.end)
            s.first = slot.bit
            s.step += 1
            continue
        s.step = 0
        s.value |= slot.bit << s.bits
        s.bits += 1
        if s.bits == (64 if s.phase in (_AT_ADDRESS, _AT_SEARCH) else 8):
            count = _whole(s, rows, count)
    return _cut(s, rows, count) if last else count


@njit(cache=True, nogil=True)
def _whole(s: Any, rows: Any, count: int) -> int:
    """Give a command, an address or a byte of data, all bits of which are there."""
    s.bits = 0
    if s.phase == _AT_DATA:
        return _row(s, rows, count, _NONE, DATA, s.begin, s.end)
    if s.phase == _AT_COMMAND:
        command = s.value
        if s.unsure and command not in (0x33, 0x0F, 0x55, 0x69, 0x96, 0xF0, 0xEC, 0xCC, 0x3C, 0xA5):
            s.phase = _AT_DATA
            return _row(s, rows, count, _NONE, DATA, s.begin, s.end)
        if command != 0xA5:  # Resume: the device stays
            s.rom = -1
        count = _row(s, rows, count, _NONE, COMMAND, s.begin, s.end)
        s.phase = _AT_DATA
        if command in (0x33, 0x0F, 0x55, 0x69, 0x96):
            s.phase = _AT_ADDRESS
        elif command in (0xF0, 0xEC):
            s.phase = _AT_SEARCH
        elif command not in (0xCC, 0x3C, 0xA5):
            count = _row(s, rows, count, _UNKNOWN, COMMAND, s.begin, s.end)
        return count
    s.rom = s.value
    check = 0
    for place in range(56):
        low = (check ^ s.value >> place) & 1
        check = check >> 1 ^ (0x8C if low else 0)
    seen = s.value >> 56 & 0xFF
    count = _row(s, rows, count, _NONE, ADDRESS, s.begin, s.end)
    rows[count - 1].crc_ok = check == seen
    rows[count - 1].conflicts = s.conflicts if s.phase == _AT_SEARCH else -1
    if check != seen:
        rows[count] = rows[count - 1]
        rows[count].error = _BAD_CRC
        rows[count].expected, rows[count].seen = check, seen
        count += 1
    s.phase = _AT_DATA
    return count


@njit(cache=True, nogil=True)
def _cut(s: Any, rows: Any, count: int) -> int:
    """Give the bits that make no whole byte."""
    if s.bits == 0 and s.step == 0:
        return count
    kind = DATA if s.phase == _AT_DATA else COMMAND if s.phase == _AT_COMMAND else ADDRESS
    s.bits = s.step = 0
    return _row(s, rows, count, _CUT_BYTE, kind, s.begin, s.end)


@njit(cache=True, nogil=True)
def _row(s: Any, rows: Any, count: int, error: int, kind: int, begin: int, end: int) -> int:
    row = rows[count]
    row.error = error
    row.kind = kind
    row.sample = begin
    row.end_sample = end
    row.value = s.value if kind >= COMMAND and error != _CUT_BYTE else -1
    row.present = row.crc_ok = row.conflicts = row.expected = row.seen = -1
    row.overdrive = s.overdrive
    row.rom = s.rom
    return count + 1
