"""Kernel of RMII: two bits a clock to the symbols of MII.

A carrier begins with 00 until the PHY has the preamble; 01 is the preamble, 11 the end of the delimiter, which
says where octets begin. At 10 Mb/s each pair of bits stays for ten clocks. When the carrier ends before the data
that the PHY still holds, CRS_DV is low in the first clock of each four bits and high in the second.

Source: RMII specification, revision 1.2, 5.1 to 5.3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

_ENABLE, _ERROR = 1 << 8, 1 << 9  # in a symbol, as `phy_kernels` has them
_FALSE_CARRIER = 0x0E
# A preamble at 100 Mb/s has 31 clocks of 01, one at 10 Mb/s 310.
_LONGEST_AT_100 = 36
_TENTHS = 10  # clocks of two bits at 10 Mb/s
_MIDDLE = 4
LONGEST_PREAMBLE = 1024  # symbols that are given of one

_STATE = np.dtype(
    [
        (name, np.int64)
        for name in (
            "phase",
            "clocks",  # so far in the capture, 0 or more
            "each",  # clocks of two bits: 1 or 10, as in the last frame
            "wait",  # clocks to let pass before the next two bits
            "ones",  # clocks of 01 in the preamble
            "first_at",  # where that begins
            "known",  # of the last symbol
            "half",  # the first two bits of four, -1 for none
            "half_at",
            "low_at",  # since when the enable is low
            "idle",  # clocks since the last idle symbol
            "error",  # the error signal was active since the last symbol
        )
    ]
)
_IDLE, _PREAMBLE, _DATA = 0, 1, 2


def new_dibits() -> npt.NDArray[np.void]:
    """Return the state at the start of a stream: an array of one record."""
    state = np.zeros(1, dtype=_STATE)
    state["half"] = state["low_at"] = -1
    state["each"] = 1
    return state


@njit(cache=True, nogil=True)
def join_dibits(symbols: npt.NDArray[np.int64], s: Any, made: npt.NDArray[np.int64]) -> int:
    """Make symbols of four bits out of those of single clocks.

    Args:
        symbols: ``(n, 3)``, what `take_symbols` gave.
        s: of `new_dibits`, changed.
        made: ``(n + LONGEST_PREAMBLE, 3)``, to be filled in the same form.
    Returns:
        Symbols made.
    """
    count = 0
    for i in range(len(symbols)):
        at, known, symbol = symbols[i, 0], symbols[i, 1], symbols[i, 2]
        enable, bits = symbol & _ENABLE, symbol & 3
        s.error |= symbol & _ERROR
        s.known = known
        if enable:
            s.low_at = -1
        elif s.low_at < 0:
            s.low_at = at
        if s.clocks == 0 and enable:
            s.phase = _DATA  # in the middle of a frame
        s.clocks += 1
        if s.phase == _DATA:
            if s.wait > 0:
                s.wait -= 1
                continue
            s.wait = s.each - 1
            if s.half < 0:
                s.half, s.half_at = bits, at
                continue
            if enable:
                _put(made[count], s.half_at, s, s.half | bits << 2 | _ENABLE)
            else:
                _put(made[count], s.low_at, s, 0)
                s.phase = _IDLE
                s.idle = 0
            s.half = -1
            count += 1
        elif s.phase == _PREAMBLE:
            if enable and bits == 1:
                s.ones += 1
                continue
            count += _begin(s, made[count:], at, bits, enable)
        elif enable and bits == 1:
            s.phase = _PREAMBLE
            s.ones = 1
            s.first_at = at
            s.error = symbol & _ERROR
        elif enable and bits == 3:
            s.ones = 0
            s.first_at = at
            count += _begin(s, made[count:], at, bits, enable)
        else:
            s.idle += 1
            if s.idle >= 2 * s.each:
                false = enable and bits == 2
                # A carrier without data is none for MII.
                _put(made[count], at, s, _FALSE_CARRIER | _ERROR if false else 0)
                s.idle = 0
                count += 1
    return count


@njit(cache=True, nogil=True)
def flush(s: Any, made: npt.NDArray[np.int64]) -> int:
    """Give the preamble in which the capture ends, so that it is a frame that was cut."""
    if s.phase != _PREAMBLE:
        return 0
    s.phase = _DATA
    return _fives(s, made, s.ones // 2)


@njit(cache=True, nogil=True)
def _begin(s: Any, made: npt.NDArray[np.int64], at: int, bits: int, enable: int) -> int:
    """Give the preamble, now that its end says how long two bits take; return symbols made."""
    s.each = _TENTHS if s.ones > _LONGEST_AT_100 else 1
    pairs = (s.ones + s.each // 2) // s.each
    # The delimiter ends in 01 11; what is no delimiter counts from the begin.
    paired = pairs > 0 and (bits == 3 or pairs & 1)
    count = _fives(s, made, (pairs - 1) // 2 if paired else pairs // 2)
    if not enable:
        _put(made[count], s.low_at, s, 0)
        s.phase = _IDLE
        s.idle = 0
        return count + 1
    s.phase = _DATA
    s.wait = s.each - 1 + (_MIDDLE if s.each > 1 else 0)
    if paired:
        _put(made[count], at, s, 1 | bits << 2 | _ENABLE)
        return count + 1
    s.half, s.half_at = bits, at
    return count


@njit(cache=True, nogil=True)
def _fives(s: Any, made: npt.NDArray[np.int64], fives: int) -> int:
    """Give so many symbols of the preamble; return how many."""
    fives = min(max(fives, 0), LONGEST_PREAMBLE - 4)
    for n in range(fives):
        _put(made[n], s.first_at, s, 5 | _ENABLE)
    return fives


@njit(cache=True, nogil=True)
def _put(symbol: npt.NDArray[np.int64], at: int, s: Any, value: int) -> None:
    symbol[0] = at
    symbol[1] = s.known
    symbol[2] = value | (s.error if value & _ENABLE else 0)
    s.error = 0
