"""The loops of the latency analyzer: events to messages, messages to durations, at memory speed.

A message is identified by a key that may come again (a 16-bit sequence number, a transaction number): an
event whose stage does not come after the last stage of that key begins the key's next message. For
each key a state keeps the *open* message, and the *head*: a message whose beginning may lie before
the state's first event, to be joined with what came before.

Only the order of the events of one key matters; those of different keys may stand in any order.
"""

from __future__ import annotations

from typing import NamedTuple, no_type_check

import numpy as np
import numpy.typing as npt
from numba import njit

Int64 = npt.NDArray[np.int64]

MANTISSA_BITS = 7
"""A bin is at most 1/128 of its value wide."""

_OCTAVES = 48  # up to 2^48 ps, 281 s; longer ones share the last bin
BINS = (_OCTAVES << MANTISSA_BITS) + 1

# Places in the array of counts; from MISSING on one for each stage: incomplete messages that lack it.
COMPLETE, INCOMPLETE, BEGAN_BEFORE, STILL_OPEN, NEGATIVE = range(5)
COUNTS = 5

_STAGES = (1 << 16) - 1  # a bit for each event that the open message has met
_KNOWN = (
    1 << 16
)  # a message of this key is over: what follows does not continue an earlier recording
_GATHERED = 256
# A duration's bin is the exponent and the highest bits of the mantissa of its double.
_SHIFT = 52 - MANTISSA_BITS
_BIAS = 1023 << MANTISSA_BITS


class OpenMessages(NamedTuple):
    """For each key the open message and the head: times by stage, and a bit for each stage that was met."""

    times: Int64
    mask: npt.NDArray[np.int32]
    head_times: Int64
    head_mask: npt.NDArray[np.int32]


class Totals(NamedTuple):
    """Counts (places as above), and of each phase and the whole way: sum, least, most, and a histogram."""

    counts: Int64
    sums: Int64
    least: Int64
    most: Int64
    histogram: Int64


class Slowest(NamedTuple):
    """The slowest messages, longest first: times by stage, duration, and key (-1: none)."""

    times: Int64
    whole: Int64
    key: Int64


def bin_edges(numbers: Int64) -> tuple[Int64, Int64]:
    """Return the half-open ranges of durations that bins hold; bin 0 is everything below 1.

    Args:
        numbers: ``(n,)`` int64, bins.
    Returns:
        ``(n,)`` int64 each: first duration of the bin, first one beyond it.
    """
    octave = np.maximum(numbers - 1, 0) >> MANTISSA_BITS
    base = (1 << MANTISSA_BITS) + (np.maximum(numbers - 1, 0) & ((1 << MANTISSA_BITS) - 1))
    up, down = np.maximum(octave - MANTISSA_BITS, 0), np.maximum(MANTISSA_BITS - octave, 0)
    # Below 2^7 a bin is narrower than 1: durations are whole numbers, so its ends are rounded up.
    low, high = (-(-(edge << up) >> down) for edge in (base, base + 1))
    return np.where(numbers == 0, 0, low), np.where(numbers == 0, 1, high)


@no_type_check
@njit(cache=True, nogil=True)
def match(t_ps, key, stage, phases, keys, totals, slow):
    """Take events in order; complete messages go into the totals.

    Args:
        t_ps, key, stage: ``(n,)`` int64, int32 below the number of keys, uint8 below that of stages.
        phases: ``(p, 2)`` int64, stages between which a phase lies.
        keys, totals, slow: an `OpenMessages`, a `Totals` and a `Slowest`, altered.
    Returns:
        how many were taken: fewer than there are where one has a key or stage that there is not.
    """
    times, mask = keys.times, keys.mask
    stages = times.shape[1]
    known_keys = np.uint32(len(mask))
    final, full = stages - 1, (1 << stages) - 1
    # Complete messages are gathered: summing up phase by phase is twice as fast as message by message.
    rows = np.empty((stages, _GATHERED), np.int64)
    which = np.empty(_GATHERED, np.int64)
    held = np.int64(0)
    taken = len(t_ps)
    for i in range(len(t_ps)):
        k = np.uint32(key[i])
        s = np.int64(stage[i])
        if k >= known_keys or s > final:
            taken = i
            break
        seen = np.int64(mask[k])
        if (seen & _STAGES) >> s:
            _close(np.int64(k), keys, phases, totals, slow)
            seen = _KNOWN
        if s < final:
            times[k, s] = t_ps[i]
            mask[k] = seen | 1 << s
        elif (seen | 1 << s) & _STAGES == full:
            mask[k] = _KNOWN
            for j in range(final):
                rows[j, held] = times[k, j]
            rows[final, held] = t_ps[i]
            which[held] = k
            held += 1
            if held == _GATHERED:
                _add_all(held, rows, which, phases, totals, slow)
                held = np.int64(0)
        else:
            times[k, s] = t_ps[i]
            mask[k] = seen | 1 << s
            _close(np.int64(k), keys, phases, totals, slow)
    _add_all(held, rows, which, phases, totals, slow)
    return taken


@no_type_check
@njit(cache=True, nogil=True)
def _copy(row, to):
    """Copy the times of a message; numba takes seconds to compile the assignment of a slice."""
    for s in range(len(row)):
        to[s] = row[s]


@no_type_check
@njit(cache=True, nogil=True)
def _close(k, keys, phases, totals, slow):
    """End the open message of a key: it is counted, or kept as the head."""
    seen = np.int64(keys.mask[k])
    keys.mask[k] = _KNOWN
    if not seen & (_KNOWN | 1):
        keys.head_mask[k] = seen
        _copy(keys.times[k], keys.head_times[k])
    else:
        _judge(k, keys.times[k], seen & _STAGES, phases, totals, slow)


@no_type_check
@njit(cache=True, nogil=True)
def _judge(k, row, seen, phases, totals, slow):
    """Count a message that is over, complete or not."""
    stages = len(row)
    if seen == (1 << stages) - 1:
        _add(k, row, phases, totals, slow)
        return
    counts = totals.counts
    counts[INCOMPLETE] += 1
    for s in range(stages):
        if not seen >> s & 1:
            counts[COUNTS + s] += 1


@no_type_check
@njit(cache=True, nogil=True)
def _add(k, row, phases, totals, slow):
    """Add one complete message."""
    rows = np.empty((len(row), 1), np.int64)
    _copy(row, rows[:, 0])
    which = np.empty(1, np.int64)
    which[0] = k
    _add_all(np.int64(1), rows, which, phases, totals, slow)


@no_type_check
@njit(cache=True, nogil=True)
def _add_all(n, rows, which, phases, totals, slow):
    """Add complete messages, phase by phase; the whole way is the last."""
    counts = totals.counts
    counts[COMPLETE] += n
    last = len(rows) - 1
    p = len(phases)
    durations = np.empty(n, np.int64)
    for phase in range(p + 1):
        begin, end = 0, last
        if phase < p:
            begin, end = phases[phase, 0], phases[phase, 1]
        total, low, high = np.int64(0), totals.least[phase], totals.most[phase]
        bins = totals.histogram[phase]
        for i in range(n):
            duration = rows[end, i] - rows[begin, i]
            durations[i] = duration
            total += duration
            low = min(low, duration)
            high = max(high, duration)
        for i in range(n):
            duration = durations[i]
            if duration < 1:
                bins[0] += 1
                counts[NEGATIVE] += duration < 0
            else:
                bits = np.float64(duration).view(np.int64)
                bins[np.uint64(min((bits >> _SHIFT) - _BIAS + 1, BINS - 1))] += 1
        totals.sums[phase] += total
        totals.least[phase] = low
        totals.most[phase] = high
    enough = slow.whole[-1]
    for i in range(n):
        whole = rows[last, i] - rows[0, i]
        if whole >= enough:
            _keep_slow(whole, which[i], rows[:, i], slow)
            enough = slow.whole[-1]


@no_type_check
@njit(cache=True, nogil=True)
def _keep_slow(whole, k, row, slow):
    """Put a message among the slowest: longest first, then the earlier, then the lower key."""
    n = len(slow.whole)
    at = n
    while at > 0:
        other = slow.whole[at - 1]
        if other > whole:
            break
        if other == whole:
            begin = slow.times[at - 1, 0]
            if begin < row[0] or (begin == row[0] and slow.key[at - 1] <= k):
                break
        at -= 1
    if at == n:
        return
    for j in range(n - 1, at, -1):
        _copy(slow.times[j - 1], slow.times[j])
        slow.whole[j] = slow.whole[j - 1]
        slow.key[j] = slow.key[j - 1]
    _copy(row, slow.times[at])
    slow.whole[at] = whole
    slow.key[at] = k


@no_type_check
@njit(cache=True, nogil=True)
def join(phases, keys, later, totals, slow):
    """Join the open messages of a state with the beginnings of the state right after it.

    ``keys`` becomes that of both; complete messages go into ``totals`` and ``slow``.
    """
    times, mask = keys.times, keys.mask
    for k in range(len(mask)):
        if not later.mask[k]:
            continue  # nothing of this key came
        here, there = np.int64(mask[k]) & _STAGES, np.int64(later.mask[k]) & _STAGES
        # What comes first may continue what is open here, unless it begins with the first stage.
        is_over = bool(later.mask[k] & _KNOWN)
        first = np.int64(later.head_mask[k]) if is_over else (np.int64(0) if there & 1 else there)
        if first and here and not here >> _lowest(first):
            row = later.head_times[k] if is_over else later.times[k]
            for s in range(len(row)):
                if first >> s & 1:
                    times[k, s] = row[s]
            mask[k] |= first
            if not is_over:
                continue
            _close(k, keys, phases, totals, slow)
        else:
            if here:
                _close(k, keys, phases, totals, slow)
            if first and is_over:
                _copy(later.head_times[k], times[k])
                mask[k] |= first
                _close(k, keys, phases, totals, slow)
        mask[k] = (mask[k] | later.mask[k]) & _KNOWN | there
        _copy(later.times[k], times[k])


@no_type_check
@njit(cache=True, nogil=True, inline="always")
def _lowest(bits):
    """Return the number of the lowest bit that is set."""
    s = 0
    while not bits >> s & 1:
        s += 1
    return s


@no_type_check
@njit(cache=True, nogil=True)
def close_all(keys, counts):
    """Count what is not over at either end of the recording."""
    mask = keys.mask
    for k in range(len(mask)):
        if keys.head_mask[k]:
            counts[BEGAN_BEFORE] += 1
        if mask[k] & _STAGES:
            if not mask[k] & (_KNOWN | 1):
                counts[BEGAN_BEFORE] += 1
            else:
                counts[STILL_OPEN] += 1
