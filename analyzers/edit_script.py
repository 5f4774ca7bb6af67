"""The shortest edit script between two word lists, in O((n + m) d) for d edits.

Source: E. Myers, "An O(ND) difference algorithm and its variations", Algorithmica 1 (1986), section 3.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

__all__ = ["edit_script"]

Ids = npt.NDArray[np.int64]


def edit_script(up: Ids, down: Ids) -> Ids:
    """Return the shortest way from ``up`` to ``down``.

    Args:
        up, down: ``(n,)``, ``(m,)`` int64; equal numbers are equal words.
    Returns:
        ``(k, 3)`` int64, in order: words omitted, words put in, then words equal on both sides.
    """
    steps = _script(np.ascontiguousarray(up), np.ascontiguousarray(down))
    groups: Ids = _grouped(steps)
    return groups


@njit(cache=True)
def _script(a, b):  # type: ignore[no-untyped-def]
    """Return the steps from the start: 0 equal, 1 omitted from ``a``, 2 put in from ``b``."""
    n, m = a.size, b.size
    top = n + m
    middle = top + 1
    reach = np.zeros(2 * top + 3, np.int32)
    history = np.zeros((16, 2 * top + 3), np.int32)
    d = 0
    found = False
    while not found:
        if d == history.shape[0]:
            grown = np.zeros((2 * d, 2 * top + 3), np.int32)
            grown[:d] = history
            history = grown
        history[d] = reach
        for k in range(-d, d + 1, 2):
            left, right = reach[middle + k - 1], reach[middle + k + 1]
            x = right if k == -d or (k != d and left < right) else left + 1
            y = x - k
            while x < n and y < m and a[x] == b[y]:
                x += 1
                y += 1
            reach[middle + k] = x
            if x >= n and y >= m:
                found = True
                break
        d += 1

    steps = np.zeros(top, np.uint8)
    at = top
    x, y = n, m
    for e in range(d - 1, 0, -1):
        k = x - y
        before = history[e]
        left, right = before[middle + k - 1], before[middle + k + 1]
        inserted = k == -e or (k != e and left < right)
        x_before = right if inserted else left
        y_before = x_before - (k + 1 if inserted else k - 1)
        x_after = x_before if inserted else x_before + 1
        at -= x - x_after  # the equal words: 0 already stands there
        at -= 1
        steps[at] = 2 if inserted else 1
        x, y = x_before, y_before
    at -= x
    return steps[at:]


@njit(cache=True)
def _grouped(steps):  # type: ignore[no-untyped-def]
    groups = np.zeros((steps.size + 1, 3), np.int64)
    last = 0
    for i in range(steps.size):
        if steps[i] == 0:
            groups[last, 2] += 1
        else:
            if groups[last, 2] > 0:
                last += 1
            groups[last, steps[i] - 1] += 1
    return groups[: last + 1]
