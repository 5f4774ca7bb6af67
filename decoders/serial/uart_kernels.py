"""Kernel of the UART: one line, as edges or as samples, to frames and errors.

Source: the asynchronous frame of ITU-T V.4 and TIA-232: a start bit of 0, data, parity, a stop bit
of 1; each bit is taken in its middle, counted from the falling edge of the start bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from freezeframe.capture.files.plane_kernels import count_ones
from freezeframe.decoders.cursor import (
    level_at,
    level_since,
    next_change,
    place_at,
    sample_at,
)

# The last two are about a line whose rate could not be measured.
ERRORS = ("", "bad-start", "bad-parity", "bad-stop", "break", "cut-frame", "few-pulses", "no-baud")
_BAD_START, _BAD_PARITY, _BAD_STOP, _BREAK, _CUT = 1, 2, 3, 4, 5

PARITIES = ("none", "odd", "even", "zero", "one", "ignore")
_NONE, _ODD, _EVEN, _ZERO, _ONE = 0, 1, 2, 3, 4
_MOST_BITS = 12  # start, 9 of data, parity, stop

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
            "value",
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
            "half_down",  # samples of half a bit, rounded down and up
            "half_up",
            "msb_first",
            "invert",
        )
    ]
)

_STATE = np.dtype(
    [
        ("level", np.int64),  # at the end of a piece, after inversion; -1 before the capture
        ("low_at", np.int64),  # where the line fell, -1 where it is high or that is not known
        ("bit", np.int64),  # number of the bit that is next, -1 while waiting for a start
        ("start", np.int64),
        ("character", np.int64),  # its bits so far
        ("parity", np.int64),
    ]
)


def new_state() -> npt.NDArray[np.void]:
    """Return the state at the start of a stream: an array of one record."""
    state = np.zeros(1, dtype=_STATE)
    state["level"] = state["low_at"] = state["bit"] = -1
    return state


@njit(cache=True, nogil=True)
def frames(line: Any, place: int, option: Any, s: Any, rows: Any) -> tuple[int, int]:
    """Go along a piece of the line until it or the room for rows is used up.

    Args:
        line: `EdgeLine` or `SampleLine`.
        place: where to go on: -1 at the begin of a piece, 0 at that of a capture.
        option: of SETTINGS.
        s: of `new_state`, changed.
        rows: ``(m,)`` of ROW, to be filled; m at least 8.
    Returns:
        The place to go on from, one after the last when all is done; rows filled.
    """
    middles = _middles(option)
    bits = option.bits
    # Of bit 1 the place is the first or the last of the data.
    first_place, step = (bits, -1) if option.msb_first else (-1, 1)
    stop_bit = bits + 1 + (option.parity != _NONE)
    may_break = middles[stop_bit] >= option.break_samples
    count = 0
    while count + 4 <= len(rows):
        if s.bit < 0:
            place = next_change(line, place)
            if place == len(line.value):
                _leave(line, s)
                return place, count
            at = sample_at(line, place)
            if level_at(line, place) == 0:
                s.bit = 0
                s.start = s.low_at = at
            else:
                count += _end_low(s, option, at, rows[count])
            continue
        start = s.start
        last = stop_bit  # that the piece has
        while last >= s.bit and start + middles[last] >= line.end_sample:
            last -= 1
        if s.bit == 0 and last >= 0:
            place = place_at(line, place, start + middles[0])
            if level_at(line, place) == 1:
                count += _bad_start(s, option, middles[0], rows[count])
                continue
            s.character = 0
            s.parity = -1
        character = s.character
        for bit in range(np.uint64(max(s.bit, 1)), np.uint64(min(last, bits) + 1)):
            place = place_at(line, place, start + middles[bit])
            character |= level_at(line, place) << (first_place + step * np.int64(bit))
        s.character = character
        if option.parity != _NONE and s.bit <= bits + 1 <= last:
            place = place_at(line, place, start + middles[bits + 1])
            s.parity = level_at(line, place)
        if last < stop_bit:
            # The frame goes on after the piece.
            s.bit = last + 1
            _leave(line, s)
            return len(line.value), count
        place = place_at(line, place, start + middles[stop_bit])
        stop = level_at(line, place)
        if stop == 0 or may_break:
            count += _follow_low(line, place, option, s, rows[count])
        else:
            s.low_at = -1
        _put_frame(s, option, middles, stop, rows[count])
        wrong = stop == 0 or rows[count].parity_ok == 0
        count += 1
        if wrong:
            count += _errors_of_frame(s, option, middles, rows, count)
        s.bit = -1
    return place, count


@njit(cache=True, nogil=True)
def close(end_sample: int, option: Any, s: Any, rows: Any) -> int:
    """Write what the end of the capture cut off, and count it (at most 2 rows)."""
    count = 0
    if s.bit >= 0:
        _clear(rows[0])
        rows[0].error = _CUT
        rows[0].sample = s.start
        rows[0].end_sample = end_sample
        count = 1
    return count + _end_low(s, option, end_sample, rows[count])


@njit(cache=True, nogil=True)
def _bad_start(s: Any, option: Any, middle: int, row: Any) -> int:
    """Write that there is no start bit where the line fell; return 1."""
    _clear(row)
    row.error = _BAD_START
    row.sample, row.end_sample = _around(s, option, middle)
    s.bit = s.low_at = -1
    return 1


@njit(cache=True, nogil=True)
def _middles(option: Any) -> Any:
    """Return the samples from the start to where each bit is taken."""
    middles = np.empty(_MOST_BITS, dtype=np.int64)
    for bit in range(_MOST_BITS):
        middles[bit] = middle_of(bit, option.samplerate_hz, option.baud)
    return middles


@njit(cache=True, nogil=True)
def middle_of(bit: int, samplerate_hz: int, baud: int) -> int:
    """Return the samples from the start to where a bit is taken: (w - 1) / 2 + bit * w, rounded up.

    Exact: w = samplerate_hz / baud is no whole number, and a sum of rounded ones would drift. Below 3
    samples a bit it is the nearest: the line fell up to a sample before the start, so that only in
    (w - 1) samples around the middle the bit is sure, and the next above may be outside.
    """
    twice = samplerate_hz * (2 * bit + 1) - baud
    if samplerate_hz < 3 * baud:
        return (twice + baud) // (2 * baud)
    return -(-twice // (2 * baud))


@njit(cache=True, nogil=True)
def _end_low(s: Any, option: Any, at: int, row: Any) -> int:
    """Take the end of the time in which the line is low, if it is; return 1 where that was a break."""
    begin, s.low_at = s.low_at, -1
    if begin < 0 or at - begin < option.break_samples:
        return 0
    _clear(row)
    row.error = _BREAK
    row.sample = begin
    row.end_sample = at
    return 1


@njit(cache=True, nogil=True)
def _follow_low(line: Any, place: int, option: Any, s: Any, row: Any) -> int:
    """See since when the line is low at the stop bit; return 1 for a break that ends with it.

    In a frame a break is as long only where the stop bit is half a bit: then the line rises in the very
    sample where that is taken.
    """
    if level_at(line, place) == 0:
        begin = level_since(line, place)
        if begin >= 0:
            s.low_at = begin
        return 0
    rise = s.start + option.break_samples
    count = 0
    if place >= 0 and sample_at(line, place) == rise and level_since(line, place) == rise:
        begin = level_since(line, place - 1)
        if begin >= 0:
            s.low_at = begin
        count = _end_low(s, option, rise, row)
    s.low_at = -1
    return count


@njit(cache=True, nogil=True)
def _leave(line: Any, s: Any) -> None:
    """Keep what the line is at the end of a piece."""
    last = len(line.value) - 1
    s.level = level_at(line, last)
    begin = level_since(line, last) if s.level == 0 else -1
    if s.level == 1 or begin >= 0:
        s.low_at = begin


@njit(cache=True, nogil=True)
def _put_frame(s: Any, option: Any, middles: Any, stop: int, row: Any) -> None:
    last_bit = option.bits + (option.parity != _NONE)
    row.error = 0
    row.sample = s.start
    row.data_sample = _around(s, option, middles[1])[0]
    row.data_end_sample = _around(s, option, middles[option.bits])[1]
    row.end_sample = _around(s, option, middles[last_bit + 1])[1]
    row.value = s.character
    row.parity = s.parity
    row.parity_ok = parity_verdict(s.character, s.parity, option.parity) if s.parity >= 0 else -1
    row.stop_ok = stop


@njit(cache=True, nogil=True)
def _errors_of_frame(s: Any, option: Any, middles: Any, rows: Any, count: int) -> int:
    """Write what is wrong with the frame before row ``count``; return how many rows that takes."""
    frame = rows[count - 1]
    last_bit = option.bits + (option.parity != _NONE)
    errors = 0
    if frame.parity_ok == 0:
        _put_error(rows[count], frame, _BAD_PARITY, _around(s, option, middles[last_bit]))
        errors = 1
    if frame.stop_ok == 0:
        place = _around(s, option, middles[last_bit + 1])
        _put_error(rows[count + errors], frame, _BAD_STOP, place)
        errors += 1
    return errors


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _around(s: Any, option: Any, middle: int) -> tuple[int, int]:
    """Return the samples of a bit: half a bit to both sides of its middle."""
    point = s.start + middle
    return point - option.half_down, point + option.half_up


@njit(cache=True, nogil=True)
def _put_error(row: Any, frame: Any, error: int, place: tuple[int, int]) -> None:
    """Write an error about a frame, with its values and a place of its own."""
    _clear(row)
    row.error = error
    row.sample, row.end_sample = place
    row.value = frame.value
    row.parity = frame.parity
    row.parity_ok = frame.parity_ok
    row.stop_ok = frame.stop_ok


@njit(cache=True, nogil=True)
def _clear(row: Any) -> None:
    row.error = 0
    row.sample = row.data_sample = row.data_end_sample = row.end_sample = -1
    row.value = row.parity = row.parity_ok = row.stop_ok = -1
