"""Words that a link changes always in the same way, which none of the known faults does: bits that are turned over in
every word, and bits that have one value whatever was sent.

A slip, a lag and a wrong byte phase make other words of the words beside them, so that what differs has no steady form.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Uint64 = npt.NDArray[np.uint64]

_LEAST = 8  # words: fewer say nothing of a habit
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
    if len(sent) < _LEAST:
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
