"""Two samples compared: do they come from one distribution, and how far apart do they lie.

Source: N. Smirnov, "Table for estimating the goodness of fit of empirical distributions", Ann. Math. Stat. 19 (1948);
N. Cliff, "Dominance statistics", Psychological Bulletin 114 (1993); bounds of the effect's size after J. Romano (2006).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Int64 = npt.NDArray[np.int64]

SMALL = 0.147
"""Cliff's delta below which an effect is called negligible."""
CHANCE = 1e-4
"""Probability below which chance is not believed; some dozens of quantities are compared at once."""
_LEAST = 8  # values on either side; fewer say nothing of a distribution
_SIGMAS = 4.0
_SHARE = 0.05  # of the larger rate: a change below it is not worth a line


@dataclass(frozen=True, slots=True)
class SampleChange:
    """A quantity in two runs.

    Attributes:
        name, unit: of what.
        count, median, p95: of run A and run B; median and p95 None where there is no value.
        distance: Kolmogorov-Smirnov, the largest difference of the two distribution functions, 0..1.
        chance: probability of such a distance in two samples of one distribution (asymptotic, for
            independent values). None, as ``distance`` and ``effect``, where either run has fewer than 8.
        effect: Cliff's delta, -1..1: how much oftener a value of B is larger than one of A than smaller.
    """

    name: str
    unit: str
    count: tuple[int, int]
    median: tuple[float | None, float | None]
    p95: tuple[float | None, float | None]
    distance: float | None
    chance: float | None
    effect: float | None

    @property
    def changed(self) -> bool:
        """Chance does not explain the difference, and it is not negligible: by shift or by shape."""
        if self.distance is None or self.chance is None or self.effect is None:
            return False
        return self.chance < CHANCE and (abs(self.effect) >= SMALL or self.distance >= 2 * SMALL)

    def to_json(self) -> dict[str, Any]:
        return {**{key: getattr(self, key) for key in self.__slots__}, "changed": self.changed}


@dataclass(frozen=True, slots=True)
class RateChange:
    """How often something happened in two runs, per second of what each recorded.

    Attributes:
        count, seconds: of run A and run B; ``seconds`` 0 where the time is not known.
        sigmas: the difference of the rates over its standard deviation, were counts (or clumps) independent; 0 where
            the shorter run is too short to compare.
    """

    name: str
    count: tuple[int, int]
    seconds: tuple[float, float]
    sigmas: float

    @property
    def rate(self) -> tuple[float | None, float | None]:
        """Counts a second; None where the time is not known."""
        a, b = (c / s if s > 0 else None for c, s in zip(self.count, self.seconds, strict=True))
        return a, b

    @property
    def relative(self) -> float:
        """Change over the larger rate, -1..1: -1 it stopped, 1 it is new, 0 no change or not known."""
        a, b = self.rate
        if a is None or b is None or a == b:
            return 0.0
        return (b - a) / max(a, b)

    @property
    def changed(self) -> bool:
        return abs(self.sigmas) >= _SIGMAS and abs(self.relative) >= _SHARE

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "count": list(self.count),
            "seconds": list(self.seconds),
            "rate": list(self.rate),
            "relative": self.relative,
            "sigmas": self.sigmas,
            "changed": self.changed,
        }


def compare_samples(name: str, unit: str, a: Int64, b: Int64) -> SampleChange:
    """Compare the values of two runs; either may be empty."""
    count = (len(a), len(b))
    median = (_quantile(a, 50), _quantile(b, 50))
    p95 = (_quantile(a, 95), _quantile(b, 95))
    if min(count) < _LEAST:
        return SampleChange(name, unit, count, median, p95, None, None, None)
    x, y = np.sort(a), np.sort(b)
    places = np.union1d(x, y)
    below = [np.searchsorted(s, places, "right") / len(s) for s in (x, y)]
    distance = float(np.abs(below[0] - below[1]).max())
    smaller = np.searchsorted(x, y, "left").sum()
    larger = (len(x) - np.searchsorted(x, y, "right")).sum()
    effect = float((int(smaller) - int(larger)) / (len(x) * len(y)))
    chance = _smirnov(distance, *count)
    return SampleChange(name, unit, count, median, p95, distance, chance, effect)


def compare_rates(
    name: str, a: tuple[int, float], b: tuple[int, float], clump: int = 1
) -> RateChange:
    """Compare two counts with the seconds in which they were counted.

    Args:
        clump: how many counts come together at the most: words come by the packet.
    """
    (n, s), (m, t) = a, b
    sigmas = 0.0
    # Under one rate for both, which the sum of the counts tells best.
    rate = (n + m) / (s + t) if s > 0 and t > 0 else 0.0
    # A run that would hold a few of them only says nothing of a rate: most happen at its beginning or end.
    if rate * min(s, t) >= _LEAST * clump:
        sigmas = (m / t - n / s) / math.sqrt(clump * (rate / s + rate / t))
    return RateChange(name, (n, m), (s, t), sigmas)


def _quantile(values: Int64, percent: int) -> float | None:
    return float(np.percentile(values, percent)) if len(values) else None


def _smirnov(distance: float, n: int, m: int) -> float:
    """Return the probability of a distance as large as this, Kolmogorov's series with Stephens's correction."""
    size = math.sqrt(n * m / (n + m))
    x = (size + 0.12 + 0.11 / size) * distance
    if x < 0.2:
        return 1.0
    total = math.fsum(
        (1.0 if k % 2 else -1.0) * math.exp(-2 * k * k * x * x) for k in range(1, 101)
    )
    return min(1.0, max(0.0, 2 * total))
