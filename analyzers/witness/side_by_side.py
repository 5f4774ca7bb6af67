"""The words of two taps side by side, without regard to packets: what one has otherwise than the other.

Where a header, a kind or a whole column of a memory is upset its packets cannot be made out, but its words still stand
in their order between words that are equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.streams import Stream

Int64 = npt.NDArray[np.int64]

_FEW_ANCHORS = 4
_MOST_APART = 64  # words of a difference whose sides are not equally long


@dataclass(frozen=True, slots=True)
class Difference:
    """Words ``start`` to ``end`` of a tap are words ``first`` to ``last`` of the other; either may be none."""

    start: int
    end: int
    first: int
    last: int


@dataclass(frozen=True)
class SideBySide:
    """Two taps that hold words in common: those from ``start`` to ``end`` of the one are ``first`` to ``last``."""

    here: Stream
    there: Stream
    start: int
    end: int
    differences: tuple[Difference, ...]
    first: int
    last: int

    def covers(self, start: int, end: int) -> bool:
        """Tell whether the other tap holds what stands there in its place."""
        return self.start <= start and end <= self.end

    @cached_property
    def at(self) -> dict[tuple[int, int], Difference]:
        """The differences by where they are."""
        return {(each.start, each.end): each for each in self.differences}

    def mirrored(self) -> SideBySide:
        """Return the same from the other tap's side."""
        differences = tuple(Difference(d.first, d.last, d.start, d.end) for d in self.differences)
        return SideBySide(
            self.there, self.here, self.first, self.last, differences, self.start, self.end
        )

    def content(self, difference: Difference) -> tuple[tuple[int, int], ...]:
        """Return kind and data of the other tap's words."""
        rows = range(difference.first, difference.last)
        return tuple((int(self.there.kind[i]), int(self.there.data[i])) for i in rows)


def laid(here: Stream, there: Stream) -> SideBySide | None:
    """Lay the words of two taps side by side; None where they have too few in common."""
    if here.breaks or there.breaks:
        return None
    at, to = _anchors(here, there)
    if len(at) < _FEW_ANCHORS:
        return None
    before, behind = min(at[0], to[0]), min(len(here) - at[-1], len(there) - to[-1])
    at = np.concatenate([[at[0] - before - 1], at, [at[-1] + behind]])
    to = np.concatenate([[to[0] - before - 1], to, [to[-1] + behind]])
    differences = tuple(_between(here, there, at, to))
    ends = int(at[0]) + 1, int(at[-1]), differences, int(to[0]) + 1, int(to[-1])
    return SideBySide(here, there, *ends)


def _anchors(here: Stream, there: Stream) -> tuple[Int64, Int64]:
    """Return the places of the words that each tap holds once, in an order that is that of both."""
    ours, at = _once(here)
    theirs, to = _once(there)
    _, mine, other = np.intersect1d(ours, theirs, assume_unique=True, return_indices=True)
    order = np.argsort(at[mine])
    at, to = at[mine][order], to[other][order]
    rising = np.maximum.accumulate(to) == to
    rising &= (
        np.minimum.accumulate(to[::-1])[::-1] == to
    )  # neither ahead of its place nor behind it
    return at[rising], to[rising]


def _once(stream: Stream) -> tuple[npt.NDArray[np.uint64], Int64]:
    words, places, counts = np.unique(stream.data, return_index=True, return_counts=True)
    return words[counts == 1], places[counts == 1].astype(np.int64)


def _between(here: Stream, there: Stream, at: Int64, to: Int64) -> Iterator[Difference]:
    """Yield what differs between and at anchors; those at the ends stand for nothing."""
    shifts = np.flatnonzero(
        np.diff(to - at)
    )  # words went missing behind these anchors, or came more
    for first, last in pairwise([-1, *shifts.tolist(), len(at) - 1]):
        start, end = int(at[first + 1]) + (first < 0), int(at[last])
        off = int(to[first + 1] - at[first + 1])
        other = (here.data[start:end] != there.data[start + off : end + off]) | (
            here.kind[start:end] != there.kind[start + off : end + off]
        )
        for i in (start + np.flatnonzero(other)).tolist():
            yield Difference(i, i + 1, i + off, i + off + 1)
        if last < len(at) - 1:
            yield from _unlike(
                here, there, (end, int(at[last + 1])), (end + off, int(to[last + 1]))
            )


def _unlike(
    here: Stream, there: Stream, ours: tuple[int, int], theirs: tuple[int, int]
) -> Iterator[Difference]:
    """Yield what differs between two anchors that are not equally far from each other at both taps."""
    (start, end), (first, last) = ours, theirs
    while start < end and first < last and _same(here, start, there, first):
        start, first = start + 1, first + 1
    while start < end and first < last and _same(here, end - 1, there, last - 1):
        end, last = end - 1, last - 1
    if max(end - start, last - first) <= _MOST_APART:
        yield Difference(start, end, first, last)


def _same(here: Stream, at: int, there: Stream, to: int) -> bool:
    return bool(here.data[at] == there.data[to] and here.kind[at] == there.kind[to])
