"""Two captures on one time base: offset and drift given, or estimated from edges both have seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.changes import ChangeMerger
from freezeframe.capture.files.edges import NO_RATE, PS_PER_S, Edges
from freezeframe.capture.time_text import plain_time

_NEVER = np.iinfo(np.int64).max
_MIN_SHARED = 4  # intervals that agree; fewer can do so by chance
MOST_EDGES = 4096  # of each capture; every shift of one against the other is tried
_MAX_DRIFT = 1e-3  # crystals are a hundred times better


@dataclass(frozen=True, slots=True)
class Alignment:
    """Where the second capture lies in the first: its time t is ``offset_ps`` + t, where t is
    longer by ``drift_ppm``.

    ``shared`` edges agree within ``worst_ps``; ``offset_unc_ps`` and ``drift_unc_ppm`` are two
    standard errors of the line through them. All are 0 where the alignment was given.
    """

    offset_ps: int
    drift_ppm: Fraction = Fraction(0)
    shared: int = 0
    worst_ps: int = 0
    offset_unc_ps: int = 0
    drift_unc_ppm: Fraction = Fraction(0)


def merge(
    first: Iterable[Edges],
    second: Iterable[Edges],
    alignment: Alignment,
    note: Callable[[str], None] | None = None,
) -> Iterator[Edges]:
    """Yield both as one capture, at the rate of the first, from its beginning to its end.

    Channels of the second that are named as one of the first get ``2.`` in front. Its changes stand
    at the nearest sample of the first. Before the second begins and after it ends its first and last
    value stand; what lies outside the first is cut.

    Args:
        note: called at the end when something of the second lay outside the first.
    Raises:
        InputError: there are more than 64 channels, or the captures do not overlap; the second is
            known only at the end.
    """
    left, right = _Stream(iter(first)), _Stream(iter(second))
    here, there = left.piece, right.piece
    names = merged_names(here.channels, there.channels)
    channels = (*here.channels, *names)
    if len(channels) > 64 or len(set(channels)) < len(channels):
        raise InputError(
            f"merge: {len(here.channels)} and {len(there.channels)} channels; at most 64 together, "
            "each with a name of its own"
        )
    rate_hz = here.samplerate_hz
    if NO_RATE in (rate_hz, there.samplerate_hz):
        raise InputError("merge: a capture without sample rate; give it with --samplerate")
    slope = Fraction(rate_hz, there.samplerate_hz) * (1 + alignment.drift_ppm / 10**6)
    right.place(Fraction(alignment.offset_ps * rate_hz, PS_PER_S), slope)
    start = int(_placed(np.zeros(1, dtype=np.int64), right.begin, slope)[0])
    merger = ChangeMerger(channels, rate_hz, here.buses)
    shift = np.uint64(len(here.channels))
    low = np.uint64((1 << len(here.channels)) - 1)
    high = np.uint64((1 << len(channels)) - 1) & ~low
    while True:
        # Before this nothing can come any more that is not yet here.
        horizon = min(left.until, right.until)
        left_at, left_value = left.take(horizon)
        right_at, right_value = right.take(horizon)
        sample = np.concatenate((left_at, right_at))
        order = np.argsort(sample, kind="stable")
        mask = np.concatenate((np.full_like(left_value, low), np.full_like(right_value, high)))
        value = np.concatenate((left_value, right_value << shift))
        yield from merger.feed(sample[order], mask[order], value[order])
        if left.until <= horizon and not left.fetch():
            break
        if right.until <= horizon:
            right.fetch()
    end = left.piece.end_sample
    if start >= end or right.last_end <= 0:
        raise InputError(
            f"merge: the second capture covers the samples {start} to {right.last_end} of the "
            f"first, which has {end}; they do not overlap"
        )
    if note is not None and (outside := _outside(start, right, end, rate_hz)):
        note(outside)
    yield from merger.finish(end)


def _outside(start: int, second: _Stream, end: int, rate_hz: int) -> str:
    """Say what of the second capture lies outside the first; empty where nothing does."""
    parts = []
    if start < 0:
        parts.append(f"begins {plain_time(-start * PS_PER_S // rate_hz)} before the first")
    if second.last_end > end + 1 or second.fetch():
        parts.append("goes on after the end of the first")
    if not parts:
        return ""
    return (
        f"merge: the second capture {' and '.join(parts)}; what lies outside the first is left out"
    )


def merged_names(first: Sequence[str], second: Sequence[str], prefix: str = "2.") -> list[str]:
    """Return what the channels of the second are called beside those of the first."""
    return [f"{prefix}{name}" if name in first else name for name in second]


def estimate(first: Edges, second: Edges, channel: str, other: str | None = None) -> Alignment:
    """Find offset and drift from a signal that both captures have seen.

    The intervals between its edges are laid against each other at every shift; where they agree
    a line is fitted through the times. An edge that only one has seen ends the agreement. Times are
    taken as exact to a sample, and where nothing agrees so, to the step that all of them are in.

    Args:
        channel: the signal in the first capture; ``other`` in the second, by default the same.
    Raises:
        InputError: too few edges are shared, or the signal repeats, so that several shifts fit.
    """
    ours, our_levels = _changes(first, channel)
    theirs, their_levels = _changes(second, other or channel)
    if NO_RATE in (first.samplerate_hz, second.samplerate_hz):
        raise InputError("merge: a capture without sample rate; give it with --samplerate")
    sampled = PS_PER_S // first.samplerate_hz, PS_PER_S // second.samplerate_hz
    # The time stamps of a table may be coarser than the sample rate that it is read with.
    stamped = _step_ps(ours, sampled[0]), _step_ps(theirs, sampled[1])
    scores: list[tuple[int, int]] = []
    for steps_ps in dict.fromkeys((sampled, stamped)):
        scores = _fitting(ours, our_levels, theirs, their_levels, 2 * sum(steps_ps))
        if scores:
            break
    if not scores:
        raise InputError(
            f"merge: {channel} has {len(ours)} edges in the first capture and {len(theirs)} in the "
            f"second, in steps of {plain_time(stamped[0])} and {plain_time(stamped[1])}, and no "
            f"{_MIN_SHARED} intervals in a row agree to the end; give the offset"
        )
    scores.sort()
    if len(scores) > 1:
        raise InputError(
            f"merge: {channel} repeats: {len(scores)} offsets fit, the best two with "
            f"{scores[-1][0]} and {scores[-2][0]} intervals; name another signal, or give the offset"
        )
    count, shift = scores[0]
    mine = ours[max(0, shift) :][: count + 1].astype(np.float64)
    yours = theirs[max(0, -shift) :][: count + 1].astype(np.float64)
    middle = yours.mean()
    # Around the middle, or the squares would not have the digits.
    slope = float(
        np.dot(yours - middle, mine - mine.mean()) / np.dot(yours - middle, yours - middle)
    )
    offset = mine.mean() - slope * middle
    off = np.abs(mine - (offset + slope * yours))
    spread = float(np.dot(yours - middle, yours - middle))
    # Where the edges agree better than samples can show, what a sample hides is the error.
    hidden = np.hypot(*steps_ps) / np.sqrt(12)
    error = max(float(np.sqrt((off**2).sum() / max(1, count - 1))), float(hidden))
    offset_unc = 2 * error * np.sqrt(1 / (count + 1) + middle**2 / spread)
    return Alignment(
        round(float(offset)),
        _ppm(slope - 1),
        count + 1,
        round(float(off.max())),
        round(float(offset_unc)),
        _ppm(2 * error / np.sqrt(spread)),
    )


def _fitting(
    ours: npt.NDArray[np.int64],
    our_levels: npt.NDArray[np.uint64],
    theirs: npt.NDArray[np.int64],
    their_levels: npt.NDArray[np.uint64],
    tolerance_ps: int,
) -> list[tuple[int, int]]:
    """Return number of intervals and shift wherever all that lie over each other agree."""
    ours_gap, theirs_gap = np.diff(ours), np.diff(theirs)
    shifts = []
    for shift in range(-len(theirs_gap) + 1, len(ours_gap)):
        begin, end = max(0, shift), min(len(ours_gap), len(theirs_gap) + shift)
        mine, yours = ours_gap[begin:end], theirs_gap[begin - shift : end - shift]
        near = np.abs(mine - yours) <= tolerance_ps + mine * _MAX_DRIFT
        near &= our_levels[begin:end] == their_levels[begin - shift : end - shift]
        if near.all() and len(near) >= _MIN_SHARED:
            shifts.append((len(near), shift))
    return shifts


def _step_ps(t_ps: npt.NDArray[np.int64], sample_ps: int) -> int:
    """Return the step of which all times between edges are multiples; at least a sample."""
    return max(sample_ps, int(np.gcd.reduce(np.diff(t_ps)))) if len(t_ps) > 1 else sample_ps


def _ppm(share: float) -> Fraction:
    """Return a share in parts per million, to a thousandth of a part per billion."""
    return Fraction(round(share * 10**12), 10**6)


class _Stream:
    """The edges of one capture, fetched piece by piece, with their samples in the first capture."""

    def __init__(self, pieces: Iterator[Edges]) -> None:
        self._pieces = pieces
        self.begin = Fraction(0)
        self._slope = Fraction(1)
        self.last_end = 0
        self._sample = np.empty(0, dtype=np.int64)
        self._value = np.empty(0, dtype=np.uint64)
        piece = next(pieces, None)
        if piece is None:
            raise InputError("merge: a capture has no sample")
        self._set(piece)

    def place(self, begin: Fraction, slope: Fraction) -> None:
        self.begin, self._slope = begin, slope
        self._set(self.piece)

    def fetch(self) -> bool:
        """Go on to the next piece, if there is one."""
        piece = next(self._pieces, None)
        if piece is None:
            self.until = int(_NEVER)
            return False
        self._set(piece)
        return True

    def take(self, horizon: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
        """Return and forget the edges before ``horizon``."""
        count = int(np.searchsorted(self._sample, horizon))
        sample, self._sample = self._sample[:count], self._sample[count:]
        value, self._value = self._value[:count], self._value[count:]
        return sample, value

    def _set(self, piece: Edges) -> None:
        self.piece = piece
        self._sample = np.maximum(_placed(piece.sample, self.begin, self._slope), 0)
        if piece.begin_sample == 0 and len(piece):
            self._sample[0] = 0  # the first value stands before it too
        self._value = piece.value
        end = _placed(np.array([piece.end_sample]), self.begin, self._slope)
        self.last_end = int(end[0])
        self.until = max(self.last_end, 0)


def _placed(
    sample: npt.NDArray[np.int64], begin: Fraction, slope: Fraction
) -> npt.NDArray[np.int64]:
    """Return ``begin + sample * slope``, rounded to the nearest.

    Times of a file are whole picoseconds and so already rounded: rounded down once more, an edge
    that both captures have at one time would stand a sample early in the second.
    """
    if begin == 0 and slope == 1:
        return sample.copy()
    # Exact where a double would not be: a day of picoseconds has 57 bits.
    top = slope.numerator * begin.denominator
    bottom = slope.denominator * begin.denominator
    add = begin.numerator * slope.denominator
    add += bottom // 2
    placed = [(at * top + add) // bottom for at in sample.tolist()]
    try:
        return np.array(placed, dtype=np.int64)
    except OverflowError:
        raise InputError(
            f"merge: placed {float(begin):.3g} samples after the begin of the first capture, which "
            f"is more than the {_NEVER:,} that can be counted; give a smaller offset"
        ) from None


def _changes(edges: Edges, channel: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
    if channel not in edges.channels:
        raise InputError(f"merge: no channel {channel}; there is {', '.join(edges.channels)}")
    one = edges.select([channel])
    return one.t_ps()[1 : MOST_EDGES + 1], one.value[1 : MOST_EDGES + 1]
