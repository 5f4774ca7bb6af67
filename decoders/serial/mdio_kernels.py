"""Kernels of MDIO: rising clock edges to bits, bits to frames and errors.

Source: IEEE 802.3-2018, 22.2.4.5 (management frame structure), 45.3 (the same for clause 45).
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

__all__ = ["ERRORS", "ROW", "close", "frames", "new_state", "rising_bits"]

ERRORS = (
    "",
    "short-preamble",
    "bad-op",
    "bad-turnaround",
    "cut-frame",
    "illegal-bus",
    "other-clause",
)
_SHORT_PREAMBLE, _BAD_OP, _BAD_TA, _CUT, _ILLEGAL_BUS, _OTHER_CLAUSE = 1, 2, 3, 4, 5, 6

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
            "data",
            "preamble",
            "address",
        )
    ]
)

_STATE = np.dtype(
    [
        ("clock", np.int64),  # level of MDC at the last edge, -1 before the first
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
_FULL = 32  # bits of a preamble, and of the frame after it


def new_state() -> npt.NDArray[np.void]:
    """Return the state at the start of a stream: an array of one record."""
    state = np.zeros(1, dtype=_STATE)
    state["clock"] = -1
    state["address"] = -1
    return state


@numba.njit(cache=True, nogil=True)
def rising_bits(
    sample: npt.NDArray[np.int64], value: npt.NDArray[np.uint64], state: Any
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Return where MDC (bit 0) rises, and the level of MDIO (bit 1) in that sample."""
    at = np.empty(len(sample), dtype=np.int64)
    bit = np.empty(len(sample), dtype=np.uint8)
    count = 0
    clock = state[0].clock
    for i in range(len(sample)):
        now = np.int64(value[i] & np.uint64(1))
        at[count] = sample[i]
        bit[count] = (value[i] >> np.uint64(1)) & np.uint64(1)
        count += (now == 1) & (clock == 0)
        clock = now
    state[0].clock = clock
    return at[:count], bit[:count]


@numba.njit(cache=True, nogil=True)
def frames(
    at: npt.NDArray[np.int64],
    bit: npt.NDArray[np.uint8],
    settings: tuple[int, int, int],
    state: Any,
    rows: Any,
) -> tuple[int, int]:
    """Decode bits until they or the room for rows are used up.

    Args:
        at, bit: ``(n,)``, what `rising_bits` gave.
        settings: the clause that is expected (0 = any), the ones that make a start believable, and
            the ones of a preamble that is not short.
        state: from `new_state`, changed.
        rows: ``(m,)`` of ROW, to be filled; m at least 8.
    Returns:
        Bits consumed, rows filled.
    """
    clause, min_preamble, full_preamble = settings
    s = state[0]
    count = 0
    for i in range(len(at)):
        # One bit can end a frame with three errors.
        if count + 4 > len(rows):
            return i, count
        if s.phase == _WAIT:
            if bit[i] == 1:
                s.ones_at[s.ones % _FULL] = at[i]
                s.ones += 1
            elif s.ones >= min_preamble:
                kept = min(s.ones, _FULL)
                for j in range(kept):
                    s.at[_FULL - kept + j] = s.ones_at[(s.ones - kept + j) % _FULL]
                s.at[_FULL] = at[i]
                s.preamble = s.ones
                s.preamble_at = s.at[_FULL - kept]
                s.bits = 1
                s.shift = 0
                s.ones = 0
                s.phase = _FRAME
            else:
                s.illegal_at = at[i]
                if s.ones > 0:
                    s.illegal_at = s.ones_at[0]
                s.ones = 0
                s.phase = _ILLEGAL
        elif s.phase == _ILLEGAL:
            if bit[i] == 1:
                _clear(rows[count])
                rows[count].error = _ILLEGAL_BUS
                rows[count].sample = s.illegal_at
                rows[count].end_sample = at[i]
                count += 1
                s.ones_at[0] = at[i]
                s.ones = 1
                s.phase = _WAIT
        else:
            s.at[_FULL + s.bits] = at[i]
            s.shift = s.shift << 1 | np.int64(bit[i])
            s.bits += 1
            if s.bits == _FULL:
                count += _finish(s, clause, full_preamble, rows[count : count + 4])
                s.phase = _WAIT
    return len(at), count


@numba.njit(cache=True, nogil=True)
def close(end_sample: int, state: Any, rows: Any) -> int:
    """Write what the end of the capture cut off, and count it.

    Args:
        end_sample: the first sample that is not in the capture.
        rows: room for at least 1.
    """
    s = state[0]
    if s.phase == _FRAME:
        _values(s, rows[0])
        rows[0].error = _CUT
        rows[0].sample = s.preamble_at
    elif s.phase == _ILLEGAL:
        _clear(rows[0])
        rows[0].error = _ILLEGAL_BUS
        rows[0].sample = s.illegal_at
    else:
        return 0
    rows[0].end_sample = end_sample
    return 1


@numba.njit(cache=True, nogil=True)
def _finish(s: Any, clause: int, full_preamble: int, rows: Any) -> int:
    frame = rows[0]
    _values(s, frame)
    frame.sample = s.preamble_at
    frame.end_sample = s.at[2 * _FULL - 1] + _last_bit_samples(s)
    if clause not in (0, frame.clause):
        frame.error = _OTHER_CLAUSE
        return 1
    _address(s, frame)
    frame.st_sample = s.at[_FULL]
    frame.op_sample = s.at[_FULL + 2]
    frame.phy_sample = s.at[_FULL + 4]
    frame.reg_sample = s.at[_FULL + 9]
    frame.ta_sample = s.at[_FULL + 14]
    frame.data_sample = s.at[_FULL + 16]
    count = 1
    if s.preamble < full_preamble:
        count = _error(rows, count, _SHORT_PREAMBLE, s.preamble_at, frame.st_sample)
    # Clause 22 has write 01 and read 10; clause 45 uses all four.
    if frame.clause == 22 and frame.op in (0, 3):
        count = _error(rows, count, _BAD_OP, frame.op_sample, frame.phy_sample)
    if frame.ta_ok == 0:
        count = _error(rows, count, _BAD_TA, frame.ta_sample, frame.data_sample)
    return count


@numba.njit(cache=True, nogil=True)
def _error(rows: Any, count: int, error: int, sample: int, end_sample: int) -> int:
    """Add an error about the frame in ``rows[0]``, with its values and a place of its own."""
    row = rows[count]
    _clear(row)
    frame = rows[0]
    row.error = error
    row.sample = sample
    row.end_sample = end_sample
    row.clause = frame.clause
    row.op = frame.op
    row.phy = frame.phy
    row.reg = frame.reg
    row.ta = frame.ta
    row.ta_ok = frame.ta_ok
    row.data = frame.data
    row.preamble = frame.preamble
    row.address = frame.address
    return count + 1


@numba.njit(cache=True, nogil=True)
def _values(s: Any, row: Any) -> None:
    """Fill in the fields of which all bits are there."""
    _clear(row)
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
        row.data = shift & 0xFFFF


@numba.njit(cache=True, nogil=True)
def _address(s: Any, frame: Any) -> None:
    """Follow the address register of the frame's device (clause 45 has no address in data
    frames)."""
    if frame.clause != 45:
        return
    key = frame.phy << 5 | frame.reg
    if frame.op == 0:
        s.address[key] = frame.data
    frame.address = s.address[key]
    # 45.3: post-read-increment adds one, and leaves 65 535 as it is. A read that nothing answered
    # (turnaround not driven to 0) incremented nothing.
    if frame.op == 2 and 0 <= frame.address < 0xFFFF and frame.ta & 1 == 0:
        s.address[key] += 1


@numba.njit(cache=True, nogil=True)
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


@numba.njit(cache=True, nogil=True)
def _clear(row: Any) -> None:
    row.error = 0
    row.sample = -1
    row.st_sample = -1
    row.op_sample = -1
    row.phy_sample = -1
    row.reg_sample = -1
    row.ta_sample = -1
    row.data_sample = -1
    row.end_sample = -1
    row.clause = -1
    row.op = -1
    row.phy = -1
    row.reg = -1
    row.ta = -1
    row.ta_ok = -1
    row.data = -1
    row.preamble = -1
    row.address = -1
