"""What the lines of a PCI bus say at one clock: for the kernels of PCI and PCI-X.

Source: PCI Local Bus Specification 3.0, 2.2, 3.7.1 (parity).
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
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
    "ones",
    "parity",
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
_ONES = np.array([number.bit_count() for number in range(256)])


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
def ones(bits: Any) -> Any:
    """Count the ones of up to 8 bits."""
    return _ONES[np.int64(bits)]


@numba.njit(inline="always")
def _odd(bits: Any) -> Any:
    bits ^= bits >> np.uint64(32)
    bits ^= bits >> np.uint64(16)
    bits ^= bits >> np.uint64(8)
    bits ^= bits >> np.uint64(4)
    return np.uint64(0x6996) >> (bits & _MASK4) & _ONE


@numba.njit(inline="always")
def parity(low: Any, after: Any) -> int:
    """Judge AD31..0 and C/BE3..0# of a clock by PAR of the clock after it: even parity."""
    # They stand together, C/BE# first.
    lines = low >> _CBE & np.uint64(0xF_FFFF_FFFF)
    return GOOD if _odd(lines) == after >> np.uint64(at.PAR) & _ONE else BAD


@numba.njit(inline="always")
def high_parity(low: Any, high: Any, after: Any) -> int:
    """Judge AD63..32 and C/BE7..4# of a clock by PAR64 of the clock after it."""
    lines = ad_high(low, high) << np.uint64(4) | cbe_high(low)
    return GOOD if _odd(lines) == after >> np.uint64(at.PAR64) & _ONE else BAD


@numba.njit(inline="always")
def put_phase(phases: Any, made: int, span: Any, value: Any, about: Any, codes: Any) -> None:
    """Write a phase down: begin and end, the value, transaction and waits, kind to wide."""
    samples, ends, values, numbers, initiator, target = phases[:6]
    kinds, commands, parities, enables, wides = phases[6:11]
    samples[made], ends[made] = span
    values[made] = value
    numbers[made], initiator[made], target[made] = about
    kinds[made], commands[made], parities[made], enables[made], wides[made] = codes
