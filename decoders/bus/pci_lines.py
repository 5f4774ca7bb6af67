"""What the lines of a PCI bus say at one clock: for the kernels of PCI and PCI-X.

Source: PCI Local Bus Specification 3.0, 2.2, 3.7.1 (parity).
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from freezeframe.capture.files.plane_kernels import count_ones
from freezeframe.decoders.bus import pci_signals as at

__all__ = [
    "BAD",
    "GOOD",
    "UNKNOWN",
    "VERDICTS",
    "ad",
    "ad_high",
    "asserted",
    "cbe",
    "cbe_high",
    "high_parity",
    "parities",
    "parity",
    "put_data",
    "put_phase",
]

VERDICTS = ("", "good", "bad")  # on a parity
UNKNOWN, GOOD, BAD = 0, 1, 2

_AD, _AD_HIGH = np.uint64(at.AD), np.uint64(at.AD_HIGH)
_CBE, _CBE_HIGH = np.uint64(at.CBE), np.uint64(at.CBE_HIGH)
_IN_LOW = np.uint64(64 - at.AD_HIGH)  # bits of AD63..32 among the low channels
_MASK32 = np.uint64(0xFFFF_FFFF)
_MASK4 = np.uint64(0xF)
_ONE = np.uint64(1)


@numba.njit(inline="always")
def asserted(low: Any, place: int) -> Any:
    """Return whether an active-low line is asserted."""
    return low >> np.uint64(place) & _ONE == 0


@numba.njit(inline="always")
def ad(low: Any) -> Any:
    return low >> _AD & _MASK32


@numba.njit(inline="always")
def ad_high(low: Any, high: Any) -> Any:
    return (low >> _AD_HIGH | high << _IN_LOW) & _MASK32


@numba.njit(inline="always")
def cbe(low: Any) -> Any:
    return low >> _CBE & _MASK4


@numba.njit(inline="always")
def cbe_high(low: Any) -> Any:
    return low >> _CBE_HIGH & _MASK4


@numba.njit(inline="always")
def parity(low: Any, after: Any) -> int:
    """Judge AD31..0 and C/BE3..0# of a clock by PAR of the clock after it: even parity."""
    # They stand together, C/BE# first.
    lines = low >> _CBE & np.uint64(0xF_FFFF_FFFF)
    return GOOD if np.uint64(count_ones(lines)) & _ONE == after >> np.uint64(at.PAR) & _ONE else BAD


@numba.njit(inline="always")
def high_parity(low: Any, high: Any, after: Any) -> int:
    """Judge AD63..32 and C/BE7..4# of a clock by PAR64 of the clock after it."""
    lines = ad_high(low, high) << np.uint64(4) | cbe_high(low)
    return (
        GOOD if np.uint64(count_ones(lines)) & _ONE == after >> np.uint64(at.PAR64) & _ONE else BAD
    )


@numba.njit(cache=True, nogil=True)
def parities(low: Any, high: Any, after: Any, there: Any) -> tuple[int, int]:
    """Return what PAR should say of a clock, and what it says in the one after it.

    PAR64 is bit 1 of both. ``there`` says which of the two are known; the others are 0.
    """
    has_par, has_par64 = there
    expected: Any = 0
    seen: Any = 0
    if has_par:
        expected = np.int64(count_ones(low >> _CBE & np.uint64(0xF_FFFF_FFFF)) & 1)
        seen = np.int64(after >> np.uint64(at.PAR) & _ONE)
    if has_par64:
        lines = ad_high(low, high) << np.uint64(4) | cbe_high(low)
        expected |= np.int64(count_ones(lines) & 1) << 1
        seen |= np.int64(after >> np.uint64(at.PAR64) & _ONE) << 1
    return expected, seen


@numba.njit(inline="always")
def put_phase(
    phases: Any, made: Any, span: Any, value: Any, number: int, waits: Any, codes: Any, small: Any
) -> None:
    """Write a phase down in the arrays of `PhaseColumns`.

    Args:
        span: the samples of its begin and end.
        number: of its transaction.
        waits: those of the initiator and of the target.
        codes: kind, command, parity.
        small: byte enables, whether it is of 64 bits.
    """
    long_rows, code_rows, small_rows = phases[:3]
    place = np.uint64(made)  # numba looks whether a signed index counts from the end
    long_rows[0, place], long_rows[1, place] = span
    long_rows[2, place] = value
    long_rows[3, place] = number
    code_rows[0, place], code_rows[1, place] = waits
    code_rows[2, place], code_rows[3, place], code_rows[4, place] = codes
    small_rows[0, place], small_rows[1, place] = small


@numba.njit(inline="always")
def put_data(phases: Any, taken: Any, value: Any, enables: Any) -> None:
    """Write the data of a phase down in the arrays of `PhaseColumns`."""
    place = np.uint64(taken)
    phases[3][place] = value
    phases[4][place] = enables
