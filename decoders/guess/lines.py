"""What can be seen of each line of a capture before anything is decoded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
import numpy.typing as npt

from freezeframe.capture.files.edges import Edges, join

MAX_EDGES = 1 << 17
"""Instants with an edge that are looked at: some ten thousand bytes of any serial bus, read in a second."""

_MOST_PAIRED = 12  # lines of which all pairs are looked at
_LOOKED_AT = 1 << 12  # changes of a line beside another
_FEW = 4
_TOGETHER = 0.8  # of the changes of both
_REGULAR = 0.9  # of the pulses; a clock in bursts has pauses
_NEAR = 0.15


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One channel of a capture.

    ``sample`` is ``(n,)`` int64, the changes after the first value ``first``; the line is watched
    over the samples ``[begin, end)``.
    """

    name: str
    sample: npt.NDArray[np.int64]
    first: int
    begin: int
    end: int
    samplerate_hz: int

    def __len__(self) -> int:
        return len(self.sample)

    @property
    def widths(self) -> npt.NDArray[np.int64]:
        """Samples from each change to the next, ``(n - 1,)``."""
        return np.diff(self.sample)

    @property
    def idle(self) -> int:
        """The level at rest: of the first, the last and the longest stay, what two of them say."""
        stops = np.concatenate(([self.begin], self.sample, [self.end]))
        longest = self.first ^ int(np.argmax(np.diff(stops))) & 1
        return int(self.first + (self.first ^ len(self) & 1) + longest >= 2)

    def level_at(self, at: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the level at each of these samples, 0 or 1; of a change there, the new one."""
        return np.asarray(self.first ^ np.searchsorted(self.sample, at, side="right") & 1)

    def falls(self) -> npt.NDArray[np.int64]:
        """Return the samples where the line goes to 0."""
        return self.sample[1 - self.first :: 2]

    def rises(self) -> npt.NDArray[np.int64]:
        """Return the samples where the line goes to 1."""
        return self.sample[self.first :: 2]

    @property
    def clock_hz(self) -> float:
        """The frequency of a line whose pulses are nearly all of one length, else 0; of a sample rate
        that is not known, per sample."""
        widths = self.widths
        if len(widths) < 15:
            return 0.0
        # High and low may differ: a duty cycle of a third is a clock all the same.
        highs, lows = widths[self.first :: 2], widths[1 - self.first :: 2]
        middles = float(np.median(highs)), float(np.median(lows))
        near = sum(
            int((np.abs(part - middle) <= max(1.0, _NEAR * middle)).sum())
            for part, middle in zip((highs, lows), middles, strict=True)
        )
        return (self.samplerate_hz or 1) / sum(middles) if near >= _REGULAR * len(widths) else 0.0


def sampled(pieces: Iterable[Edges]) -> tuple[Edges, bool]:
    """Return the first ``MAX_EDGES`` edges of a capture as one piece, and whether that is all."""
    held: list[Edges] = []
    count = 0
    for piece in pieces:
        held.append(piece)
        count += len(piece)
        if count > MAX_EDGES:
            edges = join(held)
            return replace(
                edges,
                sample=edges.sample[:MAX_EDGES],
                value=edges.value[:MAX_EDGES],
                end_sample=int(edges.sample[MAX_EDGES]),
            ), False
    return join(held), True


def lines_of(edges: Edges, names: Sequence[str]) -> list[Line]:
    """Return these channels as lines, in this order."""
    lines = []
    for name in names:
        bit = np.uint64(edges.channels.index(name))
        level = (edges.value >> bit & np.uint64(1)).astype(np.int64)
        changes = np.flatnonzero(np.diff(level)) + 1
        lines.append(
            Line(
                name,
                edges.sample[changes],
                int(level[0]),
                edges.begin_sample,
                edges.end_sample,
                edges.samplerate_hz,
            )
        )
    return lines


def pairs(lines: Sequence[Line]) -> Iterator[tuple[Line, Line]]:
    """Yield all pairs of these lines, each way round, that may be a clock and its data; of many lines, of the first.

    Two that change at the same instants are the two wires of a differential pair.
    """
    for one, other in permutations(lines[:_MOST_PAIRED], 2):
        if not _together(one, other):
            yield one, other


def _together(one: Line, other: Line) -> bool:
    if not _TOGETHER * len(one) <= len(other) <= len(one) / _TOGETHER:
        return False
    end = min(one.sample[:_LOOKED_AT][-1], other.sample[:_LOOKED_AT][-1])
    a, b = (line.sample[line.sample <= end] for line in (one, other))
    return len(np.intersect1d(a, b, assume_unique=True)) >= _TOGETHER * max(len(a), len(b))


def low_share(clk: Line, line: Line, at: npt.NDArray[np.int64] | None = None) -> float | None:
    """Return how many changes of a line, or how many of those given, come while a clock is low.

    None for too few. Of a long capture the beginning is looked at.
    """
    at = (line.sample if at is None else at)[:_LOOKED_AT]
    return float((clk.level_at(at) == 0).mean()) if len(at) >= _FEW else None


def aligned(low_share: float) -> float:
    """Return how many of the changes come at one level of the clock, whichever it is."""
    return max(low_share, 1 - low_share)
