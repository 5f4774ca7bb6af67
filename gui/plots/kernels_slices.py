"""Loops over things that last: what fills each pixel column, and which items are wide enough to name."""

from __future__ import annotations

from typing import no_type_check

import numpy as np
from numba import njit

from freezeframe.gui.plots.kernels import edge_of, first_at
from freezeframe.gui.plots.pyramid import FAN
from freezeframe.gui.plots.slices import NOTHING


@no_type_check
@njit(cache=True, nogil=True)
def _end(ends, last_end, i):
    return ends[i] if i < ends.shape[0] else last_end


@no_type_check
@njit(cache=True, nogil=True)
def _of(column, i):
    return column[i] if column.shape[0] > 1 else column[0]


@no_type_check
@njit(cache=True, nogil=True)
def reduce_slices(slices, sums, begin, end, faults):
    """Reduce items ``begin..end`` (``begin`` a multiple of the block) into the sums.

    ``faults`` takes the first item that is not in order of time, that ends before it begins, whose
    class does not exist, and that ends before its predecessor does; -1: none.
    """
    # Arrays by name: a structure handed on within a loop costs a count of references of each part.
    t_ps, ends, last_end, klass, error = slices
    block, coarse, spent, errors, latest, _ = sums
    classes = spent.shape[1]
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
            k = _of(klass, i)
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
            wrong += _of(error, i)
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
    """Return the last item below ``before`` that ends after ``t_ps``; -1 when there is none."""
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
def _add_time(taken, t_ps, ends, last_end, klass, first, last):
    """Add to each class what its slices among ``first..last`` take, one picosecond more for each."""
    for i in range(first, last):
        taken[min(_of(klass, i), taken.shape[0] - 1)] += _end(ends, last_end, i) - t_ps[i] + 1


@no_type_check
@njit(cache=True, nogil=True)
def slice_columns(slices, sums, n, t0_ps, span_ps, wide_px, columns):
    """Fill the pixel columns from the first ``n`` items; return how many wide ones were put into ``wide``.

    An item is wide when it stands alone over at least ``wide_px`` columns; each is named once.
    """
    # Arrays by name: a part of a structure costs a count of references where it is used.
    t_ps, ends, last_end, klass, error = slices
    block, coarse, spent, errors, latest, bases = sums
    colour, cover, wrong, starts, wide = columns
    width, classes = colour.shape[0], spent.shape[1]
    taken = np.zeros(classes, np.int64)
    some_wrong = error.shape[0] > 1 or error[0]
    count = 0
    alone = -1
    alone_since = 0
    first = first_at(t_ps, coarse, block, n, t0_ps, 0)
    a = t0_ps
    for px in range(width):
        b = edge_of(px + 1, t0_ps, span_ps, width)
        last = first_at(t_ps, coarse, block, n, b, first)
        held = last_reaching(ends, last_end, latest, bases, block, first, a)
        if alone >= 0 and (held != alone or last > first):
            # the column in which the next item begins still belongs to the run that ends there
            if px - alone_since >= wide_px and count < wide.shape[0]:
                wide[count] = alone
                count += 1
            alone = -1
        bad = _of(error, held) if held >= 0 and some_wrong else 0
        colour[px] = NOTHING
        cover[px] = 0
        if last > first:
            taken[:] = 0
            if held >= 0:
                taken[min(_of(klass, held), classes - 1)] += min(_end(ends, last_end, held), b) - a
            # Whole blocks from their sums, what stands before and after them item by item.
            head = min(last, (first + block - 1) // block * block)
            tail = max(head, last // block * block)
            _add_time(taken, t_ps, ends, last_end, klass, first, head)
            _add_time(taken, t_ps, ends, last_end, klass, tail, last)
            if some_wrong:
                for i in range(first, head):
                    bad += _of(error, i)
                for i in range(tail, last):
                    bad += _of(error, i)
            if tail > head:
                for c in range(classes):
                    taken[c] += spent[tail // block, c] - spent[head // block, c]
                bad += errors[tail // block] - errors[head // block]
            after = max(_end(ends, last_end, last - 1) - b, 0)
            taken[min(_of(klass, last - 1), classes - 1)] -= after
            colour[px] = taken.argmax()
            cover[px] = min(1.0, (taken.sum() - (last - first)) / max(b - a, 1))
        elif held >= 0:
            colour[px] = _of(klass, held)
            cover[px] = min(_end(ends, last_end, held) - a, max(b - a, 1)) / max(b - a, 1)
            if alone < 0:
                alone = held
                began_before = px and starts[px - 1] and held == first - 1
                alone_since = px - 1 if began_before else px
        wrong[px] = bad
        starts[px] = last - first
        first = last
        a = b
    if alone >= 0 and width - alone_since >= wide_px and count < wide.shape[0]:
        wide[count] = alone
        count += 1
    return count
