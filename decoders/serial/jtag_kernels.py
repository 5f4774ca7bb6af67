"""Kernels of JTAG: rising edges of TCK to states of the TAP controller and scans.

Source: IEEE 1149.1-2013, figure 6-1 (TAP controller), 6.1.1, 4.5 (TRST).
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

__all__ = [
    "ERRORS",
    "IDLE",
    "LONGEST_IR",
    "RESET",
    "SCAN_ROW",
    "SHIFT_DR",
    "SHIFT_IR",
    "STATES",
    "STATE_ROW",
    "close",
    "new_state",
    "scans",
    "take_clock",
]

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
RESET, IDLE = 0, 1
SHIFT_DR, _EXIT1_DR, _UPDATE_DR, SHIFT_IR, _EXIT1_IR, _UPDATE_IR = 4, 5, 8, 11, 12, 15

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
_CUT, _RESET_SCAN = 1, 2

_TCK, _TMS, _TRST = np.uint64(1), np.uint64(2), np.uint64(16)
LONGEST_IR = 63  # bits of an instruction that int64 holds

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
        ("value", np.uint64),
        ("started", np.int64),
        ("state", np.int64),
        ("clocked", np.int64),  # whether the state has a beginning yet
        ("state_at", np.int64),
        ("last_at", np.int64),  # the last rising edge
        ("clocks", np.int64),
        ("bits", np.int64),  # of the scan so far
        ("scan_at", np.int64),
        ("first_byte", np.int64),
        ("low_bits", np.int64),  # the first bits to TDI, for an instruction
        ("instruction", np.int64),  # -1 when it is not known
    ]
)


def new_state(state: int) -> npt.NDArray[np.void]:
    """Return the state at the start of a stream, the TAP being in ``state``."""
    record = np.zeros(1, dtype=_STATE)
    record["state"] = state
    record["instruction"] = record["scan_at"] = -1
    return record


@numba.njit(cache=True, nogil=True)
def scans(edges: Any, has_trst: bool, state: Any, shifted: Any, rows: Any) -> tuple[int, int, int]:
    """Decode edges until they or the room for rows are used up.

    Args:
        edges: samples and values with TCK, TMS, TDI, TDO, TRST as bits 0 to 4.
        state: from `new_state`, changed.
        shifted: bytes of TDI and of TDO; those of the open scan begin at ``state.first_byte``, and
            there is room for all bits of the edges in bytes, and one byte a scan.
        rows: states, ``(m,)`` of STATE_ROW, and scans, ``(m,)`` of SCAN_ROW; m at least 8.
    Returns:
        Edges consumed, states filled, scans filled.
    """
    sample, value = edges
    tdi, tdo = shifted
    states, found = rows
    s = state[0]
    state_count = 0
    scan_count = 0
    if s.started == 0 and len(sample):
        s.started = 1
        # Reset from the first sample on, when TRST says so: as if it had just fallen.
        s.value = value[0] | _TRST
    last = s.value
    shifting = s.state in (SHIFT_DR, SHIFT_IR)
    bits = s.bits
    for i in range(len(sample)):
        now = value[i]
        changed = now ^ last
        last = now
        in_reset = has_trst and now & _TRST == 0
        if changed & now & _TCK == 0 and not (in_reset and changed & _TRST):
            continue
        if shifting and bits > 0 and now & _TMS == 0 and not in_reset:
            # The usual case of a long scan: one bit more, the state stays.
            _put_bit(s, bits, now, tdi, tdo)
            bits += 1
            s.clocks += 1
            s.last_at = sample[i]
            continue
        # One edge ends one state and one scan; TRST the same.
        if state_count + 1 > len(states) or scan_count + 1 > len(found):
            last = now ^ changed
            s.value = last
            s.bits = bits
            return i, state_count, scan_count
        s.bits = bits
        if in_reset:
            if changed & _TRST:
                scan_count += _end_scan(s, sample[i], _RESET_SCAN, found[scan_count])
                if s.state != RESET:
                    state_count += _end_state(s, sample[i], states[state_count])
                    _begin_state(s, sample[i])
                s.state = RESET
                s.instruction = -1
            if changed & now & _TCK:
                s.last_at = sample[i]
                s.clocks += 1
        else:
            ended_state, ended_scan = take_clock(
                s, (sample[i], now), shifted, states[state_count], found[scan_count]
            )
            state_count += ended_state
            scan_count += ended_scan
        bits = s.bits
        shifting = s.state in (SHIFT_DR, SHIFT_IR)
    s.value = last
    s.bits = bits
    return len(sample), state_count, scan_count


@numba.njit(cache=True, nogil=True)
def take_clock(s: Any, edge: Any, shifted: Any, state_row: Any, scan_row: Any) -> tuple[int, int]:
    """Take a rising edge of TCK; return the states and scans that it ends."""
    sample, now = edge
    ended_state = 0
    ended_scan = 0
    before = s.state
    after = _NEXT[before, np.int64(now >> np.uint64(1)) & 1]
    if before in (SHIFT_DR, SHIFT_IR):
        if s.bits == 0:
            s.scan_at = sample
            s.low_bits = 0
        _put_bit(s, s.bits, now, shifted[0], shifted[1])
        s.bits += 1
    elif before in (_EXIT1_DR, _EXIT1_IR) and s.bits == 0:
        # A scan without a bit.
        s.scan_at = sample
    if after in (_UPDATE_DR, _UPDATE_IR):
        if after == _UPDATE_IR:
            s.instruction = s.low_bits if 0 < s.bits <= LONGEST_IR else -1
        ended_scan = _end_scan(s, sample, 0, scan_row)
    elif after == RESET:
        s.instruction = -1
    if s.clocked == 0 or after != before:
        ended_state = _end_state(s, sample, state_row)
        _begin_state(s, sample)
    s.clocks += 1
    s.last_at = sample
    s.state = after
    return ended_state, ended_scan


@numba.njit(cache=True, nogil=True)
def close(end_sample: int, state: Any, rows: Any) -> tuple[int, int]:
    """Write what the end of the capture cut off; return states and scans (at most 1 each)."""
    states, found = rows
    s = state[0]
    scan_count = _end_scan(s, end_sample, _CUT, found[0])
    return _end_state(s, end_sample, states[0]), scan_count


@numba.njit(cache=True, nogil=True)
def _put_bit(s: Any, bits: int, now: Any, tdi: Any, tdo: Any) -> None:
    """Keep the bit that comes after so many."""
    at = s.first_byte + (bits >> 3)
    place = bits & 7
    to_chip = np.int64(now >> np.uint64(2)) & 1
    from_chip = np.int64(now >> np.uint64(3)) & 1
    if place == 0:
        tdi[at] = to_chip
        tdo[at] = from_chip
    else:
        tdi[at] |= to_chip << place
        tdo[at] |= from_chip << place
    if bits < LONGEST_IR:
        s.low_bits |= to_chip << bits


@numba.njit(cache=True, nogil=True)
def _begin_state(s: Any, sample: int) -> None:
    s.clocked = 1
    s.state_at = sample
    s.last_at = sample
    s.clocks = 0


@numba.njit(cache=True, nogil=True)
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
    s.low_bits = 0
    return 1


@numba.njit(cache=True, nogil=True)
def _end_state(s: Any, sample: int, row: Any) -> int:
    if s.clocked == 0:
        return 0
    row.state = s.state
    row.sample = s.state_at
    row.last_sample = s.last_at
    row.end_sample = sample
    row.clocks = s.clocks
    return 1
