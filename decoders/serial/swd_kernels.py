"""Kernel of SWD: clocks to transfers, line resets and switches.

The host's bits are taken at the rising edge of the clock, the target's at the falling edge: it puts each out
after a rising edge, and it stays until the next.

Source: Arm IHI 0031, ADIv5.2, B4.2 (transfers), B4.3.3 (line reset), B5.2 (switching).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from freezeframe.decoders.kernel_numbers import ZERO, int64s

ERRORS = ("", "bad-request", "no-reply", "bad-ack", "bad-parity", "cut-transfer")
_NONE, _BAD_REQUEST, _NO_REPLY, _BAD_ACK, _BAD_PARITY, _CUT = int64s(0, 6)
LINE_RESET, SWITCH = 1, 2  # of `kind`; 0 is a transfer

# Places are samples, -1 where there is none; values -1 where they are not known.
ROW = np.dtype(
    [
        (name, np.int64)
        for name in (
            "error",
            "kind",
            "sample",
            "ack_sample",
            "data_sample",
            "end_sample",
            "ap",
            "read",
            "address",
            "ack",
            "value",
            "parity_ok",
            "apsel",
            "bank",  # of the port that is accessed
            "ones",  # clocks of a line reset
            "switch",  # the 16 bits of a switch
        )
    ]
)
_BLANK = np.full(1, -1, dtype=np.int64).repeat(len(ROW.names or ())).view(ROW)
_BLANK["error"] = _BLANK["kind"] = 0

_STATE = np.dtype(
    [
        ("phase", np.int64),
        ("edge", np.int64),  # that is taken: 1 rising
        ("skip", np.int64),  # edges of that kind to let pass
        ("shift", np.uint64),  # bits, the first lowest
        ("bits", np.int64),
        ("places", np.int64, (8,)),  # of the last request bits, a ring
        ("sure", np.int64),  # 1: a reset or a transfer was seen
        ("ones", np.int64),  # rising edges with ones
        ("ones_at", np.int64),
        ("since_reset", np.int64),
        ("reset_end", np.int64),
        ("last", np.int64),
        ("select", np.int64),  # as last written, -1 when it is not known
        ("overrun", np.int64),  # overrun detection: each transfer has its data
        ("row", ROW),
    ]
)
_UNKNOWN, _REQUEST, _ACK, _DATA = range(4)
_RESET_ONES = 50
_OK, _WAIT, _FAULT, _NOBODY = 1, 2, 4, 7
_SWITCHES = (0xE79E, 0xE73C, 0xE3BC)  # JTAG to SWD, SWD to JTAG, SWD to dormant


def new_state(strict: bool) -> npt.NDArray[np.void]:
    """Return the state at the start of a stream: an array of one record."""
    state = np.zeros(1, dtype=_STATE)
    state["phase"] = _UNKNOWN if strict else _REQUEST
    state["edge"] = 1
    state["select"] = -1
    state["since_reset"] = 1 << 20
    return state


@njit(cache=True, nogil=True)
def transfers(clocks: Any, s: Any, rows: Any) -> int:
    """Take both edges of the clock.

    Args:
        clocks: `Clocks` of SWCLK and SWDIO, both edges.
        s: of `new_state`, changed.
        rows: ``(n + 4,)`` of ROW, to be filled.
    Returns:
        Rows filled.
    """
    sample, levels, _ = clocks
    count = ZERO
    for i in range(len(sample)):
        at = sample[i]
        rising = np.int64(levels[i]) & 1
        bit: Any = np.int64(levels[i] >> np.uint64(1)) & 1
        s.last = at
        if rising:
            s.since_reset += 1
            if bit:
                if s.ones == 0:
                    s.ones_at = at
                s.ones += 1
            else:
                if s.ones >= _RESET_ONES:
                    count = _reset(s, at, rows, count)
                s.ones = 0
        if rising != s.edge:
            continue
        if s.skip > 0:
            s.skip -= 1
        elif s.phase == _REQUEST:
            count = _take_request(s, at, bit, rows, count)
        elif s.phase != _UNKNOWN:
            s.shift |= np.uint64(bit) << np.uint64(s.bits)
            s.bits += 1
            if s.phase == _ACK:
                count = _take_ack(s, at, rows, count)
                continue
            count = _take_data(s, at, bit, rows, count)
    return count


@njit(cache=True, nogil=True)
def close(end_sample: int, s: Any, rows: Any) -> int:
    """Write what the end of the capture cut off; return rows (at most 2)."""
    count = ZERO
    if s.phase > _REQUEST:
        count = _end(s, _CUT, end_sample, rows, count)
    if s.ones >= _RESET_ONES:
        count = _reset(s, end_sample, rows, count)
    return count


@njit(cache=True, nogil=True)
def _reset(s: Any, at: int, rows: Any, count: int) -> int:
    if s.phase > _REQUEST:
        count = _end(s, _CUT, s.ones_at, rows, count)
    rows[count] = _BLANK[0]
    row = rows[count]
    row.kind = LINE_RESET
    row.sample, row.end_sample = s.ones_at, at
    row.ones = s.ones
    s.phase = _REQUEST
    s.edge, s.skip, s.bits, s.sure = 1, 0, 0, 1
    s.shift = np.uint64(0)
    s.since_reset = 1
    s.reset_end = at
    return count + 1


@njit(cache=True, nogil=True)
def _take_request(s: Any, at: int, bit: Any, rows: Any, count: int) -> int:
    """Look for a request in the last 8 bits, for a switch in the 16 after a line reset."""
    s.shift = (s.shift >> np.uint64(1)) | np.uint64(bit) << np.uint64(15)
    s.places[s.bits & 7] = at
    s.bits += 1
    window = np.int64(s.shift)
    if s.since_reset == 16 and s.bits == 16 and window in _SWITCHES:
        rows[count] = _BLANK[0]
        row = rows[count]
        row.kind = SWITCH
        row.sample, row.end_sample = s.reset_end, at
        row.switch = window
        s.bits = 0
        return count + 1
    # Start 1, AP, read, two bits of address, parity, stop 0, park 1; the first bit is the lowest.
    request = window >> 8
    if s.bits < 8 or request & 0b11000001 != 0b10000001:
        return count
    parity = request >> 1 ^ request >> 2 ^ request >> 3 ^ request >> 4 ^ request >> 5
    if parity & 1 and not s.sure:
        return count
    s.row = _BLANK[0]
    row = s.row
    row.sample = s.places[s.bits & 7]
    row.ap, row.read = request >> 1 & 1, request >> 2 & 1
    row.address = (request >> 3 & 3) << 2
    if s.select >= 0:
        row.apsel = s.select >> 24 & 0xFF
        row.bank = s.select >> 4 & 15 if row.ap else s.select & 15
    s.bits = 0
    if parity & 1:
        return _end(s, _BAD_REQUEST, at, rows, count)
    s.shift = np.uint64(0)
    s.phase = _ACK
    s.edge, s.skip = 0, 1
    return count


@njit(cache=True, nogil=True)
def _take_ack(s: Any, at: int, rows: Any, count: int) -> int:
    row = s.row
    if s.bits == 1:
        row.ack_sample = at
    if s.bits < 3:
        return count
    row.ack = np.int64(s.shift)
    s.bits, s.shift = 0, np.uint64(0)
    if row.ack == _OK or (s.overrun and row.ack in (_WAIT, _FAULT)):
        s.phase = _DATA
        s.edge, s.skip = (0, 0) if row.read else (1, 2)
        return count
    if row.ack in (_WAIT, _FAULT):
        count = _end(s, _NONE, at, rows, count)
        s.skip = 1
        return count
    return _end(s, _NO_REPLY if row.ack == _NOBODY else _BAD_ACK, at, rows, count)


@njit(cache=True, nogil=True)
def _take_data(s: Any, at: int, bit: Any, rows: Any, count: int) -> int:
    row = s.row
    if s.bits == 1:
        row.data_sample = at
    if s.bits == 32:
        row.value = np.int64(s.shift)
    if s.bits < 33:
        return count
    ones = row.value
    for half in (16, 8, 4, 2, 1):
        ones ^= ones >> half
    row.parity_ok = ones & 1 == bit
    written = row.ack == _OK and row.parity_ok and not row.ap and not row.read
    if written and row.address == 8:
        s.select = row.value
    elif written and row.address == 4 and s.select & 15 == 0:
        s.overrun = row.value & 1
    count = _end(s, _NONE if row.parity_ok else _BAD_PARITY, at, rows, count)
    s.skip = row.read
    s.sure = 1
    return count


@njit(cache=True, nogil=True)
def _end(s: Any, error: int, at: int, rows: Any, count: int) -> int:
    """Write the transfer, if it has an acknowledge that is one, and its error; wait for a request."""
    s.row.end_sample = at
    if s.row.ack in (_OK, _WAIT, _FAULT) and error != _CUT:
        rows[count] = s.row
        count += 1
    if error:
        rows[count] = s.row
        rows[count].error = error
        count += 1
    s.phase = _REQUEST
    s.edge, s.skip, s.bits, s.shift = 1, 0, 0, np.uint64(0)
    return count
