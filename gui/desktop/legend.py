"""What the colours of the tracks in view mean, in a line below the time line."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from PyQt6.QtCore import QRectF, QSize, Qt
from PyQt6.QtGui import QBrush, QColor, QFontMetricsF, QPainter, QPaintEvent
from PyQt6.QtWidgets import QSizePolicy, QWidget

from freezeframe.gui.desktop.timeline.glyphs import label_font
from freezeframe.gui.desktop.timeline.scene import LABEL_PX
from freezeframe.gui.palette import DARK, Theme
from freezeframe.gui.text import printable
from freezeframe.gui.tracks.said import one_swatch_each

_HEIGHT_PX = 20
_BOX_PX = 10
_GAP_PX = 14
_TEXT_PX = 300
_ALWAYS = (("hatch", "not recorded"), ("hit", "evidence, or found"))


class Legend(QWidget):
    """Boxes with their meaning; what has no room is told by the tip."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.theme: Theme = DARK
        self.entries: list[tuple[str, str]] = []

    def set_entries(self, entries: Sequence[tuple[str, str]]) -> None:
        """Show these meanings, (role, text) each, and those that every track shares."""
        self.entries = one_swatch_each([*entries, *_ALWAYS]) if entries else []
        said = ", ".join(printable(text) for _, text in self.entries)
        self.setAccessibleDescription(said)
        self.setToolTip(
            f"<span>{escape(said)}</span>"
        )  # a tool tip takes what looks like markup for such
        self.update()

    def sizeHint(self) -> QSize:
        """Return one line."""
        return QSize(200, _HEIGHT_PX)

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Draw as many entries as have room, and how many have none."""
        painter, theme = QPainter(self), self.theme
        painter.fillRect(self.rect(), QColor(theme.gutter))
        painter.setFont(label_font(LABEL_PX))
        metrics = QFontMetricsF(painter.font())
        x, last = 8.0, self.width() - 60.0
        for number, (role, text) in enumerate(self.entries):
            shown = metrics.elidedText(printable(text), Qt.TextElideMode.ElideRight, _TEXT_PX)
            room = _BOX_PX + 5 + metrics.horizontalAdvance(shown)
            painter.setPen(QColor(theme.text))
            if x + room > last:
                more = f"+ {len(self.entries) - number}"
                painter.drawText(QRectF(x, 0, 60, _HEIGHT_PX), _MIDDLE, more)
                break
            self._draw_box(painter, role, QRectF(x, (_HEIGHT_PX - _BOX_PX) / 2, _BOX_PX, _BOX_PX))
            painter.drawText(QRectF(x + _BOX_PX + 5, 0, room, _HEIGHT_PX), _MIDDLE, shown)
            x += room + _GAP_PX
        painter.end()

    def _draw_box(self, painter: QPainter, role: str, box: QRectF) -> None:
        theme = self.theme
        if role == "hatch":
            painter.fillRect(box, QBrush(QColor(theme.hatch), Qt.BrushStyle.BDiagPattern))
        elif role == "limit":
            middle = box.center().y()
            painter.fillRect(QRectF(box.left(), middle - 1, box.width(), 2), QColor(theme.dim))
        else:
            painter.fillRect(box, QColor(theme.hit if role == "hit" else theme.role(role)))


_MIDDLE = int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
