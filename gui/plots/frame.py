"""What frames a drawing of quantities: values at its left with their lines, times below, and the key of its lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from freezeframe.gui.plots.axis import GUTTER, WIDTH, TimeAxis
from freezeframe.gui.plots.svg import Svg, cut_to, text_width, wrapped

LABEL_PX, SMALL_PX = 12.0, 10.0
NAME_ROOM, NAME_LINE = GUTTER - 10, 11.0
"""Of the name of a row, pixels: how wide it may be, and from one small line of it to the next."""

_KEY_ROW = 18.0
_KEY_TOP = 14.0
_KEY_LINE = 28.0  # a piece of the line and a blank before its name


def draw_values(
    svg: Svg,
    values: Sequence[float],
    y: Callable[[float], float],
    across: tuple[float, float],
    unit: str,
) -> None:
    """Draw a line from edge to edge at each value, the value at the left of it, and their unit above."""
    left, right = across
    for value in values:
        svg.line(left, y(value), right, y(value), "grid")
        svg.text(left - 8, y(value) + 4, f"{value:,.6g}", "label", anchor="end")
    svg.text(left - 8, 14, unit, "label", anchor="end")


def draw_name(svg: Svg, middle: float, name: str, tip: str = "", *, small: bool = False) -> None:
    """Write the name of a row left of the axis; without room in one line, small in two, and cut only beyond them."""
    lines, css, size = [name], "label", LABEL_PX
    if small or text_width(name, size) > NAME_ROOM:
        css, size = "label row", SMALL_PX
        head, *rest = wrapped(name, NAME_ROOM, size)
        lines = [head, *([cut_to(" ".join(rest), NAME_ROOM, size)] if rest else [])]
    tip = tip if " ".join(lines) == name else ": ".join(filter(None, (name, tip)))
    first = middle + size / 3 - NAME_LINE / 2 * (len(lines) - 1)
    for number, line in enumerate(lines):
        svg.text(GUTTER - 8, first + NAME_LINE * number, line, css, anchor="end", tip=tip)


def draw_times(svg: Svg, axis: TimeAxis, bottom: float, css: str, top: float) -> None:
    """Draw the axis at ``bottom``, and from ``top`` on the line of each round time."""
    svg.line(axis.x0, bottom, axis.x1, bottom, "axis")
    svg.begin_group("ticks")
    for x, label in axis.ticks():
        svg.line(x, top, x, bottom + 4, css)
        half = text_width(label, LABEL_PX) / 2
        svg.text(min(max(x, half), WIDTH - half), bottom + 18, label, "label", anchor="middle")
    svg.end_group()


def key_places(labels: Sequence[str], across: tuple[float, float]) -> list[tuple[float, float]]:
    """Return where the line of each label of a key stands, in as many rows as they need, and its baseline."""
    found: list[tuple[float, float]] = []
    (left, right), y = across, _KEY_TOP
    x = left
    for label in labels:
        wide = _KEY_LINE + text_width(label, LABEL_PX) + 20
        if x > left and x + wide > right:
            x, y = left, y + _KEY_ROW
        found.append((x, y))
        x += wide
    return found


def draw_key(svg: Svg, place: tuple[float, float], css: str, label: str) -> None:
    """Draw a piece of a line and what it is."""
    x, y = place
    svg.line(x, y - 4, x + 22, y - 4, css)
    svg.text(x + _KEY_LINE, y, label, "key")
