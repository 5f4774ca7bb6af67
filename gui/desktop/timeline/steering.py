"""The time line as functions steer it: selection, cursors, hits of a search, saved views, screen readers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from PyQt6.QtCore import QPoint, QPointF, Qt, pyqtSignal
from PyQt6.QtWidgets import QLabel, QWidget

from freezeframe.capture.time_text import format_ps
from freezeframe.gui.desktop.timeline.canvas import TimelineCanvas
from freezeframe.gui.desktop.timeline.overlay import RULER_PX
from freezeframe.gui.desktop.timeline.positions import Cursor, Cursors, Selection
from freezeframe.gui.desktop.timeline.saved import ViewState
from freezeframe.gui.desktop.timeline.scene import Overlay
from freezeframe.gui.text import printable

_SNAP_PX = 8
_HIT_PX = 3  # how far beside an item a click still means it
_GRAB_PX = 5


class SteerableTimeline(TimelineCanvas):
    """A time line with a selection, cursors and hits; `view.TimelineView` adds mouse and keyboard.

    ``range_changed``, ``cursors_changed`` and so on report what the user did and what a function call
    did; `select` alone is silent, so that a table and the time line can follow each other.
    """

    selection_changed = pyqtSignal(object)
    item_activated = pyqtSignal(object)
    time_selection_changed = pyqtSignal(object)
    cursors_changed = pyqtSignal()
    mark_requested = pyqtSignal(object)
    context_requested = pyqtSignal(object, object, QPoint)
    find_requested = pyqtSignal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Time line")
        self._selection: Selection | None = None
        self.cursors = Cursors(self._cursors_moved)
        self._hits: dict[str, npt.NDArray[np.int64]] = {}  # key -> items, rising
        self.hit_times: dict[str, npt.NDArray[np.int64]] = {}  # what is marked
        self._band: tuple[int, int] | None = None
        self._box: tuple[int, int] | None = None
        self._snapped_ps: int | None = None
        self._mouse = QPointF(-1, -1)
        self.snapping: bool = True
        self.tip = QLabel(self)
        self.tip.setTextFormat(Qt.TextFormat.PlainText)  # names in a capture are not markup
        self.tip.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.tip.setStyleSheet(
            "QLabel {background: palette(tooltip-base); color: palette(tooltip-text); padding: 4px;}"
        )
        self.tip.setFrameStyle(QLabel.Shape.Box)
        self.tip.hide()
        self._describe()

    # selection

    def selection(self) -> Selection | None:
        """Return the selected item."""
        return self._selection

    def select(self, key: str, row: int | None) -> None:
        """Select the item of a track that shows a row of its table, and bring it into view.

        Sends no signal. Nothing is selected when ``row`` is None or the track does not show it.

        Raises:
            KeyError: there is no such track.
        """
        prepared = self._prepared[key]
        item = None if row is None else prepared.track.item_of(row)
        self._selection = None if item is None else prepared.selection(item)
        if self._selection is not None:
            self._focus = key
            self.show_track(key)
            self.show_time(self._selection.t_ps)
        self._describe()
        self.update()

    def clear_selection(self) -> None:
        """Select no item and no stretch of time."""
        self._choose(None)
        if self._band is not None:
            self.set_time_selection(None)

    def activate(self) -> None:
        """Open the selected item."""
        if self._selection is not None:
            self.item_activated.emit(self._selection)

    def time_selection(self) -> tuple[int, int] | None:
        """Return the selected stretch of time, half-open."""
        return self._band

    def set_time_selection(self, stretch: tuple[int, int] | None) -> None:
        """Select a stretch of time, or none."""
        self._band = stretch
        self.time_selection_changed.emit(stretch)
        self._describe()
        self.update()

    def band_between_cursors(self) -> None:
        """Select the time between the two cursors that were set last."""
        last = sorted(cursor.t_ps for cursor in self.cursors.all()[-2:])
        if len(last) == 2:
            self.set_time_selection((last[0], last[1]))

    def zoom_to_selection(self) -> None:
        """Show the selected stretch of time, else the selected item, with some room around."""
        stretch = self._band
        if stretch is None and self._selection is not None:
            stretch = (self._selection.t_ps, self._selection.t_end_ps)
        if stretch is not None:
            room = max((stretch[1] - stretch[0]) // 10, 1000)
            self.set_range(stretch[0] - room, stretch[1] + room)

    # hits and steps

    def set_hits(self, hits: Mapping[str, npt.NDArray[np.int64]]) -> None:
        """Mark the rows that a search found, by track; `step` goes through them. Empty: none.

        Keys that are no track are left out.
        """
        self._hits = {
            key: self._prepared[key].track.items_of(np.asarray(rows, np.int64))
            for key, rows in hits.items()
            if key in self._prepared
        }
        self.hit_times = {
            key: self._prepared[key].track.t_ps[items] for key, items in self._hits.items()
        }
        self.update()

    def step(self, direction: int) -> Selection | None:
        """Select the next (+1) or previous (-1) hit of all tracks; without hits as `step_item`."""
        if not any(len(items) for items in self._hits.values()):
            return self.step_item(direction)
        # hits are in order of time, at one time from the upper track to the lower one
        rank = {row.key: number for number, row in enumerate(self.arranged.rows)}
        here_ps, chosen = self._reference_ps(), self._selection
        here_rank = rank.get(chosen.key, -1) if chosen is not None else -1
        best: tuple[int, int, str, int] | None = None
        for key, items in self._hits.items():
            if key not in rank:
                continue
            after = rank[key] > here_rank
            if chosen is not None and chosen.key == key:
                index = int(items.searchsorted(chosen.item, "right" if direction > 0 else "left"))
            else:
                times = self.hit_times[key]
                index = int(times.searchsorted(here_ps, "left" if after else "right"))
            index -= 1 if direction < 0 else 0
            if 0 <= index < len(items):
                found = (int(self.hit_times[key][index]), rank[key], key, int(items[index]))
                if best is None or (found < best) == (direction > 0):
                    best = found
        return None if best is None else self._go_to(best[2], best[3])

    def step_item(self, direction: int) -> Selection | None:
        """Select the next (+1) or previous (-1) item of the focus track."""
        if self._focus is None:
            return None
        prepared = self._prepared[self._focus]
        own = self._selection is not None and self._selection.key == self._focus
        item = self._selection.item if own and self._selection is not None else None
        found = prepared.neighbour(self._reference_ps(), item, direction)
        return None if found is None else self._go_to(self._focus, found)

    # cursors

    def add_cursor(self, t_ps: int | None = None, name: str | None = None) -> Cursor:
        """Set a cursor: under the mouse, else at the selected item, else in the middle.

        Raises:
            ValueError: the name is empty or taken.
        """
        if t_ps is None:
            over = self._over_tracks(self._mouse)
            t_ps = self.snapped_at(self._mouse, free=False) if over else self._reference_ps()
        return self.cursors.add(t_ps, name)

    def cursor_to_edge(self, direction: int) -> None:
        """Move the active cursor to the next (+1) or previous (-1) edge of the focus track."""
        active = self.cursors.active
        if active is None or self._focus is None:
            return
        edge = self._prepared[self._focus].next_edge(active.t_ps, direction)
        if edge is not None:
            self.cursors.move(active.name, edge)
            self.show_time(edge)

    def cursor_near(self, x: float) -> Cursor | None:
        """Return the cursor whose line is under the mouse."""
        return self.cursors.nearest(self.time_at(x), _GRAB_PX * self._per_pixel_ps())

    def set_snapping(self, on: bool) -> None:
        """Let cursors snap to edges or not."""
        self.snapping = on
        self._snapped_ps = None
        self.update()

    def toggle_snapping(self) -> None:
        """Let cursors snap to edges if they do not, and the other way round."""
        self.set_snapping(not self.snapping)

    def snapped(self, t_ps: int, y: float, free: bool) -> int:
        """Return the edge near a time, of the track at a height and of the focus track; else the time."""
        self._snapped_ps = None
        if free or not self.snapping:
            return t_ps
        row = self.row_at(y)
        within = _SNAP_PX * self._per_pixel_ps()
        keys = dict.fromkeys([row.key if row else None, self._focus])
        edges = [
            edge
            for key in keys
            if key is not None and (edge := self._prepared[key].edge_near(t_ps, within)) is not None
        ]
        if not edges:
            return t_ps
        self._snapped_ps = min(edges, key=lambda edge: abs(edge - t_ps))
        return self._snapped_ps

    def snapped_at(self, at: QPointF, free: bool) -> int:
        """Return `snapped` of a position of the widget."""
        return self.snapped(self.time_at(at.x()), at.y(), free)

    # tracks by keyboard

    def focus_track(self) -> str | None:
        """Return the track that keys act on."""
        return self._focus

    def set_focus_track(self, key: str) -> None:
        """Choose the track that keys act on. Raises: KeyError."""
        if key not in self._prepared:
            raise KeyError(key)
        self._focus = key
        self.show_track(key)
        self._describe()
        self.update()

    def move_focus(self, step: int) -> None:
        """Choose the track above (-1) or below (+1)."""
        keys = [row.key for row in self.arranged.rows]
        if keys:
            at = keys.index(self._focus) + step if self._focus in keys else 0
            self.set_focus_track(keys[min(max(at, 0), len(keys) - 1)])

    def move_focused_track(self, step: int) -> None:
        """Move the focus track up or down."""
        if self._focus is not None:
            self.move_track(self._focus, step)
            self.show_track(self._focus)

    def toggle_collapsed(self) -> None:
        """Make the focus track a thin strip, or open it."""
        if self._focus is not None:
            self.arranged.set_collapsed([self._focus], self._focus not in self.arranged.collapsed)
            self.tracks_changed.emit()

    # requests to the window

    def ask_for_mark(self) -> None:
        """Ask for a note at the selected item, else at the active cursor, else in the middle."""
        active = self.cursors.active
        at = self._reference_ps() if self._selection or active is None else active.t_ps
        self.mark_requested.emit(at)

    def ask_for_find(self) -> None:
        """Ask for a search."""
        self.find_requested.emit()

    def ask_for_menu(self, at: QPointF | None = None) -> None:
        """Ask for a menu, at a position or at the selected item."""
        if at is None:
            t_ps = self._reference_ps()
            row = self.arranged.row(self._focus or "")
            y = RULER_PX if row is None else self.row_center(row.key)
            at = QPointF(min(max(self.x_of(t_ps), self.gutter_px), self.width()), y)
        else:
            t_ps = self.time_at(at.x())
        self.context_requested.emit(self._selection, t_ps, self.mapToGlobal(at.toPoint()))

    # saved views

    def state(self) -> dict[str, Any]:
        """Return range, order, collapsed and hidden tracks, cursors and scrolling, for JSON."""
        t0_ps, t1_ps = self.range()
        return ViewState(
            t0_ps,
            t1_ps,
            tuple(self.arranged.order()),
            tuple(sorted(self.arranged.collapsed)),
            tuple(sorted(self.arranged.hidden)),
            self.cursors.all(),
            self._bar.value(),
            self._scale_in_view,
            self.snapping,
        ).to_json()

    def restore(self, state: object) -> None:
        """Go back to what `state` returned; names of tracks that are gone are passed over.

        Raises:
            InputError: it is no such state; nothing was changed.
        """
        saved = ViewState.from_json(state)
        self.arranged.collapsed = {key for key in saved.collapsed if key in self._prepared}
        self.arranged.hidden = {key for key in saved.hidden if key in self._prepared}
        self.arranged.set_order(saved.order)
        self._scale_in_view = saved.scale_in_view
        self.snapping = saved.snapping
        self._bar.setValue(saved.scroll)
        self.cursors.replace(saved.cursors)
        self.set_range(saved.t0_ps, saved.t1_ps)

    # under the mouse

    def hover(self, at: QPointF) -> None:
        """Show what is under the mouse."""
        self._mouse = at
        row = self.row_at(at.y())
        text = ""
        if row is not None and at.x() < self.gutter_px:
            track = self._prepared[row.key].track
            active = self.cursors.active
            value = "" if active is None else self._prepared[row.key].value_at(active.t_ps)
            at_cursor = f"at cursor {active.name}: {value}" if active and value else ""
            lines = (track.name, track.note, at_cursor, self._prepared[row.key].failed)
            text = "\n".join(printable(line) for line in lines if line)
        elif row is not None:
            prepared = self._prepared[row.key]
            item = prepared.item_at(self.time_at(at.x()), _HIT_PX * self._per_pixel_ps())
            t_ps = self.time_at(at.x())
            text = prepared.tip(item) if item is not None else printable(
                prepared.track.coverage.reason_at(t_ps)
            )  # fmt: skip
        if not text:
            self.tip.hide()
            return
        self.tip.setText(text)
        self.tip.adjustSize()
        x = min(at.x() + 14, self.width() - self.tip.width() - 2)
        y = at.y() + 18 if at.y() + 18 + self.tip.height() < self.height() else (
            at.y() - 8 - self.tip.height()
        )  # fmt: skip
        self.tip.move(int(max(x, 0)), int(max(y, 0)))
        self.tip.show()

    def click(self, at: QPointF) -> None:
        """Select the item at a position, or nothing."""
        row = self.row_at(at.y())
        if row is None or at.x() < self.gutter_px:
            return
        self._focus = row.key
        prepared = self._prepared[row.key]
        item = prepared.item_at(self.time_at(at.x()), _HIT_PX * self._per_pixel_ps())
        self._choose(None if item is None else prepared.selection(item))

    def show_box(self, stretch: tuple[int, int] | None) -> None:
        """Show the stretch that a drag would zoom to."""
        self._box = stretch
        self.update()

    def _overlay(self) -> Overlay:
        active = self.cursors.active
        return Overlay(
            self._selection,
            self.hit_times,
            self.cursors.all(),
            self._band,
            self._box,
            self._snapped_ps,
            self._focus,
            None if active is None else active.t_ps,
        )

    def _go_to(self, key: str, item: int) -> Selection | None:
        self._focus = key
        self._choose(self._prepared[key].selection(item))
        self.show_track(key)
        if self._selection is not None:
            self.show_time(self._selection.t_ps)
        return self._selection

    def _choose(self, selection: Selection | None) -> None:
        changed = selection != self._selection
        self._selection = selection
        self._describe()
        self.update()
        if changed:
            self.selection_changed.emit(selection)

    def _reference_ps(self) -> int:
        """Return the time that "here" means: the selected item, else the middle of the view."""
        if self._selection is not None:
            return self._selection.t_ps
        t0, t1 = self.range()
        return (t0 + t1) // 2

    def _per_pixel_ps(self) -> int:
        return self._window.per_pixel_ps(self.area_width())

    def _over_tracks(self, at: QPointF) -> bool:
        return at.x() >= self.gutter_px and at.y() >= 0

    def _cursors_moved(self) -> None:
        self._describe()
        self.update()
        self.cursors_changed.emit()

    def _describe(self) -> None:
        """Describe to screen readers where the user is."""
        parts = []
        if self._focus is not None and self._focus in self._prepared:
            track = self._prepared[self._focus].track
            parts.append(
                f"track {printable(track.source)} {printable(track.name)}".replace("  ", " ")
            )
        if self._selection is not None and self._selection.key in self._prepared:
            parts.append(self._prepared[self._selection.key].tip(self._selection.item))
        if self._band is not None:
            parts.append(f"{format_ps(self._band[1] - self._band[0])} selected")
        parts += [f"{a} to {b}: {format_ps(delta)}" for a, b, delta in self.cursors.deltas()]
        # Qt itself notifies screen readers that the description changed
        self.setAccessibleDescription("; ".join(parts).replace("\n", ", "))
