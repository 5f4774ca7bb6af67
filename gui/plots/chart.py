"""Quantities over time as lines above one time axis: steps or points, a limit, gaps where nothing is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.analysis import Series
from freezeframe.decoders.trace.coverage import Coverage, Hole
from freezeframe.gui.plots.axis import TimeAxis, value_ticks
from freezeframe.gui.plots.svg import Svg, text_width

MOST_LINES = 8
"""Lines in one chart: so many strokes can be told apart without colour."""

_WIDTH = 1120.0
_MARGIN = 14.0
_HEIGHT = 130.0
_LABEL = 12.0
_KEY_ROW = 18.0
_KEY_LINE = 28.0  # a piece of the line and a blank before its name
_STRIP = 5.0  # height of the strip that hatches one series of several
_FAR = 3.0  # a limit more than this many times above all values would press them to the floor
_DOTS = 120  # of more points than this no single ones are marked

Float64 = npt.NDArray[np.float64]


def draw_chart(
    name: str,
    series: Sequence[Series],
    t0_ps: int,
    t1_ps: int,
    *,
    title: str,
    desc: str,
    gutter: float,
    coverage: Sequence[Coverage] = (),
) -> str:
    """Return the SVG of at most `MOST_LINES` series of one unit between two times.

    Where no series has a value the ground is hatched; where one of several has none, a strip of it at the foot.
    Points closer than a pixel are drawn as the range they span, so no peak is lost.

    Raises:
        ValueError: no series, too many, or of different units.
    """
    layout = _Layout(series, t0_ps, t1_ps, gutter)
    axis, top, bottom = layout.axis, layout.top, layout.bottom
    svg = Svg(name, _WIDTH, bottom + 26, title=title, desc=desc)
    for value in layout.values:
        svg.line(axis.x0, layout.y(value), axis.x1, layout.y(value), "grid")
        svg.text(axis.x0 - 8, layout.y(value) + 4, f"{value:,.6g}", "label", anchor="end")
    svg.text(axis.x0 - 8, 14, series[0].unit or "count", "label", anchor="end")
    for number, (x, y) in enumerate(layout.keys):
        svg.line(x, y - 4, x + 22, y - 4, f"s{number}")
        svg.text(x + _KEY_LINE, y, series[number].label, "key")
    for limit, label in layout.limits:
        text = f"{label} {limit:,.6g}".strip()
        if layout.values[0] <= limit <= layout.values[-1]:
            svg.line(axis.x0, layout.y(limit), axis.x1, layout.y(limit), "limit", tip=text)
            svg.text(axis.x1, layout.y(limit) - 4, text, "limit", anchor="end")
        else:
            svg.text(axis.x1, top + 12, f"{text} lies above", "limit", anchor="end")
    svg.begin_group("moving")
    svg.line(axis.x0, bottom, axis.x1, bottom, "axis")
    for x, label in axis.ticks():
        half = text_width(label, _LABEL) / 2
        svg.line(x, bottom, x, bottom + 4, "axis")
        svg.text(min(max(x, half), _WIDTH - half), bottom + 18, label, "label", anchor="middle")
    for hole, at, height in layout.holes(coverage):
        left, right = axis.x(hole.t0_ps), axis.x(hole.t1_ps)
        svg.hatch(left, at, right - left, height, tip=f"not recorded: {hole.reason}")
    for number, one in enumerate(series):
        for corners in _lines(one, axis, layout.y):
            svg.polyline(corners, f"s{number}")
        if not one.step and len(one.t_ps) <= _DOTS:
            for t, value in zip(one.t_ps.tolist(), one.value.astype(float).tolist(), strict=True):
                if t0_ps <= t <= t1_ps and not math.isnan(value):
                    tip = f"{value:,.6g} {one.unit}".strip()
                    svg.rect(axis.x(t) - 2, layout.y(value) - 2, 4, 4, f"dot d{number}", tip=tip)
    svg.end_group()
    return svg.render()


def chart_data(
    series: Sequence[Series],
    t0_ps: int,
    t1_ps: int,
    *,
    gutter: float,
    coverage: Sequence[Coverage] = (),
) -> dict[str, Any]:
    """Return what a script needs to draw the same lines over another range of time."""
    layout = _Layout(series, t0_ps, t1_ps, gutter)
    return {
        "x": [layout.axis.x0, layout.axis.x1],
        "y": [layout.top, layout.bottom],
        "t": [t0_ps, t1_ps],
        "all": [t0_ps, t1_ps],
        "width": _WIDTH,
        "holes": [[*hole, y, height] for hole, y, height in layout.holes(coverage)],
        "lines": [
            {
                "css": f"s{number}",
                "step": one.step,
                "t": one.t_ps.tolist(),
                "y": [
                    None if math.isnan(v) else round(layout.y(v), 2)
                    for v in one.value.astype(np.float64).tolist()
                ],
                "v": [None if math.isnan(v) else v for v in one.value.astype(float).tolist()],
                "unit": one.unit,
                "label": one.label,
            }
            for number, one in enumerate(series)
        ],
    }


class _Layout:
    """Where the parts of a chart stand."""

    def __init__(self, series: Sequence[Series], t0_ps: int, t1_ps: int, gutter: float) -> None:
        if not 0 < len(series) <= MOST_LINES or len({one.unit for one in series}) != 1:
            raise ValueError(f"a chart has 1 to {MOST_LINES} series of one unit, not {len(series)}")
        self.axis = TimeAxis(t0_ps, t1_ps, gutter, _WIDTH - _MARGIN)
        self.limits = list(
            dict.fromkeys((one.limit, one.limit_label) for one in series if one.limit is not None)
        )
        known = [_known(one) for one in series]
        least = min((float(v.min()) for v in known if len(v)), default=0.0)
        most = max((float(v.max()) for v in known if len(v)), default=0.0)
        near = [limit for limit, _ in self.limits if limit <= _FAR * most]
        low, high = min(least, 0.0), max([most, *near])
        self.values = value_ticks(low, high if high > low else low + 1.0, 5)
        self.keys: list[tuple[float, float]] = []
        x, y = gutter, 14.0
        for one in series:
            width = _KEY_LINE + text_width(one.label, _LABEL) + 20
            if x > gutter and x + width > _WIDTH - _MARGIN:
                x, y = gutter, y + _KEY_ROW
            self.keys.append((x, y))
            x += width
        self.top = y + 12
        self.bottom = self.top + _HEIGHT

    def holes(self, coverage: Sequence[Coverage]) -> Iterator[tuple[Hole, float, float]]:
        """Yield what is hatched, with the top and the height of each."""
        shared = reduce(Coverage.or_else, coverage) if coverage else Coverage()
        for hole in shared.within(self.axis.t0_ps, self.axis.t1_ps):
            yield hole, self.top, _HEIGHT
        for number, one in enumerate(coverage):
            for hole in one.within(self.axis.t0_ps, self.axis.t1_ps):
                if not any(h.t0_ps <= hole.t0_ps and hole.t1_ps <= h.t1_ps for h in shared.holes):
                    yield hole, self.bottom - _STRIP * (number + 1), _STRIP

    def y(self, value: float) -> float:
        """Return the height at which a value stands."""
        low, high = self.values[0], self.values[-1]
        return self.bottom - (value - low) * _HEIGHT / (high - low)


def _known(one: Series) -> Float64:
    values = one.value.astype(np.float64)
    return values[np.isfinite(values)]


def _lines(
    one: Series, axis: TimeAxis, y: Callable[[float], float]
) -> list[list[tuple[float, float]]]:
    """Return the corners of each unbroken line of a series, at most four for each pixel."""
    t, value = one.t_ps, one.value.astype(np.float64)
    first = max(0, int(np.searchsorted(t, axis.t0_ps, "right")) - 1)
    last = min(len(t), int(np.searchsorted(t, axis.t1_ps, "left")) + 1)
    t, value = t[first:last], value[first:last]
    lines: list[list[tuple[float, float]]] = [[]]
    before: float | None = None
    if len(t) <= 2 * (axis.x1 - axis.x0):
        for at, v in zip(t.tolist(), value.tolist(), strict=True):
            x = axis.clamp(at)
            if one.step and before is not None:
                lines[-1].append((x, y(before)))
            if not math.isfinite(v):
                lines.append([])
                before = None
                continue
            lines[-1].append((x, y(v)))
            before = v
        return [line for line in lines if len(line) > 1]
    column = ((t - axis.t0_ps) / max(axis.t1_ps - axis.t0_ps, 1) * (axis.x1 - axis.x0)).astype(int)
    starts = np.flatnonzero(np.r_[True, column[1:] != column[:-1]])
    with np.errstate(invalid="ignore"):
        low, high = np.fmin.reduceat(value, starts), np.fmax.reduceat(value, starts)
    ends = np.r_[starts[1:], len(value)] - 1
    gaps = np.add.reduceat(~np.isfinite(value), starts) > 0
    spots = zip(starts, ends, low.tolist(), high.tolist(), gaps.tolist(), strict=True)
    for begin, end, least, most, gap in spots:
        x = axis.clamp(int(t[begin]))
        known = math.isfinite(value[begin])
        if gap and not (known and math.isnan(value[end])):
            lines.append([])
        if math.isfinite(least):
            inner = [v for v in (value[begin], least, most, value[end]) if math.isfinite(v)]
            lines[-1] += [(x, y(float(v))) for v in inner]
        if gap and not math.isfinite(value[end]):
            lines.append([])
    return [line for line in lines if len(line) > 1]
