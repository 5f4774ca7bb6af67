"""Curves over a quantity that is not time: throughput over message size, useful over offered load.

An axis whose values span more than a factor of 30 above 0 is logarithmic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from freezeframe.gui.plots.axis import value_ticks
from freezeframe.gui.plots.chart import MOST_LINES
from freezeframe.gui.plots.figures import Drawing
from freezeframe.gui.plots.frame import draw_key, draw_values, key_places
from freezeframe.gui.plots.picture import picture_svg
from freezeframe.gui.plots.svg import Svg

_WIDTH, _HEIGHT = 1120.0, 420.0
_LEFT, _RIGHT, _BOTTOM = 80.0, 20.0, 40.0
_LOGARITHMIC = 30.0
_TICKS = 8


class Curve(NamedTuple):
    """A line through points. With ``dashed`` it is the thin limit of the one before it, and has no label."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    dashed: bool = False


def draw_curves(curves: Sequence[Curve], title: str, x_label: str, y_label: str) -> str:
    """Return the SVG picture of curves; more than `MOST_LINES` lines repeat their strokes.

    Raises:
        ValueError: there are no points.
    """
    xs = [x for curve in curves for x in curve.x]
    ys = [y for curve in curves for y in curve.y]
    if not xs:
        raise ValueError("no points, no curves")
    labels = [curve.label for curve in curves if not curve.dashed]
    keys = key_places(labels, (_LEFT, _WIDTH - _RIGHT))
    top = keys[-1][1] + 24
    bottom = top + _HEIGHT
    across, x_ticks = _scale(xs, _LEFT, _WIDTH - _RIGHT)
    up, y_ticks = _scale(ys, bottom, top)
    desc = f"{y_label} over {x_label}: {', '.join(labels)}"
    svg = Svg("curves", _WIDTH, bottom + _BOTTOM, title=title, desc=desc)
    draw_values(svg, y_ticks, up, (_LEFT, _WIDTH - _RIGHT), y_label)
    svg.line(_LEFT, bottom, _WIDTH - _RIGHT, bottom, "axis")
    for value in x_ticks:
        svg.line(across(value), bottom, across(value), bottom + 4, "axis")
        svg.text(across(value), bottom + 18, f"{value:,.6g}", "label", anchor="middle")
    svg.text(_WIDTH - _RIGHT, bottom + 34, x_label, "label", anchor="end")
    number = -1
    for curve in curves:
        number += not curve.dashed
        points = [(across(x), up(y)) for x, y in zip(curve.x, curve.y, strict=True)]
        stroke = f"s{number % MOST_LINES}"
        svg.polyline(points, "limit" if curve.dashed else stroke)
        if curve.dashed:
            continue
        for (px, py), x, y in zip(points, curve.x, curve.y, strict=True):
            tip = f"{y:,.6g} {y_label} at {x:,.6g}"
            svg.rect(px - 2, py - 2, 4, 4, f"dot d{number % MOST_LINES}", tip=tip)
        draw_key(svg, keys[number], stroke, curve.label)
    return picture_svg([Drawing("curves", title, "", svg.render())], title)


def _scale(
    values: Sequence[float], begin: float, end: float
) -> tuple[Callable[[float], float], list[float]]:
    """Return where a value stands between two pixels, and round ticks."""
    low, high = min(values), max(values)
    if low > 0 and high > _LOGARITHMIC * low:
        first, last = math.floor(math.log2(low)), math.ceil(math.log2(high))
        step = max(1, -(-(last - first) // _TICKS))
        ticks = [2.0**power for power in range(first, last + 1, step)]
        span = last - first
        return lambda v: begin + (end - begin) * (math.log2(v) - first) / span, ticks
    low = min(low, 0.0)
    ticks = value_ticks(low, high if high > low else low + 1.0, _TICKS)
    return lambda v: begin + (end - begin) * (v - ticks[0]) / (ticks[-1] - ticks[0]), ticks
