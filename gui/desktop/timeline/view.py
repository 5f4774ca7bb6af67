"""The time line as a widget: mouse and keyboard."""

from __future__ import annotations

from PyQt6.QtCore import QEvent, QPointF, Qt
from PyQt6.QtGui import QKeyEvent, QMouseEvent, QWheelEvent
from PyQt6.QtWidgets import QWidget

from freezeframe.gui.desktop.timeline.gestures import Gestures
from freezeframe.gui.desktop.timeline.keys import action_of
from freezeframe.gui.desktop.timeline.positions import Cursor, Selection
from freezeframe.gui.desktop.timeline.steering import SteerableTimeline

__all__ = ["Cursor", "Selection", "TimelineView"]


class TimelineView(SteerableTimeline):
    """A time line that is driven by mouse or keyboard alone."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._gestures = Gestures(self)

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        if event is not None:
            self.tip.hide()
            self._gestures.press(event)

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:
        if event is not None:
            self._gestures.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:
        if event is not None:
            self._snapped_ps = None
            self._gestures.release(event)
            self.update()

    def mouseDoubleClickEvent(self, event: QMouseEvent | None) -> None:
        if event is not None and event.button() == Qt.MouseButton.LeftButton:
            self._gestures.double_click(event)

    def wheelEvent(self, event: QWheelEvent | None) -> None:
        if event is not None:
            self.tip.hide()
            self._gestures.wheel(event)

    def leaveEvent(self, event: QEvent | None) -> None:
        self._mouse = QPointF(-1, -1)
        self.tip.hide()

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        action = action_of(event) if event is not None else None
        if action is not None:
            action(self)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent | None) -> bool:
        """Keep the keys of the time line from shortcuts of the window while it has the keyboard."""
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.ShortcutOverride
            and not event.modifiers() & Qt.KeyboardModifier.ControlModifier
            and action_of(event) is not None
        ):
            event.accept()
            return True
        return super().event(event)
