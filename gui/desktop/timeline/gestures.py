"""The mouse: drag to pan, wheel to zoom, Shift+drag for a stretch of time, right drag for a box."""

from __future__ import annotations

from enum import Enum, auto

from PyQt6.QtCore import QPointF, Qt
from PyQt6.QtGui import QMouseEvent, QWheelEvent

from freezeframe.gui.desktop.timeline.overlay import FLAGS_PX, RULER_PX
from freezeframe.gui.desktop.timeline.steering import SteerableTimeline

_DRAG_PX = 4  # the mouse may move this far and it is still a click
_EDGE_PX = 3  # beside the edge of the label column
_GRAB_PX = 5  # how close to a cursor's line it is taken
_WHEEL_ZOOM = 1.3
_NOTCH = 120  # eighths of a degree that one notch of a wheel turns


class _Doing(Enum):
    NOTHING = auto()
    PAN = auto()
    BAND = auto()
    BOX = auto()
    CURSOR = auto()
    ROW = auto()
    GUTTER = auto()


class Gestures:
    """What the mouse is doing now; it calls the view's own functions and keeps nothing else."""

    def __init__(self, view: SteerableTimeline) -> None:
        self._view = view
        self._doing = _Doing.NOTHING
        self._from = QPointF()
        self._last = QPointF()
        self._moved = False
        self._from_ps = 0
        self._cursor = ""
        self._row = ""

    def press(self, event: QMouseEvent) -> None:
        """Begin a click or a drag."""
        view, at = self._view, event.position()
        self._from = self._last = at
        self._moved = False
        self._doing = _Doing.NOTHING
        button, held = event.button(), event.modifiers()
        if self.on_edge(at) and button == Qt.MouseButton.LeftButton:
            self._doing = _Doing.GUTTER
            return
        line = view.group_at(at.y())
        if line is not None and button == Qt.MouseButton.LeftButton and at.x() < view.gutter_px:
            view.group_clicked.emit(line)
            return
        if at.x() < view.gutter_px:
            row = view.row_at(at.y())
            if row is not None and button == Qt.MouseButton.LeftButton:
                view.set_focus_track(row.key)
                self._doing, self._row = _Doing.ROW, row.key
            return
        self._from_ps = view.time_at(at.x())
        near = view.cursor_near(at.x())
        on_flags = at.y() < FLAGS_PX
        if button == Qt.MouseButton.LeftButton and near is not None and (on_flags or not held):
            self._doing, self._cursor = _Doing.CURSOR, near.name
        elif button == Qt.MouseButton.LeftButton and held & Qt.KeyboardModifier.ShiftModifier:
            self._doing = _Doing.BAND
        elif button == Qt.MouseButton.RightButton or (
            button == Qt.MouseButton.LeftButton and held & Qt.KeyboardModifier.ControlModifier
        ):
            self._doing = _Doing.BOX
        elif button in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self._doing = _Doing.PAN

    def move(self, event: QMouseEvent) -> None:
        """Go on with a drag, or say what is under the mouse."""
        view, at = self._view, event.position()
        if self._doing is _Doing.NOTHING:
            edge = Qt.CursorShape.SplitHCursor if self.on_edge(at) else Qt.CursorShape.ArrowCursor
            view.setCursor(edge)
            view.hover(at)
            return
        if not self._moved and (at - self._from).manhattanLength() < _DRAG_PX:
            return
        self._moved = True
        if self._doing is _Doing.PAN:
            view.drag_by(self._last.x() - at.x())
        elif self._doing is _Doing.BAND:
            free = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
            view.set_time_selection(
                _ordered(view.snapped(self._from_ps, at.y(), free), view.snapped_at(at, free))
            )
        elif self._doing is _Doing.BOX:
            view.show_box(_ordered(self._from_ps, view.time_at(at.x())))
        elif self._doing is _Doing.CURSOR:
            free = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
            view.cursors.move(self._cursor, view.snapped_at(at, free))
        elif self._doing is _Doing.GUTTER:
            view.set_gutter(round(at.x()))
        elif self._doing is _Doing.ROW:
            over = view.row_at(at.y())
            if over is not None and over.key != self._row:
                view.move_track(self._row, -1 if at.y() < self._from.y() else 1)
                self._from = at
        self._last = at

    def on_edge(self, at: QPointF) -> bool:
        """Return whether a position is on the edge of the label column, which can be dragged."""
        return abs(at.x() - self._view.gutter_px) <= _EDGE_PX

    def release(self, event: QMouseEvent) -> None:
        """End a drag; without one it was a click."""
        view, at = self._view, event.position()
        doing, self._doing = self._doing, _Doing.NOTHING
        if doing is _Doing.BOX:
            view.show_box(None)
            if self._moved:
                view.set_range(*_ordered(self._from_ps, view.time_at(at.x())))
            elif event.button() == Qt.MouseButton.RightButton:
                view.click(at)
                view.ask_for_menu(at)
        elif doing is _Doing.PAN and not self._moved:
            view.click(at)
        elif doing is _Doing.BAND and not self._moved:
            view.set_time_selection(None)

    def double_click(self, event: QMouseEvent) -> None:
        """Open an item, make a track thin, or set a cursor in the ruler."""
        view, at = self._view, event.position()
        row = view.row_at(at.y())
        if at.x() < view.gutter_px:
            if row is not None:
                view.set_focus_track(row.key)
                view.toggle_collapsed()
        elif at.y() < RULER_PX:
            view.add_cursor(view.snapped_at(at, free=False))
        else:
            view.click(at)
            view.activate()

    def wheel(self, event: QWheelEvent) -> None:
        """Zoom at the mouse; sideways or with Shift pan; over the labels scroll the tracks."""
        view, at, turned = self._view, event.position(), event.angleDelta()
        shift = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        if at.x() < view.gutter_px:
            view.scroll_by(-turned.y() / _NOTCH / 8)
        elif turned.x() or shift:
            view.pan_by(-(turned.x() or turned.y()) / _NOTCH / 10)
        elif turned.y():
            view.zoom_by(_WHEEL_ZOOM ** (turned.y() / _NOTCH), view.time_at(at.x()))
        event.accept()


def _ordered(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a <= b else (b, a)
