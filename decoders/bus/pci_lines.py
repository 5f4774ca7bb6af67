"""What the lines of a PCI bus are at one clock: for the kernels of PCI and PCI-X.

Source: PCI Local Bus Specification 3.0, 2.2, 3.7.1 (parity).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from freezeframe.capture.files.plane_kernels import count_ones
from freezeframe.decoders.bus import pci_signals as at
from freezeframe.decoders.bus.pci_names import VERDICTS

UNKNOWN, GOOD, BAD = range(len(VERDICTS))

_AD, _AD_HIGH = np.uint64(at.AD), np.uint64(at.AD_HIGH)
_CBE, _CBE_HIGH = np.uint64(at.CBE), np.uint64(at.CBE_HIGH)
_PAR, _PAR64 = np.uint64(at.PAR), np.uint64(at.PAR64)
_IN_LOW = np.uint64(64 - at.AD_HIGH)  # bits of AD63..32 among the low channels
_MASK36 = np.uint64(0xF_FFFF_FFFF)
_MASK32 = np.uint64(0xFFFF_FFFF)
_MASK4 = np.uint64(0xF)
_ONE, _FOUR = np.uint64(1), np.uint64(4)


@njit(inline="always")
def asserted(low: Any, place: int) -> Any:
    """Return whether an active-low line is asserted."""
    return low >> np.uint64(place) & _ONE == 0


@njit(inline="always")
def ad(low: Any) -> Any:
    return low >> _AD & _MASK32


@njit(inline="always")
def ad_high(low: Any, high: Any) -> Any:
    return (low >> _AD_HIGH | high << _IN_LOW) & _MASK32


@njit(inline="always")
def cbe(low: Any) -> Any:
    return low >> _CBE & _MASK4


@njit(inline="always")
def cbe_high(low: Any) -> Any:
    return low >> _CBE_HIGH & _MASK4


@njit(inline="always")
def low_parity(low: Any) -> Any:
    """Return what PAR must be in the clock after this one: even parity of AD31..0 and C/BE3..0#."""
    # They stand side by side, C/BE# first.
    return np.uint64(count_ones(low >> _CBE & _MASK36)) & _ONE


@njit(inline="always")
def high_parity(low: Any, high: Any) -> Any:
    """Return what PAR64 must be in the clock after this one: that of AD63..32 and C/BE7..4#."""
    return np.uint64(count_ones(ad_high(low, high) << _FOUR | cbe_high(low))) & _ONE


@njit(inline="always")
def parities(low: Any, high: Any, after: Any, known: Any) -> Any:
    """Return what PAR must be, what it is in the clock ``after``, and the verdict on it.

    PAR64 is bit 1 of the first two. ``known`` says which of the two are known; the others are 0.
    """
    has_par, has_par64 = known
    expected = np.uint64(0)
    seen = np.uint64(0)
    if has_par:
        expected = low_parity(low)
        seen = after >> _PAR & _ONE
    if has_par64:
        expected |= high_parity(low, high) << _ONE
        seen |= (after >> _PAR64 & _ONE) << _ONE
    verdict = UNKNOWN
    if has_par or has_par64:
        verdict = GOOD if expected == seen else BAD
    return expected, seen, verdict
