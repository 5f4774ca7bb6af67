"""Quantities over time as lines above one time axis: steps or points, a limit, gaps where nothing is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.analysis import Series
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.trace.coverage import Coverage, Hole
from freezeframe.gui.plots.axis import GUTTER, MARGIN, WIDTH, TimeAxis, value_ticks
from freezeframe.gui.plots.frame import (
    NAME_LINE,
    NAME_ROOM,
    SMALL_PX,
    draw_key,
    draw_name,
    draw_times,
    draw_values,
    key_places,
)
from freezeframe.gui.plots.marks import Mark, Marks
from freezeframe.gui.plots.svg import Svg, text_width

MOST_LINES = 8
"""Lines in one chart: so many strokes can be told apart without colour."""

_HEIGHT = 130.0
_ROW, _STRIP = 14.0, 10.0  # below the axis, where one series of several was not recorded
_FOOT = 26.0  # of the axis with its labels
_FAR = 3.0  # a limit more than this many times above all values would press them to the floor
_DOTS = 120  # of more points than this in view no single ones are marked
_MOST_DOTS = 4000  # of a series that a page can zoom

Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Gap:
    """What lies between two series, filled where ``above`` is above ``below``."""

    below: Series
    above: Series
    css: str
    label: str


def chart_sheet(
    name: str,
    series: Sequence[Series],
    t0_ps: int,
    t1_ps: int,
    *,
    title: str,
    desc: str,
    coverage: Sequence[Coverage] = (),
    gaps: Sequence[Gap] = (),
    marks: Sequence[Mark] = (),
    lines: Sequence[tuple[float, str]] = (),
    near: bool = False,
    limits: bool = False,
    height: float = _HEIGHT,
    moves: bool = False,
) -> Svg:
    """Return at most `MOST_LINES` series of one unit between two times; marks, filled gaps and named values across.

    Where no series has a value the ground is hatched; where one of several has none, a row of its name below the axis.
    Points closer than a pixel are drawn as the range they span, so no peak is lost.

    Args:
        near: the axis spans what is seen between the two times, and not from 0.
        limits: the axis reaches up to the limit, however far that lies above all values.
        moves: the script of a page is to zoom it: every point is written.
    Raises:
        ValueError: no series, too many, or of different units.
    """
    layout = _Layout(series, t0_ps, t1_ps, marks, near=near, limits=limits, height=height)
    axis, top, bottom = layout.axis, layout.top, layout.bottom
    partly = layout.partly(coverage)
    wide = any(text_width(series[number].label, SMALL_PX) > NAME_ROOM for number in partly)
    row = _ROW + NAME_LINE * wide
    svg = Svg(name, WIDTH, bottom + _FOOT + row * len(partly), title=title, desc=desc)
    across = axis.x0, axis.x1
    draw_values(svg, layout.values, layout.y, across, series[0].unit or "count")
    said: list[tuple[float, str]] = []  # over all else, so that no hatch lies on the letters
    for value, label in lines:
        if layout.values[0] <= value <= layout.values[-1]:
            svg.line(axis.x0, layout.y(value), axis.x1, layout.y(value), "limit", tip=label)
            said.append((layout.y(value) - 4, label))
    for number, place in enumerate(layout.keys):
        draw_key(svg, place, f"s{number}", series[number].label)
    for limit, label in layout.limits:
        text = f"{label} {limit:,.6g}".strip()
        if layout.values[0] <= limit <= layout.values[-1]:
            svg.line(axis.x0, layout.y(limit), axis.x1, layout.y(limit), "limit", tip=text)
            said.append((layout.y(limit) - 4, text))
        else:
            said.append((top + 12, f"{text} lies above"))
    for at, number in enumerate(partly):
        middle = bottom + _FOOT + row * at + _STRIP / 2
        draw_name(svg, middle, series[number].label, small=True)
        svg.line(axis.x0, middle, axis.x1, middle, f"s{number}")
    svg.begin_axis(axis, (t0_ps, t1_ps) if moves else None)
    draw_times(svg, axis, bottom, "axis", bottom)
    for hole in layout.shared(coverage):
        _hatch(svg, axis, hole, top, layout.height)
    for at, number in enumerate(partly):
        for hole in coverage[number].within(t0_ps, t1_ps):
            _hatch(svg, axis, hole, bottom + _FOOT + row * at, _STRIP, covers=True)
    layout.marks.bands(svg, top, bottom)
    for gap in gaps:
        for corners in filled(gap, axis, layout.y):
            svg.polygon(corners, gap.css, tip=gap.label)
    svg.begin_lines(top, bottom)
    for number, one in enumerate(series):
        for corners in _lines(one, axis, layout.y, every=moves):
            svg.polyline(corners, f"s{number}")
    svg.end_lines()
    for number, one in enumerate(series):
        if not one.step and len(one.t_ps) <= (_MOST_DOTS if moves else _DOTS):
            svg.begin_dots(len(one.t_ps), _DOTS)
            for t, value in zip(one.t_ps.tolist(), one.value.astype(float).tolist(), strict=True):
                if t0_ps <= t <= t1_ps and not math.isnan(value):
                    tip = f"{value:,.6g} {one.unit}".strip() + f", {format_ps(t)}"
                    svg.stands(t)
                    svg.rect(axis.x(t) - 2, layout.y(value) - 2, 4, 4, f"dot d{number}", tip=tip)
            svg.end_group()
    layout.marks.lines(svg, top - layout.marks.height - 4, bottom)
    svg.end_axis()
    for y, text in said:
        svg.text(axis.x1, y, text, "limit", anchor="end")
    return svg


def _hatch(
    svg: Svg, axis: TimeAxis, hole: Hole, top: float, height: float, *, covers: bool = False
) -> None:
    """Hatch a hole; ``covers``: the line that lies there is no value, and is painted over."""
    left, right = axis.x(hole.t0_ps), axis.x(hole.t1_ps)
    if covers:
        svg.lasts(hole.t0_ps, hole.t1_ps)
        svg.rect(left, top, right - left, height, "ground")
    svg.lasts(hole.t0_ps, hole.t1_ps)
    svg.hatch(left, top, right - left, height, tip=f"not recorded: {hole.reason}")


class _Layout:
    """Where the parts of a chart stand."""

    def __init__(
        self,
        series: Sequence[Series],
        t0_ps: int,
        t1_ps: int,
        marks: Sequence[Mark] = (),
        *,
        near: bool = False,
        limits: bool = False,
        height: float = _HEIGHT,
    ) -> None:
        if not 0 < len(series) <= MOST_LINES or len({one.unit for one in series}) != 1:
            raise ValueError(f"a chart has 1 to {MOST_LINES} series of one unit, not {len(series)}")
        self.axis = TimeAxis.across(t0_ps, t1_ps)
        self.limits = list(
            dict.fromkeys((one.limit, one.limit_label) for one in series if one.limit is not None)
        )
        self.marks = Marks(self.axis, marks)
        self.height = height
        known = [_known(_cut_to(one, self.axis) if near else one) for one in series]
        least = min((float(v.min()) for v in known if len(v)), default=0.0)
        most = max((float(v.max()) for v in known if len(v)), default=0.0)
        close = [limit for limit, _ in self.limits if limits or limit <= _FAR * most]
        low, high = (least if near else min(least, 0.0)), max([most, *close])
        self.values = value_ticks(low, high if high > low else low + 1.0, 5)
        self.keys = key_places([one.label for one in series], (GUTTER, WIDTH - MARGIN))
        self.top = self.keys[-1][1] + 12 + (self.marks.height + 4 if marks else 0)
        self.bottom = self.top + height

    def shared(self, coverage: Sequence[Coverage]) -> list[Hole]:
        """Return where no series was recorded."""
        every = reduce(Coverage.or_else, coverage) if coverage else Coverage()
        return list(every.within(self.axis.t0_ps, self.axis.t1_ps))

    def partly(self, coverage: Sequence[Coverage]) -> list[int]:
        """Return the numbers of the series that were not recorded somewhere where another was."""
        t0_ps, t1_ps, shared = self.axis.t0_ps, self.axis.t1_ps, self.shared(coverage)
        return [
            number
            for number, one in enumerate(coverage)
            for lacking in [list(one.within(t0_ps, t1_ps))]
            if any(
                not any(h.t0_ps <= hole.t0_ps and hole.t1_ps <= h.t1_ps for h in shared)
                for hole in lacking
            )
        ]

    def y(self, value: float) -> float:
        """Return the height at which a value stands."""
        low, high = self.values[0], self.values[-1]
        return self.bottom - (value - low) * self.height / (high - low)


def _cut_to(one: Series, axis: TimeAxis) -> Series:
    """Return the points of a series between two times, with the one before them and the one behind."""
    first = max(0, int(np.searchsorted(one.t_ps, axis.t0_ps, "right")) - 1)
    last = int(np.searchsorted(one.t_ps, axis.t1_ps, "left")) + (not one.step)
    return replace(one, t_ps=one.t_ps[first:last], value=one.value[first:last])


def filled(
    gap: Gap, axis: TimeAxis, y: Callable[[float], float]
) -> list[list[tuple[float, float]]]:
    """Return the polygons of a gap: where both series are known and the one meant to be above is."""
    edges = np.unique(np.concatenate([gap.below.t_ps, gap.above.t_ps, [axis.t0_ps, axis.t1_ps]]))
    edges = edges[(edges >= axis.t0_ps) & (edges <= axis.t1_ps)]
    low, high = _between(gap.below, edges), _between(gap.above, edges)
    polygons: list[list[tuple[float, float]]] = []
    upper: list[tuple[float, float]] = []
    lower: list[tuple[float, float]] = []
    for n in range(len(edges) - 1):
        (a0, a1), (b0, b1) = low[n], high[n]
        x0, x1 = axis.x(int(edges[n])), axis.x(int(edges[n + 1]))
        d0, d1 = b0 - a0, b1 - a1
        if not (d0 > 0 or d1 > 0):  # also where one of them is not known
            _close(polygons, upper, lower)
            continue
        cut = d0 / (d0 - d1) if (d0 < 0) != (d1 < 0) else 0.0
        crossing = x0 + (x1 - x0) * cut
        if d0 < 0:
            x0, a0, b0 = crossing, a0 + (a1 - a0) * cut, a0 + (a1 - a0) * cut
        elif d1 < 0:
            x1, a1, b1 = crossing, a0 + (a1 - a0) * cut, a0 + (a1 - a0) * cut
        upper += [(x0, y(b0)), (x1, y(b1))]
        lower += [(x0, y(a0)), (x1, y(a1))]
    _close(polygons, upper, lower)
    return polygons


def _close(
    polygons: list[list[tuple[float, float]]],
    upper: list[tuple[float, float]],
    lower: list[tuple[float, float]],
) -> None:
    if upper:
        polygons.append([*upper, *reversed(lower)])
    upper.clear()
    lower.clear()


def _between(one: Series, edges: npt.NDArray[np.int64]) -> list[tuple[float, float]]:
    """Return the values of a series at the begin and the end of each stretch between edges; NaN where not known."""
    value = one.value.astype(np.float64)
    at = np.searchsorted(one.t_ps, edges[:-1], "right") - 1
    inside = (at >= 0) & (edges[1:] <= (one.t_ps[-1] if len(one.t_ps) else 0))
    if not inside.any():
        return [(math.nan, math.nan)] * len(at)
    held = np.where(inside, value[np.maximum(at, 0)], np.nan)
    if one.step:
        return list(zip(held.tolist(), held.tolist(), strict=True))
    ends = np.interp(edges, one.t_ps, value)
    # At one time a line may jump: what it jumps to holds behind it, what it comes from before.
    after = np.minimum(np.searchsorted(one.t_ps, edges[1:], "left"), len(value) - 1)
    last = np.where(one.t_ps[after] == edges[1:], value[after], ends[1:])
    first = np.where(one.t_ps[np.maximum(at, 0)] == edges[:-1], held, ends[:-1])
    return list(
        zip(
            np.where(inside, first, np.nan).tolist(),
            np.where(inside, last, np.nan).tolist(),
            strict=True,
        )
    )


def _at_edge(t: npt.NDArray[np.int64], value: Float64, at: int, v: float, axis: TimeAxis) -> float:
    """Return where a line to a point outside the range crosses its edge; the value of a point inside."""
    edge = min(max(at, axis.t0_ps), axis.t1_ps)
    crossing = v if edge == at else float(np.interp(edge, t, value))
    return crossing if math.isfinite(crossing) else v


def _known(one: Series) -> Float64:
    values = one.value.astype(np.float64)
    return values[np.isfinite(values)]


def _lines(
    one: Series, axis: TimeAxis, y: Callable[[float], float], *, every: bool = False
) -> list[list[tuple[float, float]]]:
    """Return the corners of each unbroken line of a series, at most four for each pixel if not of ``every`` point."""
    t, value = one.t_ps, one.value.astype(np.float64)
    first = max(0, int(np.searchsorted(t, axis.t0_ps, "right")) - 1)
    last = min(len(t), int(np.searchsorted(t, axis.t1_ps, "left")) + 1)
    t, value = t[first:last], value[first:last]
    lines: list[list[tuple[float, float]]] = [[]]
    before: float | None = None
    if every or len(t) <= 2 * (axis.x1 - axis.x0):
        for at, known in zip(t.tolist(), value.tolist(), strict=True):
            x = axis.clamp(at)
            v = known if one.step else _at_edge(t, value, at, known, axis)
            if one.step and before is not None:
                lines[-1].append((x, y(before)))
            if one.step and at > axis.t1_ps:
                break  # what it becomes behind the edge is not in the picture
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
