"""Notes: what a user writes beside a capture; each edit can be undone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QUndoCommand, QUndoStack
from PyQt6.QtWidgets import QInputDialog, QTreeWidgetItem, QWidget

from freezeframe.capture.time_text import format_ps
from freezeframe.gui.desktop.notes import Note, NoteBook
from freezeframe.gui.desktop.widgets import (
    beside,
    button,
    fill_panel,
    fill_tree,
    item,
    plain_label,
    tree,
)
from freezeframe.gui.text import printable

_NOTE = Qt.ItemDataRole.UserRole  # source, id


class NoteEdit(QUndoCommand):
    """A note put into a book, or taken out of it, or changed."""

    def __init__(
        self,
        title: str,
        book: NoteBook,
        before: Note | None,
        after: Note | None,
        changed: Callable[[], None],
    ) -> None:
        super().__init__(title)
        self._book, self._before, self._after, self._changed = book, before, after, changed

    def redo(self) -> None:
        self._put(self._before, self._after)

    def undo(self) -> None:
        self._put(self._after, self._before)

    def _put(self, old: Note | None, new: Note | None) -> None:
        if new is not None:
            self._book.put(new)
        elif old is not None:
            self._book.remove(old.id)
        self._changed()


class NotesPanel(QWidget):
    """The notes of all sources. ``chosen`` has (source, time); ``changed`` the source whose book changed."""

    chosen = pyqtSignal(str, object)
    changed = pyqtSignal(str)

    def __init__(self, stack: QUndoStack) -> None:
        super().__init__()
        self._stack = stack
        self._books: dict[str, tuple[str, NoteBook]] = {}
        self.trouble = plain_label("trouble with notes")
        self.trouble.hide()
        self.list = tree("notes", ("time", "note", "source"))
        self.edit_button = button("&Edit", "edit note", self.edit_current)
        self.remove_button = button("Re&move", "remove note", self.remove_current)
        buttons = beside(self.edit_button, self.remove_button)
        fill_panel(self, self.trouble, (self.list, 1), buttons, focus=self.list)
        self.list.currentItemChanged.connect(lambda now, _: self._moved(now))
        self.list.itemActivated.connect(lambda _, __: self.edit_current())

    def set_books(self, books: Sequence[tuple[str, str, NoteBook]]) -> None:
        """Show the notes of these sources: key, name, book."""
        self._books = {key: (name, book) for key, name, book in books}
        self._fill()

    def add(self, source: str, note: Note) -> None:
        """Add a note; it can be undone."""
        self._push("add note", source, None, note)

    def edit_current(self) -> None:
        """Ask for another text of the chosen note."""
        found = self._current()
        if found is None:
            return
        source, note = found
        text, ok = QInputDialog.getMultiLineText(self, "Edit note", "Note:", note.text)
        if ok and text.strip() and text != note.text:
            self._push("edit note", source, note, replace(note, text=text))

    def remove_current(self) -> None:
        """Take the chosen note out; it can be undone."""
        found = self._current()
        if found is not None:
            self._push("remove note", found[0], found[1], None)

    def _push(self, title: str, source: str, before: Note | None, after: Note | None) -> None:
        book = self._books[source][1]

        def changed() -> None:
            self._fill()
            self.changed.emit(source)

        self._stack.push(NoteEdit(title, book, before, after, changed))

    def _current(self) -> tuple[str, Note] | None:
        now = self.list.currentItem()
        if now is None:
            return None
        source, id = now.data(0, _NOTE)
        found = self._books.get(source)
        if found is None:
            return None
        return next(((source, note) for note in found[1].notes if note.id == id), None)

    def _fill(self) -> None:
        before = self._current()
        items = []
        for key, (name, book) in self._books.items():
            for note in book.notes:
                end = "" if note.t_end_ps is None else f" to {format_ps(note.t_end_ps)}"
                texts = [f"{format_ps(note.t_ps)}{end}", note.text, name]
                items.append(item(texts, data=(key, note.id)))
        self.list.blockSignals(True)
        fill_tree(self.list, items)
        self.list.setColumnWidth(1, max(self.list.columnWidth(1), 200))
        if before is not None:
            chosen = next((one for one in items if one.data(0, _NOTE)[1] == before[1].id), None)
            if chosen is not None:
                self.list.setCurrentItem(chosen)
        self.list.blockSignals(False)
        troubles = [book.trouble for _, book in self._books.values() if book.trouble]
        self.trouble.setText(printable("; ".join(troubles)))
        self.trouble.setVisible(bool(troubles))

    def _moved(self, now: QTreeWidgetItem | None) -> None:
        found = self._current()
        if found is not None:
            self.chosen.emit(found[0], found[1].t_ps)
