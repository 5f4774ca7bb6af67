"""Loops that lay a hundred million times and values over the pixels of a drawing.

A pixel column covers the integers ``t`` with ``px <= (t - t0) * width / span < px + 1``; `edge_of`
gives its first time in integers, so no time ever becomes a float. Everything here releases the GIL: a
worker can build while the window draws. The kernels read the items only.
"""

from __future__ import annotations

from typing import no_type_check

import numpy as np
from numba import njit

from freezeframe.gui.plots.pyramid import FAN


@no_type_check
@njit(cache=True, nogil=True)
def edge_of(px, t0_ps, span_ps, width):
    """Return the first time of a pixel column: ``t0 + ceil(px * span / width)`` without overflow."""
    whole = span_ps // width
    rest = span_ps % width
    return t0_ps + whole * px + (rest * px + width - 1) // width


@no_type_check
@njit(cache=True, nogil=True)
def first_at(t_ps, coarse, block, n, want, start):
    """Return the first item at or after ``want`` among the first ``n``; it is known to be >= start.

    ``coarse`` holds every ``block``-th time, so that the search stays in the cache.
    """
    if start >= n or t_ps[start] >= want:
        return start
    blocks = (n + block - 1) // block
    low = start // block
    high = low + 1
    jump = 1
    while high < blocks and coarse[high] < want:
        low = high
        high += jump
        jump *= 2
    high = min(high, blocks)
    while high - low > 1:
        middle = (low + high) // 2
        if coarse[middle] < want:
            low = middle
        else:
            high = middle
    first = max(low * block, start)
    last = min(low * block + block, n)
    while first < last:
        middle = (first + last) // 2
        if t_ps[middle] < want:
            first = middle + 1
        else:
            last = middle
    return first


@no_type_check
@njit(cache=True, nogil=True)
def reduce_series(series, levels, begin, end, empty_low, empty_high):
    """Reduce items ``begin..end`` into all levels; ``begin`` is a multiple of the largest block.

    Returns the first item whose time is earlier than the one before it; -1 when none is.
    """
    t_ps, value = series.t_ps, series.value
    block, low, high, bases = levels.block, levels.low, levels.high, levels.bases
    wrong = -1
    previous = t_ps[begin - 1] if begin else t_ps[begin]
    for b in range(begin // block, (end + block - 1) // block):
        first = b * block
        last = min(first + block, end)
        levels.coarse[b] = t_ps[first]
        least = empty_low
        most = empty_high
        unknown = 0
        for i in range(first, last):
            v = value[i]
            if t_ps[i] < previous and wrong < 0:
                wrong = i
            previous = t_ps[i]
            if np.isnan(v):
                unknown += 1
            else:
                least = min(least, v)
                most = max(most, v)
        low[b] = least
        high[b] = most
        levels.gaps[b + 1] = levels.gaps[b] + unknown
    first = begin // block
    last = (end + block - 1) // block
    for level in range(1, bases.shape[0]):
        below = bases[level - 1]
        first = first // FAN
        count = last
        last = (last + FAN - 1) // FAN
        for b in range(first, last):
            least = empty_low
            most = empty_high
            for i in range(b * FAN, min(b * FAN + FAN, count)):
                least = min(least, low[below + i])
                most = max(most, high[below + i])
            low[bases[level] + b] = least
            high[bases[level] + b] = most
    return wrong


@no_type_check
@njit(cache=True, nogil=True)
def _extremes(value, levels, first, last, least, most):
    """Return the smallest and largest of ``value[first:last]`` and of what is handed in."""
    block, low, high, bases = levels.block, levels.low, levels.high, levels.bases
    head = min(last, (first + block - 1) // block * block)
    tail = max(head, last // block * block)
    for i in range(first, head):
        v = value[i]
        if not np.isnan(v):
            least = min(least, np.float64(v))
            most = max(most, np.float64(v))
    for i in range(tail, last):
        v = value[i]
        if not np.isnan(v):
            least = min(least, np.float64(v))
            most = max(most, np.float64(v))
    a = head // block
    b = tail // block
    level = 0
    while a < b:
        top = level + 1 == bases.shape[0]
        a_up = b if top else min(b, (a + FAN - 1) // FAN * FAN)
        b_up = b if top else max(a_up, b // FAN * FAN)
        for i in range(a, a_up):
            least = min(least, np.float64(low[bases[level] + i]))
            most = max(most, np.float64(high[bases[level] + i]))
        for i in range(b_up, b):
            least = min(least, np.float64(low[bases[level] + i]))
            most = max(most, np.float64(high[bases[level] + i]))
        if top:
            break
        a = a_up // FAN
        b = b_up // FAN
        level += 1
    return least, most


@no_type_check
@njit(cache=True, nogil=True)
def _unknown(value, levels, first, last):
    """Return how many of ``value[first:last]`` are not numbers."""
    block, gaps = levels.block, levels.gaps
    head = min(last, (first + block - 1) // block * block)
    tail = max(head, last // block * block)
    count = gaps[tail // block] - gaps[head // block] if tail > head else 0
    for i in range(first, head):
        count += np.isnan(value[i])
    for i in range(tail, last):
        count += np.isnan(value[i])
    return count


@no_type_check
@njit(cache=True, nogil=True)
def series_columns(series, levels, n, end_ps, t0_ps, span_ps, columns):
    """Fill for each pixel column the range of values that the drawn line passes in it.

    Step: the value that holds when the column begins and every value in it. Points: every point, and
    the line between two points at both edges of the column. ``inf, -inf``: nothing there.
    """
    t_ps, value, step = series.t_ps, series.value, series.step
    some_gaps = levels.gaps[-1] > 0
    width = columns.low.shape[0]
    first = first_at(t_ps, levels.coarse, levels.block, n, t0_ps, 0)
    a = t0_ps
    for px in range(width):
        b = edge_of(px + 1, t0_ps, span_ps, width)
        last = first_at(t_ps, levels.coarse, levels.block, n, b, first)
        lo = np.inf
        hi = -np.inf
        if first > 0 and (first < n or a < end_ps):
            before = np.float64(value[first - 1])
            if step:
                if not np.isnan(before) and (b > a or last == first):
                    lo = min(lo, before)
                    hi = max(hi, before)
            elif first < n:
                after = np.float64(value[first])
                length = np.float64(t_ps[first] - t_ps[first - 1])
                if length > 0 and not np.isnan(before) and not np.isnan(after):
                    for t in (a, min(b, t_ps[first])):
                        v = before + (after - before) * (np.float64(t - t_ps[first - 1]) / length)
                        lo = min(lo, v)
                        hi = max(hi, v)
        unknown = 0
        if last > first:
            lo, hi = _extremes(value, levels, first, last, lo, hi)
            unknown = _unknown(value, levels, first, last) if some_gaps else 0
            if not step and last < n:
                before = np.float64(value[last - 1])
                after = np.float64(value[last])
                length = np.float64(t_ps[last] - t_ps[last - 1])
                if length > 0 and not np.isnan(before) and not np.isnan(after):
                    v = before + (after - before) * (np.float64(b - t_ps[last - 1]) / length)
                    lo = min(lo, v)
                    hi = max(hi, v)
        elif first > 0 and step and (first < n or a < end_ps):
            unknown = np.int64(np.isnan(value[first - 1]))
        columns.low[px] = lo
        columns.high[px] = hi
        columns.gap[px] = unknown
        columns.points[px] = last - first
        first = last
        a = b


@no_type_check
@njit(cache=True, nogil=True)
def reduce_wave(t_ps, level, begin, end, block, coarse, seen):
    """Reduce edges: every ``block``-th time, and which levels (bits 0, 1, 2) each block holds.

    Returns the first item whose time is earlier than the one before it; -1 when none is.
    """
    wrong = -1
    previous = t_ps[begin - 1] if begin else t_ps[begin]
    for b in range(begin // block, (end + block - 1) // block):
        first = b * block
        coarse[b] = t_ps[first]
        bits = 0
        for i in range(first, min(first + block, end)):
            if t_ps[i] < previous and wrong < 0:
                wrong = i
            previous = t_ps[i]
            bits |= 1 << min(level[i], 2)
        seen[b] = bits
    return wrong


@no_type_check
@njit(cache=True, nogil=True)
def wave_columns(t_ps, level, n, coarse, seen, block, most, end_ps, t0_ps, span_ps, bits, count):
    """Fill for each pixel column which levels it holds (bits 0, 1, 2) and how many edges.

    ``most`` is which levels the whole line holds: a column that has them all needs no further look.
    """
    width = bits.shape[0]
    first = first_at(t_ps, coarse, block, n, t0_ps, 0)
    a = t0_ps
    for px in range(width):
        b = edge_of(px + 1, t0_ps, span_ps, width)
        last = first_at(t_ps, coarse, block, n, b, first)
        found = 0
        if first > 0 and (first < n or a < end_ps):
            found = 1 << min(level[first - 1], 2)
        i = first
        while i < last and found != most:
            if i % block == 0 and i + block <= last:
                found |= seen[i // block]
                i += block
            else:
                found |= 1 << min(level[i], 2)
                i += 1
        bits[px] = found
        count[px] = last - first
        first = last
        a = b
