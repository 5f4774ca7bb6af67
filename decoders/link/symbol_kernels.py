"""Kernel of 8b/10b: runs of equal bits to symbols, with alignment to commas, synchronization and errors.

A comma, 0011111 or 1100000, is two or more equal bits and then five of the other: it is known by
the lengths of two runs.

Source: IEEE 802.3-2018 36.2.4.4 (running disparity), 36.2.4.9 (comma), 36.2.5.2.6 (synchronization).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from freezeframe.decoders.kernel_numbers import ZERO
from freezeframe.decoders.link.code_8b10b import ERROR_LSB, POSITIVE, decode_table
from freezeframe.decoders.link.lane_rows import (
    ALIGNED,
    CUT_SYMBOL,
    FRESH,
    MISALIGNED_COMMA,
    MOST_BITS,
    NO_COMMA,
    NO_SIGNAL,
    REALIGNED,
    SYNC_FOUND,
    SYNC_LOST,
    SYNCED,
)

_TABLE = decode_table()
_GROUP = np.uint64(0x3FF)
_ERRORS = 3 << ERROR_LSB
_COMMA_BITS = 7
_MOST_BAD = 4  # 36.2.5.2.6, SYNC_ACQUIRED_1 to _4: the fourth bad group ends synchronization,
_OUTWEIGH = 4  # and so many good ones in a row outweigh a bad one
_EVENTS_A_RUN = 8  # a run is at most 21 bits: three symbols, a comma
_SYMBOLS_A_RUN = 4


@njit(cache=True, nogil=True)
def symbols(
    runs: Any, begin: int, settings: Any, state: Any, columns: Any, events: Any
) -> tuple[int, int, int]:
    """Go on with the runs from number ``begin`` until they or the room for symbols or events are used up.

    Args:
        runs: ends (int64, sample) and bits (int16: of 1 positive, of 0 negative); a first one of no
            bits says where the second begins.
        settings, state: ``(1,)`` records of lane_rows.
        columns: first sample (int64), entry of the decode table with SYNCED and FRESH
            (uint16), group as received (int16); at least 8 long.
        events: ``(m,)`` of EVENT, m at least 16.
    Returns:
        The first run not consumed, symbols filled, events filled.
    """
    ends, bits = runs
    sample, entry, group = columns
    s, option = state[0], settings[0]
    count = event_count = ZERO
    # What changes with every run is not in the record, for that would be memory.
    run_start, run_end, run_bits = s.run_start, s.run_end, s.run_bits
    latest, held, start, positive = s.bits, s.held, s.start, s.positive
    steady = s.synced == 1 and s.bad == 0 and s.fresh == 0
    i = begin
    while i < len(ends):
        if count + _SYMBOLS_A_RUN > len(sample) or event_count + _EVENTS_A_RUN > len(events):
            break
        n = np.int64(abs(bits[i]))
        level = bits[i] > 0
        before_start, before_bits = run_start, run_bits
        run_start, run_end, run_bits = run_end, ends[i], n
        comma = n >= 5 and before_bits >= 2
        # In synchronization, a comma where it belongs or none: symbols, until one is bad.
        if steady and 0 < n <= MOST_BITS and (not comma or held == _COMMA_BITS - 5):
            ones = (np.uint64(1) << np.uint64(n)) - np.uint64(1) if level else np.uint64(0)
            latest = latest << np.uint64(n) | ones
            held += n
            while held >= 10:
                code = latest >> np.uint64(held - 10) & _GROUP
                what = np.int64(_TABLE[positive, code])
                at = run_start + (run_end - run_start) * (n - (held - 10)) // n
                if what & _ERRORS or not steady:
                    s.bits, s.held, s.start, s.positive = latest, held, start, positive
                    count, event_count = _emit(s, option, at, columns, count, events, event_count)
                    held, start, positive = s.held, s.start, s.positive
                    steady = False
                    continue
                held -= 10
                positive = 1 if what & POSITIVE else 0
                sample[count] = start
                entry[count] = what | SYNCED
                group[count] = code
                count += 1
                start = at
        elif n == 0:  # the beginning of the first run, or of the one after a silence
            if before_bits > MOST_BITS:  # which is the level before it
                run_start, run_bits = run_end - (run_start - before_start), before_bits
        else:
            s.bits, s.held, s.start, s.positive = latest, held, start, positive
            comma_at = run_start - (run_start - before_start) * 2 // max(1, before_bits)
            run = (run_start, run_end, n, level, comma, comma_at)
            count, event_count = _take_run(s, option, run, columns, count, events, event_count)
            latest, held, start, positive = s.bits, s.held, s.start, s.positive
            steady = s.synced == 1 and s.bad == 0 and s.fresh == 0
        i += 1
    s.run_start, s.run_end, s.run_bits = run_start, run_end, run_bits
    s.bits, s.held, s.start, s.positive = latest, held, start, positive
    return i, count, event_count


@njit(cache=True, nogil=True)
def _take_run(
    s: Any, option: Any, run: Any, columns: Any, count: int, events: Any, event_count: int
) -> tuple[int, int]:
    """Take a run with all checks; return symbols and events there are now."""
    run_start, run_end, n, level, comma, comma_at = run
    length = run_end - run_start
    if n > MOST_BITS:
        if s.aligned and s.held > 0:
            missing = 10 - s.held
            _shift(s, level, missing)
            at = run_start + length * missing // n
            count, event_count = _emit(s, option, at, columns, count, events, event_count)
        if s.synced:
            _note(events, event_count, run_start, SYNC_LOST, 0)
            event_count += 1
        if s.aligned:
            _note(events, event_count, run_start, NO_SIGNAL, 0)
            event_count += 1
        s.aligned = s.synced = s.commas = s.held = 0
        s.bits = ~np.uint64(0) if level else np.uint64(0)
        return count, event_count
    taken = 0
    if comma:
        _shift(s, level, ZERO + 5)
        taken = 5
        while s.aligned and s.held >= 10:
            at = run_start + length * (taken - (s.held - 10)) // n
            count, event_count = _emit(s, option, at, columns, count, events, event_count)
        if not s.aligned or s.held != _COMMA_BITS:
            event_count = _misplaced(s, option, level, comma_at, events, event_count)
    _shift(s, level, n - taken)
    while s.aligned and s.held >= 10:
        at = run_start + length * (n - (s.held - 10)) // n
        count, event_count = _emit(s, option, at, columns, count, events, event_count)
    return count, event_count


@njit(cache=True, nogil=True)
def close(end_sample: int, state: Any, events: Any) -> int:
    """Write what the end of the capture leaves open, and count it (at most 1)."""
    s = state[0]
    if not s.ever:
        _note(events, 0, end_sample, NO_COMMA, 0)
        return 1
    if s.aligned and s.held > 0:
        _note(events, 0, s.start, CUT_SYMBOL, s.held)
        return 1
    return 0


@njit(cache=True, nogil=True)
def _shift(s: Any, level: bool, n: int) -> None:
    ones = (np.uint64(1) << np.uint64(n)) - np.uint64(1) if level else np.uint64(0)
    s.bits = s.bits << np.uint64(n) | ones
    s.held += n


@njit(cache=True, nogil=True)
def _misplaced(
    s: Any, option: Any, level: bool, comma_at: int, events: Any, event_count: int
) -> int:
    """Take a comma that does not stand at the beginning of a symbol; return the events there are now."""
    if s.aligned:
        shift = (s.held - _COMMA_BITS) % 10
        if s.synced and not option.realign_always:
            _note(events, event_count, comma_at, MISALIGNED_COMMA, shift)
            return _judge(s, option, True, False, comma_at, events, event_count + 1)
        _note(events, event_count, comma_at, REALIGNED, shift)
    else:
        _note(events, event_count, comma_at, ALIGNED, 0)
    s.aligned = s.ever = s.fresh = 1
    s.commas = 0
    s.held = _COMMA_BITS
    s.start = comma_at
    s.positive = 0 if level else 1  # 0011111 begins only groups of negative disparity
    return event_count + 1


@njit(cache=True, nogil=True)
def _emit(
    s: Any, option: Any, end: int, columns: Any, count: int, events: Any, event_count: int
) -> tuple[int, int]:
    """Decode the next ten bits, which end at sample ``end``; return symbols and events there are now."""
    sample, entry, group = columns
    s.held -= 10
    code = s.bits >> np.uint64(s.held) & _GROUP
    what = np.int64(_TABLE[s.positive, code])
    s.positive = 1 if what & POSITIVE else 0
    bad = what & _ERRORS != 0
    if bad or not s.synced or s.bad > 0:
        comma = code >> np.uint64(3) == 0b0011111 or code >> np.uint64(3) == 0b1100000
        event_count = _judge(s, option, bad, comma, s.start, events, event_count)
    sample[count] = s.start
    entry[count] = what | (SYNCED if s.synced else 0) | (FRESH if s.fresh else 0)
    group[count] = code
    s.fresh = 0
    s.start = end
    return count + 1, event_count


@njit(cache=True, nogil=True)
def _judge(
    s: Any, option: Any, bad: bool, comma: bool, at: int, events: Any, event_count: int
) -> int:
    """Count a good or bad group for the state of synchronization; return the events there are now."""
    if not s.synced:
        if bad:
            s.commas = 0
        elif comma:
            s.commas += 1
        if s.commas >= option.sync_commas:
            s.synced = 1
            s.bad = s.good = s.commas = 0
            _note(events, event_count, at, SYNC_FOUND, 0)
            return event_count + 1
        return event_count
    if bad:
        s.bad += 1
        s.good = 0
        if s.bad == _MOST_BAD:
            s.synced = s.bad = s.commas = 0
            _note(events, event_count, at, SYNC_LOST, 0)
            return event_count + 1
    elif s.bad > 0:
        s.good += 1
        if s.good == _OUTWEIGH:
            s.bad -= 1
            s.good = 0
    return event_count


@njit(cache=True, nogil=True, inline="always")
def _note(events: Any, at: int, sample: int, code: int, value: int) -> None:
    events[at].sample = sample
    events[at].code = code
    events[at].value = value
