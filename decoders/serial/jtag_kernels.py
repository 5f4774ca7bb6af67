"""Kernels of JTAG: clocks to states of the TAP controller and scans.

Source: IEEE 1149.1-2013, figure 6-1 (TAP controller), 6.1.1, 4.5 (TRST).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from freezeframe.decoders.clocked import MARK, STILL
from freezeframe.decoders.kernel_numbers import ZERO, int64s

STATES = (
    "test-logic-reset",
    "run-test/idle",
    "select-dr-scan",
    "capture-dr",
    "shift-dr",
    "exit1-dr",
    "pause-dr",
    "exit2-dr",
    "update-dr",
    "select-ir-scan",
    "capture-ir",
    "shift-ir",
    "exit1-ir",
    "pause-ir",
    "exit2-ir",
    "update-ir",
)
_RESET = 0
_SHIFT_DR, _EXIT1_DR, _UPDATE_DR, _SHIFT_IR, _EXIT1_IR, _UPDATE_IR = 4, 5, 8, 11, 12, 15

# The state that follows with TMS 0 and 1.
_NEXT = np.array(
    [
        (1, 0),
        (1, 2),
        (3, 9),
        (4, 5),
        (4, 5),
        (6, 8),
        (6, 7),
        (4, 8),
        (1, 2),
        (10, 0),
        (11, 12),
        (11, 12),
        (13, 15),
        (13, 14),
        (11, 15),
        (1, 2),
    ]
)

ERRORS = ("", "cut-scan", "reset-scan")
_NONE, _CUT, _RESET_SCAN = int64s(0, 3)

TRST = 1 << 4  # among the levels, as TCK, TMS, TDI and TDO are bits 0 to 3
_TCK, _TMS, _TRST = np.uint64(1), np.uint64(2), np.uint64(TRST)
_ONE = np.uint64(1)
_LONGEST_IR = 63  # bits of an instruction that int64 holds

STATE_ROW = np.dtype(
    [(name, np.int64) for name in ("state", "sample", "last_sample", "end_sample", "clocks")]
)

# The bits stand in whole bytes from first_byte on, the first one lowest.
SCAN_ROW = np.dtype(
    [
        (name, np.int64)
        for name in (
            "error",  # index of ERRORS
            "ir",
            "sample",
            "end_sample",
            "bits",
            "first_byte",
            "instruction",
        )
    ]
)

_STATE = np.dtype(
    [
        ("state", np.int64),
        ("clocked", np.int64),  # whether the state has a beginning yet
        ("state_at", np.int64),
        ("last_at", np.int64),  # the last rising edge
        ("clocks", np.int64),
        ("bits", np.int64),  # of the scan so far
        ("scan_at", np.int64),
        ("first_byte", np.int64),
        ("instruction", np.int64),  # -1 when it is not known
    ]
)


def new_state(state: int) -> npt.NDArray[np.void]:
    """Return the state at the start of a stream, the TAP being in ``state``."""
    record = np.zeros(1, dtype=_STATE)
    record["state"] = state
    record["instruction"] = record["scan_at"] = -1
    return record


@njit(cache=True, nogil=True)
def scans(clocks: Any, has_trst: bool, s: Any, shifted: Any, rows: Any) -> tuple[int, int, int]:
    """Take clocks until they or the room for rows are used up.

    Args:
        clocks: `Clocks` of TCK, TMS, TDI, TDO and TRST, the last being marked when it is there.
        s: of `new_state`, changed.
        shifted: bytes of TDI and of TDO; those of the open scan begin at ``s.first_byte``, and there
            is room for all bits of the clocks in bytes, and one byte a scan.
        rows: states, ``(m,)`` of STATE_ROW, and scans, ``(m,)`` of SCAN_ROW; m at least 8.
    Returns:
        Clocks consumed, states filled, scans filled.
    """
    sample, levels, _ = clocks
    states, ended_scans = rows
    state_count = 0
    scan_count = 0
    i = ZERO
    while i < len(sample):
        if s.bits > 0 and s.state in (_SHIFT_DR, _SHIFT_IR):
            i = _shift(clocks, i, s, shifted)
            if i == len(sample):
                break
        # One clock ends one state and one scan; TRST the same.
        if state_count + 1 > len(states) or scan_count + 1 > len(ended_scans):
            return i, state_count, scan_count
        at, now = sample[i], levels[i]
        i += 1
        rises = now & MARK == 0 or (now & STILL == 0 and now & _TCK != 0)
        if has_trst and now & _TRST == 0:
            if now & MARK:
                scan_count += _end_scan(s, at, _RESET_SCAN, ended_scans[scan_count])
                if s.state != _RESET:
                    state_count += _end_state(s, at, states[state_count])
                    _begin_state(s, at)
                s.state = _RESET
                s.instruction = -1
            if rises:
                s.last_at = at
                s.clocks += 1
        elif rises:
            ended_state, ended_scan = _take_clock(
                s, (at, now), shifted, states[state_count], ended_scans[scan_count]
            )
            state_count += ended_state
            scan_count += ended_scan
    return i, state_count, scan_count


@njit(cache=True, nogil=True)
def _shift(clocks: Any, first: int, s: Any, shifted: Any) -> int:
    """Take the bits of a scan from clock ``first`` on while the state stays; return the clock after.

    Indices are unsigned: numba looks whether a signed one counts from the end.
    """
    sample, levels, _ = clocks
    i = np.uint64(first)
    bits = np.uint64(s.bits)
    first_byte = np.uint64(s.first_byte)
    while i < np.uint64(len(levels)) and levels[i] & (_TMS | MARK) == 0:
        _put_bit(first_byte, bits, levels[i], shifted)
        bits += _ONE
        i += _ONE
    taken = np.int64(i) - first
    if taken:
        s.bits += taken
        s.clocks += taken
        s.last_at = sample[i - _ONE]
    return np.int64(i)  # type: ignore[return-value]  # numba's int64 is an int


@njit(cache=True, nogil=True)
def _take_clock(s: Any, clock: Any, shifted: Any, state_row: Any, scan_row: Any) -> tuple[int, int]:
    """Take a rising edge of TCK; return the states and scans that it ends."""
    sample, now = clock
    ended_state = 0
    ended_scan = 0
    before = s.state
    after = _NEXT[before, np.int64(now >> np.uint64(1)) & 1]
    if before in (_SHIFT_DR, _SHIFT_IR):
        if s.bits == 0:
            s.scan_at = sample
        _put_bit(np.uint64(s.first_byte), np.uint64(s.bits), now, shifted)
        s.bits += 1
    elif before in (_EXIT1_DR, _EXIT1_IR) and s.bits == 0:
        # A scan without a bit.
        s.scan_at = sample
    if after in (_UPDATE_DR, _UPDATE_IR):
        if after == _UPDATE_IR:
            s.instruction = _instruction(s, shifted[0])
        ended_scan = _end_scan(s, sample, _NONE, scan_row)
    elif after == _RESET:
        s.instruction = -1
    if s.clocked == 0 or after != before:
        ended_state = _end_state(s, sample, state_row)
        _begin_state(s, sample)
    s.clocks += 1
    s.last_at = sample
    s.state = after
    return ended_state, ended_scan


@njit(cache=True, nogil=True)
def close(end_sample: int, s: Any, rows: Any) -> tuple[int, int]:
    """Write what the end of the capture cut off; return states and scans (at most 1 each)."""
    states, ended_scans = rows
    scan_count = _end_scan(s, end_sample, _CUT, ended_scans[0])
    return _end_state(s, end_sample, states[0]), scan_count


@njit(cache=True, nogil=True)
def _put_bit(first_byte: Any, bits: Any, now: Any, shifted: Any) -> None:
    """Keep the bit that comes after so many."""
    tdi, tdo = shifted
    at = first_byte + (bits >> np.uint64(3))
    place = bits & np.uint64(7)
    to_chip = np.uint8((now >> np.uint64(2) & _ONE) << place)
    from_chip = np.uint8((now >> np.uint64(3) & _ONE) << place)
    tdi[at] = tdi[at] | to_chip if place else to_chip
    tdo[at] = tdo[at] | from_chip if place else from_chip


@njit(cache=True, nogil=True)
def _instruction(s: Any, tdi: Any) -> int:
    """Return what was shifted in, -1 for nothing or more than fits."""
    if not 0 < s.bits <= _LONGEST_IR:
        return -1
    instruction = np.int64(0)
    for byte in range((s.bits + 7) // 8):
        instruction |= np.int64(tdi[s.first_byte + byte]) << (8 * byte)
    return instruction  # type: ignore[return-value]  # numba's int64 is an int


@njit(cache=True, nogil=True)
def _begin_state(s: Any, sample: int) -> None:
    s.clocked = 1
    s.state_at = sample
    s.last_at = sample
    s.clocks = 0


@njit(cache=True, nogil=True)
def _end_scan(s: Any, sample: int, error: int, row: Any) -> int:
    """Write the scan that is open; one that an error ends counts only with bits."""
    if error and s.bits == 0:
        return 0
    row.error = error
    row.ir = int(s.state > _UPDATE_DR)
    row.sample = s.scan_at
    row.end_sample = sample
    row.bits = s.bits
    row.first_byte = s.first_byte
    row.instruction = s.instruction
    s.first_byte += (s.bits + 7) >> 3
    s.bits = 0
    return 1


@njit(cache=True, nogil=True)
def _end_state(s: Any, sample: int, row: Any) -> int:
    if s.clocked == 0:
        return 0
    row.state = s.state
    row.sample = s.state_at
    row.last_sample = s.last_at
    row.end_sample = sample
    row.clocks = s.clocks
    return 1
