"""The style sheet of drawings resolved for a writer that is no browser: what a mark of these classes looks like.

Of CSS it takes what drawing.css has: classes behind ``.drawing``, an element before them, the more exact rule first.

Source: W3C Selectors Level 3, clause 9 (specificity); SVG 1.1, clause 11 (painting properties).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from freezeframe.gui.palette import THEMES, ThemeName
from freezeframe.gui.plots.style import drawing_style

_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_SELECTOR = re.compile(r"\.drawing (\w+)?((?:\.[\w-]+)*)")
_FONT_PX = 12.0
_IMPORTANT = "!important"


@dataclass(frozen=True, slots=True)
class Look:
    """How a mark is painted: colours ``#rrggbb`` or None for none, lengths in pixels of the drawing.

    Attributes:
        dash: lengths of marks and gaps in turn; empty for a line that has no gaps.
        halo: the stroke lies below the fill.
        crisp: edges lie on whole pixels.
    """

    fill: str | None
    fill_opacity: float
    stroke: str | None
    width: float
    dash: tuple[float, ...]
    opacity: float
    font_px: float
    bold: bool
    halo: bool
    crisp: bool


@cache
def look_of(element: str, css: str, theme: ThemeName) -> Look:
    """Return the look of an element with these classes, separated by spaces."""
    mine = frozenset(css.split())
    found = [
        (important, len(classes), bool(of), at, name, value)
        for at, (of, classes, said) in enumerate(_rules(theme))
        if of in ("", element) and classes <= mine
        for name, value, important in said
    ]
    said = {name: value for *_, name, value in sorted(found)}
    font_px = re.match(r"([0-9.]+)px", said.get("font-size") or said.get("font", ""))
    return Look(
        fill=_paint(said.get("fill", "#000000")),
        fill_opacity=float(said.get("fill-opacity", 1)),
        stroke=_paint(said.get("stroke", "none")),
        width=float(said.get("stroke-width", "1").removesuffix("px")),
        dash=tuple(float(one) for one in said.get("stroke-dasharray", "none").split() if one != "none"),
        opacity=float(said.get("opacity", 1)),
        font_px=float(font_px[1]) if font_px else _FONT_PX,
        bold=said.get("font-weight") == "700",
        halo=said.get("paint-order") == "stroke",
        crisp=said.get("shape-rendering") == "crispEdges",
    )  # fmt: skip


@cache
def _rules(theme: ThemeName) -> list[tuple[str, frozenset[str], list[tuple[str, str, bool]]]]:
    """Return (element or empty, classes, declarations) of each selector, in the order of the sheet."""
    made = []
    for selectors, body in _RULE.findall(_COMMENT.sub("", drawing_style(THEMES[theme]))):
        said = []
        for declaration in body.split(";"):
            name, _, value = declaration.partition(":")
            if name.strip():
                plain = value.replace(_IMPORTANT, "").strip()
                said.append((name.strip(), plain, _IMPORTANT in value))
        for selector in selectors.split(","):
            found = _SELECTOR.fullmatch(selector.strip())
            if found is None:
                raise ValueError(f"drawing.css: {selector.strip()!r} is no selector that is known")
            made.append((found[1] or "", frozenset(found[2].split(".")) - {""}, said))
    return made


def _paint(value: str) -> str | None:
    return None if value == "none" else value
