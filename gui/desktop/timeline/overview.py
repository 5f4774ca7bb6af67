"""A strip above the time line: the whole recording, how far each memory reaches, the findings, what is in view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PyQt6.QtCore import QPointF, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QBrush, QColor, QMouseEvent, QPainter, QPaintEvent, QPen
from PyQt6.QtWidgets import QSizePolicy, QWidget

from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.trace.coverage import Coverage
from freezeframe.gui.palette import DARK, Theme
from freezeframe.gui.text import printable

_LINE_PX = 4  # a memory
_PAD_PX = 4
_MOST = 12  # memories with a line of their own
_LEAST_BOX_PX = 6


class Overview(QWidget):
    """The strip; a click or drag moves the view: ``asked`` has the time that is to be its middle."""

    asked = pyqtSignal(object)

    def __init__(self, gutter_px: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.gutter_px = gutter_px
        self.theme: Theme = DARK
        self._memories: list[tuple[str, Coverage]] = []
        self._findings: list[int] = []
        self._extent, self._view = (0, 1), (0, 1)

    def set_memories(self, memories: Mapping[str, Coverage], findings: Sequence[int]) -> None:
        """Show these memories by name, and findings at these times; with none the strip is hidden."""
        self._memories = list(memories.items())[:_MOST]
        self._findings = list(findings)
        self.setVisible(bool(self._memories))
        self.updateGeometry()
        self.update()

    def set_gutter(self, wide_px: int) -> None:
        """Begin beside a column of labels of this width."""
        self.gutter_px = wide_px
        self.update()

    def set_range(self, extent: tuple[int, int], view: tuple[int, int]) -> None:
        """Show what there is, and what of it is in view."""
        self._extent, self._view = extent, view
        self.update()

    def sizeHint(self) -> QSize:
        """Return the height that the memories need."""
        return QSize(200, 2 * _PAD_PX + max(len(self._memories), 3) * _LINE_PX)

    def x_of(self, t_ps: int) -> float:
        """Return the place of a time."""
        first, last = self._extent
        width = max(self.width() - self.gutter_px, 1)
        return self.gutter_px + (t_ps - first) * width / max(last - first, 1)

    def time_at(self, x: float) -> int:
        """Return the time at a place."""
        first, last = self._extent
        width = max(self.width() - self.gutter_px, 1)
        return first + int((x - self.gutter_px) * 1024) * (last - first) // (width * 1024)

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Draw a line for each memory, hatched where it does not reach, then findings and the view."""
        painter, theme = QPainter(self), self.theme
        painter.fillRect(self.rect(), QColor(theme.gutter))
        painter.fillRect(
            QRectF(self.gutter_px, 0, self.width(), self.height()), QColor(theme.background)
        )
        for number, (_, covered) in enumerate(self._memories):
            top = _PAD_PX + number * _LINE_PX
            for hole in covered.within(*self._extent):
                left, right = self.x_of(hole.t0_ps), self.x_of(hole.t1_ps)
                brush = QBrush(QColor(theme.hatch), Qt.BrushStyle.BDiagPattern)
                painter.fillRect(QRectF(left, top, right - left, _LINE_PX - 1), brush)
            for begin, end in covered.ranges():
                first, last = max(begin, self._extent[0]), min(end, self._extent[1])
                if first < last:
                    left = self.x_of(first)
                    wide = max(self.x_of(last) - left, 1.0)
                    painter.fillRect(QRectF(left, top, wide, _LINE_PX - 1), QColor(theme.role("a")))
        for t_ps in self._findings:
            x = self.x_of(t_ps)
            painter.fillRect(QRectF(x - 1, 0, 3, self.height()), QColor(theme.role("error")))
        left, right = (self.x_of(t) for t in self._view)
        if right - left < _LEAST_BOX_PX:
            left, right = (left + right - _LEAST_BOX_PX) / 2, (left + right + _LEAST_BOX_PX) / 2
        left, right = max(left, self.gutter_px), min(right, self.width() - 1.5)
        painter.setPen(QPen(QColor(theme.selection), 1))
        painter.drawRect(QRectF(left, 0.5, right - left, self.height() - 1.5))
        painter.setPen(QColor(theme.dim))
        painter.drawText(
            QRectF(6, 0, self.gutter_px - 12, self.height()),
            int(Qt.AlignmentFlag.AlignVCenter),
            "what was recorded",
        )
        painter.end()

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        if event is not None:
            self._ask(event.position())

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:
        if event is None:
            return
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._ask(event.position())
        number = int(event.position().y() - _PAD_PX) // _LINE_PX
        self.setToolTip(self.tip(number) if 0 <= number < len(self._memories) else "")

    def tip(self, number: int) -> str:
        """Return in words what a memory covers, and why not the rest."""
        name, covered = self._memories[number]
        reach = [f"{format_ps(begin)} to {format_ps(end)}" for begin, end in covered.ranges()]
        lines = [f"{name}: {', '.join(reach) or 'nothing'}"]
        return printable("; ".join([*lines, *(hole.reason for hole in covered.holes)]))

    def _ask(self, at: QPointF) -> None:
        if at.x() >= self.gutter_px:
            self.asked.emit(self.time_at(at.x()))
