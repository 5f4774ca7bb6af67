"""What happened to the words' shares on one lane of a bonded link: lag, or a shifted byte phase.

Byte k of a word is on lane k modulo the number of lanes; a lane's bytes of a word form its share, first byte least
significant: of two lanes a 32-bit half, of four a quarter of 16 bits.

Source: docs/formats.md section 3, "Bonding".

And words that a link changes always in the same way, which none of the known faults does: bits that are turned over in
every word, and bits that have one value whatever was sent. A slip, a lag and a wrong byte phase make other words of the
words beside them, so that what differs has no steady form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Uint64 = npt.NDArray[np.uint64]
Shares = npt.NDArray[np.unsignedinteger[Any]]
"""``(n,)`` unsigned, as wide as a share: the uint32 halves of two lanes, the uint16 quarters of four."""

Int64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

Mode = Literal["rotated", "late", "early"]

_SHIFTS = (1, 2, 3)
_MOST_LAG = 16


def phases_of(lanes: int) -> tuple[tuple[Mode, int], ...]:
    """Return the ways a lane's byte phase can be wrong: rotated within each share, or bytes late or early by k."""
    within = 8 // lanes
    return (
        *(("rotated", k) for k in _SHIFTS if k < within),
        *(("late", k) for k in _SHIFTS),
        *(("early", k) for k in _SHIFTS),
    )


@dataclass(frozen=True, slots=True)
class Lag:
    """A lane that repeated a share and then lagged, over ``[start, end)`` of the compared words.

    ``first``: earliest place where the repeat may have begun; before ``start`` where the right share
    happens to be equal to the one before it. ``repeats``: how often a share was repeated.
    """

    start: int
    end: int
    first: int
    repeats: int


@dataclass(frozen=True, slots=True)
class Phase:
    """A lane whose byte phase was wrong from ``start`` on, to the last compared word.

    ``known``: bits from there on, in shares that differ, of which this phase says what they are, and which are that;
    ``turned``: those of them that are not as they were sent.
    """

    start: int
    first: int
    mode: Mode
    shift: int
    words: int
    known: int = 0
    turned: int = 0


def shares(words: Uint64, lane: int, lanes: int) -> Shares:
    """Return what one lane of so many carries of ``(n,)`` 64-bit words."""
    octets = words.astype("<u8", copy=False).view(np.uint8).reshape(-1, 8)
    picked = np.ascontiguousarray(octets[:, lane::lanes])
    of_lane: Shares = picked.view(f"<u{8 // lanes}").reshape(-1)
    return of_lane


def join(of_lanes: Sequence[Shares]) -> Uint64:
    """Return the words whose shares these are, lane 0 first."""
    lanes = len(of_lanes)
    octets = np.empty((len(of_lanes[0]), 8), np.uint8)
    for lane, of_lane in enumerate(of_lanes):
        octets[:, lane::lanes] = (
            np.ascontiguousarray(of_lane).view(np.uint8).reshape(-1, 8 // lanes)
        )
    words: Uint64 = octets.view("<u8").reshape(-1)
    return words


def share_name(lanes: int) -> str:
    """Return what a lane's share of a word is called in a sentence."""
    return "32-bit half" if lanes == 2 else f"{64 // lanes}-bit share"


def others_of(lanes: int) -> str:
    """Return what is said of all lanes but one, with its verb."""
    return "the other lane is" if lanes == 2 else f"the other {lanes - 1} lanes are"


def find_lag(up: Shares, down: Shares, joined: Bools) -> Lag | None:
    """Return the lag that explains every difference of one lane, or None.

    Args:
        up, down: ``(n,)`` shares that should be equal.
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
    # Where the right share is equal to the one before it, a repeat begins without being seen.
    first = start
    while first > 1 and joined[first - 1] and up[first - 1] == up[first - 2]:
        first -= 1
    return Lag(start, last + 1, first, repeats) if repeats else None


def find_phase(up: Shares, down: Shares, joined: Bools) -> Phase | None:
    """Return the byte phase that explains one lane from its first difference to the last word.

    Among several that do, the one that also explains the words before; see ``find_lag`` for the
    arguments.
    """
    differ = np.flatnonzero(up != down)
    if not differ.size:
        return None
    start = int(differ[0])
    for mode, k in phases_of(8 // up.dtype.itemsize):
        shifted, known = shift_phase(up, joined, mode, k)
        wrong = (shifted ^ down) & known != 0
        if wrong[start:].any():
            continue
        right = np.flatnonzero(wrong[:start])
        first = int(right[-1]) + 1 if right.size else 0
        said = sum(int(share).bit_count() for share in known[differ])
        turned = sum(int(share).bit_count() for share in ((shifted ^ up) & known)[differ])
        return Phase(start, first, mode, k, len(up) - start, said, turned)
    return None


def shift_phase(up: Shares, joined: Bools, mode: Mode, k: int) -> tuple[Shares, Shares]:
    """Return what a lane shows of ``up`` with its byte phase wrong, and a mask of the bits known.

    Where the neighbour that lends its bytes is not in the recording, those bytes are not known.
    """
    width = up.dtype.itemsize
    octets = np.ascontiguousarray(up).view(np.uint8).reshape(-1, width)
    if mode == "rotated":
        turned = np.roll(octets, k, axis=1)
        return _as_shares(turned, up), np.full(len(up), np.iinfo(up.dtype).max, up.dtype)
    # Byte i of the lane shows byte i - k (late) or i + k (early), which another share may hold.
    place = np.arange(octets.size) + (-k if mode == "late" else k)
    inside = (place >= 0) & (place < octets.size)
    whole = (
        -(-k // width) * width
    )  # beyond either end a share lends its own bytes, which are not known
    place = np.where(inside, place, place + whole if mode == "late" else place - whole)
    place = np.clip(place, 0, max(octets.size - 1, 0))
    run = np.cumsum(~joined)
    known = inside & (run[place // width] == np.repeat(run, width))
    shown = octets.reshape(-1)[place].reshape(-1, width)
    mask = np.where(known, 0xFF, 0).astype(np.uint8).reshape(-1, width)
    return _as_shares(shown, up), _as_shares(mask, up)


def _as_shares(octets: npt.NDArray[np.uint8], like: Shares) -> Shares:
    shown: Shares = np.ascontiguousarray(octets).view(like.dtype).reshape(-1)
    return shown


def unshift_phase(down: Shares, mode: Mode, k: int) -> Shares:
    """Return what was sent, from what a lane with this wrong byte phase shows.

    The shares at the one end whose neighbour is missing keep bytes that are not right.
    """
    contiguous = np.ones(len(down), np.bool_)
    if mode == "rotated":
        return shift_phase(down, contiguous, "rotated", down.dtype.itemsize - k)[0]
    if mode == "late":
        return shift_phase(down, contiguous, "early", k)[0]
    return shift_phase(down, contiguous, "late", k)[0]


def _at(up: Shares, i: int, lag: int, joined: Bools) -> int | None:
    """Return the share ``lag`` words before ``i``; None where that is not known."""
    if i - lag < 0 or not bool(joined[i - lag + 1 : i + 1].all()):
        return None
    return int(up[i - lag])


_LEAST_STEADY = 8  # words: fewer say nothing of a habit
_CHANGED = (
    3  # of these by a bit with one value: one alone may stand before words that have it anyway
)
_MOST_STUCK = 4  # bits with one value; more of them alike are bytes that stand for others
_BITS = 64


def steady_damage(up: Uint64, down: Uint64, first: int, lanes: int) -> str:
    """Return in words what happens to each word from the first that differs on; empty where nothing is steady.

    Args:
        up, down: ``(n,)`` words as sent and as they arrived; ``first``: the first that differs.
        lanes: of the link; byte k of a word is on lane k modulo the lanes.
    """
    sent, arrived = up[first:], down[first:]
    changed = sent ^ arrived
    if len(sent) < _LEAST_STEADY:
        return ""
    mask = int(np.bitwise_or.reduce(changed))
    bits = [bit for bit in range(_BITS) if mask >> bit & 1]
    many = f"each of the {len(sent)} words from there on"
    if bool((changed == changed[0]).all()):
        return f"{_turned(mask, bits, lanes)} in {many}"
    ones = [int(np.count_nonzero(arrived >> np.uint64(bit) & np.uint64(1))) for bit in bits]
    few = len(bits) <= _MOST_STUCK and np.count_nonzero(changed) >= _CHANGED
    if few and all(n in (0, len(arrived)) for n in ones):
        values = " and ".join(
            f"bit {bit} is {int(n > 0)}" for bit, n in zip(bits, ones, strict=True)
        )
        return f"{values} in {many}, whatever was sent"
    return ""


def _turned(mask: int, bits: list[int], lanes: int) -> str:
    for lane in range(lanes):
        if mask == sum(0xFF << 8 * byte for byte in range(lane, 8, lanes)):
            return f"every bit of lane {lane} is turned over"
    if len(bits) == 1:
        return f"bit {bits[0]} is turned over"
    return f"{len(bits)} bits ({mask:#018x}) are turned over"
