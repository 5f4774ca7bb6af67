"""What is drawn above the tracks: the axis, marks across all of them, the selection, hits and cursors."""

from __future__ import annotations

from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF

from freezeframe.capture.time_text import format_ps
from freezeframe.gui.desktop.timeline.glyphs import label_font
from freezeframe.gui.desktop.timeline.layout import GROUP_PX
from freezeframe.gui.desktop.timeline.scene import LABEL_PX, Overlay, Scene, pixels_hit
from freezeframe.gui.text import printable
from freezeframe.gui.tracks.tracks import MarkTrack

FLAGS_PX = 20  # names of cursors and the times between them
RULER_PX = FLAGS_PX + 24
_ACROSS_MOST = 200  # marks that are drawn over all tracks; more would be a curtain


def draw_ruler(painter: QPainter, scene: Scene, overlay: Overlay) -> None:
    """Draw the axis and the flags of cursors above the time area: ``scene.width`` x RULER_PX."""
    theme = scene.theme
    painter.save()
    painter.setClipRect(QRectF(0, 0, scene.width, RULER_PX))
    painter.fillRect(QRectF(0, 0, scene.width, RULER_PX), QColor(theme.gutter))
    painter.setFont(label_font(LABEL_PX))
    axis = scene.axis()
    painter.setPen(QColor(theme.dim))
    busy_until = 2.0  # where the label of the first tick may begin
    if axis.base:
        text = f"{axis.base} +"
        painter.drawText(QPointF(4, RULER_PX - 13), text)
        busy_until = 8 + QFontMetricsF(painter.font()).horizontalAdvance(text)
    for t_ps, label in axis.ticks:
        x = scene.x_of(t_ps)
        painter.setPen(QColor(theme.dim))
        painter.drawLine(QPointF(x, RULER_PX - 5), QPointF(x, RULER_PX))
        width = QFontMetricsF(painter.font()).horizontalAdvance(label)
        left = min(max(x - width / 2, 2), scene.width - width - 2)
        if left >= busy_until:
            painter.setPen(QColor(theme.text))
            painter.drawText(QPointF(left, RULER_PX - 9), label)
            busy_until = left + width + 8
    _draw_flags(painter, scene, overlay)
    painter.setPen(QColor(theme.grid))
    painter.drawLine(QPointF(0, RULER_PX - 0.5), QPointF(scene.width, RULER_PX - 0.5))
    painter.restore()


def draw_overlay(painter: QPainter, scene: Scene, overlay: Overlay) -> None:
    """Draw what is above the tracks; the painter begins at the corner of the time area."""
    painter.save()
    painter.setClipRect(QRectF(0, 0, scene.width, scene.height))
    theme = scene.theme
    for line in scene.groups:
        area = QRectF(0, line.y - scene.scroll, scene.width, GROUP_PX)
        painter.fillRect(area, QColor(theme.gutter))
    for stretch, colour, share in (
        (overlay.band, theme.role("a"), 50),
        (overlay.zoom_box, theme.selection, 40),
    ):
        if stretch is not None:
            left, right = scene.x_of(stretch[0]), scene.x_of(stretch[1])
            fill = QColor(colour)
            fill.setAlpha(share)
            painter.fillRect(QRectF(left, 0, right - left, scene.height), fill)
            painter.setPen(QPen(QColor(colour), 1))
            for x in (left, right):
                painter.drawLine(QPointF(x, 0), QPointF(x, scene.height))
    painter.setFont(label_font(LABEL_PX))
    for row, prepared in scene.rows:
        if prepared.said:
            painter.setPen(QColor(theme.role("error") if prepared.failed else theme.dim))
            area = QRectF(8, row.y - scene.scroll, scene.width - 16, row.height)
            flags = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
            painter.drawText(area, int(flags), printable(prepared.said))
        elif isinstance(prepared.track, MarkTrack) and prepared.track.across:
            _draw_across(painter, scene, prepared.track)
    _draw_hits(painter, scene, overlay)
    _draw_selection(painter, scene, overlay)
    for cursor in overlay.cursors:
        x = scene.x_of(cursor.t_ps)
        painter.setPen(QPen(QColor(theme.cursor), 1))
        painter.drawLine(QPointF(x, 0), QPointF(x, scene.height))
    if overlay.snapped_ps is not None:
        x = scene.x_of(overlay.snapped_ps)
        painter.setPen(QPen(QColor(theme.cursor), 1, Qt.PenStyle.DotLine))
        painter.drawLine(QPointF(x, 0), QPointF(x, scene.height))
    painter.restore()


def _draw_flags(painter: QPainter, scene: Scene, overlay: Overlay) -> None:
    theme = scene.theme
    metrics = QFontMetricsF(painter.font())
    ordered = sorted(overlay.cursors, key=lambda cursor: cursor.t_ps)
    middle = FLAGS_PX / 2 + metrics.ascent() / 2 - 1
    for number, cursor in enumerate(ordered):
        x = scene.x_of(cursor.t_ps)
        name = printable(cursor.name)
        width = metrics.horizontalAdvance(name) + 8
        painter.setPen(QColor(theme.cursor))
        painter.drawLine(QPointF(x, FLAGS_PX - 2), QPointF(x, RULER_PX))
        flag = QRectF(x - width / 2, 2, width, FLAGS_PX - 4)
        painter.fillRect(flag, QColor(theme.cursor))
        painter.setPen(QColor(theme.on(theme.cursor)))
        painter.drawText(QPointF(flag.left() + 4, middle), name)
        if number + 1 == len(ordered):
            break
        # the time to the next cursor is written between the two, where both ends leave room in view
        right = min(scene.x_of(ordered[number + 1].t_ps), scene.width) - 12
        left = max(flag.right(), 0) + 2
        text = format_ps(ordered[number + 1].t_ps - cursor.t_ps)
        room = metrics.horizontalAdvance(text)
        if right - left >= room + 4:
            painter.setPen(QColor(theme.text))
            at = (left + right - room) / 2
            painter.drawText(QPointF(at, middle), text)
            painter.setPen(QPen(QColor(theme.cursor), 1))
            line = FLAGS_PX / 2
            for a, b in ((left, at - 3), (at + room + 3, right)):
                if b > a:
                    painter.drawLine(QPointF(a, line), QPointF(b, line))


def _draw_across(painter: QPainter, scene: Scene, track: MarkTrack) -> None:
    first, last = (
        int(i) for i in track.t_ps.searchsorted([scene.window.t0_ps, scene.window.t1_ps])
    )
    if last - first > _ACROSS_MOST:
        return
    for item in range(first, last):
        colour = QColor(scene.theme.role(track.role_of(item)))
        t_ps = int(track.t_ps[item])
        x = scene.x_of(t_ps)
        if track.unc_ps is not None and track.unc_ps[item] > 0:
            half = int(track.unc_ps[item])
            left, right = scene.x_of(t_ps - half), scene.x_of(t_ps + half)
            band = QColor(colour)
            band.setAlpha(40)
            painter.fillRect(QRectF(left, 0, right - left, scene.height), band)
        painter.setPen(QPen(colour, 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, 0), QPointF(x, scene.height))


def _draw_hits(painter: QPainter, scene: Scene, overlay: Overlay) -> None:
    if not overlay.hits:
        return
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(scene.theme.hit))
    for row, prepared in scene.rows:
        times = overlay.hits.get(prepared.track.key)
        if times is None or not len(times):
            continue
        bottom = row.y - scene.scroll + row.height
        columns = pixels_hit(times, scene.window, scene.width).tolist()
        if len(columns) > scene.width // 4:  # triangles would hide each other: a line of them
            for x in columns:
                painter.drawRect(QRectF(x, bottom - 3, 1, 3))
            continue
        for x in columns:
            corners = [QPointF(x + 0.5, bottom - 6), QPointF(x - 3, bottom), QPointF(x + 4, bottom)]
            painter.drawPolygon(QPolygonF(corners))


def _draw_selection(painter: QPainter, scene: Scene, overlay: Overlay) -> None:
    selection = overlay.selection
    if selection is None:
        return
    for row, prepared in scene.rows:
        if prepared.track.key == selection.key:
            left, right = scene.x_of(selection.t_ps), scene.x_of(selection.t_end_ps)
            top = row.y - scene.scroll
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(scene.theme.selection), 2))
            if right - left < 4:
                left, right = (left + right) / 2 - 3, (left + right) / 2 + 3
            painter.drawRect(QRectF(left, top + 1, right - left, row.height - 2))
