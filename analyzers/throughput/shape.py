"""The shape of a rate over time: levels it keeps, ramps between them, stretches without a word.

A level ends where the mean before and after differ by more than the scatter of the values explains (binary
segmentation by the largest CUSUM statistic). A ramp is a climb or fall over three or more levels in a row.

Source: E. S. Page, Continuous Inspection Schemes, Biometrika 41 (1954), for the cumulative sum.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]

_CERTAIN = (
    4.0  # times sqrt(ln n): below it a shift is what chance gives (1 in some 10^4 of n = 1000)
)
_SHORTEST = 4  # intervals of a level
_RAMP_LEVELS = 3
_RAMP_SHARE = 0.1  # of the largest value: what a ramp climbs at least


@dataclass(frozen=True, slots=True)
class Level:
    """Values ``[start, end)`` with one mean."""

    start: int
    end: int
    mean: float


@dataclass(frozen=True, slots=True)
class Ramp:
    """A climb or fall from one level over others to the last, ``[start, end)``."""

    start: int
    end: int
    low: float
    high: float

    @property
    def rises(self) -> bool:
        return self.high > self.low


def levels(values: Float64, noise: float = 0.0) -> list[Level]:
    """Return the levels of a series without a gap, in order; together they cover it.

    Args:
        values: ``(n,)``; empty gives no level.
        noise: scatter that is known beforehand (of counting), in the unit of the values.
    """
    if not len(values):
        return []
    scatter = max(noise, _scatter(values))
    cuts = [
        0,
        *_cuts(values, 0, scatter, _CERTAIN * np.sqrt(np.log(max(len(values), 3)))),
        len(values),
    ]
    return [Level(a, b, float(values[a:b].mean())) for a, b in itertools.pairwise(cuts)]


def ramps(levels: list[Level]) -> list[Ramp]:
    """Return where three or more levels in a row climb, or fall, by a tenth of the highest level or more."""
    if not levels:
        return []
    least = _RAMP_SHARE * max(abs(level.mean) for level in levels)
    result = []
    at = 0
    while at < len(levels) - 1:
        rises = levels[at + 1].mean > levels[at].mean
        last = at + 1
        while last + 1 < len(levels) and (levels[last + 1].mean > levels[last].mean) == rises:
            last += 1
        change = abs(levels[last].mean - levels[at].mean)
        if last - at + 1 >= _RAMP_LEVELS and change >= least and change > 0:
            result.append(
                Ramp(levels[at].start, levels[last].end, levels[at].mean, levels[last].mean)
            )
        at = last
    return result


def silences(words: npt.NDArray[np.int64], shortest: int) -> list[tuple[int, int]]:
    """Return stretches ``[start, end)`` of ``shortest`` or more intervals without a word.

    Args:
        words: ``(n,)`` int64, words of each interval; -1 where that is not known, which ends a stretch.
    """
    edges = np.flatnonzero(np.diff((words == 0).astype(np.int8), prepend=0, append=0))
    pairs = zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
    return [(a, b) for a, b in pairs if b - a >= shortest]


def _scatter(values: Float64) -> float:
    """Return the standard deviation of neighbours, which levels and ramps do not enter."""
    if len(values) < 3:
        return float(values.std()) or 1.0
    steps = np.diff(values)
    robust = float(np.median(np.abs(steps - np.median(steps)))) * 1.4826 / np.sqrt(2)
    # Of values that mostly repeat the median deviation is 0, and says nothing.
    return robust or float(steps.std()) / float(np.sqrt(2)) or 1e-12


def _cuts(values: Float64, offset: int, scatter: float, threshold: float) -> list[int]:
    """Return where levels change, by halving at the strongest change as long as it is strong enough."""
    cuts: list[int] = []
    waiting = [(0, len(values))]
    while waiting:
        start, end = waiting.pop()
        n = end - start
        if n < 2 * _SHORTEST:
            continue
        part = values[start:end]
        sums = np.cumsum(part - part.mean())[:-1]
        k = np.arange(1, n, dtype=np.float64)
        strength = np.abs(sums) / np.sqrt(k * (n - k) / n) / scatter
        inner = strength[_SHORTEST - 1 : n - _SHORTEST]
        at = int(np.argmax(inner)) + _SHORTEST - 1
        if strength[at] > threshold:
            cut = start + at + 1
            cuts.append(cut + offset)
            waiting += [(start, cut), (cut, end)]
    return sorted(cuts)
