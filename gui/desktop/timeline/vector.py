"""The time area as lines, rectangles and text: for SVG and for paper, from the same columns as the screen."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QBrush, QColor, QFontMetricsF, QPainter, QPen, QPolygonF

from freezeframe.gui.desktop.timeline.glyphs import label_font
from freezeframe.gui.desktop.timeline.layout import Row
from freezeframe.gui.desktop.timeline.prepared import Prepared
from freezeframe.gui.desktop.timeline.raster import value_range
from freezeframe.gui.desktop.timeline.scene import LABEL_PX, Scene
from freezeframe.gui.palette import mixed
from freezeframe.gui.plots.pyramid import SeriesColumns
from freezeframe.gui.plots.slices import NOTHING, SliceColumns, WaveColumns
from freezeframe.gui.text import printable
from freezeframe.gui.tracks.tracks import (
    BusTrack,
    MarkTrack,
    SeriesTrack,
    StateTrack,
    WaveTrack,
)

_SHORTEST_PX = 26


def draw_rows(painter: QPainter, scene: Scene) -> None:
    """Draw background, grid and rows of a scene, one column a logical pixel."""
    theme = scene.theme
    painter.save()
    painter.setClipRect(QRectF(0, 0, scene.width, scene.height))
    painter.fillRect(QRectF(0, 0, scene.width, scene.height), QColor(theme.background))
    for row, _ in scene.rows[1::2]:
        area = QRectF(0, row.y - scene.scroll, scene.width, row.height)
        painter.fillRect(area, QColor(theme.stripe))
    painter.setPen(QPen(QColor(theme.grid), 1))
    for t_ps, _ in scene.axis().ticks:
        x = scene.x_of(t_ps)
        painter.drawLine(QPointF(x, 0), QPointF(x, scene.height))
    painter.setFont(label_font(LABEL_PX))
    for number, (row, prepared) in enumerate(scene.rows):
        ground = theme.stripe if number % 2 else theme.background
        _draw_row(painter, scene, row, prepared, ground)
    painter.restore()


def elided(painter: QPainter, text: str, room: float) -> str:
    """Return as much of a text as fits into a width."""
    metrics = QFontMetricsF(painter.font())
    return metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)


def _draw_row(painter: QPainter, scene: Scene, row: Row, prepared: Prepared, ground: int) -> None:
    theme = scene.theme
    top, bottom = scene.inside(row)
    _draw_items(painter, scene, row, prepared, ground)
    held = isinstance(prepared.track, WaveTrack | BusTrack | StateTrack | SeriesTrack)
    for left, right, why in scene.holes(prepared.track, scene.width):
        if held:
            painter.fillRect(QRectF(left, top, right - left, bottom - top), QColor(ground))
        brush = QBrush(QColor(theme.hatch), Qt.BrushStyle.BDiagPattern)
        painter.fillRect(QRectF(left, top, right - left, bottom - top), brush)
        room = QFontMetricsF(painter.font()).horizontalAdvance(printable(why))
        if not (row.collapsed or prepared.said) and right - left >= room + 16:
            x = left + (right - left - room) / 2
            painter.fillRect(QRectF(x - 4, (top + bottom) / 2 - 7, room + 8, 14), QColor(ground))
            _text(painter, x, top, bottom, room + 4, printable(why), theme.dim)


def _draw_items(painter: QPainter, scene: Scene, row: Row, prepared: Prepared, ground: int) -> None:
    theme, window = scene.theme, scene.window
    top, bottom = scene.inside(row)
    if prepared.said:
        return
    if isinstance(prepared.track, MarkTrack):
        _draw_marks(painter, scene, row, prepared)
        return
    columns = prepared.columns(window.t0_ps, window.t1_ps, scene.width, _SHORTEST_PX)
    if isinstance(columns, SliceColumns):
        _draw_slices(painter, scene, row, prepared, columns, ground)
    elif isinstance(columns, SeriesColumns):
        _draw_series(painter, scene, prepared, columns, top, bottom, ground)
    elif isinstance(columns, WaveColumns):
        _draw_wave(painter, columns, top, bottom, theme.role("b"), ground)


def _draw_slices(
    painter: QPainter,
    scene: Scene,
    row: Row,
    prepared: Prepared,
    columns: SliceColumns,
    ground: int,
) -> None:
    theme, track = scene.theme, prepared.track
    top, bottom = scene.inside(row)
    fills = [theme.role(role) for role in prepared.roles]
    outlined = isinstance(track, BusTrack)
    shade = np.round(columns.cover * 4).astype(np.int64)  # few shades: long runs, a small file
    begins = (columns.starts > 0).astype(np.int64)
    look = columns.colour.astype(np.int64) * 16 + shade * 2 + (begins if outlined else 0)
    for first, last in _runs(look):
        k = int(columns.colour[first])
        if k == NOTHING:
            continue
        if outlined:
            colour = mixed(ground, fills[k], 0.8 if begins[first] else 0.25)
        elif columns.starts[first] and not columns.cover[first]:
            colour = mixed(ground, fills[k], 0.9)
        else:
            colour = mixed(ground, fills[k], 0.43 + 0.57 * int(shade[first]) / 4)
        painter.fillRect(QRectF(first, top, last - first, bottom - top), QColor(colour))
    error = theme.role("error")
    for first, last in _runs((columns.wrong > 0).astype(np.int64)):
        if columns.wrong[first]:
            x = first - 1 if last - first < 3 else first
            area = QRectF(x, top - 3, max(last - first, 3), bottom - top + 6)
            painter.fillRect(area, QColor(error))
    if row.collapsed:
        return
    inside = set(columns.wide.tolist())
    if not outlined:
        window = scene.window
        for item, end, until in prepared.beside(window.t0_ps, window.t1_ps, inside):
            left = scene.x_of(end) + 6
            room = scene.x_of(until) - left - 4
            _text(painter, left, top, bottom, room, prepared.label(item), theme.text)
    for item in sorted(inside):
        x0 = max(scene.x_of(int(track.t_ps[item])), 0.0)
        x1 = min(scene.x_of(track.end_of(item)), float(scene.width))
        fill = fills[int(columns.colour[int(x0 + x1) // 2])]
        shown = error if prepared.is_wrong(item) else mixed(ground, fill, 0.33 if outlined else 1)
        painter.setPen(QColor(mixed(ground, fill, 0.4)))
        painter.drawLine(QPointF(x0, top), QPointF(x0, bottom))
        _text(painter, x0 + 4, top, bottom, x1 - x0 - 8, prepared.label(item), theme.on(shown))


def _draw_series(
    painter: QPainter,
    scene: Scene,
    prepared: Prepared,
    columns: SeriesColumns,
    top: int,
    bottom: int,
    ground: int,
) -> None:
    span = value_range(scene, prepared, columns)
    if span is None:
        return
    line = scene.theme.role(prepared.roles[0])
    scale = (bottom - top - 1.5) / (span[1] - span[0])
    drawn = (columns.low <= columns.high).astype(np.int64)
    for first, last in _runs(drawn):
        if not drawn[first]:
            continue
        xs = range(first, last)
        highs = (bottom - 1.5 - (columns.high[first:last] - span[0]) * scale).tolist()
        lows = (bottom - (columns.low[first:last] - span[0]) * scale).tolist()
        upper = [QPointF(x + dx, y) for x, y in zip(xs, highs, strict=True) for dx in (0, 1)]
        lower = [QPointF(x + dx, y) for x, y in zip(xs, lows, strict=True) for dx in (0, 1)]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(mixed(ground, line, 0.19)))
        ends = [QPointF(last, bottom), QPointF(first, bottom)]
        painter.drawPolygon(QPolygonF(lower + ends))
        painter.setBrush(QColor(line))
        painter.drawPolygon(QPolygonF(upper + lower[::-1]))
    painter.setBrush(QColor(mixed(ground, line, 0.5)))
    for first, last in _runs((columns.gap > 0).astype(np.int64)):
        if columns.gap[first]:
            pattern = Qt.BrushStyle.BDiagPattern
            painter.setBrush(QColor(line))
            brush = painter.brush()
            brush.setStyle(pattern)
            painter.fillRect(QRectF(first, top, last - first, bottom - top), brush)
    track = prepared.track
    if isinstance(track, SeriesTrack) and track.limit is not None:
        y = bottom - (track.limit - span[0]) * scale
        if top <= y <= bottom:
            warn = scene.theme.role("warn")
            painter.setPen(QPen(QColor(warn), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(0, y), QPointF(scene.width, y))
            below = y - top < 16
            at = (int(y) + 1, int(y) + 15) if below else (int(y) - 15, int(y) - 1)
            text = track.limit_label or "limit"
            room = QFontMetricsF(painter.font()).horizontalAdvance(text) + 4
            painter.fillRect(QRectF(4, at[0], room, 14), QColor(ground))
            _text(painter, 6, *at, 260, text, scene.theme.text)


def _draw_wave(
    painter: QPainter, columns: WaveColumns, top: int, bottom: int, line: int, ground: int
) -> None:
    many = (columns.edges > 1).astype(np.int64)
    look = columns.bits.astype(np.int64) * 2 + many
    for first, last in _runs(look):
        bits = int(columns.bits[first])
        if bits & 4:
            pale = QColor(mixed(ground, line, 0.35))
            painter.fillRect(QRectF(first, top, last - first, bottom - top), pale)
        if bits & 3 == 3:
            colour = QColor(mixed(ground, line, 0.6) if many[first] else line)
            painter.fillRect(QRectF(first, top, last - first, bottom - top), colour)
        if bits & 2:
            painter.fillRect(QRectF(first, top, last - first, 1.5), QColor(line))
        if bits & 1:
            painter.fillRect(QRectF(first, bottom - 1.5, last - first, 1.5), QColor(line))


def _draw_marks(painter: QPainter, scene: Scene, row: Row, prepared: Prepared) -> None:
    track = prepared.track
    if not isinstance(track, MarkTrack):
        return
    top, bottom = scene.inside(row)
    first, last = prepared.visible(scene.window.t0_ps, scene.window.t1_ps)
    places = [scene.x_of(int(t)) for t in track.t_ps[first:last]]
    for number, (item, x) in enumerate(zip(range(first, last), places, strict=True)):
        colour = scene.theme.role(track.role_of(item))
        painter.fillRect(QRectF(x, top, 2, bottom - top), QColor(colour))
        painter.fillRect(QRectF(x, top, 5, 5), QColor(colour))
        room = (places[number + 1] if number + 1 < len(places) else scene.width) - x - 10
        if not row.collapsed:
            _text(painter, x + 8, top, bottom, room, prepared.label(item), scene.theme.text)


def _text(
    painter: QPainter, x: float, top: int, bottom: int, room: float, text: str, ink: int
) -> None:
    if room < _SHORTEST_PX - 8 or not text:
        return
    painter.setPen(QColor(ink))
    area = QRectF(x, top, room, bottom - top)
    flags = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
    painter.drawText(area, int(flags), elided(painter, text, room))


def _runs(look: npt.NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield half-open ranges of columns that look the same."""
    if not len(look):
        return
    edges = np.flatnonzero(np.diff(look)) + 1
    bounds = [0, *edges.tolist(), len(look)]
    yield from pairwise(bounds)
