"""Kernels that turn the edges of a serial lane into runs: so many equal bits, up to this sample.

Without a clock, each edge says again where bits begin: a run is as many bits as its length holds,
to the nearest whole number. So a rate that is wrong by up to 10 % and any slow drift do no harm,
for 8b/10b has an edge at least every 5 bits. With a clock, a bit is the level at a clock edge.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from freezeframe.decoders.link.lane_rows import FRACTION, GLITCH, MOST_BITS

_ONE = np.uint64(1)
_TABLE = 64  # runs of up to so many samples are looked up, not divided


@njit(cache=True, nogil=True)
def line_runs(edges: Any, bit: int, state: Any, lengths: Any) -> int:
    """Fill in the lengths, in samples, of whole runs of one line; return how many.

    The run that the capture begins in is not whole and not among them.

    Args:
        edges: samples and values.
        state: ``(3,)`` int64, -1 at the start of a stream, changed: level, its first sample, whether whole.
        lengths: ``(m,)`` int64; what does not fit is left out.
    """
    sample, value = edges
    place = np.uint64(bit)
    count = 0
    for i in range(len(sample)):
        level = np.int64(value[i] >> place & _ONE)
        if level == state[0]:
            continue
        if state[2] == 1 and count < len(lengths):
            lengths[count] = sample[i] - state[1]
            count += 1
        state[2] = 1 if state[0] >= 0 else 0
        state[0] = level
        state[1] = sample[i]
    return count


@njit(cache=True, nogil=True)
def line_edges(edges: Any, settings: Any, state: Any, places: Any) -> int:
    """Fill in the samples at which the line changes, of the first piece also the first sample.

    Without a branch, for of two lanes in one capture every other edge is the other one's.

    Args:
        edges: samples and values.
        settings, state: ``(1,)`` records of lane_rows.
        places: ``(m,)`` int64, m at least one more than the edges.
    Returns:
        Samples filled.
    """
    sample, value = edges
    s, option = state[0], settings[0]
    place = np.uint64(option.data_bit)
    count = 0
    if len(sample) == 0:
        return 0
    last = s.last
    if last < 0:
        s.level = np.int64(value[0] >> place & _ONE) ^ option.invert
        last = 1 - np.int64(value[0] >> place & _ONE)
    for i in range(len(sample)):
        now = np.int64(value[i] >> place & _ONE)
        places[count] = sample[i]
        count += now ^ last
        last = now
    s.last = last
    return count


@njit(cache=True, nogil=True)
def timed_runs(
    at_samples: Any, end_sample: int, settings: Any, state: Any, runs: Any, events: Any
) -> tuple[int, int, int]:
    """Turn the edges of a line without a clock into runs.

    Args:
        at_samples: samples at which the line changes, from `line_edges`.
        end_sample: the first sample after the piece.
        settings, state: ``(1,)`` records of lane_rows.
        runs: columns for the end (int64, sample) and the bits (int16: of 1 positive, of 0 negative) of
            each run. One without bits, the first and one after each silence, ends where the next begins.
            There is room for three times the edges and 3.
        events: ``(m,)`` of EVENT.
    Returns:
        Edges consumed, runs filled, events filled.
    """
    ends, bits = runs
    s, option = state[0], settings[0]
    period = option.period
    table = np.empty(_TABLE, np.int64)
    for length in range(_TABLE):
        table[length] = _bits(length, period)
    level = s.level
    edge = s.edge
    start = s.start
    silent = s.silent == 1
    before = _bits(edge - start, period) if start >= 0 else 0
    silence = (MOST_BITS + 1) * period >> FRACTION
    count = 0
    event_count = 0
    consumed = len(at_samples)
    for i in range(len(at_samples) + 1):
        at = at_samples[i] if i < len(at_samples) else end_sample
        length = at - edge
        if length > silence and edge >= 0 and not silent:
            if start >= 0:
                ends[count] = edge
                bits[count] = -before if level else before
                count += 1
            start = -1
            ends[count] = edge + silence
            bits[count] = MOST_BITS + 1 if level else -MOST_BITS - 1
            count += 1
            silent = True
        if i == len(at_samples):
            break
        if silent or edge < 0:
            ends[count] = at
            bits[count] = 0
            count += 1
            level = 1 - level if silent else level
            silent = False
            edge = at
            continue
        n = table[length] if length < _TABLE else _bits(length, period)
        if n == 0:
            if event_count == len(events):
                consumed = i
                break
            events[event_count].sample = edge
            events[event_count].code = GLITCH
            events[event_count].value = length
            event_count += 1
            # The run before goes on; at the start of the capture there is none.
            edge = start if start >= 0 else at
            start = -1
            level = 1 - level
            continue
        if start >= 0:
            ends[count] = edge
            bits[count] = -before if level else before
            count += 1
        start, edge, level, before = edge, at, 1 - level, n
    s.level = level
    s.edge = edge
    s.start = start
    s.silent = silent
    return consumed, count, event_count


@njit(cache=True, nogil=True)
def last_timed_run(end_sample: int, settings: Any, state: Any, runs: Any) -> int:
    """Give the runs that the end of the capture leaves open (at most 2); of a cut bit the half is enough."""
    ends, bits = runs
    s, period = state[0], settings[0].period
    if s.edge < 0:
        return 0
    count = 0
    if s.start >= 0:
        n = _bits(s.edge - s.start, period)
        ends[0] = s.edge
        bits[0] = -n if s.level else n
        count = 1
    n = 0 if s.silent else _bits(end_sample - s.edge, period)
    if n > 0:
        ends[count] = min(end_sample, s.edge + (n * period >> FRACTION))
        bits[count] = n if s.level else -n
        count += 1
    return count


@njit(cache=True, nogil=True)
def clocked_runs(edges: Any, settings: Any, state: Any, runs: Any) -> int:
    """Turn the edges of a line and its clock into runs; arguments as for `timed_runs`. Return the runs."""
    sample, value = edges
    ends, bits = runs
    s, option = state[0], settings[0]
    data_place = np.uint64(option.data_bit)
    clock_place = np.uint64(option.clock_bit)
    invert = np.uint64(option.invert)
    count = 0
    for i in range(len(sample)):
        clock = np.int64(value[i] >> clock_place & _ONE)
        if clock == s.clock:
            continue
        first = s.clock < 0
        s.clock = clock
        if first or not (option.rising if clock else option.falling):
            continue
        now = np.int64((value[i] >> data_place & _ONE) ^ invert)
        if now == s.level:
            s.bits += s.silent == 0
            if s.bits > MOST_BITS and s.silent == 0:
                ends[count] = sample[i]
                bits[count] = s.bits if s.level else -s.bits
                count += 1
                s.silent = 1
            continue
        ends[count] = sample[i]
        bits[count] = (s.bits if s.level else -s.bits) if s.level >= 0 and s.silent == 0 else 0
        count += 1
        s.level = now
        s.edge = sample[i]
        s.bits = 1
        s.silent = 0
    return count


@njit(cache=True, nogil=True)
def last_clocked_run(end_sample: int, state: Any, runs: Any) -> int:
    """Give the run that the end of the capture leaves open (at most 1)."""
    ends, bits = runs
    s = state[0]
    if s.level < 0 or s.silent:
        return 0
    ends[0] = end_sample
    bits[0] = s.bits if s.level else -s.bits
    return 1


@njit(cache=True, nogil=True)
def _bits(length: int, period: int) -> int:
    """Return the bits in so many samples, to the nearest."""
    return int(((length << FRACTION) + (period >> 1)) // period)
