"""Loops over things that last: what fills each pixel column, and which items are wide enough to name.

Ends are handed over as an array and a last end, so that values which hold until the next begins need
no memory of their own for it (``ends = t_ps[1:]``).
"""

from __future__ import annotations

from typing import no_type_check

import numpy as np
from numba import njit

from freezeframe.gui.plots.kernels import FAN, edge_of, first_at

__all__ = ["NOTHING", "assign_lanes", "last_reaching", "reduce_slices", "slice_columns"]

NOTHING = 255  # the class of a column in which there is no slice


@no_type_check
@njit(cache=True, nogil=True)
def _end(ends, last_end, i):
    return ends[i] if i < ends.shape[0] else last_end


@no_type_check
@njit(cache=True, nogil=True)
def reduce_slices(
    t_ps, ends, last_end, klass, error, begin, end, block, coarse, spent, errors, latest, faults
):
    """Reduce items ``begin..end`` (``begin`` a multiple of ``block``).

    ``spent[b, c]``: the time of class c in all slices before block b, each counted one picosecond
    longer than it is so that events without length count too. ``errors[b]``: slices in error before
    block b. ``latest[b]``: the last end in block b. ``klass`` and ``error`` have one entry when they
    are the same for all. ``faults`` takes the first item that is not in order of time, that ends
    before it begins, whose class does not exist, and that ends before its predecessor does; -1: none.
    """
    classes = spent.shape[1]
    class_step = 1 if klass.shape[0] > 1 else 0
    error_step = 1 if error.shape[0] > 1 else 0
    previous = t_ps[begin - 1] if begin else t_ps[begin]
    previous_end = _end(ends, last_end, begin - 1) if begin else t_ps[begin]
    for b in range(begin // block, (end + block - 1) // block):
        first = b * block
        coarse[b] = t_ps[first]
        for c in range(classes):
            spent[b + 1, c] = spent[b, c]
        wrong = 0
        reach = np.int64(-(1 << 62))
        for i in range(first, min(first + block, end)):
            t = t_ps[i]
            until = _end(ends, last_end, i)
            k = klass[i * class_step]
            if t < previous and faults[0] < 0:
                faults[0] = i
            if until < t and faults[1] < 0:
                faults[1] = i
            if k >= classes:
                if faults[2] < 0:
                    faults[2] = i
                k = 0
            if until < previous_end and faults[3] < 0:
                faults[3] = i
            previous = t
            previous_end = until
            spent[b + 1, k] += until - t + 1
            wrong += error[i * error_step]
            reach = max(reach, until)
        errors[b + 1] = errors[b] + wrong
        latest[b] = reach


@no_type_check
@njit(cache=True, nogil=True)
def assign_lanes(t_ps, ends, most, lanes):
    """Put each slice into the first of ``most`` lanes that is free, else into the last."""
    free_from = np.empty(most, np.int64)
    used = 0
    for i in range(t_ps.shape[0]):
        lane = 0
        while lane < used and free_from[lane] > t_ps[i]:
            lane += 1
        if lane == used:
            if used < most:
                used += 1
            else:
                lane = most - 1
                free_from[lane] = max(free_from[lane], ends[i])
                lanes[i] = lane
                continue
        free_from[lane] = ends[i]
        lanes[i] = lane


@no_type_check
@njit(cache=True, nogil=True)
def last_reaching(ends, last_end, latest, bases, block, before, t_ps):
    """Return the last item below ``before`` that ends after ``t_ps``; -1 when there is none.

    ``latest`` holds, level after level from ``bases[level]``, the last end in each block; without a
    level the ends do not decrease, and only the item before can be the one.
    """
    i = before - 1
    if i < 0 or _end(ends, last_end, i) > t_ps:
        return i
    if bases.shape[0] == 0:
        return -1
    while i >= 0 and (i + 1) % block:
        if _end(ends, last_end, i) > t_ps:
            return i
        i -= 1
    if i < 0:
        return -1
    node = (i + 1) // block - 1
    level = 0
    while True:
        if latest[bases[level] + node] > t_ps:
            if level == 0:
                break
            level -= 1
            node = node * FAN + FAN - 1
            continue
        # this node has none: the one before it, one level up wherever a parent begins here
        if node == 0:
            return -1
        while level + 1 < bases.shape[0] and node % FAN == 0:
            node //= FAN
            level += 1
            if node == 0:
                return -1
        node -= 1
    i = node * block + block - 1
    while _end(ends, last_end, i) <= t_ps:
        i -= 1
    return i


@no_type_check
@njit(cache=True, nogil=True)
def slice_columns(
    t_ps, ends, last_end, klass, error, n, coarse, spent, errors, latest, bases, block, t0_ps, span_ps,
    wide_px, colour, cover, wrong, starts, wide,
):  # fmt: skip
    """Fill the pixel columns; return how many wide items were put into ``wide``.

    ``colour``: the class that takes most of the column's time, NOTHING when no slice is there.
    ``cover``: the share of the column in which a slice stands, 0..1. ``wrong``: how many slices in
    error begin in the column, or stand in it. ``starts``: how many slices begin in it.
    ``wide``: items that stand alone over at least ``wide_px`` columns, in order, each once.
    """
    width = colour.shape[0]
    classes = spent.shape[1]
    class_step = 1 if klass.shape[0] > 1 else 0
    error_step = 1 if error.shape[0] > 1 else 0
    some_wrong = error_step == 1 or error[0]
    taken = np.zeros(classes, np.int64)
    found = 0
    alone = -1
    alone_since = 0
    first = first_at(t_ps, coarse, block, n, t0_ps, 0)
    a = t0_ps
    for px in range(width + 1):
        if px == width:
            held = -2
        else:
            b = edge_of(px + 1, t0_ps, span_ps, width)
            last = first_at(t_ps, coarse, block, n, b, first)
            held = last_reaching(ends, last_end, latest, bases, block, first, a)
        if alone >= 0 and (px == width or held != alone or last > first):
            # the column in which the next item begins still belongs to the run that ends there
            if px - alone_since >= wide_px and found < wide.shape[0]:
                wide[found] = alone
                found += 1
            alone = -1
        if px == width:
            break
        length = max(b - a, 1)
        if last == first:
            wrong[px] = 0
            starts[px] = 0
            if held < 0:
                colour[px] = NOTHING
                cover[px] = 0
            else:
                colour[px] = klass[held * class_step]
                cover[px] = min(_end(ends, last_end, held) - a, length) / length
                wrong[px] = error[held * error_step] if some_wrong else 0
                if alone < 0:
                    alone = held
                    alone_since = px
                    if px and starts[px - 1] and held == first - 1:
                        alone_since = px - 1
        else:
            for c in range(classes):
                taken[c] = 0
            bad = 0
            if held >= 0:
                taken[min(klass[held * class_step], classes - 1)] += (
                    min(_end(ends, last_end, held), b) - a
                )
                bad = error[held * error_step] if some_wrong else 0
            head = min(last, (first + block - 1) // block * block)
            tail = max(head, last // block * block)
            if tail > head:
                for c in range(classes):
                    taken[c] += spent[tail // block, c] - spent[head // block, c]
                bad += errors[tail // block] - errors[head // block]
            for part in range(2):
                for i in range(first if part == 0 else tail, head if part == 0 else last):
                    taken[min(klass[i * class_step], classes - 1)] += (
                        _end(ends, last_end, i) - t_ps[i] + 1
                    )
                    if some_wrong:
                        bad += error[i * error_step]
            k = min(klass[(last - 1) * class_step], classes - 1)
            taken[k] -= max(_end(ends, last_end, last - 1) - b, 0)
            best = 0
            total = 0
            for c in range(classes):
                total += taken[c]
                if taken[c] > taken[best]:
                    best = c
            colour[px] = best
            cover[px] = min(1.0, (total - (last - first)) / length)
            wrong[px] = bad
            starts[px] = last - first
        first = last
        a = b
    return found
