"""Kernels of MDIO: clocks to frames and errors.

Source: IEEE 802.3-2018, 22.2.4.5 (management frame structure), 45.3 (the same for clause 45).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from freezeframe.decoders.kernel_numbers import ZERO, int64s

ERRORS = (
    "",
    "short-preamble",
    "bad-op",
    "bad-turnaround",
    "cut-frame",
    "illegal-bus",
    "other-clause",
)
_SHORT_PREAMBLE, _BAD_OP, _BAD_TA, _CUT, _ILLEGAL_BUS, _OTHER_CLAUSE = int64s(1, 6)

# A row of the result. Places are sample indices, -1 where there is none; values -1 where unknown.
ROW = np.dtype(
    [
        (name, np.int64)
        for name in (
            "error",  # index of ERRORS; 0 is a frame
            "sample",
            "st_sample",
            "op_sample",
            "phy_sample",
            "reg_sample",
            "ta_sample",
            "data_sample",
            "end_sample",
            "clause",
            "op",
            "phy",
            "reg",
            "ta",
            "ta_ok",
            "value",
            "preamble",
            "address",
        )
    ]
)

_BLANK = np.full(1, -1, dtype=np.int64).repeat(len(ROW.names or ())).view(ROW)
_BLANK["error"] = 0

_STATE = np.dtype(
    [
        ("phase", np.int64),
        ("ones", np.int64),  # consecutive ones while waiting for a start, 0 otherwise
        ("ones_at", np.int64, (32,)),  # where the last of them stood, a ring
        ("illegal_at", np.int64),
        ("preamble", np.int64),
        ("preamble_at", np.int64),
        ("bits", np.int64),  # bits of the frame so far
        ("shift", np.int64),  # those bits, the newest lowest
        ("at", np.int64, (64,)),  # places: 32 of the preamble's end, then 32 of the frame
        ("address", np.int64, (1024,)),  # register address of (port, device), -1 unknown
    ]
)
_WAIT, _FRAME, _ILLEGAL = 0, 1, 2
_MDIO = np.uint64(1)  # its place among the levels
_FULL = 32  # bits of a preamble, and of the frame after it


class Settings(NamedTuple):
    """The clause that is expected (0 for any), how many ones make a start believable, and how many a
    preamble has that is not short."""

    clause: int
    min_preamble: int
    full_preamble: int


def new_state() -> npt.NDArray[np.void]:
    """Return the state at the start of a stream: an array of one record."""
    state = np.zeros(1, dtype=_STATE)
    state["address"] = -1
    return state


@njit(cache=True, nogil=True)
def frames(clocks: Any, settings: Settings, s: Any, rows: Any) -> tuple[int, int]:
    """Take clocks until they or the room for rows are used up.

    Args:
        clocks: `Clocks` of MDC and MDIO.
        s: of `new_state`, changed.
        rows: ``(m,)`` of ROW, to be filled; m at least 8.
    Returns:
        Clocks consumed, rows filled.
    """
    sample, levels, _ = clocks
    count = 0
    for i in range(len(sample)):
        # One bit can end a frame with three errors.
        if count + 4 > len(rows):
            return i, count
        at = sample[i]
        bit = np.int64(levels[i] >> _MDIO) & 1
        if s.phase == _WAIT:
            if bit == 1:
                s.ones_at[s.ones % _FULL] = at
                s.ones += 1
            elif s.ones >= settings.min_preamble:
                kept = min(s.ones, _FULL)
                for j in range(kept):
                    s.at[_FULL - kept + j] = s.ones_at[(s.ones - kept + j) % _FULL]
                s.at[_FULL] = at
                s.preamble = s.ones
                s.preamble_at = s.at[_FULL - kept]
                s.bits = 1
                s.shift = 0
                s.ones = 0
                s.phase = _FRAME
            else:
                s.illegal_at = at
                if s.ones > 0:
                    s.illegal_at = s.ones_at[0]
                s.ones = 0
                s.phase = _ILLEGAL
        elif s.phase == _ILLEGAL:
            if bit == 1:
                rows[count] = _BLANK[0]
                rows[count].error = _ILLEGAL_BUS
                rows[count].sample = s.illegal_at
                rows[count].end_sample = at
                count += 1
                s.ones_at[0] = at
                s.ones = 1
                s.phase = _WAIT
        else:
            s.at[_FULL + s.bits] = at
            s.shift = s.shift << 1 | bit
            s.bits += 1
            if s.bits == _FULL:
                count += _finish(s, settings, rows[count : count + 4])
                s.phase = _WAIT
    return len(sample), count


@njit(cache=True, nogil=True)
def close(end_sample: int, s: Any, rows: Any) -> int:
    """Write what the end of the capture cut off, and count it.

    Args:
        end_sample: the first sample that is not in the capture.
        rows: room for at least 1.
    """
    rows[0] = _BLANK[0]
    if s.phase == _FRAME:
        _values(s, rows[0])
        rows[0].error = _CUT
        rows[0].sample = s.preamble_at
    elif s.phase == _ILLEGAL:
        rows[0].error = _ILLEGAL_BUS
        rows[0].sample = s.illegal_at
    else:
        return 0
    rows[0].end_sample = end_sample
    return 1


@njit(cache=True, nogil=True)
def _finish(s: Any, settings: Settings, rows: Any) -> int:
    rows[0] = _BLANK[0]
    frame = rows[0]
    _values(s, frame)
    frame.sample = s.preamble_at
    frame.end_sample = s.at[2 * _FULL - 1] + _last_bit_samples(s)
    if settings.clause not in (0, frame.clause):
        frame.error = _OTHER_CLAUSE
        return 1
    _address(s, frame)
    frame.st_sample = s.at[_FULL]
    frame.op_sample = s.at[_FULL + 2]
    frame.phy_sample = s.at[_FULL + 4]
    frame.reg_sample = s.at[_FULL + 9]
    frame.ta_sample = s.at[_FULL + 14]
    frame.data_sample = s.at[_FULL + 16]
    count = ZERO + 1
    if s.preamble < settings.full_preamble:
        count = _error(rows, count, _SHORT_PREAMBLE, s.preamble_at, frame.st_sample)
    # Clause 22 has write 01 and read 10; clause 45 uses all four.
    if frame.clause == 22 and frame.op in (0, 3):
        count = _error(rows, count, _BAD_OP, frame.op_sample, frame.phy_sample)
    if frame.ta_ok == 0:
        count = _error(rows, count, _BAD_TA, frame.ta_sample, frame.data_sample)
    return count


@njit(cache=True, nogil=True)
def _error(rows: Any, count: int, error: int, sample: int, end_sample: int) -> int:
    """Add an error about the frame in ``rows[0]``, with its values and a place of its own."""
    rows[count] = rows[0]
    row = rows[count]
    row.error = error
    row.sample = sample
    row.end_sample = end_sample
    row.st_sample = row.op_sample = row.phy_sample = -1
    row.reg_sample = row.ta_sample = row.data_sample = -1
    return count + 1


@njit(cache=True, nogil=True)
def _values(s: Any, row: Any) -> None:
    """Fill in the fields of which all bits are there."""
    row.preamble = s.preamble
    bits, shift = s.bits, s.shift
    if bits >= 2:
        row.clause = 22 if shift >> (bits - 2) & 1 else 45
    if bits >= 4:
        row.op = shift >> (bits - 4) & 3
    if bits >= 9:
        row.phy = shift >> (bits - 9) & 31
    if bits >= 14:
        row.reg = shift >> (bits - 14) & 31
    if bits >= 16:
        row.ta = shift >> (bits - 16) & 3
        # A station that writes drives 10; in a read the first bit floats and the PHY drives 0.
        row.ta_ok = row.ta == 2 or (row.ta == 0 and row.op >= 2)
    if bits >= 32:
        row.value = shift & 0xFFFF


@njit(cache=True, nogil=True)
def _address(s: Any, frame: Any) -> None:
    """Follow the address register of the frame's device (clause 45 has no address in data
    frames)."""
    if frame.clause != 45:
        return
    key = frame.phy << 5 | frame.reg
    if frame.op == 0:
        s.address[key] = frame.value
    frame.address = s.address[key]
    # 45.3: post-read-increment adds one, and leaves 65 535 as it is. A read that nothing answered
    # (turnaround not driven to 0) incremented nothing.
    if frame.op == 2 and 0 <= frame.address < 0xFFFF and frame.ta & 1 == 0:
        s.address[key] += 1


@njit(cache=True, nogil=True)
def _last_bit_samples(s: Any) -> int:
    """Estimate the length of the last bit, after which the clock may stop.

    The lower quartile of the bits before it, at most 48: a pause of the clock inside the frame
    does not lengthen it.
    """
    first = 2 * _FULL - 1 - min(48, _FULL - 1 + min(s.preamble, _FULL))
    periods = np.empty(2 * _FULL - 1 - first, dtype=np.int64)
    for i in range(len(periods)):
        periods[i] = s.at[first + i + 1] - s.at[first + i]
    periods.sort()
    return int(periods[len(periods) // 4])
