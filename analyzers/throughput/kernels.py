"""The loop over throughput samples: differences of counts that wrap, in one pass at memory speed.

Numba compiles it on first use and keeps the result; importing this module is what costs, so import it where
it is used.
"""

from __future__ import annotations

from typing import no_type_check

import numpy as np
from numba import njit

SUM, LOW, HIGH, ZEROS, FULL, LEAD, TRAIL, LONGEST = range(8)
"""Columns of what `scan` gives for a direction: words, least and most of an interval, intervals without a
word and (nearly) full ones, and the intervals without a word at the beginning, at the end, the most in a row."""

BLOCK = 512  # intervals looked at together: their differences stay in L1, and each pass over them vectorizes

_WRAP = 1 << 32


@njit(cache=True, nogil=True)
@no_type_check
def scan(samples, first, per_bin, full, directions, bins, counts):
    """Add the intervals between neighbouring samples to the bins, and find their extremes and runs.

    Args:
        samples: ``(2 n,)`` uint32, cumulative words out, in, out, in, ...; n >= 2. Interval i lies between samples
            i and i + 1.
        first: number of the first sample; interval i belongs to bin ``(first + i) // per_bin - first // per_bin``.
        full: words from which on an interval counts as full.
        directions: ``(2, 8)`` int64, overwritten: a row for each direction.
        bins, counts: ``(k, 2)`` and ``(k,)`` int64, added to: words, and intervals, of each bin.
    """
    n = samples.size // 2 - 1
    bin0 = first // per_bin
    words = np.empty((2, BLOCK), np.uint32)
    for way in range(2):
        directions[way, SUM] = directions[way, HIGH] = directions[way, ZEROS] = directions[
            way, FULL
        ] = 0
        directions[way, LOW] = _WRAP - 1
        directions[way, LEAD] = -1
        directions[way, TRAIL] = directions[way, LONGEST] = 0
    at = np.int64(0)
    while at < n:
        size = min(n - at, BLOCK)
        _differences(samples, at, size, words)
        plain = True
        for way in range(2):
            before, after = samples[2 * at + way], samples[2 * (at + size) + way]
            plain &= _take(words[way, :size], before, after, full, directions[way])
        begin = at
        while begin < at + size:
            b = (first + begin) // per_bin
            end = min((b + 1) * per_bin - first, at + size)
            counts[b - bin0] += end - begin
            for way in range(2):
                if plain:
                    total = np.int64(np.uint32(samples[2 * end + way] - samples[2 * begin + way]))
                else:
                    total = np.int64(0)
                    for i in range(begin - at, end - at):
                        total += np.int64(words[way, i])
                bins[b - bin0, way] += total
            begin = end
        at += size
    for way in range(2):
        row = directions[way]
        if row[LEAD] < 0:
            row[LEAD] = n
        row[LONGEST] = max(row[LONGEST], row[TRAIL])


@njit(cache=True, nogil=True)
@no_type_check
def _differences(samples, at, size, words):
    """Write the words of ``size`` intervals from interval ``at`` on, out and in apart."""
    out, into = words[0], words[1]
    part = samples[2 * at : 2 * (at + size) + 2]
    for i in range(size):
        out[i] = np.uint32(part[2 * i + 2] - part[2 * i])
        into[i] = np.uint32(part[2 * i + 3] - part[2 * i + 1])


@njit(cache=True, nogil=True)
@no_type_check
def _take(words, before, after, full, row):
    """Add a block of intervals of one direction to its row; return whether the block as a whole wraps once at most."""
    size = words.size
    least, most = np.uint32(0xFFFFFFFF), np.uint32(0)
    for i in range(size):
        least = min(least, words[i])
        most = max(most, words[i])
    plain = np.int64(most) * size < _WRAP
    if plain:
        total = np.int64(np.uint32(after - before))  # they cannot have wrapped twice
    else:
        total = np.int64(0)
        for i in range(size):
            total += np.int64(words[i])
    row[SUM] += total
    row[LOW] = min(row[LOW], np.int64(least))
    row[HIGH] = max(row[HIGH], np.int64(most))
    if most >= full:
        number = np.uint32(0)
        for i in range(size):
            number = np.uint32(number + np.uint32(words[i] >= full))
        row[FULL] += np.int64(number)
    if most == 0:
        row[ZEROS] += size
        row[TRAIL] += size
        return plain
    head = 0
    while words[head] == 0:
        head += 1
    if row[LEAD] < 0:
        row[LEAD] = row[TRAIL] + head
    row[LONGEST] = max(row[LONGEST], row[TRAIL] + head)
    tail = 0
    while words[size - 1 - tail] == 0:
        tail += 1
    row[TRAIL] = tail
    if least == 0:
        number = np.uint32(0)
        for i in range(size):
            number = np.uint32(number + np.uint32(words[i] == 0))
        row[ZEROS] += np.int64(number)
        row[LONGEST] = _longest(words, head, row[LONGEST])
    return plain


@njit(cache=True, nogil=True)
@no_type_check
def _longest(words, start, known):
    """Return the longest run of zeros in ``words[start:]``, or ``known`` where none is longer.

    Looks at every (known + 1)-th word only: a longer run cannot pass between two of them.
    """
    begin = start
    while begin + known < words.size:
        at = begin + known
        if words[at] != 0:
            begin = at + 1
            continue
        low = at
        while low > begin and words[low - 1] == 0:
            low -= 1
        if low > begin:
            begin = low  # the run begins later than it would have to
            continue
        while at + 1 < words.size and words[at + 1] == 0:
            at += 1
        known = at + 1 - low
        begin = at + 1
    return known
