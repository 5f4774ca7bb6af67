"""A user's hands on a time line: mouse, wheel and keys, as Qt delivers them."""

from __future__ import annotations

from typing import Any

from PyQt6.QtCore import QEvent, QPoint, QPointF, Qt
from PyQt6.QtGui import QKeySequence, QMouseEvent, QWheelEvent
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication

from freezeframe.gui.desktop.timeline.view import TimelineView

LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton
SHIFT, NONE = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.NoModifier

_TEST: Any = QTest  # its stubs give the static functions a self


def at(view: TimelineView, key: str, t_ps: int) -> QPoint:
    """Return where a time of a track is in the widget."""
    return QPoint(round(view.x_of(t_ps)), view.row_center(key))


def click(view: TimelineView, where: QPoint) -> None:
    """Click with the left button."""
    _TEST.mouseClick(view, LEFT, NONE, where)


def drag(
    view: TimelineView,
    a: QPoint,
    b: QPoint,
    button: Qt.MouseButton = LEFT,
    held: Qt.KeyboardModifier = NONE,
) -> None:
    """Press at one place, move over the middle to another, release there."""
    _TEST.mousePress(view, button, held, a)
    for point in ((a + b) / 2, b):
        move(view, point, button, held)
    _TEST.mouseRelease(view, button, held, b)


def move(
    view: TimelineView,
    to: QPoint,
    button: Qt.MouseButton = Qt.MouseButton.NoButton,
    held: Qt.KeyboardModifier = NONE,
) -> None:
    """Move the mouse, with a button held or none."""
    kind, none = QEvent.Type.MouseMove, Qt.MouseButton.NoButton
    place, screen = QPointF(to), QPointF(view.mapToGlobal(to))
    QApplication.sendEvent(view, QMouseEvent(kind, place, screen, none, button, held))


def wheel(view: TimelineView, to: QPoint, turned: int) -> None:
    """Turn the wheel by eighths of a degree; 120 is one notch."""
    event = QWheelEvent(
        QPointF(to), QPointF(view.mapToGlobal(to)), QPoint(), QPoint(0, turned),
        Qt.MouseButton.NoButton, NONE, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(view, event)


def press(view: TimelineView, text: str) -> None:
    """Press a key as menus write it: ``Ctrl+F``."""
    pressed = QKeySequence(text)[0]
    _TEST.keyClick(view, pressed.key(), pressed.keyboardModifiers())
