"""The column of labels beside the tracks: names, sources, and the scale of each series."""

from __future__ import annotations

from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QColor, QFont, QFontMetrics, QFontMetricsF, QPainter

from freezeframe.gui.desktop.timeline.layout import GROUP_PX, HEADING_PX
from freezeframe.gui.desktop.timeline.overlay import RULER_PX
from freezeframe.gui.desktop.timeline.prepared import Prepared
from freezeframe.gui.desktop.timeline.rows import value_range
from freezeframe.gui.desktop.timeline.scene import Overlay, Scene
from freezeframe.gui.text import printable
from freezeframe.gui.tracks.tracks import SeriesTrack

_LINE_PX = 15
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"))
_LARGE = 999_999.5


def draw_gutter(painter: QPainter, scene: Scene, overlay: Overlay, focused: bool) -> None:
    """Draw the labels beside the rows of a scene, from the ruler's top down, and the values at the read cursor.

    The track that keys act on is framed while the time line has the keyboard (``focused``).
    """
    theme, focus, wide = scene.theme, overlay.focus, scene.gutter
    painter.save()
    height = RULER_PX + scene.height
    painter.fillRect(QRectF(0, 0, wide, height), QColor(theme.gutter))
    painter.setClipRect(QRectF(0, RULER_PX, wide, scene.height))
    name_font, small = QFont(painter.font()), QFont(painter.font())
    name_font.setPixelSize(12)
    small.setPixelSize(10)
    heading_font = QFont(name_font)
    heading_font.setBold(True)
    for line in scene.groups:
        painter.setFont(name_font)
        top = RULER_PX + line.y - scene.scroll
        _line(painter, 6, top, wide - 10, GROUP_PX, line.text, theme.dim)
    for row, prepared in scene.rows:
        top = RULER_PX + row.y - scene.scroll
        if row.heading:
            painter.setFont(heading_font)
            above = top - HEADING_PX - (GROUP_PX if row.grouped else 0)
            _line(painter, 6, above, wide - 10, HEADING_PX, row.heading, theme.text)
        area = QRectF(0, top, wide, row.height)
        if row.key == focus:
            painter.fillRect(area, QColor(theme.stripe))
            painter.fillRect(QRectF(0, top, 3, row.height), QColor(theme.role("a")))
            if focused:
                painter.setPen(QColor(theme.role("a")))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(area.adjusted(0.5, 0.5, -1.5, -0.5))
        painter.setFont(small if row.collapsed else name_font)
        ink = theme.role("error") if prepared.failed else theme.text
        name_height = row.height if row.collapsed or row.height < 2 * _LINE_PX + 6 else _LINE_PX + 5
        room = float(wide - 24)
        if not row.collapsed and isinstance(prepared.track, SeriesTrack) and row.height >= 40:
            painter.setFont(small)
            room -= _draw_scale(painter, scene, prepared, top, row.height)
            painter.setFont(name_font)
        if overlay.read_ps is not None:
            text = prepared.value_at(overlay.read_ps)
            room -= _draw_value(
                painter, text, 12 + room, top, room * 0.6, name_height, theme.cursor
            )
        lines = name_lines(
            painter.fontMetrics(), prepared.track.name, room, name_height, row.height
        )
        for number, text in enumerate(lines):
            _line(painter, 12, top + number * _LINE_PX, room, name_height, text, ink)
    painter.setClipping(False)
    painter.setPen(QColor(theme.grid))
    painter.drawLine(QPointF(wide - 0.5, 0), QPointF(wide - 0.5, height))
    painter.restore()


def short_number(value: float) -> str:
    """Return a value as texts have it, ``1,024``, ``312``, ``0.05``; from a million on with a prefix: ``1.25 G``."""
    if abs(value) < _LARGE:
        return f"{value:,.6g}"
    size, prefix = next((one for one in _PREFIXES if abs(value) >= one[0]), _PREFIXES[-1])
    return f"{value / size:.4g} {prefix}"


def name_lines(
    metrics: QFontMetrics, name: str, room: float, height: float, row_px: int
) -> list[str]:
    """Return the name of a track in two lines where one has no room for it and the row is high enough, else in one."""
    name = printable(name)
    if metrics.horizontalAdvance(name) <= room or row_px < height + 2 * _LINE_PX:
        return [name]
    words = name.split(" ")
    fits = [
        n for n in range(1, len(words)) if metrics.horizontalAdvance(" ".join(words[:n])) <= room
    ]
    return [" ".join(words[: fits[-1]]), " ".join(words[fits[-1] :])] if fits else [name]


def _draw_scale(
    painter: QPainter, scene: Scene, prepared: Prepared, top: int, height: int
) -> float:
    """Write the values at top and bottom and the unit; return the width that is taken."""
    track = prepared.track
    columns = None
    if scene.scale_in_view:
        columns = prepared.columns(scene.window.t0_ps, scene.window.t1_ps, scene.width)
    span = value_range(scene, prepared, columns)  # type: ignore[arg-type] # a series has series columns
    if span is None or not isinstance(track, SeriesTrack):
        return 0.0
    metrics = QFontMetricsF(painter.font())
    texts = (short_number(span[1]), short_number(span[0]))
    widest = max(metrics.horizontalAdvance(text) for text in texts)
    painter.setPen(QColor(scene.theme.dim))
    for text, y in zip(texts, (top + 11, top + height - 4), strict=True):
        x = scene.gutter - 6 - metrics.horizontalAdvance(text)
        painter.drawText(QPointF(x, y), text)
    unit = printable(track.unit) + (" (scale: in view)" if scene.scale_in_view else "")
    _line(
        painter,
        12,
        top + height - 17,
        scene.gutter - 24 - widest,
        15,
        unit.strip(),
        scene.theme.dim,
    )
    return widest + 6


def _draw_value(
    painter: QPainter, text: str, right: float, y: float, most: float, height: float, ink: int
) -> float:
    """Write a value up to ``right``, at most ``most`` wide; return the width that is taken."""
    metrics = QFontMetricsF(painter.font())
    shown = metrics.elidedText(printable(text), Qt.TextElideMode.ElideRight, most)
    width = metrics.horizontalAdvance(shown)
    painter.setPen(QColor(ink))
    flags = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
    painter.drawText(QRectF(right - width, y, width + 2, height), int(flags), shown)
    return width + 8 if shown else 0.0


def _line(
    painter: QPainter, x: float, y: float, room: float, height: float, text: str, ink: int
) -> None:
    metrics = QFontMetricsF(painter.font())
    shown = metrics.elidedText(printable(text), Qt.TextElideMode.ElideMiddle, room)
    painter.setPen(QColor(ink))
    flags = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
    painter.drawText(QRectF(x, y, room, height), int(flags), shown)
