"""The throughput sampler as an analyzer: words in every interval, extremes, stalls, of any length of recording.

A sampler stores cumulative counts of 64-bit words, 32 bits each, at equal distances of time. An interval
between two samples that were both read has exactly the words of their difference modulo 2^32; an interval
beside an unread sample is not known and counts nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.throughput.kernels import scan

Int64 = npt.NDArray[np.int64]
Samples = npt.NDArray[np.uint32]
Piece = tuple[int, Int64, Int64]

_WRAP = 0xFFFFFFFF
_ONE = np.ones(1, np.int64)
_MANY = 64  # pieces of bins that are kept apart


@dataclass(frozen=True, slots=True, eq=False)
class SampleBatch:
    """Samples that follow each other without a gap.

    Attributes:
        samples: ``(n, 2)`` uint32, words out and in.
        first: number of the first one; consecutive numbers are a sample period apart.
    """

    samples: Samples
    first: int = 0


@dataclass(frozen=True, slots=True)
class Way:
    """One direction: words and their extremes in an interval, and intervals without a word.

    ``idle_longest``: the most intervals without a word in a row; ``full``: intervals at the link's limit.
    """

    words: int = 0
    least: int = _WRAP
    most: int = 0
    idle: int = 0
    full: int = 0
    idle_lead: int = 0
    idle_trail: int = 0
    idle_longest: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class SampleSums:
    """The state over one stretch: what two neighbours need of each other, and sums.

    ``pieces``: intervals and gaps; ``span``: samples and those that were not read. ``bins`` are pieces
    ``(number of the first bin, words (k, 2), intervals (k,))`` that add up.
    """

    first: int = 0
    samples: int = 0
    intervals: int = 0
    pieces: int = 0
    span: int = 0
    head: tuple[int, int] = (0, 0)
    last: tuple[int, int] = (0, 0)
    ways: tuple[Way, Way] = (Way(), Way())
    bins: tuple[Piece, ...] = field(default=())

    @property
    def end(self) -> int:
        """The number of the sample that would follow without a gap."""
        return self.first + self.span


@dataclass(frozen=True, slots=True, eq=False)
class SampleSummary:
    """The result: both directions, and words by bin.

    Attributes:
        bin_first: number of the first bin; bin b holds the intervals ``[b, b + 1) * per_bin``.
        bin_words: ``(k, 2)`` int64; bin_intervals: ``(k,)`` int64, known intervals of each bin.
    """

    samples: int
    intervals: int
    per_bin: int
    out: Way
    into: Way
    bin_first: int
    bin_words: Int64
    bin_intervals: Int64


class SamplerAnalyzer:
    """Sums over samples; ``merge`` takes neighbours in order, in any grouping."""

    def __init__(self, *, per_bin: int = 1, full_words: int = _WRAP) -> None:
        """Choose the resolution of the series.

        Args:
            per_bin: intervals of one point of the series.
            full_words: words of an interval from which on it counts as full, 1 or more.
        Raises:
            ValueError: one of them is below 1.
        """
        if per_bin < 1 or full_words < 1:
            raise ValueError(f"per_bin {per_bin} and full_words {full_words} must be 1 or more")
        self.per_bin = per_bin
        self.full_words = min(full_words, _WRAP)

    def init(self) -> SampleSums:
        return SampleSums()

    def step(self, state: SampleSums, batch: SampleBatch) -> SampleSums:
        """Take samples in that follow those before, with or without a gap.

        Raises:
            ValueError: not ``(n, 2)`` uint32, or a number that goes back.
        """
        samples = batch.samples
        if samples.dtype != np.uint32 or samples.ndim != 2 or samples.shape[1] != 2:
            raise ValueError(f"samples are {samples.dtype}{samples.shape}; wanted uint32 (n, 2)")
        return self.merge([state, self._alone(samples, batch.first)])

    def merge(self, states: Sequence[SampleSums]) -> SampleSums:
        whole = SampleSums()
        for state in states:
            whole = self._join(whole, state)
        return whole

    def finish(self, state: SampleSums) -> SampleSummary:
        first = min((piece[0] for piece in state.bins), default=0)
        end = max((piece[0] + len(piece[2]) for piece in state.bins), default=0)
        words, counts = np.zeros((end - first, 2), np.int64), np.zeros(end - first, np.int64)
        for at, piece_words, piece_counts in state.bins:
            place = slice(at - first, at - first + len(piece_counts))
            words[place] += piece_words
            counts[place] += piece_counts
        out, into = state.ways
        return SampleSummary(
            state.samples, state.intervals, self.per_bin, out, into, first, words, counts
        )

    def _alone(self, samples: Samples, first: int) -> SampleSums:
        n = len(samples)
        if not n:
            return SampleSums()
        head, last = _pair(samples[0]), _pair(samples[-1])
        if n == 1:
            return SampleSums(first, 1, 0, 0, 1, head, last)
        bins = (first + n - 2) // self.per_bin - first // self.per_bin + 1
        words, counts = np.zeros((bins, 2), np.int64), np.zeros(bins, np.int64)
        directions = np.zeros((2, 8), np.int64)
        scan(
            np.ascontiguousarray(samples).reshape(-1), first, self.per_bin, np.uint32(self.full_words),
            directions, words, counts,
        )  # fmt: skip
        out, into = (Way(*(int(value) for value in row)) for row in directions)
        piece = (first // self.per_bin, words, counts)
        return SampleSums(first, n, n - 1, n - 1, n, head, last, (out, into), (piece,))

    def _join(self, left: SampleSums, right: SampleSums) -> SampleSums:
        if not left.samples:
            return right
        if not right.samples:
            return left
        if right.first < left.end:
            raise ValueError(
                f"samples from number {right.first} on do not follow those up to {left.end - 1}"
            )
        bins = left.bins + right.bins
        gap = right.first != left.end
        between = (Way(), Way())  # a gap: neither words nor idle, so that no run goes across
        if not gap:
            words = [b - a & _WRAP for a, b in zip(left.last, right.head, strict=True)]
            piece = ((left.end - 1) // self.per_bin, np.array([words], np.int64), _ONE)
            bins = (*bins, piece)
            between = (self._single(words[0]), self._single(words[1]))
        ways = [
            _beside(
                _beside(left.ways[i], between[i], left.pieces, 1),
                right.ways[i],
                left.pieces + 1,
                right.pieces,
            )
            for i in range(2)
        ]
        return SampleSums(
            first=left.first,
            samples=left.samples + right.samples,
            intervals=left.intervals + right.intervals + (not gap),
            pieces=left.pieces + right.pieces + 1,
            span=right.end - left.first,
            head=left.head,
            last=right.last,
            ways=(ways[0], ways[1]),
            bins=bins if len(bins) < _MANY else _packed(bins),
        )

    def _single(self, words: int) -> Way:
        """Return one interval."""
        idle = int(words == 0)
        return Way(words, words, words, idle, int(words >= self.full_words), idle, idle, idle)


def _packed(bins: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Add pieces up that touch, so that many small segments do not make many small pieces."""
    packed: list[tuple[int, Int64, Int64]] = []
    for at, words, counts in sorted(bins, key=lambda piece: piece[0]):
        if packed and at <= packed[-1][0] + len(packed[-1][2]):
            start, before, known = packed[-1]
            end = max(start + len(known), at + len(counts))
            joined, total = np.zeros((end - start, 2), np.int64), np.zeros(end - start, np.int64)
            joined[: len(known)], total[: len(known)] = before, known
            joined[at - start : at - start + len(counts)] += words
            total[at - start : at - start + len(counts)] += counts
            packed[-1] = (start, joined, total)
        else:
            packed.append((at, words, counts))
    return tuple(packed)


def _beside(left: Way, right: Way, before: int, after: int) -> Way:
    """Join two stretches of ``before`` and ``after`` pieces (intervals, gaps); one of none changes nothing."""
    if not before or not after:
        return right if not before else left
    across = left.idle_trail + right.idle_lead
    return Way(
        words=left.words + right.words,
        least=min(left.least, right.least),
        most=max(left.most, right.most),
        idle=left.idle + right.idle,
        full=left.full + right.full,
        idle_lead=left.idle_lead if left.idle_lead < before else across,
        idle_trail=right.idle_trail if right.idle_trail < after else across,
        idle_longest=max(left.idle_longest, right.idle_longest, across),
    )


def _pair(sample: Samples) -> tuple[int, int]:
    return int(sample[0]), int(sample[1])
