"""The loops over trace records that must run at memory speed: unpacking, and dating by the recorder's rules.

Numba compiles them on first use and keeps the result. Times are cycles of the recorder's own domain.

Source: docs/formats.md section 2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from freezeframe.capture.registers.layouts import Kind

Bytes = npt.NDArray[np.uint8]
Int64 = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

DATED = 1  # the record's cycle is exact
TIME_DISAGREES = 2  # a TIME whose data is not what the walk from newer records gives
BROKEN_WALK = 4  # dt 15 after a record that is not TIME: rule 2 forbids it, the walk cannot cross
BAD_TIME = 8  # a TIME with a cycle that no counter can have reached; it dates nothing

MAX_CYCLE = 1 << 56  # 22 years at 100 MHz: a TIME beyond it is damage, and 10^12 ps/s would not fit

_KIND_TIME = int(Kind.TIME)
_LOW = 0x0F0F0F0F0F0F0F0F


class Unpacked(NamedTuple):
    """Columns of records: ``data`` int64 bit patterns, ``kind`` and ``dt`` uint8, each ``(n,)``."""

    data: Int64
    kind: Bytes
    dt: Bytes


class Dated(NamedTuple):
    """``cycle`` and ``slack`` int64, ``flags`` uint8, each ``(n,)``.

    A record with DATED in its flags stands at ``cycle`` exactly and has slack 0. The true cycle of any other lies in
    ``[cycle - slack, cycle]``; slack -1 means that not even that is known, and ``cycle`` is the earliest possible.
    """

    cycle: Int64
    slack: Int64
    flags: Bytes


def as_words(records: Bytes) -> Words:
    """Return ``(n, 9)`` records as ``(9 * ceil(n / 8),)`` aligned little-endian 64-bit words.

    A view when n is a multiple of 8 and the memory is aligned, else a copy padded with zero bytes.

    Raises:
        ValueError: not uint8, or not nine bytes a record.
    """
    if records.dtype != np.uint8 or records.ndim != 2 or records.shape[1] != 9:
        raise ValueError(
            f"records are {records.dtype}{records.shape}; wanted uint8 of shape (n, 9)"
        )
    flat = np.ascontiguousarray(records).reshape(-1)
    if len(records) % 8 or flat.ctypes.data % 8:
        padded = np.zeros(-(-len(records) // 8) * 9, dtype=np.uint64)
        padded.view(np.uint8)[: flat.size] = flat
        return padded
    return flat.view(np.uint64)


def unpack_records(records: Bytes, out: Unpacked | None = None) -> Unpacked:
    """Return the columns of ``(n, 9)`` uint8 records; empty columns for no records.

    Args:
        out: columns of n rows to write into and return, for records that come in pieces: new
            memory costs as much as the unpacking (bench_trace.py). Made when not given.
    Raises:
        ValueError: not uint8, not nine bytes a record, or ``out`` has another number of rows.
    """
    n = len(records)
    if out is None:
        out = Unpacked(np.empty(n, np.int64), np.empty(n, np.uint8), np.empty(n, np.uint8))
    if any(len(column) != n for column in out):
        raise ValueError(f"{n} records do not fit columns of {len(out.data)} rows")
    whole = n - n % 8
    data, kind, dt = out
    _unpack_into(as_words(records[:whole]), data[:whole], kind[:whole], dt[:whole])
    if whole < n:
        last_data, last_kind, last_dt = np.empty(8, np.int64), *np.empty((2, 8), np.uint8)
        _unpack_into(as_words(records[whole:]), last_data, last_kind, last_dt)
        data[whole:] = last_data[: n - whole]
        kind[whole:] = last_kind[: n - whole]
        dt[whole:] = last_dt[: n - whole]
    return out


def _unpack_into(words: Words, data: Int64, kind: Bytes, dt: Bytes) -> None:
    unpack_groups(words, data.view(np.uint64), kind.view(np.uint64), dt.view(np.uint64))


@njit(cache=True)
def unpack_groups(words: Words, data: Words, kind: Words, dt: Words) -> None:
    """Unpack groups of eight records, nine words each, into 8 data words, 8 kind bytes, 8 dt bytes.

    Eight 9-byte records are nine aligned words: 1,350 Mrecord/s; byte by byte it is 360 (bench_trace.py).
    """
    low = np.uint64(_LOW)
    for group in range(words.size // 9):
        w = 9 * group
        d = 8 * group
        w0, w1, w2 = words[w], words[w + 1], words[w + 2]
        w3, w4, w5 = words[w + 3], words[w + 4], words[w + 5]
        w6, w7, w8 = words[w + 6], words[w + 7], words[w + 8]
        data[d] = w0
        data[d + 1] = w1 >> np.uint64(8) | w2 << np.uint64(56)
        data[d + 2] = w2 >> np.uint64(16) | w3 << np.uint64(48)
        data[d + 3] = w3 >> np.uint64(24) | w4 << np.uint64(40)
        data[d + 4] = w4 >> np.uint64(32) | w5 << np.uint64(32)
        data[d + 5] = w5 >> np.uint64(40) | w6 << np.uint64(24)
        data[d + 6] = w6 >> np.uint64(48) | w7 << np.uint64(16)
        data[d + 7] = w7 >> np.uint64(56) | w8 << np.uint64(8)
        # The last byte of record k is byte k of word k + 1, so the eight of them need no shift at all.
        both = (
            (w1 & np.uint64(0xFF))
            | (w2 & np.uint64(0xFF00))
            | (w3 & np.uint64(0xFF0000))
            | (w4 & np.uint64(0xFF000000))
            | (w5 & np.uint64(0xFF00000000))
            | (w6 & np.uint64(0xFF0000000000))
            | (w7 & np.uint64(0xFF000000000000))
            | (w8 & np.uint64(0xFF00000000000000))
        )
        kind[group] = both & low
        dt[group] = both >> np.uint64(4) & low


def date_records(
    columns: Unpacked, missing: Int64, min_dt: int = 1, out: Dated | None = None
) -> Dated:
    """Date records, oldest first, by walking from each TIME as far as the steps are known.

    Args:
        columns: the records in the order they were stored.
        missing: ``(n,)`` int64, how many records were not read just before each one (0 nearly everywhere).
        min_dt: cycles that lie at least between two records: 1 for a tap, 0 for the event log.
        out: columns of n rows to write into and return, as for `unpack_records`.
    Returns:
        Cycles, slack and flags; see `Dated`. A TIME that disagrees is believed over the walk, and flagged.

    Source: docs/formats.md section 2, rules 1, 2 and 5.
    """
    n = len(columns.kind)
    dated = out or Dated(np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.uint8))
    if n and _walk(columns, missing, dated):
        _bound(columns.dt, missing, min_dt, dated)
    return dated


@njit(cache=True, inline="always")
def _is_even(kind: Bytes, dt: Bytes, missing: Int64, end: int) -> bool:
    """Tell whether none of the eight records before ``end`` is a TIME or behind a gap or a saturated step."""
    odd = np.int64(0)
    for i in range(end - 8, end):
        odd |= missing[i] | np.int64((kind[i] + 1 | dt[i] + 1) & 16)
    even: bool = odd == 0
    return even


@njit(cache=True)
def _walk(columns: Unpacked, missing: Int64, dated: Dated) -> int:
    """Date backwards from every TIME, then forwards what is left; return how many stay without a date."""
    data, kind, dt = columns
    cycle, slack, flags = dated
    n = kind.size
    known = False  # t is the cycle of record i by the walk from i + 1
    saturated = False  # record i + 1 has dt 15: record i is 15 cycles older or more
    limited = False  # ... and newest is the latest cycle it may have
    newest = np.int64(0)
    t = np.int64(0)
    undated = 0
    i = n
    while i > 0:
        while known and i >= 8 and _is_even(kind, dt, missing, i):
            # Most records: eight, each a known step behind the next.
            for _ in range(8):
                i -= 1
                cycle[i] = t
                slack[i] = 0
                flags[i] = DATED
                t -= np.int64(dt[i])
            saturated = limited = False
        i -= 1
        if i < 0:
            break
        cycle[i] = slack[i] = 0
        flags[i] = 0
        if kind[i] == _KIND_TIME:
            own = data[i]
            if own < 0 or own > MAX_CYCLE:
                flags[i] |= BAD_TIME
            else:
                if (known and own != t) or (limited and own > newest):
                    flags[i] |= TIME_DISAGREES
                t = own
                known = True
        elif saturated:
            flags[i + 1] |= BROKEN_WALK
        if known:
            cycle[i] = t
            flags[i] |= DATED
        else:
            undated += 1
        saturated = dt[i] == 15 and missing[i] == 0
        limited = saturated and known
        newest = t - 15
        if saturated or missing[i] > 0:
            known = False
        else:
            t -= np.int64(dt[i])
    if undated:
        for i in range(1, n):
            if not flags[i] & DATED and flags[i - 1] & DATED and missing[i] == 0 and dt[i] != 15:
                cycle[i] = cycle[i - 1] + np.int64(dt[i])
                flags[i] |= DATED
                undated -= 1
    return undated


@njit(cache=True)
def _bound(dt: Bytes, missing: Int64, min_dt: int, dated: Dated) -> None:
    """Give every record without a date the latest cycle it can have, and the slack down to the earliest."""
    cycle, slack, flags = dated
    n = dt.size
    low = np.int64(0)  # counters start at 0, so no record is older than that
    for i in range(n):
        if i:
            step = np.int64(dt[i])
            if missing[i] > 0:
                step = (missing[i] + 1) * min_dt
            low += step
        if flags[i] & DATED:
            low = cycle[i]
        else:
            cycle[i] = low  # the earliest, until the second pass knows the latest
            slack[i] = -1
    high = np.int64(-1)
    for i in range(n - 1, -1, -1):
        if flags[i] & DATED:
            high = cycle[i]
        elif high >= 0:
            slack[i] = max(np.int64(0), high - cycle[i])
            cycle[i] = max(high, cycle[i])
        if high >= 0:
            step = np.int64(dt[i])
            if missing[i] > 0:
                step = (missing[i] + 1) * min_dt
            high = max(np.int64(0), high - step)
