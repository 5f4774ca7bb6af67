"""Kernel of JTAG over samples: the bits of a long scan side by side, other clocks one by one; blocks
in which TRST is low go through the kernel over edges.

Source: IEEE 1149.1-2013, figure 6-1 (TAP controller), 6.1.1.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from freezeframe.capture.files.plane_kernels import (
    LANES,
    bits_of,
    count_ones,
    differs,
    lowest,
    nth_one,
)
from freezeframe.decoders.serial.jtag_kernels import (
    LONGEST_IR,
    SHIFT_DR,
    SHIFT_IR,
    scans,
    take_clock,
)
from freezeframe.decoders.serial.sample_kernels import edges_between, value_at

__all__ = ["scans_of_samples"]

_ONE, _NONE = np.uint64(1), np.uint64(0)
_INSTRUCTION = (_ONE << np.uint64(LONGEST_IR)) - _ONE


@numba.njit(cache=True, nogil=True)
def scans_of_samples(
    samples: Any, channels: Any, state: Any, shifted: Any, rows: Any
) -> tuple[int, int, int]:
    """Decode samples until they or the room for rows are used up.

    Args:
        samples: ``(n,)`` of an unsigned integer, and the index of the first in the capture.
        channels: the masks of TCK, TMS, TDI, TDO, TRST in a sample, ``(5,)`` uint64.
        state, shifted, rows: as for `scans`; m at least 128.
    Returns:
        Samples consumed, states filled, scans filled.
    """
    data, begin_sample = samples
    states, found = rows
    s = state[0]
    trst = channels[4]
    edges = np.empty(LANES, dtype=np.int64), np.empty(LANES, dtype=np.uint64)
    state_count = 0
    scan_count = 0
    i = 0
    while i < len(data):
        if state_count + LANES > len(states) or scan_count + LANES > len(found):
            break
        if s.started and i + LANES <= len(data) and differs(data, i, trst, trst) == 0:
            at = state_count, scan_count
            stays, ended = _block((data, i, begin_sample + i), channels, state, shifted, rows, at)
            i += LANES
        else:
            stop = min(i + LANES, len(data))
            count = edges_between(data, channels, (i, stop), begin_sample, edges)
            stretch = edges[0][:count], edges[1][:count]
            left = states[state_count:], found[scan_count:]
            _, stays, ended = scans(stretch, trst != 0, state, shifted, left)
            i = stop
        state_count += stays
        scan_count += ended
    return i, state_count, scan_count


@numba.njit(cache=True, nogil=True)
def _block(
    samples: Any, channels: Any, state: Any, shifted: Any, rows: Any, filled: tuple[int, int]
) -> tuple[int, int]:
    """Take the clocks of one block; return the states and scans that they end.

    Args:
        filled: how many rows of each are filled already. Not slices of the rows: numba counts the
            references of each.
    """
    data, i, here = samples
    states, found = rows
    s = state[0]
    levels = differs(data, i, channels[0], _NONE)
    rises = levels & ~(levels << _ONE | s.value & _ONE)
    s.value = value_at(np.uint64(data[i + LANES - 1]), channels)
    if rises == 0:
        return 0, 0
    tms = differs(data, i, channels[1], _NONE)
    tdi = differs(data, i, channels[2], _NONE)
    tdo = differs(data, i, channels[3], _NONE)
    state_count, scan_count = filled
    while rises:
        ends = rises & tms
        # All before the first clock that leaves the state.
        stay = rises & ((ends & (~ends + _ONE)) - _ONE)
        if s.bits > 0 and stay and s.state in (SHIFT_DR, SHIFT_IR):
            count = count_ones(stay)
            to_chip = bits_of(tdi, stay)
            if s.bits < LONGEST_IR:
                s.low_bits |= np.int64(to_chip << np.uint64(s.bits) & _INSTRUCTION)
            at = s.first_byte, s.bits, count
            _put_bits(shifted[0], at, to_chip)
            _put_bits(shifted[1], at, bits_of(tdo, stay))
            s.bits += count
            s.clocks += count
            s.last_at = here + nth_one(stay, count - 1)
            rises ^= stay
            continue
        place = lowest(rises)
        rises &= rises - _ONE
        now = value_at(np.uint64(data[i + place]), channels)
        stays, ended = take_clock(
            s, (here + place, now), shifted, states[state_count], found[scan_count]
        )
        state_count += stays
        scan_count += ended
    return state_count - filled[0], scan_count - filled[1]


@numba.njit(cache=True, nogil=True)
def _put_bits(line: Any, at: tuple[int, int, int], new: Any) -> None:
    """Keep bits, the first one lowest, after those of the scan: ``at`` first byte, bits, new ones."""
    first_byte, bits, count = at
    byte = first_byte + (bits >> 3)
    place = bits & 7
    if place:
        line[byte] |= np.uint8(new << np.uint64(place))
        new >>= np.uint64(8 - place)
        count -= 8 - place
        byte += 1
    while count > 0:
        line[byte] = np.uint8(new)
        new >>= np.uint64(8)
        count -= 8
        byte += 1
