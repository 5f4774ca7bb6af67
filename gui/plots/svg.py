"""A small SVG writer: escaped text, short coordinates, colours left to the page's style sheet.

Source: W3C SVG 1.1 (Second Edition), chapters 5 (structure), 9 (basic shapes), 10 (text).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape as _escape
from textwrap import wrap
from typing import Any, Literal, NamedTuple

from freezeframe.gui.plots.axis import TimeAxis

# Width of a character at 1 px font size: the average over Latin text and digits in DejaVu Sans, the
# widest face of the page's stack, so that a label which fits by this figure fits everywhere.
_CHARACTER = 0.62


def text_width(text: str, size: float) -> float:
    """Return an upper estimate of the width of a label in pixels at a font size in pixels."""
    return len(text) * _CHARACTER * size


def escape(text: str, quote: bool = True) -> str:
    """Return text for XML: markup as text, and control characters, which XML cannot hold, as escapes."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)
    return _escape(text, quote)


_HIDDEN = ' display="none"'

Kind = Literal["rect", "hatch", "line", "polygon", "polyline", "text"]


class Shape(NamedTuple):
    """One mark of a drawing, for whoever asks what is where; its look is that of ``css`` in drawing.css.

    ``points``: the corners, of a rectangle two opposite ones.
    """

    kind: Kind
    css: str
    points: tuple[tuple[float, float], ...]
    text: str = ""
    tip: str = ""

    def moved(self, x: float, y: float) -> Shape:
        """Return the mark so many pixels to the right and down."""
        return self._replace(points=tuple((at + x, down + y) for at, down in self.points))


class Svg:
    """A drawing of ``width`` x ``height`` pixels that scales to its place on the page.

    Every string that goes in is escaped here, so names out of a capture stay text.
    """

    def __init__(self, name: str, width: float, height: float, *, title: str, desc: str) -> None:
        """Begin a drawing; ``name`` makes its ids unique, title and desc are read aloud."""
        self.width = width
        self.height = height
        self.shapes: list[Shape] = []
        """All marks, in the order in which they lie over each other."""
        self._name = escape(name)
        self._hatch = f"{name}-hatch"
        self._moving: TimeAxis | None = None
        self._when = ""  # attributes of the next mark
        self._parts = [
            f'<svg class="drawing" xmlns="http://www.w3.org/2000/svg" role="img"'
            f' viewBox="0 0 {_number(width)} {_number(height)}"'
            f' aria-labelledby="{escape(name)}-title {escape(name)}-desc">',
            f'<title id="{escape(name)}-title">{escape(title)}</title>',
            f'<desc id="{escape(name)}-desc">{escape(desc)}</desc>',
            f'<defs><pattern id="{escape(self._hatch)}" width="6" height="6" patternUnits="userSpaceOnUse">'
            '<path class="hatchline" d="M-1 1 1 -1M0 6 6 0M5 7 7 5"/></pattern></defs>',
        ]

    def rect(
        self, x: float, y: float, width: float, height: float, css: str, *, tip: str = "", radius: float = 0
    ) -> None:  # fmt: skip
        """Add a rectangle; ``tip`` is shown when the mouse rests on it."""
        more = {"rx": radius} if radius else {}
        self._rect(Shape("rect", css, (), tip=tip), x, y, width, height, more)

    def hatch(self, x: float, y: float, width: float, height: float, *, tip: str) -> None:
        """Hatch a rectangle: nothing was recorded here, for the reason in the tip."""
        more = {"fill": f"url(#{self._hatch})"}
        self._rect(Shape("hatch", "hatch", (), tip=tip), x, y, width, height, more)

    def line(self, x1: float, y1: float, x2: float, y2: float, css: str, *, tip: str = "") -> None:
        """Add a straight line."""
        self.shapes.append(Shape("line", css, ((x1, y1), (x2, y2)), tip=tip))
        self._add("line", css, {"x1": x1, "y1": y1, "x2": x2, "y2": y2}, tip)

    def polygon(self, points: Sequence[tuple[float, float]], css: str, *, tip: str = "") -> None:
        """Add a filled polygon."""
        self.shapes.append(Shape("polygon", css, tuple(points), tip=tip))
        self._add("polygon", css, {"points": _points(points)}, tip)

    def polyline(self, points: Sequence[tuple[float, float]], css: str) -> None:
        """Add an open line through points."""
        self.shapes.append(Shape("polyline", css, tuple(points)))
        digits = 4 if self.moves else 2  # a reader may look closer
        self._add("polyline", css, {"points": _points(points, digits)})

    def ticks(self, spots: Sequence[float], y: float, height: float, css: str) -> None:
        """Add many upright lines; as one path they cost a tenth of what they cost as lines."""
        self.shapes += [Shape("line", css, ((x, y), (x, y + height))) for x in spots]
        self._add(
            "path",
            css,
            {"d": "".join(f"M{_number(x)} {_number(y)}v{_number(height)}" for x in spots)},
        )

    def text(
        self, x: float, y: float, text: str, css: str, *, anchor: str = "start", tip: str = ""
    ) -> None:
        """Add one line of text whose baseline begins (or is centred, or ends) at a point."""
        self.shapes.append(Shape("text", css, ((x, y),), text, tip))
        where = {} if anchor == "start" else {"text-anchor": anchor}
        self._add("text", css, {"x": x, "y": y, **where}, tip, text)

    def begin_group(self, css: str) -> None:
        """Begin a group; what comes until ``end_group`` is in it."""
        self._parts.append(f'<g class="{escape(css)}">')

    def end_group(self) -> None:
        """End the group."""
        self._parts.append("</g>")

    def begin_axis(self, axis: TimeAxis, reach: tuple[int, int] | None) -> None:
        """Begin what lies along an axis of time, until `end_axis`.

        Args:
            reach: what the script of a page can show, by moving marks that say their time (`lasts`, `stands`); those
                outside the axis are there, and hidden. None: nothing is to move.
        """
        moves = ""
        if reach is not None:
            self._moving = axis
            moves = (
                f' data-x="{_number(axis.x0)} {_number(axis.x1)}"'
                f' data-shown="{axis.t0_ps} {axis.t1_ps}" data-all="{reach[0]} {reach[1]}"'
            )
        self._parts.append(f'<g class="moving"{moves}>')

    def end_axis(self) -> None:
        """End what lies along the axis."""
        self._moving = None
        self.end_group()

    def lasts(self, t0_ps: int, t1_ps: int, *, needs: float = 0, least: float = 0) -> None:
        """Say of the next mark, where it can move, from when to when it lasts.

        Args:
            needs: pixels without which it is not shown: a text between the two times.
            least: pixels that it is wide at least: a bar.
        """
        axis = self._moving
        if axis is None:
            return
        seen = t0_ps < axis.t1_ps and t1_ps > axis.t0_ps
        self._when = f' data-t="{t0_ps} {t1_ps}"'
        self._when += f' data-needs="{_number(needs)}"' if needs else ""
        self._when += f' data-least="{_number(least)}"' if least else ""
        if not seen or axis.clamp(t1_ps) - axis.clamp(t0_ps) < needs:
            self._when += _HIDDEN

    def stands(self, t_ps: int, *, wide: float = 0) -> None:
        """Say of the next mark, where it can move, at what time it stands; of a label, how many pixels it takes."""
        axis = self._moving
        if axis is None:
            return
        self._when = f' data-at="{t_ps}"' + (f' data-wide="{_number(wide)}"' if wide else "")
        if not axis.t0_ps <= t_ps <= axis.t1_ps:
            self._when += _HIDDEN

    def begin_lines(self, top: float, bottom: float) -> None:
        """Begin lines that are stretched as wholes where they can move, and are cut at the axis; until `end_lines`."""
        axis = self._moving
        if axis is None:
            return
        self._parts.append(
            f'<clipPath id="{self._name}-cut"><rect x="{_number(axis.x0)}" y="{_number(top)}"'
            f' width="{_number(axis.x1 - axis.x0)}" height="{_number(bottom - top)}"/></clipPath>'
            f'<g clip-path="url(#{self._name}-cut)"><g class="scaled">'
        )

    def end_lines(self) -> None:
        """End the lines."""
        if self._moving is not None:
            self._parts.append("</g></g>")

    def begin_dots(self, count: int, most: int) -> None:
        """Begin marks of which a view shows so many or none; end it by `end_group`."""
        self._parts.append(f'<g class="dots" data-most="{most}"{_HIDDEN if count > most else ""}>')

    @property
    def moves(self) -> bool:
        """Whether the marks that are added now can be moved."""
        return self._moving is not None

    def style(self, css: str) -> None:
        """Put a style sheet into the drawing, for a picture outside of our pages."""
        self._parts.append(f"<style>{escape(css, quote=False)}</style>")

    def render(self) -> str:
        """Return the drawing as text to put into a page."""
        return "\n".join([*self._parts, "</svg>"])

    def _rect(
        self, shape: Shape, x: float, y: float, width: float, height: float, more: Mapping[str, Any]
    ) -> None:
        width, height = max(width, 0), max(height, 0)
        self.shapes.append(shape._replace(points=((x, y), (x + width, y + height))))
        place = {"x": x, "y": y, "width": width, "height": height}
        self._add("rect", shape.css, {**place, **more}, shape.tip)

    def _add(
        self, element: str, css: str, attributes: Mapping[str, float | str], tip: str = "", text: str = ""
    ) -> None:  # fmt: skip
        said = "".join(
            f' {name}="{escape(value) if isinstance(value, str) else _number(value)}"'
            for name, value in attributes.items()
        )
        inner = (f"<title>{escape(tip)}</title>" if tip else "") + escape(text)
        end = f">{inner}</{element}>" if inner or element == "text" else "/>"
        self._parts.append(f'<{element}{said}{self._when} class="{escape(css)}"{end}')
        self._when = ""


def cut_to(text: str, width: float, font_px: float = 12.0) -> str:
    """Return a text with what a width has no room for left out at its end."""
    most = int(width / text_width("x", font_px))
    return text if len(text) <= most else f"{text[: max(most - 1, 1)]}…"


def wrapped(text: str, width: float, font_px: float = 12.0) -> list[str]:
    """Return a text in lines of at most a width, broken at blanks; a word that is wider, between letters."""
    return wrap(text, max(int(width / text_width("x", font_px)), 1)) or [""]


def _points(points: Sequence[tuple[float, float]], digits: int = 2) -> str:
    return " ".join(f"{_number(x, digits)},{_number(y)}" for x, y in points)


def _number(value: float, digits: int = 2) -> str:
    """Two decimals, usually: finer than any screen, and half the size of repr()."""
    return f"{value:.{digits}f}".rstrip("0").rstrip(".")
