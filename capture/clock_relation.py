"""Where one clock stands on another one, bounded by what was caused by what: no latency is assumed.

A packet cannot be received before it was sent. Packets one way bound the offset of two clocks from above,
packets the other way from below; what both allow together is stated, its middle as the time and its half
width as the uncertainty. The same holds for a host that writes a register and a card that notes the write,
and for a card that raises an interrupt and a host that enters the handler.

Source: the bounds of Cristian's algorithm (F. Cristian, Probabilistic clock synchronization, 1989), for a
line instead of a single offset.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

MOST_DRIFT_PPM = 500
"""Two clocks that are believed: crystals differ by 200 ppm at most, a disciplined host clock is slewed by 500."""

_TRILLION = 10**12
_ROUNDED_PS = 1  # an instant is the whole picoseconds that had gone by: each may be almost one later than it says
_KEPT = 48  # points of a hull that are looked at; the nearest to the ends and the sharpest

Int64 = npt.NDArray[np.int64]
Point = tuple[int, int]
Line = tuple[int, int]  # at the middle in ps, slope in 10^-12


class Bound(NamedTuple):
    """``own_ps`` on the clock to be placed, and an instant of the reference that cannot be before it
    (``at_most``) or after it."""

    own_ps: int
    reference_ps: int
    at_most: bool


@dataclass(frozen=True, slots=True)
class Relation:
    """``reference = own + offset_ps + (own - around_ps) * drift_ppt / 10^12``, within the uncertainty.

    Attributes:
        offset_ps, offset_unc_ps: at ``around_ps`` of the own clock, which is the middle of the bounds.
        drift_ppt, drift_unc_ppt: how much slower the own clock runs, in 10^-12, and half its range.
        bounds: how many were found.
    """

    offset_ps: int
    around_ps: int
    drift_ppt: int
    offset_unc_ps: int
    drift_unc_ppt: int
    bounds: int

    def place(self, own_ps: int) -> int:
        """Return the reference's time of one instant."""
        return own_ps + self.offset_ps + (own_ps - self.around_ps) * self.drift_ppt // _TRILLION

    def place_all(self, distance_ps: Int64, origin_ps: int) -> tuple[Int64, Int64]:
        """Return times and the uncertainty that the relation adds.

        Args:
            distance_ps: ``(n,)`` int64, own times counted from ``around_ps``.
            origin_ps: of the reference, from which the result is counted.
        """
        micros, rest = np.divmod(distance_ps, 10**6)
        strayed = micros * self.drift_ppt // 10**6 + rest * self.drift_ppt // _TRILLION
        # A microsecond that has begun counts whole: at 500 ppm its rest alone may be 500 ps.
        spread = (np.abs(micros) + 1) * self.drift_unc_ppt // 10**6 + 1
        t_ps: Int64 = distance_ps + strayed + (self.around_ps + self.offset_ps - origin_ps)
        return t_ps, self.offset_unc_ps + spread + 1


def relate(bounds: Iterable[Bound], most_drift_ppm: int = MOST_DRIFT_PPM) -> Relation | None:
    """Return the relation that all bounds allow; None without bounds from both sides.

    Raises:
        ValueError: the bounds contradict each other, so that some of them are not what they seem; the
            message says by how much.
    """
    found = list(bounds)
    above = [b for b in found if b.at_most]
    below = [b for b in found if not b.at_most]
    if not above or not below:
        return None
    first = min(b.own_ps for b in found)
    around = first + (max(b.own_ps for b in found) - first) // 2
    highest = _hull([_point(b, around, _ROUNDED_PS) for b in above], -1)
    lowest = _hull([_point(b, around, -_ROUNDED_PS) for b in below], 1)
    lines = _corners(highest, lowest, most_drift_ppm * 10**6)
    if not lines:
        gap = max(b.reference_ps - b.own_ps for b in below)
        gap -= min(b.reference_ps - b.own_ps for b in above)
        raise ValueError(
            f"{len(above)} and {len(below)} bounds contradict each other by about {gap} ps"
        )
    low, high = min(y for y, _ in lines), max(y for y, _ in lines)
    slow, fast = min(s for _, s in lines), max(s for _, s in lines)
    offset, drift = (low + high) // 2, (slow + fast) // 2
    return Relation(
        offset, around, drift, -(-(high - low) // 2) + 1, -(-(fast - slow) // 2) + 1, len(found)
    )


def _point(bound: Bound, around_ps: int, rounded_ps: int) -> Point:
    return bound.own_ps - around_ps, bound.reference_ps - bound.own_ps + rounded_ps


def _hull(points: list[Point], side: int) -> list[Point]:
    """Return the lower (``side`` -1) or upper (1) convex hull, left to right."""
    best: dict[int, int] = {}
    for x, y in points:
        best[x] = y if x not in best else (min, max)[side > 0](best[x], y)
    hull: list[Point] = []
    for point in sorted(best.items()):
        while len(hull) >= 2 and _turn(hull[-2], hull[-1], point) * side >= 0:
            hull.pop()
        hull.append(point)
    return hull


def _turn(a: Point, b: Point, c: Point) -> int:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _corners(above: Sequence[Point], below: Sequence[Point], most_ppt: int) -> list[Line]:
    """Return the corners of what the hulls allow, as (offset in the middle, slope)."""
    above, below = _thinned(above, below), _thinned(below, above)
    points = [*above, *below]
    lines: list[tuple[Point, int, int]] = []  # a point, and the slope as dy / dx
    for i, a in enumerate(points):
        lines += [(a, most_ppt, _TRILLION), (a, -most_ppt, _TRILLION)]
        lines += [(a, b[1] - a[1], b[0] - a[0]) for b in points[i + 1 :] if b[0] != a[0]]
    found = []
    for (x, y), dy, dx in lines:
        rise, run = (dy, dx) if dx > 0 else (-dy, -dx)
        if abs(rise) * _TRILLION > most_ppt * run:
            continue
        if all((py - y) * run >= rise * (px - x) for px, py in above) and all(
            (py - y) * run <= rise * (px - x) for px, py in below
        ):
            found.append((y - rise * x // run, rise * _TRILLION // run))
    return found


def _thinned(hull: Sequence[Point], other: Sequence[Point]) -> list[Point]:
    """Return at most 48 points of a hull: those that come nearest to the other side. Fewer bounds only
    widen what is allowed, so that the uncertainty stays true."""
    if len(hull) <= _KEPT:
        return list(hull)
    middle = sum(y for _, y in other) // len(other)
    near = sorted(hull, key=lambda point: abs(point[1] - middle))[:_KEPT]
    return sorted(near)
