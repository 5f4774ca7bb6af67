"""Kernel of I2C over samples: 64 at once while bytes run; blocks with a START, a STOP or a bus that
is free go through the kernel over edges.

Source: NXP UM10204 rev. 7.0, 3.1.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from freezeframe.capture.files.plane_kernels import LANES, differs, lowest
from freezeframe.decoders.serial.i2c_kernels import IN_BYTES, events, take_bit
from freezeframe.decoders.serial.sample_kernels import edges_between, union, value_at

__all__ = ["events_of_samples"]

_ONE, _NONE = np.uint64(1), np.uint64(0)


@numba.njit(cache=True, nogil=True)
def events_of_samples(samples: Any, channels: Any, ten_bit: bool, state: Any, rows: Any) -> int:
    """Decode samples to rows.

    Args:
        samples: ``(n,)`` of an unsigned integer, and the index of the first in the capture.
        channels: the masks of SCL and SDA in a sample, ``(2,)`` uint64.
        ten_bit, state, rows: as for `events`; m at least twice the changes in the samples, and 8.
    Returns:
        Rows filled.
    """
    data, begin_sample = samples
    s = state[0]
    edges = np.empty(LANES, dtype=np.int64), np.empty(LANES, dtype=np.uint64)
    count = 0
    i = 0
    while i < len(data):
        if s.started:
            i, made = _run((data, i, begin_sample), channels, ten_bit, state, rows[count:])
            count += made
            if i == len(data):
                break
        stop = min(i + LANES, len(data))
        filled = edges_between(data, channels, (i, stop), begin_sample, edges)
        count += events((edges[0][:filled], edges[1][:filled]), ten_bit, state, rows[count:])
        i = stop
    return count


@numba.njit(cache=True, nogil=True)
def _run(samples: Any, channels: Any, ten_bit: bool, state: Any, rows: Any) -> tuple[int, int]:
    """Take whole blocks of bits, or of nothing at all; return where it stopped, and rows filled."""
    data, i, begin_sample = samples
    s = state[0]
    scl_mask, sda_mask = channels[0], channels[1]
    both = union(channels)
    if s.phase != IN_BYTES:
        still = np.uint64(0)
        for channel in range(2):
            if s.value >> np.uint64(channel) & _ONE:
                still |= channels[channel]
        while i + LANES <= len(data) and differs(data, i, both, still) == 0:
            i += LANES
        return i, 0
    scl_before = s.value & _ONE
    sda_before = s.value >> _ONE & _ONE
    low_at = s.low_at
    low_samples = s.low_samples
    bits = s.bits
    shift = s.shift
    byte_at = s.byte_at
    bit_at = s.bit_at
    bit_before = s.bit_before
    count = 0
    first = i
    while i + LANES <= len(data):
        scl = differs(data, i, scl_mask, _NONE)
        sda = differs(data, i, sda_mask, _NONE)
        clocked = scl ^ (scl << _ONE | scl_before)
        if (sda ^ (sda << _ONE | sda_before)) & scl & ~clocked:
            # SDA changes while SCL is high: a condition.
            break
        here = begin_sample + i
        rises = clocked & scl
        falls = clocked & ~scl
        while rises:
            place = lowest(rises)
            rises &= rises - _ONE
            if low_at < 0:
                low_at = here + lowest(falls)
                falls &= falls - _ONE
            sample = here + place
            low_samples = max(low_samples, sample - low_at)
            low_at = -1
            level: Any = np.int64(sda >> np.uint64(place) & _ONE)
            if bits < 8:
                if bits == 0:
                    byte_at = sample
                    shift = 0
                shift = shift << 1 | level
                bits += 1
                bit_before = bit_at
                bit_at = sample
                continue
            # The acknowledge, as from edges.
            s.bits = bits
            s.shift = shift
            s.byte_at = byte_at
            s.bit_at = bit_at
            s.width = bit_at - bit_before
            s.low_samples = low_samples
            count += take_bit(s, sample, level, ten_bit, rows[count])
            bits = 0
            low_samples = 0
        if falls:
            low_at = here + lowest(falls)
        scl_before = scl >> np.uint64(63)
        sda_before = sda >> np.uint64(63)
        i += LANES
    if i > first:
        s.value = value_at(np.uint64(data[i - 1]), channels)
        s.low_at = low_at
        s.low_samples = low_samples
        s.bits = bits
        s.shift = shift
        s.byte_at = byte_at
        s.bit_at = bit_at
        s.bit_before = bit_before
        if bits == 8:
            s.width = bit_at - bit_before
    return i, count
