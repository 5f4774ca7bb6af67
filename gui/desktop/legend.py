"""What the colours of the tracks in view mean, in lines below the time line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from PyQt6.QtCore import QRectF, QSize, Qt
from PyQt6.QtGui import QBrush, QColor, QFontMetricsF, QPainter, QPaintEvent, QResizeEvent
from PyQt6.QtWidgets import QSizePolicy, QWidget

from freezeframe.gui.desktop.timeline.glyphs import label_font
from freezeframe.gui.desktop.timeline.scene import LABEL_PX
from freezeframe.gui.palette import DARK, Theme
from freezeframe.gui.text import printable
from freezeframe.gui.tracks.said import Meaning, one_swatch_each

_HEIGHT_PX = 18  # of a line
_BOX_PX = 10
_BESIDE_PX = 5
_GAP_PX = 14
_MORE_PX = 40
_LINES = 2
_ALWAYS = (Meaning("hatch", "not recorded"), Meaning("hit", "evidence, or found"))


@dataclass(frozen=True, slots=True)
class Placed:
    """An entry with its left edge and its line; ``text`` is cut only where a whole line has no room for it."""

    meaning: Meaning
    text: str
    x: float
    line: int


class Legend(QWidget):
    """Boxes with their meaning, in up to two lines; what has no room in them is told by the tip."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.theme: Theme = DARK
        self.entries: list[Meaning] = []
        self.placed: list[Placed] = []

    def set_entries(self, entries: Sequence[Meaning]) -> None:
        """Show these meanings, and those that every track shares."""
        self.entries = one_swatch_each([*entries, *_ALWAYS]) if entries else []
        said = ", ".join(printable(text) + ":" * (not look) for look, text, _ in self.entries)
        said = said.replace(":, ", ": ")
        self.setAccessibleDescription(said)
        self.setToolTip(
            f"<span>{escape(said)}</span>"
        )  # a tool tip takes what looks like markup for such
        self._place()

    def sizeHint(self) -> QSize:
        """Return the lines that are needed."""
        lines = self.placed[-1].line + 1 if self.placed else 1
        return QSize(200, _HEIGHT_PX * lines + 2)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Share the new width."""
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        """Put as many entries as have room where they stand; a heading never stands alone at the end of a line."""
        metrics = QFontMetricsF(label_font(LABEL_PX))
        room, before = self.width() - 16.0, self.sizeHint().height()
        self.placed, x, line = [], 0.0, 0
        for number, meaning in enumerate(self.entries):
            beside = _BOX_PX + _BESIDE_PX if meaning.look else 0
            text = printable(meaning.text) + ":" * (not meaning.look)
            wide = beside + metrics.horizontalAdvance(text)
            follows = self.entries[number + 1 : number + 2] if not meaning.look else []
            needs = wide + sum(
                _GAP_PX + 3 * _BOX_PX + metrics.horizontalAdvance(m.text) for m in follows
            )
            last = line == _LINES - 1 and number + 1 < len(self.entries)
            if x and x + needs > room - _MORE_PX * last:
                if line == _LINES - 1:
                    break
                x, line = 0.0, line + 1
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room - beside)
            self.placed.append(Placed(meaning, shown, 8 + x, line))
            x += wide + (_GAP_PX if meaning.look else _GAP_PX / 2)
        if self.sizeHint().height() != before:
            self.updateGeometry()
        self.update()

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Draw the entries that have room, and how many have none."""
        painter, theme = QPainter(self), self.theme
        painter.fillRect(self.rect(), QColor(theme.gutter))
        painter.setFont(label_font(LABEL_PX))
        for one in self.placed:
            look, x, y = one.meaning.look, one.x, 1.0 + one.line * _HEIGHT_PX
            if look:
                top = y + (_HEIGHT_PX - _BOX_PX) / 2
                self._draw_box(painter, look, QRectF(x, top, _BOX_PX, _BOX_PX))
                x += _BOX_PX + _BESIDE_PX
            painter.setPen(QColor(theme.text if look else theme.dim))
            painter.drawText(QRectF(x, y, self.width(), _HEIGHT_PX), _MIDDLE, one.text)
        if more := len(self.entries) - len(self.placed):
            painter.setPen(QColor(theme.text))
            right = QRectF(0, 1.0 + (_LINES - 1) * _HEIGHT_PX, self.width() - 8, _HEIGHT_PX)
            painter.drawText(right, _MIDDLE | int(Qt.AlignmentFlag.AlignRight), f"+ {more}")
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
