"""Drawings below each other as one picture that stands alone: SVG text, or PNG by resvg.

Source: resvg (https://github.com/linebender/resvg), through the package resvg-py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from freezeframe.capture.errors import InputError
from freezeframe.gui.palette import THEMES, ThemeName, hexadecimal
from freezeframe.gui.plots.figures import Drawing, swatch
from freezeframe.gui.plots.style import drawing_style
from freezeframe.gui.plots.svg import Shape, escape, text_width

MOST_PIXELS = 100_000_000
"""Of a PNG; more is most likely a mistyped scale, and would take 400 MB."""

_WIDTH = 1120.0
_MARGIN = 16.0
_HEAD = 22.0
_HEADING = 15.0  # down to the baseline of the heading
_BESIDE = 26.0  # from a swatch to its meaning
_KEY = 20.0
_GAP = 14.0
_BOX = re.compile(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"')


def picture_svg(drawings: Sequence[Drawing], title: str, *, theme: ThemeName = "light") -> str:
    """Return all drawings as one SVG with a title (empty: none), headings, legends and a background.

    Raises:
        ValueError: there are no drawings.
    """
    if not drawings:
        raise ValueError("no drawings, no picture")
    parts: list[str] = []
    y = _begin(title)
    for drawing in drawings:
        parts.append(_text(_MARGIN, y + _HEADING, drawing.title, "group"))
        for css, label, x, top in _keys(drawing, y + _HEAD):
            if css:
                parts.append(swatch(css, x, top))
            said = label if css else f"{label}:"
            parts.append(_text(x + _BESIDE * bool(css), top + 9, said, "key" if css else "of"))
        y = _top(drawing, y)
        marks = drawing.svg.partition(">")[2].removesuffix("</svg>")
        parts.append(f'<g class="drawing" transform="translate({_MARGIN:g} {y:g})">{marks}</g>')
        y += _size(drawing.svg)[1] + _GAP
    whole_width, whole_height = _WIDTH + 2 * _MARGIN, y
    names = "; ".join(drawing.title for drawing in drawings)
    return "\n".join(
        [
            f'<svg class="drawing" xmlns="http://www.w3.org/2000/svg" role="img" width="{whole_width:g}"'
            f' height="{whole_height:g}" viewBox="0 0 {whole_width:g} {whole_height:g}"'
            ' aria-labelledby="picture-title picture-desc">',
            f'<title id="picture-title">{escape(title)}</title>',
            f'<desc id="picture-desc">{escape(names)}</desc>',
            f"<style>{escape(drawing_style(THEMES[theme]), quote=False)}"
            ".drawing text.heading { font-size: 16px; font-weight: 700; }</style>",
            f'<rect width="{whole_width:g}" height="{whole_height:g}" fill="{hexadecimal(THEMES[theme].background)}"/>',
            _text(_MARGIN, _MARGIN + 14, title, "heading") if title else "",
            *parts,
            "</svg>",
        ]
    )


def picture_shapes(
    drawings: Sequence[Drawing], title: str = ""
) -> tuple[list[Shape], tuple[float, float]]:
    """Return the marks of the drawings where that picture has them, and its width and height in pixels.

    Raises:
        ValueError: of a drawing only its SVG was kept.
    """
    shapes: list[Shape] = []
    y = _begin(title)
    for drawing in drawings:
        if drawing.sheet is None:
            raise ValueError(f"{drawing.title}: its marks were not kept")
        y = _top(drawing, y)
        shapes += [shape.moved(_MARGIN, y) for shape in drawing.sheet.shapes]
        y += drawing.sheet.height + _GAP
    return shapes, (_WIDTH + 2 * _MARGIN, y)


def picture_png(svg: str, *, scale: float = 1.0) -> bytes:
    """Return an SVG as PNG, ``scale`` times its size.

    Raises:
        InputError: the package that draws it is missing, no font is installed, or it would be larger
            than `MOST_PIXELS`.
    """
    width, height = _size(svg)
    if not 0 < scale * scale * width * height <= MOST_PIXELS:
        raise InputError(
            f"--scale {scale:g}: {scale * width:,.0f} x {scale * height:,.0f} pixels; a PNG may have "
            f"1 to {MOST_PIXELS:,} pixels"
        )
    try:
        import resvg_py
    except ImportError:
        raise InputError(
            "PNG needs the package resvg-py; run: pip install resvg-py, or write .svg"
        ) from None
    data = bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=scale, font_family="DejaVu Sans"))
    if ">" in svg and not _writes_text(resvg_py.svg_to_bytes):
        raise InputError(
            "PNG: no font is installed here, so texts would be missing; install one "
            "(Debian: apt install fonts-dejavu-core), or write .svg"
        )
    return data


def _writes_text(draw: Callable[..., Any]) -> bool:
    """Return whether a letter leaves a trace: without any font, texts are left out without a word."""
    frame = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40">{}</svg>'
    letter = '<text x="5" y="30" font-size="30" font-family="sans-serif">M</text>'
    drawn = draw(svg_string=frame.format(letter), sans_serif_family="DejaVu Sans")
    return bytes(drawn) != bytes(draw(svg_string=frame.format("")))


def _size(svg: str) -> tuple[float, float]:
    found = _BOX.search(svg)
    if found is None:
        raise ValueError("a drawing without a viewBox")
    return float(found[1]), float(found[2])


def _keys(drawing: Drawing, y: float) -> Iterator[tuple[str, str, float, float]]:
    """Yield class, meaning, left and top of each entry of the legend, in as many rows as it takes."""
    x = _MARGIN
    for css, label, _ in drawing.legend:
        width = _BESIDE * bool(css) + 2 + text_width(label, 12) + (18 if css else 6)
        if x > _MARGIN and x + width > _WIDTH:
            x, y = _MARGIN, y + _KEY
        yield css, label, x, y
        x += width


def _top(drawing: Drawing, y: float) -> float:
    """Return where the drawing itself begins, below its heading at ``y`` and its legend."""
    rows = len({top for *_, top in _keys(drawing, y)})
    return y + _HEAD + _KEY * rows


def _begin(title: str) -> float:
    return _MARGIN + 20 * bool(title)


def _text(x: float, y: float, text: str, css: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{css}">{escape(text)}</text>'
