"""The named cursors of the time line, and how far they are apart."""

from __future__ import annotations

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QInputDialog, QWidget

from freezeframe.capture.time_text import format_ps
from freezeframe.gui.desktop.timeline.view import TimelineView
from freezeframe.gui.desktop.widgets import beside, button, fill_panel, fill_tree, item, tree

_NAME = Qt.ItemDataRole.UserRole


class CursorsPanel(QWidget):
    """A list of cursors and one of differences. Cursors are put with ``c`` in the time line."""

    def __init__(self, timeline: TimelineView) -> None:
        super().__init__()
        self._timeline = timeline
        self.list = tree("cursors", ("cursor", "time"))
        self.deltas = tree("differences of cursors", ("between", "difference"))
        buttons = beside(
            button("&Go to", "go to cursor", self.go, "Shows the chosen cursor."),
            button("Re&name...", "rename cursor", self.rename),
            button("Remo&ve", "remove cursor", self.remove),
        )
        fill_panel(self, (self.list, 1), buttons, (self.deltas, 1), focus=self.list)
        timeline.cursors_changed.connect(self.refresh)
        self.list.itemActivated.connect(lambda _one, _column: self.go())

    def refresh(self) -> None:
        """Show the cursors as they are."""
        before = self._current()
        items = [
            item([cursor.name, format_ps(cursor.t_ps)], data=cursor.name)
            for cursor in self._timeline.cursors.all()
        ]
        fill_tree(self.list, items)
        for one in items:
            if one.data(0, _NAME) == before:
                self.list.setCurrentItem(one)
        deltas = self._timeline.cursors.deltas()
        fill_tree(self.deltas, [item([f"{a} to {b}", format_ps(ps)]) for a, b, ps in deltas])

    def go(self) -> None:
        """Show the chosen cursor."""
        name = self._current()
        for cursor in self._timeline.cursors.all():
            if cursor.name == name:
                self._timeline.show_time(cursor.t_ps)

    def rename(self) -> None:
        """Ask for another name."""
        name = self._current()
        if name is None:
            return
        new, ok = QInputDialog.getText(self, "Rename cursor", "Name:", text=name)
        if (
            ok
            and new.strip()
            and new != name
            and new not in [c.name for c in self._timeline.cursors.all()]
        ):
            self._timeline.cursors.rename(name, new.strip())

    def remove(self) -> None:
        """Take the chosen cursor away."""
        name = self._current()
        if name is not None:
            self._timeline.cursors.remove(name)

    def _current(self) -> str | None:
        now = self.list.currentItem()
        return None if now is None else str(now.data(0, _NAME))
