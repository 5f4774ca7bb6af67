"""Kernels of MII and RGMII: clocks to symbols, symbols to frames and idle codes.

Source: IEEE 802.3-2018, 22.2.1 and 22.2.2 (MII signals), 22.2.3 (frame structure); RGMII v2.0, 3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from freezeframe.decoders.clocked import STILL
from freezeframe.decoders.net.phy_kinds import (
    CARRIER_SENSE,
    EXTENSION,
    FALSE_CARRIER,
    FRAME,
    LONGEST_B,
    LOW_POWER,
    RESERVED,
    STATUS,
)

# Where a clock edge takes the data: with the edge, right before it, half a half period after it.
AT, BEFORE, MIDDLE = 0, 1, 2

# A symbol: data in bits 0-7 (four of them without DDR), then these.
_ENABLE, _ERROR, _COLLISION = 1 << 8, 1 << 9, 1 << 10
_RISING = 1 << 11  # of a symbol that is still one clock edge

_CLOCK = np.dtype(
    [
        ("value", np.uint64),  # at the last change of any channel
        ("edge_at", np.int64),  # last edge of the clock, -1 before the first
        ("half", np.int64),  # samples from the one before it
        ("pending", np.int64),  # 1: that edge waits for the place where its data is taken
        ("take_at", np.int64),
        ("rising", np.int64),
        ("first", np.int64),  # of a pair: the symbol of the rising edge, -1 for none
        ("first_at", np.int64),
    ]
)

# Places are sample indices; counts are of 4-bit halves of an octet ("nibbles") where they say so.
ROW = np.dtype(
    [
        (name, np.int64)
        for name in (
            "kind",
            "known",  # sample in which it was known, the order of rows
            "sample",
            "end_sample",
            "data_sample",  # where the octet after the delimiter begins, -1 without one
            "symbols",
            "width",  # nibbles of a symbol
            "preamble",  # nibbles 5 before the upper half of the delimiter
            "bad_preamble",  # other nibbles there
            "first_byte",
            "bytes",  # of which at most LONGEST_B are kept
            "extra",  # 1: a nibble is left over
            "errors",  # symbols with RX_ER or TX_ER
            "first_error",  # number of the octet of the first of them, -1 before the delimiter
            "gap",  # nibbles since the frame before, -1 for the first
            "collision",
            "cut",  # 1: begun before the capture, 2: goes on after it
            "code",
        )
    ]
)

_FRAME_STATE = np.dtype(
    [
        ("phase", np.int64),
        ("symbols", np.int64),  # so far in the capture
        ("at", np.int64),
        ("period", np.int64),  # samples between the last two symbols
        ("period_before", np.int64),
        ("idle", np.int64),  # nibbles since the last frame, -1 before the first
        ("half", np.int64),  # lower nibble of an octet under way, -1 for none
        ("bytes", np.int64),  # in the buffer
        ("code", np.int64),  # of a run of idle codes, -1 for none
        ("status", np.int64),  # in-band status that was given, -1 for none
        ("status_next", np.int64),
        ("status_seen", np.int64),
        ("row", ROW),
    ]
)
_IDLE, _PREAMBLE, _DATA = 0, 1, 2
_STATUS_SEEN = 3  # symbols that must agree: the first after a frame may be a transition


def new_clock() -> npt.NDArray[np.void]:
    """Return the state of `take_symbols` and `pairs` at the start of a stream."""
    state = np.zeros(1, dtype=_CLOCK)
    state["edge_at"] = state["first"] = -1
    return state


def new_frame() -> npt.NDArray[np.void]:
    """Return the state of `frames` at the start of a stream."""
    state = np.zeros(1, dtype=_FRAME_STATE)
    state["idle"] = state["half"] = state["code"] = state["status"] = state["status_next"] = -1
    state["at"] = -1
    return state


@njit(cache=True, nogil=True)
def take_symbols(
    clocks: Any,
    places: tuple[int, int, int, int, int],
    mode: int,
    state: Any,
    symbols: npt.NDArray[np.int64],
) -> int:
    """Take a symbol at each active edge of the clock.

    Args:
        clocks: `Clocks`; for MIDDLE of both edges, with all other channels marked.
        places: bits of clock, first data, enable, error, collision; -1 for one that is not there.
        mode: AT, BEFORE or MIDDLE.
        state: from `new_clock`, changed.
        symbols: ``(n + 1, 3)``, to be filled: clock edge, sample in which it was known, symbol.
    Returns:
        Symbols filled.
    """
    sample, low, _ = clocks
    s = state[0]
    count = 0
    for i in range(len(sample)):
        at, now = sample[i], low[i]
        # Right before a rising edge the clock is still low.
        rising: Any = 1 if mode == BEFORE else np.int64(now >> np.uint64(places[0])) & 1
        edge = now & STILL == 0
        if s.pending and (edge or at > s.take_at):
            _put(symbols[count], s.edge_at, at, s.value, s.rising, places)
            s.pending = 0
            count += 1
        if edge and mode == MIDDLE:
            half_before = s.half
            s.half = at - s.edge_at if s.edge_at >= 0 else 0
            # After a pause of the clock the half before it says how long one is.
            half = s.half if half_before == 0 else min(s.half, half_before)
            s.pending = 1
            s.take_at = at + half // 2
            s.rising = rising
            s.edge_at = at
        elif edge:
            _put(symbols[count], at, at, now, rising, places)
            count += 1
        s.value = now
    return count


@njit(cache=True, nogil=True)
def end_of_clock(
    end_sample: int, places: tuple[int, int, int, int, int], state: Any, symbols: Any
) -> int:
    """Take the symbol that still waited at the end of the capture, and count it (0 or 1)."""
    s = state[0]
    if s.pending == 0 or s.take_at >= end_sample:
        return 0
    _put(symbols[0], s.edge_at, end_sample, s.value, s.rising, places)
    s.pending = 0
    return 1


@njit(cache=True, nogil=True)
def _put(
    symbol: npt.NDArray[np.int64],
    at: int,
    known: int,
    value: np.uint64,
    rising: np.signedinteger[Any],
    places: tuple[int, int, int, int, int],
) -> None:
    symbol[0] = at
    symbol[1] = known
    bits = np.int64(value >> np.uint64(places[1])) & 15
    bits |= (np.int64(value >> np.uint64(places[2])) & 1) * _ENABLE
    if places[3] >= 0:
        bits |= (np.int64(value >> np.uint64(places[3])) & 1) * _ERROR
    if places[4] >= 0:
        bits |= (np.int64(value >> np.uint64(places[4])) & 1) * _COLLISION
    symbol[2] = bits | rising * _RISING


@njit(cache=True, nogil=True)
def pairs(symbols: npt.NDArray[np.int64], state: Any) -> int:
    """Join the symbols of a rising and the following falling edge, in place; return how many.

    RGMII v2.0, 3.4: data bits 3:0 and the enable on the rising edge, 7:4 and enable xor error on
    the falling one.
    """
    s = state[0]
    count = 0
    for i in range(len(symbols)):
        now = symbols[i, 2]
        if now & _RISING:
            s.first = now
            s.first_at = symbols[i, 0]
        elif s.first >= 0:
            enable = s.first & _ENABLE
            error = (now & _ENABLE != enable) * _ERROR
            symbols[count, 0] = s.first_at
            symbols[count, 1] = symbols[i, 1]
            symbols[count, 2] = s.first & 15 | (now & 15) << 4 | enable | error
            s.first = -1
            count += 1
    return count


@njit(cache=True, nogil=True)
def frames(
    symbols: npt.NDArray[np.int64],
    ddr: int,
    settings: tuple[int, int],
    state: Any,
    rows: Any,
    data: npt.NDArray[np.uint8],
) -> int:
    """Find frames and idle codes.

    Args:
        symbols: ``(n, 3)``, what `take_symbols` or `pairs` gave.
        ddr: 1 when a symbol can be a whole octet.
        settings: with ddr, the longest period of a symbol that is an octet, in samples; 1 to give
            the in-band status of idle symbols.
        state: from `new_frame`, changed; ``bytes`` says how much of ``data`` an open frame uses.
        rows: ``(2 * n + 1,)`` of ROW, to be filled.
        data: room for ``state.bytes + n`` octets.
    Returns:
        Rows filled.
    """
    octet_period, in_band = settings
    s = state[0]
    count = 0
    for i in range(len(symbols)):
        at, known, symbol = symbols[i, 0], symbols[i, 1], symbols[i, 2]
        s.period_before = s.period
        s.period = at - s.at if s.symbols > 0 else 0
        s.at = at
        s.symbols += 1
        period = s.period if s.period_before == 0 else min(s.period, s.period_before)
        width = 1
        if ddr == 1 and 0 < period <= octet_period:
            width = 2
        if symbol & _ENABLE:
            if s.code >= 0:
                _finish(s, at, known, rows, count)
                s.code = -1
                count += 1
            if s.phase == _IDLE:
                _begin(s, FRAME, at, width)
                s.row.cut = 1 if s.symbols == 1 else 0
                s.row.gap = s.idle
                s.phase = _PREAMBLE
            s.row.symbols += 1
            s.row.collision |= (symbol & _COLLISION) // _COLLISION
            if symbol & _ERROR:
                if s.row.errors == 0 and s.phase == _DATA:
                    s.row.first_error = s.row.bytes
                s.row.errors += 1
            for n in range(s.row.width):
                _nibble(s, symbol >> (4 * n) & 15, n, data)
            if s.row.data_sample == 0:
                # Nothing of the octet after the delimiter came with it.
                s.row.data_sample = -2
            elif s.row.data_sample == -2:
                s.row.data_sample = at
            continue
        if s.phase != _IDLE:
            _finish(s, at, known, rows, count)
            count += 1
            s.phase = _IDLE
            s.idle = 0
        s.status_seen = 0 if symbol & _ERROR else s.status_seen
        code = symbol & 0xFF if width == 2 else symbol & 15
        if s.code >= 0 and (symbol & _ERROR == 0 or code != s.code):
            _finish(s, at, known, rows, count)
            s.code = -1
            count += 1
        if symbol & _ERROR:
            if s.code < 0:
                _begin(s, _kind_of(code, width), at, width)
                s.row.code = code
                s.code = code
            s.row.symbols += 1
            if s.row.kind == EXTENSION:
                s.idle = min(s.idle, 0)  # the gap begins after it
                continue
        elif in_band == 1:
            count += _status(s, symbol, at, known, rows, count)
        if s.idle >= 0:
            s.idle += width
    return count


@njit(cache=True, nogil=True)
def close(end_sample: int, state: Any, rows: Any) -> int:
    """Give what the end of the capture cut, and count it (0 or 1)."""
    s = state[0]
    if s.phase == _IDLE and s.code < 0:
        return 0
    s.row.cut |= 2
    _finish(s, end_sample, end_sample, rows, 0)
    s.phase = _IDLE
    s.code = -1
    return 1


@njit(cache=True, nogil=True)
def _begin(s: Any, kind: int, at: int, width: int) -> None:
    row = s.row
    row.kind = kind
    row.sample = at
    row.data_sample = -1
    row.width = width
    row.symbols = row.preamble = row.bad_preamble = row.bytes = row.extra = row.errors = 0
    row.collision = row.cut = 0
    row.first_error = row.gap = row.code = -1
    row.first_byte = s.bytes
    s.half = -1


@njit(cache=True, nogil=True)
def _finish(s: Any, end: int, known: int, rows: Any, count: int) -> None:
    rows[count] = s.row
    row = rows[count]
    row.known = known
    row.end_sample = end
    row.data_sample = max(-1, s.row.data_sample)
    row.extra = 1 if s.half >= 0 else 0


@njit(cache=True, nogil=True)
def _nibble(s: Any, nibble: int, place: int, data: npt.NDArray[np.uint8]) -> None:
    """Take the next four bits of a frame, the lower half of an octet first."""
    if s.phase == _DATA:
        if s.half < 0:
            s.half = nibble
        else:
            if s.row.bytes < LONGEST_B:
                data[s.bytes] = s.half | nibble << 4
                s.bytes += 1
            s.row.bytes += 1
            s.half = -1
    elif nibble == 5:
        s.row.preamble += 1
    # The delimiter is 1101 0101: of an octet that comes whole, D is in the upper half.
    elif nibble == 13 and s.row.preamble > 0 and (s.row.width == 1 or place == 1):
        s.phase = _DATA
        s.row.data_sample = 0
    else:
        s.row.bad_preamble += 1


@njit(cache=True, nogil=True)
def _kind_of(code: int, width: int) -> int:
    """Return what error without enable means (802.3 tables 22-1, 22-2 and 35-1, 35-2)."""
    if code == 0x01:
        return LOW_POWER
    if code == 0x0E:
        return FALSE_CARRIER
    if width == 2 and code in (0x0F, 0x1F):
        return EXTENSION
    if width == 2 and code == 0xFF:
        return CARRIER_SENSE
    return RESERVED


@njit(cache=True, nogil=True)
def _status(s: Any, symbol: int, at: int, known: int, rows: Any, count: int) -> int:
    """Follow the in-band status, which both halves of an idle symbol repeat; return rows given."""
    value = symbol & 15
    if value != symbol >> 4 & 15:
        s.status_seen = 0
        return 0
    if value != s.status_next:
        s.status_next = value
        s.status_seen = 0
    s.status_seen += 1
    if s.status_seen < _STATUS_SEEN or value == s.status:
        return 0
    s.status = value
    _begin(s, STATUS, at, 1)
    s.row.code = value
    _finish(s, at, known, rows, count)
    return 1
