"""The time area as lines, rectangles and text: for SVG and for paper, from the same columns as the screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QBrush, QColor, QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF

from freezeframe.gui.desktop.timeline.glyphs import label_font
from freezeframe.gui.desktop.timeline.rows import Band, RowSurface
from freezeframe.gui.desktop.timeline.scene import LABEL_PX, Scene
from freezeframe.gui.palette import mixed
from freezeframe.gui.plots.pyramid import SeriesColumns
from freezeframe.gui.plots.slices import NOTHING, SliceColumns, WaveColumns

_LINE_PX = 14  # of a text
_SHORTEST_PX = 18  # room for less says nothing


class Vector(RowSurface):
    """A painter of lines and texts, one column a logical pixel."""

    def __init__(self, painter: QPainter, scene: Scene) -> None:
        """Draw a scene."""
        self._painter = painter
        self.width, self.height = scene.width, scene.height
        painter.save()
        painter.setClipRect(QRectF(0, 0, scene.width, scene.height))
        painter.setFont(label_font(LABEL_PX))
        painter.setPen(Qt.PenStyle.NoPen)
        self.draw(scene)
        painter.restore()

    def fill(self, x0: int, y0: int, x1: int, y1: int, colour: int) -> None:
        self._painter.fillRect(QRectF(x0, y0, x1 - x0, y1 - y0), QColor(colour))

    def dash(self, y: int, ink: int) -> None:
        self._painter.setPen(QPen(QColor(ink), 1, Qt.PenStyle.DashLine))
        self._painter.drawLine(QPointF(0, y), QPointF(self.width, y))

    def hatch(self, x0: int, y0: int, x1: int, y1: int, ink: int) -> None:
        brush = QBrush(QColor(ink), Qt.BrushStyle.BDiagPattern)
        self._painter.fillRect(QRectF(x0, y0, x1 - x0, y1 - y0), brush)

    def write(
        self, x: int, middle: int, room: int, text: str, ink: int, centred: bool = False
    ) -> None:
        if room < _SHORTEST_PX or not text:
            return
        metrics = QFontMetricsF(self._painter.font())
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        across = Qt.AlignmentFlag.AlignHCenter if centred else Qt.AlignmentFlag.AlignLeft
        area = QRectF(x, middle - _LINE_PX / 2, room, _LINE_PX)
        self._painter.setPen(QColor(ink))
        self._painter.drawText(area, int(flags | across), shown)

    def wide(self, text: str) -> int:
        return round(QFontMetricsF(self._painter.font()).horizontalAdvance(text))

    def widen(self, x: int, band: Band) -> None:
        """Leave it: a line of a file is seen."""

    def slices(
        self, band: Band, columns: SliceColumns, fills: Sequence[int], error: int, outlined: bool
    ) -> None:
        (top, bottom, ground), shapes = band, _Shapes()
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
            shapes.add(colour, first, top, last, bottom)
        if not outlined:  # where one slice follows another
            meets = (columns.starts[1:] == 1) & (columns.starts[:-1] == 0)
            for px in (np.flatnonzero(meets & (columns.colour[:-1] != NOTHING)) + 1).tolist():
                if columns.colour[px] != NOTHING:
                    ink = mixed(ground, fills[int(columns.colour[px])], 0.4)
                    shapes.add(ink, px, top, px + 1, bottom)
        for first, last in _runs((columns.wrong > 0).astype(np.int64)):
            if columns.wrong[first]:
                x = first - 1 if last - first < 3 else first
                shapes.add(error, x, top - 3, x + max(last - first, 3), bottom + 3)
        shapes.fill(self._painter)

    def series(
        self, band: Band, columns: SeriesColumns, span: tuple[float, float], line: int
    ) -> None:
        (top, bottom, ground) = band
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
            self._painter.setPen(Qt.PenStyle.NoPen)
            self._painter.setBrush(QColor(mixed(ground, line, 0.19)))
            ends = [QPointF(last, bottom), QPointF(first, bottom)]
            self._painter.drawPolygon(QPolygonF(lower + ends))
            self._painter.setBrush(QColor(line))
            self._painter.drawPolygon(QPolygonF(upper + lower[::-1]))
        for first, last in _runs((columns.gap > 0).astype(np.int64)):
            if columns.gap[first]:
                self.hatch(first, top, last, bottom, line)

    def wave(self, band: Band, columns: WaveColumns, line: int) -> None:
        (top, bottom, ground), shapes = band, _Shapes()
        many = (columns.edges > 1).astype(np.int64)
        look = columns.bits.astype(np.int64) * 2 + many
        for first, last in _runs(look):
            bits = int(columns.bits[first])
            if bits & 4:
                shapes.add(mixed(ground, line, 0.35), first, top, last, bottom)
            if bits & 3 == 3:
                colour = mixed(ground, line, 0.6) if many[first] else line
                shapes.add(colour, first, top, last, bottom)
            if bits & 2:
                shapes.add(line, first, top, last, top + 1.5)
            if bits & 1:
                shapes.add(line, first, bottom - 1.5, last, bottom)
        shapes.fill(self._painter)


class _Shapes:
    """The rectangles of a row by colour: one path of the file for each, those of a later colour above."""

    def __init__(self) -> None:
        self._paths: dict[int, QPainterPath] = {}

    def add(self, colour: int, x0: float, y0: float, x1: float, y1: float) -> None:
        """Add ``[x0, x1)`` x ``[y0, y1)``."""
        path = self._paths.setdefault(colour, QPainterPath())
        path.addRect(QRectF(x0, y0, x1 - x0, y1 - y0))

    def fill(self, painter: QPainter) -> None:
        """Fill all of them."""
        for colour, path in self._paths.items():
            painter.fillPath(path, QColor(colour))


def _runs(look: npt.NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield half-open ranges of columns that look the same."""
    if not len(look):
        return
    edges = np.flatnonzero(np.diff(look)) + 1
    bounds = [0, *edges.tolist(), len(look)]
    yield from pairwise(bounds)
