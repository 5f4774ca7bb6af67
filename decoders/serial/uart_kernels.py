"""Kernel of the UART: edges of one line to frames and errors.

Source: the asynchronous frame of ITU-T V.4 and TIA-232: a start bit of 0, data, parity, a stop bit
of 1; each bit is taken in its middle, counted from the falling edge of the start bit.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from freezeframe.capture.files.plane_kernels import count_ones

__all__ = [
    "ERRORS",
    "PARITIES",
    "ROW",
    "SETTINGS",
    "bit_around",
    "bit_point",
    "close",
    "frames",
    "new_state",
    "parity_verdict",
]

# The last two are about a line whose rate could not be measured.
ERRORS = ("", "bad-start", "bad-parity", "bad-stop", "break", "cut-frame", "few-pulses", "no-baud")
_BAD_START, _BAD_PARITY, _BAD_STOP, _BREAK, _CUT = 1, 2, 3, 4, 5

PARITIES = ("none", "odd", "even", "zero", "one", "ignore")
_NONE, _ODD, _EVEN, _ZERO, _ONE = 0, 1, 2, 3, 4

# Places are sample indices; -1 where there is none or it is not known.
ROW = np.dtype(
    [
        (name, np.int64)
        for name in (
            "error",  # index of ERRORS; 0 is a frame
            "sample",
            "data_sample",
            "data_end_sample",
            "end_sample",
            "data",
            "parity",
            "parity_ok",
            "stop_ok",
        )
    ]
)

SETTINGS = np.dtype(
    [
        (name, np.int64)
        for name in (
            "samplerate_hz",
            "baud",
            "bits",
            "parity",  # index of PARITIES
            "break_samples",  # low for so long is a break
            "msb_first",
            "invert",
        )
    ]
)

_STATE = np.dtype(
    [
        ("level", np.int64),  # of the line after inversion, -1 before the first sample
        ("low_at", np.int64),  # where it fell, -1 while it is high
        ("bit", np.int64),  # number of the bit that is next, -1 while waiting for a start
        ("start", np.int64),
        ("data", np.int64),
        ("parity", np.int64),
    ]
)


def new_state() -> npt.NDArray[np.void]:
    """Return the state at the start of a stream: an array of one record."""
    state = np.zeros(1, dtype=_STATE)
    state["level"] = state["low_at"] = state["bit"] = -1
    return state


@numba.njit(cache=True, nogil=True)
def frames(edges: Any, end_sample: int, settings: Any, state: Any, rows: Any) -> tuple[int, int]:
    """Decode edges until they or the room for rows are used up.

    Args:
        edges: samples and values, bit 0 being the line.
        end_sample: the first sample after the piece.
        settings: ``(1,)`` of SETTINGS.
        state: from `new_state`, changed.
        rows: ``(m,)`` of ROW, to be filled; m at least 8.
    Returns:
        Edges consumed (one more than there are when all is done), rows filled.
    """
    sample, value = edges
    s, option = state[0], settings[0]
    count = 0
    for i in range(len(sample) + 1):
        # An edge can end one frame with two errors, and a break; a bad start is a row alone.
        if count + 5 > len(rows):
            return i, count
        until = end_sample if i == len(sample) else sample[i]
        while s.bit >= 0 and bit_point(s, option, s.bit) < until:
            count += _take_bit(s, option, rows[count : count + 4])
        if i == len(sample):
            break
        level = np.int64(value[i] & np.uint64(1)) ^ option.invert
        if level == s.level:
            continue
        if level == 0:
            if s.level == 1:
                s.low_at = until
                if s.bit < 0:
                    s.bit = 0
                    s.start = until
        else:
            if s.low_at >= 0 and until - s.low_at >= option.break_samples:
                _clear(rows[count])
                rows[count].error = _BREAK
                rows[count].sample = s.low_at
                rows[count].end_sample = until
                count += 1
            s.low_at = -1
        s.level = level
    return len(sample) + 1, count


@numba.njit(cache=True, nogil=True)
def close(end_sample: int, settings: Any, state: Any, rows: Any) -> int:
    """Write what the end of the capture cut off, and count it (at most 2 rows)."""
    s, option = state[0], settings[0]
    count = 0
    if s.bit >= 0:
        _clear(rows[0])
        rows[0].error = _CUT
        rows[0].sample = s.start
        rows[0].end_sample = end_sample
        count = 1
    if s.low_at >= 0 and end_sample - s.low_at >= option.break_samples:
        _clear(rows[count])
        rows[count].error = _BREAK
        rows[count].sample = s.low_at
        rows[count].end_sample = end_sample
        count += 1
    return count


@numba.njit(cache=True, nogil=True)
def bit_point(s: Any, option: Any, bit: int) -> int:
    """Return the sample in the middle of a bit: start + (w - 1) / 2 + bit * w, rounded up.

    Exact: w = samplerate_hz / baud is no whole number, and a sum of rounded ones would drift.
    """
    twice = option.samplerate_hz * (2 * bit + 1) - option.baud
    return int(s.start - (-twice) // (2 * option.baud))


@numba.njit(cache=True, nogil=True)
def _take_bit(s: Any, option: Any, rows: Any) -> int:
    """Take the next bit from the line as it is; return the rows this completes."""
    bit, level = s.bit, s.level
    s.bit += 1
    if bit == 0:
        s.data = 0
        s.parity = -1
        if level == 0:
            return 0
        _clear(rows[0])
        rows[0].error = _BAD_START
        rows[0].sample, rows[0].end_sample = bit_around(s, option, 0)
        s.bit = -1
        return 1
    if bit <= option.bits:
        place = option.bits - bit if option.msb_first else bit - 1
        s.data |= level << place
        return 0
    if bit == option.bits + 1 and option.parity != _NONE:
        s.parity = level
        return 0
    count = _finish(s, option, level, rows)
    s.bit = -1
    return count


@numba.njit(cache=True, nogil=True)
def _finish(s: Any, option: Any, stop: int, rows: Any) -> int:
    frame = rows[0]
    _clear(frame)
    frame.sample = s.start
    frame.data_sample = bit_around(s, option, 1)[0]
    frame.data_end_sample = bit_around(s, option, option.bits)[1]
    stop_bit = option.bits + 1 + (option.parity != _NONE)
    frame.end_sample = bit_around(s, option, stop_bit)[1]
    frame.data = s.data
    frame.parity = s.parity
    frame.stop_ok = stop
    if s.parity >= 0:
        frame.parity_ok = parity_verdict(s.data, s.parity, option.parity)
    count = 1
    if frame.parity_ok == 0:
        count = _error(rows, count, _BAD_PARITY, bit_around(s, option, option.bits + 1))
    if stop == 0:
        count = _error(rows, count, _BAD_STOP, bit_around(s, option, stop_bit))
    return count


@numba.njit(cache=True, nogil=True)
def parity_verdict(data: int, bit: int, parity: int) -> int:
    """Return 1 when the parity bit is that of the data; ``parity`` is an index of PARITIES."""
    if parity == _ZERO:
        return int(bit == 0)
    if parity == _ONE:
        return int(bit == 1)
    if parity not in (_ODD, _EVEN):
        return 1
    ones = count_ones(np.uint64(data)) + bit
    return int(ones & 1 == (parity == _ODD))


@numba.njit(cache=True, nogil=True)
def bit_around(s: Any, option: Any, bit: int) -> tuple[int, int]:
    """Return the samples of a bit: half a bit to both sides of its middle."""
    point = bit_point(s, option, bit)
    half_down = option.samplerate_hz // (2 * option.baud)
    half_up = -(-option.samplerate_hz // (2 * option.baud))
    return point - half_down, point + half_up


@numba.njit(cache=True, nogil=True)
def _error(rows: Any, count: int, error: int, place: tuple[int, int]) -> int:
    """Add an error about the frame in ``rows[0]``, with its values and a place of its own."""
    row, frame = rows[count], rows[0]
    _clear(row)
    row.error = error
    row.sample, row.end_sample = place
    row.data = frame.data
    row.parity = frame.parity
    row.parity_ok = frame.parity_ok
    row.stop_ok = frame.stop_ok
    return count + 1


@numba.njit(cache=True, nogil=True)
def _clear(row: Any) -> None:
    row.error = 0
    row.sample = -1
    row.data_sample = -1
    row.data_end_sample = -1
    row.end_sample = -1
    row.data = -1
    row.parity = -1
    row.parity_ok = -1
    row.stop_ok = -1
