"""Compare two word lists of any width: which words were omitted, doubled, put in, altered, reordered, and where first.

For columns of words that know nothing of packets: two taps of a logic analyzer, 32-bit halves against 64-bit
words, two dumps. Words of unlike widths are compared in their largest common part.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from numba import njit

from freezeframe.analyzers.taps.align import Op
from freezeframe.analyzers.taps.edit_script import edit_script, read_only

Ints = npt.NDArray[np.integer[Any]]
Int64 = npt.NDArray[np.int64]
Order = Literal["low-first", "high-first"]

_OPS = (Op.OMITTED, Op.DUPLICATED, Op.INSERTED, Op.ALTERED, Op.REORDERED, Op.REPLACED)
_OMITTED, _DUPLICATED, _INSERTED, _ALTERED, _REORDERED, _REPLACED = range(6)
_PAIRED = (
    64  # unequal numbers of words omitted and put in at one place: up to here the first are paired
)
_FAR = 4_096  # words within which fewer than _LONG equal words are called reordered; else chance explains them
_LONG = 4


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring words to which the same happened, in units of `WordDiff.bits` bits.

    Attributes:
        op: what happened.
        up, down: where it begins on either side; where nothing is there, the place where it would be.
        up_words, down_words: how many words stand there.
        words: how many words were touched; of an altered stretch those that differ.
        first, places: the run begins at one of ``[first, first + places)``, counted in ``up`` for
            what was omitted and in ``down`` for what is too many: between equal words the exact place
            is not known.
    """

    op: Op
    up: int
    down: int
    up_words: int
    down_words: int
    words: int
    first: int
    places: int


@dataclass(frozen=True, eq=False, slots=True)
class WordDiff:
    """How two word lists differ.

    Attributes:
        bits: width of a compared unit; up_parts, down_parts: units in a word of either list.
        up_units, down_units: lengths of the lists, in units; equal_units: how many stand on both sides.
        columns: ``(k, 8)`` int64, one row a `Run`, its attributes in order (op as its number).
    """

    bits: int
    up_parts: int
    down_parts: int
    up_units: int
    down_units: int
    equal_units: int
    columns: Int64

    def __len__(self) -> int:
        return len(self.columns)

    def runs(self, begin: int = 0, end: int | None = None) -> Iterator[Run]:
        """Yield the runs in order."""
        for op, *rest in self.columns[begin:end].tolist():
            yield Run(_OPS[op], *rest)

    @property
    def first_divergence(self) -> Run | None:
        """The first run, None where the lists are equal."""
        return next(self.runs(0, 1), None)

    @property
    def counts(self) -> dict[Op, int]:
        """Units touched, by what happened to them; those that never happened are 0."""
        sums = np.bincount(self.columns[:, 0], self.columns[:, 5], len(_OPS))
        return {op: int(count) for op, count in zip(_OPS, sums, strict=True)}

    def table(self) -> pd.DataFrame:
        """Return the runs as a table; ``up_word``, ``up_part`` count in words of the list as it was given."""
        names = ("op", "up", "down", "up_words", "down_words", "words", "first", "places")
        table = pd.DataFrame({name: self.columns[:, i] for i, name in enumerate(names)})
        table["op"] = pd.Categorical.from_codes(
            self.columns[:, 0], categories=pd.Index([str(op) for op in _OPS])
        )
        for side, parts in (("up", self.up_parts), ("down", self.down_parts)):
            table[f"{side}_word"], table[f"{side}_part"] = (
                table[side] // parts,
                table[side] % parts,
            )
        return table


def diff_words(
    up: Ints,
    down: Ints,
    *,
    up_bits: int | None = None,
    down_bits: int | None = None,
    order: Order = "low-first",
) -> WordDiff:
    """Compare two lists of words.

    Linear in the words and the differences. The lists are read in place where widths and types agree.

    Args:
        up, down: ``(n,)``, ``(m,)`` integers; a 64-bit word may be an int64 bit pattern.
        up_bits, down_bits: width of a word, 1 to 64; None: the width of the array's type.
        order: which part of the wider word comes first in the narrower list.
    Raises:
        ValueError: not a list of integers, or a value that does not fit its width; the message says which.
    """
    up_bits = _checked("up", up, up_bits)
    down_bits = _checked("down", down, down_bits)
    bits = math.gcd(up_bits, down_bits)
    a = split_words(up, up_bits, bits, order)
    b = split_words(down, down_bits, bits, order)
    groups = edit_script(a, b)
    columns = _reordered(a, b, _runs(a, b, groups))
    return WordDiff(
        bits=bits,
        up_parts=up_bits // bits,
        down_parts=down_bits // bits,
        up_units=len(a),
        down_units=len(b),
        equal_units=int(groups[:, 2].sum()) + _equal_in_place(columns),
        columns=columns,
    )


def split_words(words: Ints, bits: int, part_bits: int, order: Order) -> npt.NDArray[Any]:
    """Return words cut into parts of ``part_bits``, as uint32 or uint64, whichever holds one, to be read alone.

    A view where nothing has to be cut or converted, else a copy. Kernels are compiled for these two types alone: to
    compile them takes longer than most comparisons.
    """
    unit = np.dtype(np.uint32 if part_bits <= 32 else np.uint64)
    size = words.dtype.itemsize
    if bits == part_bits:
        same = words.view(np.dtype(f"u{size}"))
        return read_only(same if size == unit.itemsize else same.astype(unit))
    parts = bits // part_bits
    wide = words.astype(np.int64).view(np.uint64) if size < 8 else words.view(np.uint64)
    mask = np.uint64((1 << part_bits) - 1)
    cut = np.empty((len(words), parts), unit)
    for part in range(parts):
        column = part if order == "low-first" else parts - 1 - part
        cut[:, column] = wide >> np.uint64(part * part_bits) & mask
    return read_only(cut.reshape(-1))


def _checked(side: str, words: Ints, bits: int | None) -> int:
    if words.ndim != 1 or words.dtype.kind not in "iu":
        raise ValueError(
            f"{side}: a list of integers is needed, not {words.ndim} dimensions of {words.dtype}"
        )
    whole = 8 * words.dtype.itemsize
    if bits is None:
        return whole
    if not 1 <= bits <= 64:
        raise ValueError(f"{side}: words of {bits} bits; 1 to 64 can be compared")
    if bits != whole and len(words) and not (bits == 64 and words.dtype.kind == "u"):
        least, most = int(words.min()), int(words.max())
        if least < 0 or most >> bits:
            value = least if least < 0 else most
            at = int(np.flatnonzero(words == value)[0])
            raise ValueError(f"{side}: word {at} is {value:#x}, which does not fit {bits} bits")
    return bits


def _equal_in_place(columns: Int64) -> int:
    altered = columns[columns[:, 0] == _ALTERED]
    return int((altered[:, 3] - altered[:, 5]).sum())


@njit(cache=True, nogil=True)
def _runs(a, b, groups):  # type: ignore[no-untyped-def]
    """Make runs of the rows of an edit script."""
    out = np.zeros((2 * groups.shape[0] + 1, 8), np.int64)
    used = 0
    i = j = 0
    room = 0  # equal words before
    for g in range(groups.shape[0]):
        omitted, inserted, equal = groups[g, 0], groups[g, 1], groups[g, 2]
        if omitted and inserted:
            if omitted != inserted and max(omitted, inserted) > _PAIRED:
                row = (_REPLACED, i, j, omitted, inserted, max(omitted, inserted), i, 1)
                used = _put(out, used, row)
                omitted_left = inserted_left = 0
            else:
                pairs = min(omitted, inserted)
                differ = 0
                for k in range(pairs):
                    differ += a[i + k] != b[j + k]
                used = _put(out, used, (_ALTERED, i, j, pairs, pairs, differ, i, 1))
                omitted_left, inserted_left = omitted - pairs, inserted - pairs
            room_here = 0
        else:
            omitted_left, inserted_left, room_here = omitted, inserted, room
        i += omitted
        j += inserted
        if omitted_left:
            begin = i - omitted_left
            back = _slide(a, begin, omitted_left, room_here)
            row = (_OMITTED, begin, j, omitted_left, 0, omitted_left, begin - back, back + 1)
            used = _put(out, used, row)
        elif inserted_left:
            begin = j - inserted_left
            back = _slide(b, begin, inserted_left, room_here)
            again = begin >= inserted_left
            k = 0
            while again and k < inserted_left:
                again = b[begin + k] == b[begin - inserted_left + k]
                k += 1
            op = _DUPLICATED if again else _INSERTED
            if again:  # the first copy is not one too many
                back = max(0, back - inserted_left)
            row = (op, i, begin, 0, inserted_left, inserted_left, begin - back, back + 1)
            used = _put(out, used, row)
        i += equal
        j += equal
        room = equal
    return out[:used].copy()


@njit(cache=True, nogil=True)
def _put(out, used, row):  # type: ignore[no-untyped-def]
    for k in range(8):
        out[used, k] = row[k]
    return used + 1


@njit(cache=True, nogil=True)
def _slide(a, begin, count, room):  # type: ignore[no-untyped-def]
    """Return by how much a run of ``count`` words could as well begin earlier, ``room`` at most."""
    back = 0
    while back < room and a[begin - 1 - back] == a[begin + count - 1 - back]:
        back += 1
    return back


def _reordered(a: npt.NDArray[Any], b: npt.NDArray[Any], columns: Int64) -> Int64:
    """Join what was omitted at one place and put in at another, word for word, into one run."""
    gone = np.flatnonzero(columns[:, 0] == _OMITTED)
    come = np.flatnonzero((columns[:, 0] == _INSERTED) | (columns[:, 0] == _DUPLICATED))
    lengths = np.intersect1d(columns[gone, 3], columns[come, 4])
    gone = gone[np.isin(columns[gone, 3], lengths)]
    come = come[np.isin(columns[come, 4], lengths)]
    if not len(gone) or not len(come):
        return columns
    waiting: dict[tuple[int, int], deque[int]] = {}
    for row, key in zip(gone.tolist(), _keys(a, columns[gone, 1], columns[gone, 3]), strict=True):
        waiting.setdefault((key, int(columns[row, 3])), deque()).append(row)
    dropped = []
    for row, key in zip(come.tolist(), _keys(b, columns[come, 2], columns[come, 4]), strict=True):
        length, here = int(columns[row, 4]), int(columns[row, 1])
        candidates = waiting.get((key, length), deque())
        far = _FAR if length < _LONG else len(a)
        while candidates and columns[candidates[0], 1] < here - far:
            candidates.popleft()
        near = [other for other in islice(candidates, 8) if columns[other, 1] <= here + far]
        if not near:
            continue
        nearest = min(near, key=lambda other: abs(int(columns[other, 1]) - here))
        up, down = int(columns[nearest, 1]), int(columns[row, 2])
        if np.array_equal(a[up : up + length], b[down : down + length]):
            candidates.remove(nearest)
            first, second = sorted((nearest, row))
            columns[first] = (_REORDERED, up, down, length, length, length, down, 1)
            dropped.append(second)
    return np.delete(columns, dropped, axis=0)


def _keys(words: npt.NDArray[Any], begin: Int64, count: Int64) -> Sequence[int]:
    keys: Sequence[int] = _hashes(words, begin, count).tolist()
    return keys


@njit(cache=True, nogil=True)
def _hashes(words, begin, count):  # type: ignore[no-untyped-def]
    out = np.zeros(begin.size, np.uint64)
    for r in range(begin.size):
        h = np.uint64(0)
        for k in range(begin[r], begin[r] + count[r]):
            h = (h ^ np.uint64(words[k])) * np.uint64(0x9E3779B97F4A7C15)
            h ^= h >> np.uint64(29)
        out[r] = h
    return out
