"""The way from one word list to another: shortest where the lists are short, linear in them where they are long.

Equal stretches are skipped at memory speed. At a difference the shortest edits are searched until the lists
run equal again (Myers, within a bound); what exceeds the bound, because thousands of words are lost at once,
is bridged to the next window of words that occurs on both sides, found by its hash.

Source: E. Myers, "An O(ND) difference algorithm and its variations", Algorithmica 1 (1986), section 3;
R. Karp, M. Rabin, "Efficient randomized pattern-matching algorithms", IBM J. Res. Dev. 31 (1987).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

Ids = npt.NDArray[np.int64]

EXACT_WORDS = 2_100
"""Up to so many words on both sides together (two of the longest packets) no shorter script exists."""

_EDITS = 64  # edits searched at one place; beyond that the hashed windows are cheaper
_AGREE = 32  # equal words after which an edit is believed: by chance in random words never
_LOOK = 1024  # words compared to choose between edits that would all be believed
_WINDOW = 16  # words of a window that is looked for on the other side
_SPAN = 2_048  # words looked at first for a common window, then four times as many, and so on
_SAMPLED = (
    1 << 20
)  # beyond so many windows only every 2nd, 4th, ... by its hash is kept: bounded memory
_BLOCK = (
    1_024  # words compared before it is asked whether they differed: 8 KB, stays in the first cache
)
_ODD = np.uint64(
    0x9E3779B97F4A7C15
)  # 2^64 / golden ratio, odd: a multiplier that spreads low bits upward


def edit_script(up: npt.NDArray[Any], down: npt.NDArray[Any]) -> Ids:
    """Return a way from ``up`` to ``down``; the shortest where both have `EXACT_WORDS` words at most together.

    The cost is linear in the words, plus for every difference at most the square of 64. Memory: the rows,
    and 40 MB at most.

    Args:
        up, down: ``(n,)``, ``(m,)`` integers of one type; equal numbers are equal words.
    Returns:
        ``(k, 3)`` int64, in order: words omitted, words put in, then words equal on both sides.
    Raises:
        ValueError: the two are of different types.
    """
    if up.dtype != down.dtype:
        raise ValueError(f"words of type {up.dtype} cannot be compared with {down.dtype}")
    groups: Ids = _walk(read_only(up), read_only(down))
    return groups


def read_only(words: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return integers as a contiguous view, unsigned and not to be written to: kernels are compiled for those alone."""
    view = np.ascontiguousarray(words).view(np.dtype(f"u{words.dtype.itemsize}"))
    view.flags.writeable = False
    return view


@njit(cache=True, nogil=True)
def _walk(a, b):  # type: ignore[no-untyped-def]
    n, m = a.size, b.size
    groups = np.zeros((16, 3), np.int64)
    none, always = np.int64(0), np.bool_(True)  # numba compiles a callee anew for a literal
    i = _equal_run(a, none, b, none, min(n, m))
    j = i
    groups[0, 2] = i
    used: Any = np.int64(1)
    ops = np.zeros(0, np.uint8)
    snakes = np.zeros(0, np.int64)
    while i < n or j < m:
        exact = (n - i) + (m - j) <= EXACT_WORDS
        if i == n or j == m:
            groups, used = _add(groups, used, n - i, m - j, none)
            break
        lead, ops, snakes = _near(a, i, b, j, exact)
        if lead >= 0:
            groups[used - 1, 2] += lead
            i += lead
            j += lead
            for e in range(ops.size):
                omitted = 1 if ops[e] == 1 else 0
                groups, used = _add(groups, used, omitted, 1 - omitted, snakes[e])
                i += omitted + snakes[e]
                j += 1 - omitted + snakes[e]
        else:
            x, y = _common_window(a, i, b, j)
            while x > i and y > j and a[x - 1] == b[y - 1]:
                x -= 1
                y -= 1
            if (x - i) + (y - j) <= EXACT_WORDS:
                lead, ops, snakes = _near(a[:x], i, b[:y], j, always)
                groups[used - 1, 2] += lead
                for e in range(ops.size):
                    omitted = 1 if ops[e] == 1 else 0
                    groups, used = _add(groups, used, omitted, 1 - omitted, snakes[e])
            else:
                groups, used = _add(groups, used, x - i, y - j, none)
            i, j = x, y
        run = _equal_run(a, i, b, j, min(n - i, m - j))
        groups[used - 1, 2] += run
        i += run
        j += run
    if used > 1 and groups[0, 2] == 0 and groups[0, 0] == 0 and groups[0, 1] == 0:
        return groups[1:used].copy()
    return groups[:used].copy()


@njit(cache=True, nogil=True)
def _add(groups, used, omitted, inserted, equal):  # type: ignore[no-untyped-def]
    """Put edits after the last group, into it where no equal word is between."""
    if groups[used - 1, 2] > 0 and omitted + inserted > 0:
        if used == groups.shape[0]:
            grown = np.zeros((2 * used, 3), np.int64)
            for row in range(used):  # numba takes seconds to compile the assignment of a slice
                for k in range(3):
                    grown[row, k] = groups[row, k]
            groups = grown
        used += 1
    groups[used - 1, 0] += omitted
    groups[used - 1, 1] += inserted
    groups[used - 1, 2] += equal
    return groups, used


@njit(cache=True, nogil=True)
def _equal_run(a, i, b, j, most):  # type: ignore[no-untyped-def]
    """Return how many words from ``a[i]`` and ``b[j]`` on are equal, ``most`` at most."""
    run = 0
    while run + _BLOCK <= most:
        x = a[i + run : i + run + _BLOCK]
        y = b[j + run : j + run + _BLOCK]
        differ = x[0] ^ y[0]
        for k in range(_BLOCK):  # no branch inside, so that the compiler uses vectors
            differ |= x[k] ^ y[k]
        if differ != 0:
            break
        run += _BLOCK
    while run < most and a[i + run] == b[j + run]:
        run += 1
    return run


@njit(cache=True, nogil=True)
def _near(a, i, b, j, exact):  # type: ignore[no-untyped-def]
    """Search the shortest edits from ``(i, j)`` on; return the equal words before, the edits, equal words after each.

    With ``exact`` up to both ends; else until the words run equal, and -1 where they do not within the bound.
    """
    n, m = a.size - i, b.size - j
    most = n + m if exact else min(_EDITS, n + m)
    reach = np.zeros(2 * most + 3, np.int64)
    middle = most + 1
    history = np.zeros(1024, np.int64)  # row d begins at d * d and has 2 d + 1 places
    found: Any = np.int64(0)
    x: Any = np.int64(0)
    d: Any = np.int64(0)
    while True:
        if (d + 1) * (d + 1) > history.size:
            grown = np.zeros(4 * history.size, np.int64)
            for k in range(d * d):
                grown[k] = history[k]
            history = grown
        best = -1
        for k in range(-d, d + 1, 2):
            left, right = reach[middle + k - 1], reach[middle + k + 1]
            x = right if k == -d or (k != d and left < right) else left + 1
            x = 0 if d == 0 else x
            y = x - k
            if x > n or y > m or y < 0:
                reach[middle + k] = x
                history[d * d + k + d] = x
                continue
            limit = min(n - x, m - y)
            if not exact:
                limit = min(limit, _AGREE)
            snake = 0
            while snake < limit and a[i + x + snake] == b[j + y + snake]:
                snake += 1
            x += snake
            reach[middle + k] = x
            history[d * d + k + d] = x
            ended = x == n and y + snake == m
            if ended or (not exact and snake == _AGREE):
                # Among edits equally few the one that holds longest, then the smallest shift.
                holds = _LOOK + 1 if ended else 0
                while not ended and holds < min(_LOOK, n - x, m - y - snake):
                    if a[i + x + holds] != b[j + y + snake + holds]:
                        break
                    holds += 1
                if holds > best or (holds == best and abs(k) < abs(found)):
                    best = holds
                    found = k
        if best >= 0 or d == most:
            break
        d += 1
    if best < 0:
        # Damage that goes on, but in place: go as far as the search came, if most of it was equal.
        far = -1
        for k in range(-d, d + 1, 2):
            x = history[d * d + k + d]
            if x <= n and 0 <= x - k <= m and 2 * x - k > far:
                far = 2 * x - k
                found = k
        if (far - d) // 2 < d:
            return -1, np.zeros(0, np.uint8), np.zeros(0, np.int64)
    return _traced(history, d, found)


@njit(cache=True, nogil=True)
def _traced(history, d, k):  # type: ignore[no-untyped-def]
    """Follow a search back from diagonal ``k``; edits are 1 omitted, 2 put in."""
    ops = np.zeros(d, np.uint8)
    snakes = np.zeros(d, np.int64)
    x = history[d * d + k + d]
    for e in range(d, 0, -1):
        before = (e - 1) * (e - 1) + e - 1
        left = history[before + k - 1] if k - 1 >= -(e - 1) else 0
        right = history[before + k + 1] if k + 1 <= e - 1 else 0
        if k == -e or (k != e and left < right):
            ops[e - 1] = 2
            start = right
            k += 1
        else:
            ops[e - 1] = 1
            start = left + 1
            k -= 1
        snakes[e - 1] = x - start
        x = start if ops[e - 1] == 2 else start - 1
    return x, ops, snakes


@njit(cache=True, nogil=True)
def _common_window(a, i, b, j):  # type: ignore[no-untyped-def]
    """Return the nearest place from which a window of words is equal; both ends where there is none."""
    n, m = a.size - i, b.size - j
    span = _SPAN
    while True:
        xs, ys = min(span, n), min(span, m)
        x, y = _match(a, i, xs, b, j, ys)
        if x >= 0:
            return i + x, j + y
        if xs == n and ys == m:
            return a.size, b.size
        span *= 4


@njit(cache=True, nogil=True)
def _match(a, i, xs, b, j, ys):  # type: ignore[no-untyped-def]
    if xs < _WINDOW or ys < _WINDOW:
        return -1, -1
    keep = np.uint64(0)
    while ys // (np.int64(keep) + 1) > _SAMPLED:
        keep = keep * np.uint64(2) + np.uint64(1)
    bits = 6
    while (1 << bits) < 2 * (ys // (np.int64(keep) + 1)):
        bits += 1
    shift = np.uint64(64 - bits)
    size = 1 << bits
    keys = np.zeros(size, np.uint64)
    place = np.full(size, -1, np.int64)
    again = np.zeros(size, np.bool_)
    oldest = np.uint64(1)  # what the word that leaves a window was multiplied by
    for _ in range(_WINDOW):
        oldest *= _ODD

    h = np.uint64(0)
    used = 0
    for y in range(ys):
        h = h * _ODD + np.uint64(b[j + y])
        if y >= _WINDOW:
            h -= oldest * np.uint64(b[j + y - _WINDOW])
        mixed = (h ^ (h >> np.uint64(29))) * _ODD
        if y < _WINDOW - 1 or (mixed & keep) != 0:
            continue
        at = np.int64(mixed >> shift)
        while place[at] >= 0 and keys[at] != h:
            at = (at + 1) & (size - 1)
        if place[at] >= 0:
            again[at] = True
        elif 4 * used < 3 * size:
            keys[at] = h
            place[at] = y - _WINDOW + 1
            used += 1

    h = np.uint64(0)
    best = xs + ys + 1
    found_x, found_y = -1, -1
    second = xs + ys + 1
    second_x, second_y = -1, -1
    for x in range(xs):
        first = x - _WINDOW + 1
        if first >= best:
            break
        h = h * _ODD + np.uint64(a[i + x])
        if x >= _WINDOW:
            h -= oldest * np.uint64(a[i + x - _WINDOW])
        mixed = (h ^ (h >> np.uint64(29))) * _ODD
        if first < 0 or (mixed & keep) != 0:
            continue
        at = np.int64(mixed >> shift)
        while place[at] >= 0 and keys[at] != h:
            at = (at + 1) & (size - 1)
        if place[at] < 0:
            continue
        y = place[at]
        cost = first + y
        if cost >= best or (again[at] and cost >= second):
            continue
        same = True
        for k in range(_WINDOW):
            if a[i + first + k] != b[j + y + k]:
                same = False
                break
        if same and not again[at]:
            best = cost
            found_x, found_y = first, y
        elif same:  # a window that occurs several times: taken only where nothing better is found
            second = cost
            second_x, second_y = first, y
    if found_x < 0:
        return second_x, second_y
    return found_x, found_y
