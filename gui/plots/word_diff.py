"""The picture of a tap comparison: both lists as bars, what differs, and the words at the first difference."""

from __future__ import annotations

import pandas as pd

from freezeframe.gui.palette import LIGHT
from freezeframe.gui.plots.style import drawing_style
from freezeframe.gui.plots.svg import Svg, text_width

_WIDTH = 1120.0
_LEFT, _RIGHT = 112.0, 14.0
_UP, _DOWN, _BAR = 54.0, 134.0, 20.0
_LINE = 18.0
_FONT = 12.0
_OPS = ("omitted", "duplicated", "inserted", "altered", "reordered", "replaced")
_SINGLE = 400  # marks drawn one by one; of more than that those in one pixel are drawn as one

_ROLES = dict(zip(_OPS, ("error", "d", "note", "a", "good", "dim"), strict=True))

_COLOURS = LIGHT.css()
STYLE = drawing_style(LIGHT) + "".join(
    [
        ".drawing text.mono{font-family:DejaVu Sans Mono,monospace}.between{stroke-width:.6}",
        f".drawing .list{{fill:{_COLOURS['grid']}}}",
        *(
            f".drawing .{op}{{fill:{_COLOURS[role]};stroke:{_COLOURS[role]}}}.drawing text.{op}{{stroke:none}}"
            for op, role in _ROLES.items()
        ),
    ]
)
"""The colours of a picture that stands alone; a page gives its own."""


def draw_word_diff(
    name: str,
    rows: pd.DataFrame,
    around: pd.DataFrame,
    *,
    up: str,
    down: str,
    up_words: int,
    down_words: int,
    title: str,
    style: str = STYLE,
) -> str:
    """Return the SVG of a comparison.

    Args:
        rows: a row each difference: ``op``, ``words``, ``up_at``, ``down_at`` (-1: not on that side).
        around: the words beside the first difference, as `surroundings` of analyzers.taps.analysis_code gives, or "".
        up, down: names of the two lists; up_words, down_words: their lengths.
    """
    height = _DOWN + _BAR + 34 + (_LINE * (len(around) + 2) if len(around) else 0)
    found = [op for op in _OPS if (rows["op"] == op).any()] if len(rows) else []
    said = ", ".join(f"{int(rows.loc[rows['op'] == op, 'words'].sum()):,} {op}" for op in found)
    svg = Svg(name, _WIDTH, height, title=title, desc=said or "No word differs.")
    if style:
        svg.style(style)
    svg.text(2, 16, title, "group")
    _draw_key(svg, rows, found)
    scale = (_WIDTH - _LEFT - _RIGHT) / max(up_words, down_words, 1)
    for y, label, words in ((_UP, up, up_words), (_DOWN, down, down_words)):
        svg.text(_LEFT - 8, y + 14, label, "label", anchor="end")
        svg.rect(_LEFT, y, words * scale, _BAR, "list", tip=f"{label}: {words:,} words")
        svg.text(_LEFT + words * scale, y + _BAR + 13, f"{words:,} words", "label", anchor="end")
    _draw_marks(svg, rows, scale)
    if len(around):
        _draw_words(svg, around, up, down)
    return svg.render()


def _draw_key(svg: Svg, rows: pd.DataFrame, found: list[str]) -> None:
    x = _LEFT
    if not found:
        svg.text(x, 38, "no word differs", "key")
    for op in found:
        text = f"{op} {int(rows.loc[rows['op'] == op, 'words'].sum()):,}"
        svg.rect(x, 28, 12, 12, op)
        svg.text(x + 17, 38, text, "key")
        x += 17 + text_width(text, _FONT) + 20


def _draw_marks(svg: Svg, rows: pd.DataFrame, scale: float) -> None:
    shown = rows
    if len(rows) > _SINGLE:
        spot = (rows[["up_at", "down_at"]].max(axis=1) * scale).round()
        shown = rows.assign(spot=spot).drop_duplicates(["op", "spot"])
    for op, words, i, j in shown[["op", "words", "up_at", "down_at"]].itertuples(index=False):
        width = max(words * scale, 1.5)
        tip = f"{op}: {words:,} from upstream word {i:,}, downstream word {j:,}"
        x_up, x_down = _LEFT + i * scale, _LEFT + j * scale
        if i >= 0 and op not in ("duplicated", "inserted"):
            svg.rect(x_up, _UP, width, _BAR, str(op), tip=tip)
        if j >= 0 and op != "omitted":
            svg.rect(x_down, _DOWN, width, _BAR, str(op), tip=tip)
        if i >= 0 and j >= 0:
            svg.line(x_up, _UP + _BAR, x_down, _DOWN, f"between {op}")


def _draw_words(svg: Svg, around: pd.DataFrame, up: str, down: str) -> None:
    y = _DOWN + _BAR + 34 + _LINE
    svg.text(2, y, "First difference", "group")
    columns = (_LEFT + 20, _LEFT + 120, _LEFT + 330, _LEFT + 540)
    for x, text in zip(columns, ("", up, down, ""), strict=True):
        svg.text(x, y, text, "group")
    columns_of = (around[name].tolist() for name in ("label", "op", "up_at", "down_at"))
    words = (around[name].tolist() for name in ("up_data", "down_data"))
    for label, op, up_at, down_at, up_data, down_data in zip(*columns_of, *words, strict=True):
        y += _LINE
        css = f"mono {op}".strip()
        svg.text(columns[0], y, label, "label")
        if up_at >= 0:
            svg.text(columns[1], y, _hex(up_data), css)
        if down_at >= 0:
            svg.text(columns[2], y, _hex(down_data), css)
        if op:
            changed = ""
            if op == "altered":
                bits = (up_data ^ down_data) & (1 << 64) - 1
                changed = f", {bits.bit_count()} of 64 bits"
            svg.text(columns[3], y, op + changed, f"key {op}")


def _hex(value: int) -> str:
    return f"{value & (1 << 64) - 1:016x}"
