"""A map of cells over two quantities, in panels for a third: what became of each point, with its value in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from freezeframe.gui.plots.figures import Drawing
from freezeframe.gui.plots.picture import picture_svg
from freezeframe.gui.plots.svg import Svg

_LEFT, _TOP, _HIGH, _WIDE, _BETWEEN = 110.0, 44.0, 26.0, 92.0, 64.0
_EDGE = 20.0


class Cell(NamedTuple):
    """One point: its column and row of a panel, the role of its colour, what is written in it, and its tip."""

    panel: str
    column: str
    row: str
    role: str
    text: str
    tip: str


def draw_cells(
    cells: Sequence[Cell],
    title: str,
    column_label: str,
    row_label: str,
    key: Sequence[tuple[str, str]],
) -> str:
    """Return the SVG picture of a map; panels, columns and rows stand in the order in which they first come.

    Args:
        key: (role, what it means), in words, so that no colour is alone.
    Raises:
        ValueError: there are no cells.
    """
    if not cells:
        raise ValueError("no cells, no map")
    panels, columns, rows = (
        list(dict.fromkeys(names)) for names in list(zip(*cells, strict=True))[:3]
    )
    panel_high = _TOP + _HIGH * len(rows)
    width = max(_LEFT + _WIDE * len(columns) + _EDGE, 640.0)
    height = (panel_high + _BETWEEN) * len(panels) + _EDGE
    svg = Svg("cells", width, height, title=title, desc=f"{title}: {column_label} by {row_label}")
    x = _LEFT
    for role, meaning in key:
        svg.rect(x, 4, 14, 14, role)
        svg.text(x + 20, 16, meaning, "key")
        x += 150
    for number, panel in enumerate(panels):
        top = number * (panel_high + _BETWEEN) + _TOP + 20
        svg.text(_LEFT, top - 8, panel, "key")
        for at, row in enumerate(rows):
            svg.text(_LEFT - 8, top + _HIGH * at + 17, row, "label", anchor="end")
        for at, column in enumerate(columns):
            middle = _LEFT + _WIDE * (at + 0.5)
            svg.text(middle, top + _HIGH * len(rows) + 16, column, "label", anchor="middle")
        svg.text(_LEFT - 8, top - 8, row_label, "label", anchor="end")
        right = _LEFT + _WIDE * len(columns)
        svg.text(right, top + _HIGH * len(rows) + 32, column_label, "label", anchor="end")
        for cell in cells:
            if cell.panel != panel:
                continue
            left = _LEFT + _WIDE * columns.index(cell.column)
            upper = top + _HIGH * rows.index(cell.row)
            svg.rect(left, upper, _WIDE - 2, _HIGH - 2, cell.role, tip=cell.tip)
            svg.text(
                left + _WIDE / 2, upper + 16, cell.text, f"inside {cell.role}", anchor="middle"
            )
    return picture_svg([Drawing("cells", title, "", svg.render())], title)
