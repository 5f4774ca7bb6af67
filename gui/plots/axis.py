"""Time as people read it: picoseconds as text, round ticks, and a range laid over pixels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import count

from freezeframe.capture.time_text import format_ps

WIDTH = 1120.0
"""Of a drawing, in pixels; it scales to its place."""

GUTTER, MARGIN = 190.0, 14.0
"""Left and right of the axis, in pixels, in every drawing over time: one time stands at one place in all of them."""


def round_ticks(start: int, end: int, most: int) -> list[int]:
    """Return at most ``most`` multiples of 1, 2 or 5 times a power of ten in ``[start, end]``.

    Raises:
        ValueError: ``most`` is below 1 or the range is reversed.
    """
    if most < 1 or end < start:
        raise ValueError(f"no ticks: {most} wanted (1 or more) in [{start}, {end}]")
    steps = (digit * 10**exponent for exponent in count() for digit in (1, 2, 5))
    step = next(step for step in steps if end // step - -(-start // step) < most)
    return list(range(-(-start // step) * step, end + 1, step))


def value_ticks(low: float, high: float, most: int) -> list[float]:
    """Return at most ``most`` round values that span ``[low, high]``, its ends rounded outward.

    Raises:
        ValueError: ``most`` is below 3 (a range on both sides of 0 needs as many), or the range is
            empty, reversed or not finite.
    """
    if most < 3 or not low < high or not math.isfinite(high - low):
        raise ValueError(f"no ticks: {most} wanted (3 or more) in [{low}, {high}]")
    exponent = math.floor(math.log10((high - low) / most))
    for power in count(exponent):
        for digit in (1, 2, 5):
            step = digit * 10.0**power
            first = math.floor(low / step)
            last = max(
                math.ceil(high / step), first + 1
            )  # far from 0 a float may not tell them apart
            if last - first < most:
                return [round(n * step, max(0, -power)) for n in range(first, last + 1)]
    raise AssertionError("unreachable: steps grow without bound")


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """A half-open range of time laid over a range of pixels."""

    t0_ps: int
    t1_ps: int
    x0: float
    x1: float

    @classmethod
    def across(cls, t0_ps: int, t1_ps: int) -> TimeAxis:
        """Return the axis of a drawing of the usual width."""
        return cls(t0_ps, t1_ps, GUTTER, WIDTH - MARGIN)

    def x(self, t_ps: int) -> float:
        """Return the pixel of a time; times outside the range are outside the pixels."""
        return self.x0 + (t_ps - self.t0_ps) * (self.x1 - self.x0) / max(self.t1_ps - self.t0_ps, 1)

    def clamp(self, t_ps: int) -> float:
        """Return the pixel of a time, moved to the edge when it is outside."""
        return min(max(self.x(t_ps), self.x0), self.x1)

    def ticks(self, most: int = 9) -> list[tuple[float, str]]:
        """Return round times and their labels, all in the unit of the largest."""
        times = round_ticks(self.t0_ps, self.t1_ps, most)
        largest = max((abs(t) for t in times), default=0)
        return [(self.x(t), format_ps(t, largest)) for t in times]
