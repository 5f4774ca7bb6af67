"""Numbers over time: step lines over the time axis of the time line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from freezeframe.gui.plots.axis import TimeAxis, round_ticks
from freezeframe.gui.plots.svg import Svg, text_width

__all__ = ["Series", "draw_series"]

_WIDTH = 1120.0
_GUTTER = 112.0  # as wide as that of the time line, so that the two axes stand above each other
_MARGIN = 14.0
_TOP = 24.0
_HEIGHT = 130.0
_LABEL = 12.0


@dataclass(frozen=True, slots=True)
class Series:
    """Values that each held until a time: ``(t_ps, value)``, times rising.

    The first point only says when the series begins; None where the value is not known.
    """

    label: str
    css: str
    points: tuple[tuple[int, int | None], ...]


def draw_series(
    name: str,
    series: Sequence[Series],
    t0_ps: int,
    t1_ps: int,
    unit: str,
    *,
    title: str,
    desc: str,
) -> str:
    """Return the SVG of series that share an axis from 0 to their largest value."""
    axis = TimeAxis(t0_ps, t1_ps, _GUTTER, _WIDTH - _MARGIN)
    bottom = _TOP + _HEIGHT
    svg = Svg(name, _WIDTH, bottom + 26, title=title, desc=desc)
    largest = max((value or 0 for one in series for _, value in one.points), default=0)
    values = round_ticks(0, max(largest, 1), 5)

    def y(value: int) -> float:
        return bottom - value * _HEIGHT / max(largest, values[-1])

    for value in values:
        svg.line(axis.x0, y(value), axis.x1, y(value), "grid")
        svg.text(axis.x0 - 8, y(value) + 4, f"{value:,}", "label", anchor="end")
    svg.text(axis.x0 - 8, _TOP - 9, unit, "label", anchor="end")
    for x, label in axis.ticks():
        half = text_width(label, _LABEL) / 2
        svg.line(x, bottom, x, bottom + 4, "axis")
        svg.text(min(max(x, half), _WIDTH - half), bottom + 18, label, "label", anchor="middle")
    svg.line(axis.x0, bottom, axis.x1, bottom, "axis")
    x_key = axis.x0
    for one in series:
        svg.line(x_key, _TOP - 12, x_key + 22, _TOP - 12, one.css)
        svg.text(x_key + 28, _TOP - 8, one.label, f"key {one.css}")
        x_key += 28 + text_width(one.label, _LABEL) + 24
        for corners in _steps(one.points, axis, y):
            svg.polyline(corners, one.css)
    return svg.render()


def _steps(
    points: Sequence[tuple[int, int | None]], axis: TimeAxis, y: Callable[[int], float]
) -> list[list[tuple[float, float]]]:
    """Return the corners of each unbroken line: a value stands from the time before to its own."""
    lines: list[list[tuple[float, float]]] = [[]]
    for (start, _), (end, value) in pairwise(points):
        if value is None:
            lines.append([])
        elif end > axis.t0_ps and start < axis.t1_ps:
            lines[-1] += [(axis.clamp(start), y(value)), (axis.clamp(end), y(value))]
    return [line for line in lines if line]
