"""The marks of a drawing painted by Qt, as a browser paints its SVG: the same style sheet, the same widths of texts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
    QPainter,
    QPainterPath,
    QPen,
    QPolygonF,
)

from freezeframe.gui.palette import ThemeName
from freezeframe.gui.plots.styled import Look, look_of
from freezeframe.gui.plots.svg import Shape, text_width
from freezeframe.gui.text import printable

_FACES = ["DejaVu Sans", "system-ui", "sans-serif"]  # the widest first: what fits in it fits
_HATCH_PX = 6  # between the lines of a hatch, as in the pattern of `Svg`


def paint_shapes(
    painter: QPainter, shapes: Sequence[Shape], theme: ThemeName, seen: QRectF | None = None
) -> None:
    """Paint marks over each other; of those whose place is known at once only what touches ``seen``."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for shape in shapes:
        if seen is not None and shape.kind != "text" and not seen.intersects(bounds(shape)):
            continue
        if shape.kind == "hatch":
            _hatch(painter, shape, theme)
        elif shape.kind == "text":
            _text(painter, shape, look_of("text", shape.css, theme))
        else:
            _mark(painter, shape, look_of(shape.kind, shape.css, theme))
    painter.setOpacity(1)


def bounds(shape: Shape, beside: float = 5.0) -> QRectF:
    """Return the rectangle around a mark's points with room for its stroke."""
    xs, ys = zip(*shape.points, strict=True)
    rect = QRectF(QPointF(min(xs), min(ys)), QPointF(max(xs), max(ys)))
    return rect.adjusted(-beside, -beside, beside, beside)


def _mark(painter: QPainter, shape: Shape, look: Look) -> None:
    painter.setOpacity(look.opacity)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, not look.crisp)
    painter.setPen(_pen(look))
    painter.setBrush(_brush(look))
    points = [QPointF(x, y) for x, y in shape.points]
    if shape.kind == "line":
        painter.drawLine(*points)
    elif shape.kind == "rect":
        painter.drawRoundedRect(QRectF(*points), shape.radius, shape.radius)
    elif shape.kind == "polygon":
        painter.drawPolygon(QPolygonF(points))
    else:
        painter.drawPolyline(QPolygonF(points))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)


def _hatch(painter: QPainter, shape: Shape, theme: ThemeName) -> None:
    """Draw the lines of the pattern that every hatch of a drawing shares, from its lower left to its upper right."""
    box = QRectF(*(QPointF(x, y) for x, y in shape.points))
    painter.setOpacity(1)
    painter.setPen(_pen(look_of("path", "hatchline", theme)))
    painter.save()
    painter.setClipRect(box, Qt.ClipOperation.IntersectClip)
    first = int((box.left() + box.top()) // _HATCH_PX)
    last = int((box.right() + box.bottom()) // _HATCH_PX) + 1
    for at in range(first * _HATCH_PX, last * _HATCH_PX + 1, _HATCH_PX):
        painter.drawLine(
            QPointF(at - box.top(), box.top()), QPointF(at - box.bottom(), box.bottom())
        )
    painter.restore()


def _text(painter: QPainter, shape: Shape, look: Look) -> None:
    """Write a text no wider than the layout took it to be, whatever face is installed."""
    text = printable(shape.text)
    font = _font(look.font_px, look.bold)
    wide = QFontMetricsF(font).horizontalAdvance(text)
    squeezed = min(1.0, text_width(text, look.font_px) / wide) if wide else 1.0
    ((x, y),) = shape.points
    x -= wide * squeezed * {"start": 0.0, "middle": 0.5, "end": 1.0}[shape.anchor]
    painter.save()
    painter.setOpacity(look.opacity)
    painter.translate(x, y)
    painter.scale(squeezed, 1)
    if look.halo and look.stroke:
        outline = QPainterPath()
        outline.addText(0, 0, font, text)
        pen = _pen(look)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.strokePath(outline, pen)
    painter.setFont(font)
    painter.setPen(QColor(look.fill or "#000000"))
    painter.drawText(QPointF(0, 0), text)
    painter.restore()


def _pen(look: Look) -> QPen:
    if look.stroke is None:
        return QPen(Qt.PenStyle.NoPen)
    pen = QPen(QColor(look.stroke), look.width)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
    if look.dash:
        pen.setDashPattern([length / look.width for length in look.dash])  # Qt counts in widths
    return pen


def _brush(look: Look) -> QBrush:
    if look.fill is None:
        return QBrush(Qt.BrushStyle.NoBrush)
    colour = QColor(look.fill)
    colour.setAlphaF(look.fill_opacity)
    return QBrush(colour)


@cache
def _font(px: float, bold: bool) -> QFont:
    font = QFont()
    font.setFamilies(_FACES)
    font.setPixelSize(round(px))
    font.setBold(bold)
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return font
