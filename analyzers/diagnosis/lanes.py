"""What happened to the halves of words on one lane of a bonded link: lag, or a shifted byte phase.

Lane 0 carries bytes 0, 2, 4, 6 of each word, lane 1 the others; each lane's four bytes form a half,
first byte least significant.

Source: docs/formats.md section 3, "Bonding".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

LANES = (0, 1)

Uint64 = npt.NDArray[np.uint64]
Uint32 = npt.NDArray[np.uint32]
Int64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

Mode = Literal["rotated", "late", "early"]

PHASES: tuple[tuple[Mode, int], ...] = tuple(
    (mode, k) for mode in ("rotated", "late", "early") for k in (1, 2, 3)
)
"""The ways a byte phase can be wrong: rotated within each half, or bytes late or early by k."""

_MOST_LAG = 16


@dataclass(frozen=True, slots=True)
class Lag:
    """A lane that repeated a half and then lagged, over ``[start, end)`` of the compared words.

    ``first``: earliest place where the repeat may have begun; before ``start`` where the right half
    happens to be equal to the one before it. ``repeats``: how often a half was repeated.
    """

    start: int
    end: int
    first: int
    repeats: int


@dataclass(frozen=True, slots=True)
class Phase:
    """A lane whose byte phase was wrong from ``start`` on, to the last compared word."""

    start: int
    first: int
    mode: Mode
    shift: int
    words: int


def halves(words: Uint64, lane: int) -> Uint32:
    """Return the 32-bit halves that one lane carries of ``(n,)`` 64-bit words."""
    octets = words.astype("<u8", copy=False).view(np.uint8).reshape(-1, 8)
    picked = np.ascontiguousarray(octets[:, lane::2])
    lane_halves: Uint32 = picked.view("<u4").reshape(-1)
    return lane_halves


def join(lane0: Uint32, lane1: Uint32) -> Uint64:
    """Return the words whose halves these are."""
    octets = np.empty((len(lane0), 8), np.uint8)
    octets[:, 0::2] = lane0.astype("<u4", copy=False).view(np.uint8).reshape(-1, 4)
    octets[:, 1::2] = lane1.astype("<u4", copy=False).view(np.uint8).reshape(-1, 4)
    words: Uint64 = octets.view("<u8").reshape(-1)
    return words


def find_lag(up: Uint32, down: Uint32, joined: Bools) -> Lag | None:
    """Return the lag that explains every difference of one lane, or None.

    Args:
        up, down: ``(n,)`` halves that should be equal.
        joined: ``(n,)`` whether word ``i`` followed word ``i - 1`` directly in both recordings.
    """
    differ = np.flatnonzero(up != down)
    if not differ.size:
        return None
    start, last = int(differ[0]), int(differ[-1])
    lag = repeats = 0
    for i in range(start, last + 1):
        if lag and _at(up, i, lag, joined) == int(down[i]):
            continue
        before = int(down[i - 1]) if i and joined[i] else None
        if before == int(down[i]) and lag < _MOST_LAG:
            lag, repeats = lag + 1, repeats + 1
            continue
        # Realigned, wholly or in part.
        lag = next((k for k in range(lag) if _at(up, i, k, joined) == int(down[i])), -1)
        if lag < 0:
            return None
    # Where the right half is equal to the one before it, a repeat begins without being seen.
    first = start
    while first > 1 and joined[first - 1] and up[first - 1] == up[first - 2]:
        first -= 1
    return Lag(start, last + 1, first, repeats) if repeats else None


def find_phase(up: Uint32, down: Uint32, joined: Bools) -> Phase | None:
    """Return the byte phase that explains one lane from its first difference to the last word.

    Among several that do, the one that also explains the words before; see ``find_lag`` for the
    arguments.
    """
    differ = np.flatnonzero(up != down)
    if not differ.size:
        return None
    start = int(differ[0])
    for mode, k in PHASES:
        shifted, known = shift_phase(up, joined, mode, k)
        wrong = (shifted ^ down) & known != 0
        if wrong[start:].any():
            continue
        right = np.flatnonzero(wrong[:start])
        first = int(right[-1]) + 1 if right.size else 0
        return Phase(start, first, mode, k, len(up) - start)
    return None


def shift_phase(up: Uint32, joined: Bools, mode: Mode, k: int) -> tuple[Uint32, Uint32]:
    """Return what a lane shows of ``up`` with its byte phase wrong, and a mask of the bits known.

    Where the neighbour that lends its bytes is not in the recording, those bytes are not known.
    """
    bits = np.uint32(8 * k)
    rest = np.uint32(32 - 8 * k)
    everything = np.full(len(up), 0xFFFFFFFF, np.uint32)
    if mode == "rotated":
        return up << bits | up >> rest, everything
    if mode == "late":  # the lane's bytes come k later: the low ones are the previous half's last
        neighbour = np.concatenate([up[:1], up[:-1]])
        known = np.where(joined, everything, everything << bits)
        return up << bits | neighbour >> rest, known
    neighbour = np.concatenate([up[1:], up[-1:]])
    followed = np.concatenate([joined[1:], [False]])
    known = np.where(followed, everything, everything >> bits)
    return up >> bits | neighbour << rest, known


def unshift_phase(down: Uint32, mode: Mode, k: int) -> Uint32:
    """Return what was sent, from what a lane with this wrong byte phase shows.

    The half at the one end whose neighbour is missing keeps bytes that are not right.
    """
    contiguous = np.ones(len(down), np.bool_)
    if mode == "rotated":
        return shift_phase(down, contiguous, "rotated", 4 - k)[0]
    if mode == "late":
        return shift_phase(down, contiguous, "early", k)[0]
    return shift_phase(down, contiguous, "late", k)[0]


def _at(up: Uint32, i: int, lag: int, joined: Bools) -> int | None:
    """Return the half ``lag`` words before ``i``; None where that is not known."""
    if i - lag < 0 or not bool(joined[i - lag + 1 : i + 1].all()):
        return None
    return int(up[i - lag])
