"""Kernel of the UART over samples: from a start bit to the middles of its bits; frames that are wrong
go through the kernel over edges.

Source: the asynchronous frame of ITU-T V.4 and TIA-232.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from freezeframe.capture.files.plane_kernels import LANES, differs, lowest
from freezeframe.decoders.serial.sample_kernels import edges_between
from freezeframe.decoders.serial.uart_kernels import (
    bit_around,
    bit_point,
    frames,
    parity_verdict,
)

__all__ = ["ROOM", "frames_of_samples"]

_STRETCH = 256  # samples that go through the kernel over edges at once
ROOM = 2 * _STRETCH + 16  # rows that they make at the most, and more
_NO_PARITY = 0
_MOST_BITS = 12  # start, 9 of data, parity, stop


@numba.njit(cache=True, nogil=True)
def frames_of_samples(
    samples: Any, channels: Any, settings: Any, state: Any, rows: Any
) -> tuple[int, int]:
    """Decode samples until they or the room for rows are used up.

    Args:
        samples: ``(n,)`` of an unsigned integer, and the index of the first in the capture.
        channels: the mask of the line in a sample, ``(1,)`` uint64.
        settings, state, rows: as for `frames`; m at least twice ROOM.
    Returns:
        Samples consumed, rows filled.
    """
    data, begin_sample = samples
    s = state[0]
    edges = np.empty(_STRETCH, dtype=np.int64), np.empty(_STRETCH, dtype=np.uint64)
    count = 0
    i = 0
    while i < len(data) and count + ROOM <= len(rows):
        if s.level == 1 and s.bit < 0:
            i, made = _run((data, i, begin_sample), channels[0], settings, state, rows[count:])
            count += made
            if i == len(data) or count + ROOM > len(rows):
                break
        stop = min(i + _STRETCH, len(data))
        filled = edges_between(data, channels, (i, stop), begin_sample, edges)
        stretch = edges[0][:filled], edges[1][:filled]
        _, made = frames(stretch, begin_sample + stop, settings, state, rows[count:])
        count += made
        i = stop
    return i, count


@numba.njit(cache=True, nogil=True)
def _run(samples: Any, mask: Any, settings: Any, state: Any, rows: Any) -> tuple[int, int]:
    """Take whole frames without an error, the line being idle before; return where it stopped."""
    data, i, begin_sample = samples
    s, option = state[0], settings[0]
    idle = np.uint64(0) if option.invert else mask
    stop_bit = option.bits + 1 + (option.parity != _NO_PARITY)
    points = np.empty(_MOST_BITS, dtype=np.int64)
    for bit in range(stop_bit + 1):
        points[bit] = bit_point(s, option, bit) - s.start
    data_begin = bit_around(s, option, 1)[0] - s.start
    data_end = bit_around(s, option, option.bits)[1] - s.start
    end = bit_around(s, option, stop_bit)[1] - s.start
    first, step = (option.bits - 1, -1) if option.msb_first else (0, 1)
    # Only a line that is low until the stop bit can have been low for a whole frame.
    may_break = points[stop_bit] >= option.break_samples
    count = 0
    while i + LANES <= len(data):
        if count == len(rows):
            break
        low = differs(data, i, mask, idle)
        if low == 0:
            i += LANES
            continue
        start = i + lowest(low)
        after = start + points[stop_bit] + 1
        if after > len(data):
            break
        if _low(data[start + points[0]], mask, idle) == 0:
            break
        character = 0
        place = first
        for bit in range(1, option.bits + 1):
            character |= (1 - _low(data[start + points[bit]], mask, idle)) << place
            place += step
        parity = -1
        verdict = -1
        if option.parity != _NO_PARITY:
            parity = 1 - _low(data[start + points[option.bits + 1]], mask, idle)
            verdict = parity_verdict(character, parity, option.parity)
        if _low(data[after - 1], mask, idle) or verdict == 0:
            break
        if may_break and character == 0 and parity <= 0:
            break
        row = rows[count]
        here = begin_sample + start
        row.error = 0
        row.sample = here
        row.data_sample = here + data_begin
        row.data_end_sample = here + data_end
        row.end_sample = here + end
        row.data = character
        row.parity = parity
        row.parity_ok = verdict
        row.stop_ok = 1
        count += 1
        i = after
    return i, count


@numba.njit(inline="always")
def _low(sample: Any, mask: Any, idle: Any) -> int:
    """Return 1 where the line is not at its idle level."""
    return np.int64((np.uint64(sample) & mask) != idle)  # type: ignore[return-value]
