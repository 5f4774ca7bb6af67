"""The way of packets through a card, or from one to the other: taps, what lies between them, and what is broken.

A tap is a circle, above it what it counted. What lies between two taps is a box or a line, below it what is in it. The
broken one is red, thick and says so. Credits go back below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from freezeframe.gui.plots.axis import MARGIN, WIDTH
from freezeframe.gui.plots.svg import Svg, text_width, wrapped

_PARTS = 5  # in one row
_LINE = 14.0
_FONT = 12.0
_SMALL = 11.0
_BOX = 34.0
_RADIUS = 6.0
_BACK = 34.0  # height of the way back


@dataclass(frozen=True, slots=True)
class Tap:
    """A place where the recorder listens; ``lines``: what it counted."""

    name: str
    lines: tuple[str, ...] = ()
    broken: bool = False
    unseen: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """What lies before, between or behind taps.

    ``share``: how full it is, 0 to 1; None where it has no level. ``line``: it is a link, not a box. ``unseen``: why
    nothing of it was recorded.
    """

    name: str
    lines: tuple[str, ...] = ()
    broken: bool = False
    share: float | None = None
    line: bool = False
    unseen: str = ""


@dataclass(frozen=True, slots=True)
class Way:
    """One direction: a part before each tap and one behind the last. ``back``: what its credits say, if it has any."""

    title: str
    taps: tuple[Tap, ...]
    parts: tuple[Part, ...]
    back: Part | None = None

    def __post_init__(self) -> None:
        """Refuse a way that does not close.

        Raises:
            ValueError: not one part more than taps.
        """
        if len(self.parts) != len(self.taps) + 1:
            raise ValueError(f"{len(self.taps)} taps and {len(self.parts)} parts make no way")


def path_sheet(name: str, ways: Sequence[Way], *, title: str, desc: str) -> Svg:
    """Return the drawing of the ways below each other."""
    heights = [_height(way) for way in ways]
    svg = Svg(name, WIDTH, sum(heights) or 1.0, title=title, desc=desc)
    y = 0.0
    for way, height in zip(ways, heights, strict=True):
        _draw_way(svg, way, y)
        y += height
    return svg


def _rows(way: Way) -> list[tuple[int, int]]:
    """Return the parts row by row, ``[first, end)``."""
    return [(at, min(at + _PARTS, len(way.parts))) for at in range(0, len(way.parts), _PARTS)]


def _wide(row: tuple[int, int]) -> float:
    """Return the room of a part in a row, pixels."""
    return (WIDTH - 2 * MARGIN) / (row[1] - row[0])


def _lines(of: Tap | Part, wide: float) -> list[str]:
    """Return what is said of a tap or part, broken to its room."""
    return [line for text in of.lines for line in wrapped(text, wide - 8, _SMALL)]


def _row_height(way: Way, row: tuple[int, int]) -> tuple[float, float]:
    """Return the height above the middle of a row of parts, and below it."""
    first, end = row
    wide = _wide(row)
    above = max((len(_lines(tap, wide)) for tap in way.taps[first:end]), default=0)
    below = max((len(_lines(part, wide)) for part in way.parts[first:end]), default=0)
    return _LINE * (above + 1) + _BOX / 2 + 8, _BOX / 2 + _LINE * below + 12


def _height(way: Way) -> float:
    rows = sum(sum(_row_height(way, row)) for row in _rows(way))
    return 22 + rows + (_BACK + _LINE if way.back else 0) + 8


def _draw_way(svg: Svg, way: Way, y: float) -> None:
    svg.text(2, y + 15, way.title, "group")
    y += 22
    for row in _rows(way):
        above, below = _row_height(way, row)
        _draw_row(svg, way, row, y + above)
        y += above + below
    if way.back:
        _draw_back(svg, way.back, y)


def _draw_row(svg: Svg, way: Way, row: tuple[int, int], y: float) -> None:
    first, end = row
    wide = _wide(row)
    for at in range(first, end):
        left = MARGIN + wide * (at - first)
        _draw_part(svg, way.parts[at], left, wide, y)
    for at in range(first, min(end, len(way.taps))):
        # The tap at the end of a row stands there again at no other place: it belongs to this row.
        x = MARGIN + wide * (at - first + 1)
        _draw_tap(svg, way.taps[at], min(x, WIDTH - MARGIN - _RADIUS), wide, y)


def _draw_part(svg: Svg, part: Part, left: float, wide: float, y: float) -> None:
    broken = " broken" * part.broken
    middle = left + wide / 2
    svg.line(left, y, left + wide, y, f"edge{broken}")
    tip = "; ".join((part.name, *part.lines))
    inner = wide - 36
    if part.line:
        x = left + wide - 16
        svg.polygon([(x - 9, y - 5), (x, y), (x - 9, y + 5)], f"arrow{broken}")
        svg.text(middle, y - 7, _fit(part.name, inner, _FONT), f"key{broken}", anchor="middle")
    else:
        top = y - _BOX / 2
        svg.rect(left + 18, top, inner, _BOX, f"box{broken}", tip=tip, radius=4)
        if part.share is not None:
            full = min(max(part.share, 0.0), 1.0)
            svg.rect(left + 20, y + _BOX / 2 - 8, (inner - 4) * full, 6, "full", tip=tip)
        if part.unseen:
            svg.hatch(left + 18, top, inner, _BOX, tip=f"not recorded: {part.unseen}")
        raised = 0 if part.share is None else 3
        css = f"why{broken}" if part.unseen else f"key{broken}"
        name = _fit(part.name, inner - 8, _FONT)
        svg.text(middle, y + 4 - raised, name, css, anchor="middle", tip=tip)
    for number, line in enumerate(_lines(part, wide), 1):
        at = y + _BOX / 2 + _LINE * number
        # The counts at both ends of a link are of two freezes: they are no proof, whatever they say.
        css = "small" if part.line else f"small{broken}"
        svg.text(middle, at, line, css, anchor="middle", tip=tip)


def _draw_tap(svg: Svg, tap: Tap, x: float, wide: float, y: float) -> None:
    broken = " broken" * tap.broken
    tip = "; ".join((tap.name, *tap.lines))
    corners = [
        (x, y - _RADIUS), (x + _RADIUS, y), (x, y + _RADIUS), (x - _RADIUS, y),
    ]  # fmt: skip
    svg.polygon(corners, f"tap{broken}", tip=tip)
    lines = _lines(tap, wide)
    top = y - _BOX / 2 - 6 - _LINE * len(lines)
    for number, text in enumerate((_fit(tap.name, wide - 8, _FONT), *lines)):
        css = "small" if number else "label strong"
        size = _SMALL if number else _FONT
        half = text_width(text, size) / 2
        at = min(max(x, half + 2), WIDTH - half - 2)
        svg.text(at, top + _LINE * number, text, f"{css}{broken}", anchor="middle", tip=tip)


def _draw_back(svg: Svg, back: Part, y: float) -> None:
    broken = " broken" * back.broken
    left, right, middle = MARGIN, WIDTH - MARGIN, y + 10
    svg.line(right, middle - 10, right, middle, f"edge{broken}")
    svg.line(left, middle, right, middle, f"edge{broken}")
    svg.polygon([(left + 9, middle - 5), (left, middle), (left + 9, middle + 5)], f"arrow{broken}")
    for number, line in enumerate((back.name, *back.lines)):
        at = middle + 16 + _LINE * number
        text = _fit(line, right - left, _SMALL)
        svg.text(WIDTH / 2, at, text, f"small{broken}", anchor="middle", tip=line)


def _fit(text: str, width: float, size: float) -> str:
    """Return as much of a text as fits; what is cut is in the tip."""
    most = max(int(width / text_width("x", size)), 1)
    return text if len(text) <= most else f"{text[: most - 1]}…"
