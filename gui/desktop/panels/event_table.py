"""The table of events: every table of every source, with find and filter by expression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from PyQt6.QtCore import QItemSelectionModel, QModelIndex, QTimer, pyqtSignal
from PyQt6.QtWidgets import QComboBox, QWidget

from freezeframe.capture.code import code
from freezeframe.capture.count_text import plural
from freezeframe.decoders.query.words import ExpressionError
from freezeframe.gui.desktop.headings import heading
from freezeframe.gui.desktop.panels.columns import ColumnControl
from freezeframe.gui.desktop.panels.table_model import FrameModel
from freezeframe.gui.desktop.progress import Progress
from freezeframe.gui.desktop.sources.opened import Opened, Place, Table
from freezeframe.gui.desktop.widgets import (
    ExpressionEdit,
    beside,
    button,
    fill_panel,
    label_of,
    named,
    plain_label,
    table_view,
)
from freezeframe.gui.desktop.workers import Job, Jobs, delayed
from freezeframe.gui.text import printable

Bools = npt.NDArray[np.bool_]

# Loaded with the first expression.
matching = code("freezeframe.decoders.query.evaluate:matching")
never = code("freezeframe.decoders.query.never:never")
parse = code("freezeframe.decoders.query.parse:parse")

_PAUSE_MS = 250  # after the last key, before a long table is searched
_HINT_FIND = "Find: a word, or a column compared with a value"
_HINT_FILTER = "Filter: only the rows that match, here and on the time line"
_WIDEST_PX = 420
_LOOKED_AT = (
    20  # rows that decide how wide a column is: the first, and as many spread over the rest
)


class EventTable(QWidget):
    """One table at a time; which is chosen above it.

    Signals: ``chosen`` a `Place` by the user; ``hits`` and ``filtered`` (source, table, matches or
    None) when a search or a filter has been evaluated.
    """

    chosen = pyqtSignal(object)
    activated = pyqtSignal(object)
    hits = pyqtSignal(str, str, object)
    filtered = pyqtSignal(str, str, object)

    def __init__(self, jobs: Jobs) -> None:
        super().__init__()
        self._jobs = jobs
        self._sources: dict[str, Opened] = {}
        self._found: Bools | None = None
        self._filters: dict[tuple[str, str], tuple[str, Bools]] = {}
        self._searching: dict[str, Job] = {}
        self._offered: list[tuple[str, str]] = []
        self._quiet = False  # the selection is moved by the window, not by the user
        self.hidden_columns: dict[str, set[str]] = {}
        self.model = FrameModel()
        self.view = table_view("events")
        self.view.setModel(self.model)
        # A header that is scrolled beyond the end of shorter rows paints all of them, seconds long.
        self.model.modelAboutToBeReset.connect(self.view.scrollToTop)
        self.which = named(QComboBox(), "table", "Which table is shown.")
        self.which.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.find_edit = ExpressionEdit("find", _HINT_FIND)
        self.filter_edit = ExpressionEdit("filter", _HINT_FILTER)
        self.trouble = plain_label("error in the expression")
        self.trouble.hide()
        self.count = plain_label("number of rows")
        self.count.setWordWrap(False)
        self.previous = button("Previous", "previous hit", lambda: self.step(-1), "Shift+F3")
        self.next = button("Next", "next hit", lambda: self.step(1), "F3")
        self._pages = beside(
            button("Earlier rows", "page before", lambda: self._turn(-1)),
            button("Later rows", "page after", lambda: self._turn(1)),
        )
        word = label_of("&Table", self.which)
        word.setMinimumWidth(word.sizeHint().width() + 4)
        above = beside(word, self.which, self.filter_edit, self.count, stretch=2)
        find = beside(self.find_edit, self.previous, self.next, stretch=0)
        fill_panel(self, above, find, self.trouble, (self.view, 1), self._pages, focus=self.view)
        self._pages.hide()
        self._timers = {
            name: self._timer(edit, act)
            for name, edit, act in (
                ("find", self.find_edit, self.search),
                ("filter", self.filter_edit, self.apply_filter),
            )
        }
        self.find_edit.returnPressed.connect(lambda: self._entered("find", lambda: self.step(1)))
        self.filter_edit.returnPressed.connect(lambda: self._entered("filter", lambda: None))
        self.which.currentIndexChanged.connect(lambda _: self._show())
        selection = self.view.selectionModel()
        if selection is not None:
            selection.currentRowChanged.connect(self._moved)
        self.view.activated.connect(self._activated)
        self.columns = ColumnControl(self)

    # What is shown

    def set_sources(self, sources: list[Opened]) -> None:
        """Offer the tables of these sources; the one that is shown stays."""
        self._sources = {source.key: source for source in sources}
        before = self._key()
        self.which.blockSignals(True)
        self.which.clear()
        several = len(sources) > 1
        self._offered = []
        for source in sources:
            for table in source.tables.values():
                title = f"{source.name}: {table.key}" if several else table.key
                # The table of a live source grows.
                size = "" if source.kind == "live" else f" ({len(table):,})"
                self.which.addItem(printable(title + size))
                self._offered.append((source.key, table.key))
        at = self._offered.index(before) if before in self._offered else -1
        self.which.setCurrentIndex(max(at, 0) if self.which.count() else -1)
        self.which.blockSignals(False)
        for key in [key for key in self._filters if key[0] not in self._sources]:
            del self._filters[key]
        if at < 0 or before is None:
            self._show()
        else:
            self.refresh(*before)

    def _key(self) -> tuple[str, str] | None:
        at = self.which.currentIndex()
        return self._offered[at] if 0 <= at < len(self._offered) else None

    @property
    def shown(self) -> tuple[Opened, Table] | None:
        """The source and the table that are shown."""
        data = self._key()
        if data is None:
            return None
        source = self._sources.get(data[0])
        return (
            None
            if source is None or data[1] not in source.tables
            else (source, source.tables[data[1]])
        )

    def show_table(self, source: str, table: str) -> None:
        """Show a table; one that is not there changes nothing."""
        if (source, table) in self._offered:
            self.which.setCurrentIndex(self._offered.index((source, table)))

    def offers(self, source: str, table: str) -> bool:
        """Return whether a table can be chosen."""
        return (source, table) in self._offered

    def refresh(self, source: str, table: str) -> None:
        """Show a newer form of a table where it is the one that is shown: further rows, or further columns."""
        shown = self.shown
        if shown is None or (shown[0].key, shown[1].key) != (source, table):
            return
        frame, before = shown[1].frame, self.model.frame
        if len(frame.columns) != len(before.columns):
            current = self.current_row()
            self._show()
            line = None if current is None else self.model.line_of(current)
            if line is not None:
                self._go(line, tell=False)
        elif frame is not before:
            empty = not self.model.total
            self.model.update_frame(frame)
            self.columns.refresh()
            if empty:
                self._fit_columns()
            self._tell_count()

    def show_place(self, place: Place) -> bool:
        """Select a row; return whether it is there and the filter does not hide it."""
        self.show_table(place.source, place.table)
        line = self.model.line_of(place.row)
        if line is None:
            return False
        self._go(line, tell=False)
        return True

    def choose_none(self) -> None:
        """Let go of the row that is selected; tells nobody."""
        selection = self.view.selectionModel()
        if selection is not None:
            selection.clear()

    def current_row(self) -> int | None:
        """Return the row of the frame that is selected."""
        line = self.view.currentIndex().row()
        return self.model.row_at(line) if line >= 0 else None

    def stop(self) -> None:
        """Search no more: the window is closing."""
        for timer in self._timers.values():
            timer.stop()

    def in_worker(
        self, title: str, work: Callable[[Progress], Any], use: Callable[[Any], None]
    ) -> None:
        """Do something with the table in a worker; what goes wrong is said below its lines."""
        self._jobs.start(title, work, use, self._say)

    def go_quietly(self, line: int) -> None:
        """Choose a line as the window does, not the user."""
        self._go(line, tell=False)

    # Find and filter

    def search(self, then: Callable[[], None] | None = None) -> None:
        """Find the rows that the find line matches, in a worker."""
        self._evaluate("find", self.find_edit, self._searched, then)

    def apply_filter(self, then: Callable[[], None] | None = None) -> None:
        """Show only what the filter line matches, in a worker."""
        self._evaluate("filter", self.filter_edit, self._filtered, then)

    def step(self, by: int) -> None:
        """Go to the next or previous hit, around the end; without a search to the next row."""
        shown = self.shown
        if shown is None:
            return
        if self.find_edit.text().strip() and self._found is None:
            self.search(lambda: self.step(by) if self._found is not None else None)
            return
        rows = self._hit_rows()
        if not len(rows):
            return
        current, order = self.current_row(), self.model.order
        if current is None:
            at = 0 if by > 0 else len(rows) - 1
        else:
            places: npt.NDArray[np.int64] = rows
            if order is not None:  # hits come in the order in which they are shown
                place_of = np.empty(len(order), np.int64)
                place_of[order] = np.arange(len(order))
                by_place = np.argsort(place_of[rows])
                rows, current = rows[by_place], int(place_of[current])
                places = place_of[rows]
            after = int(np.searchsorted(places, current, "right"))
            at = after if by > 0 else int(np.searchsorted(places, current)) - 1
        line = self.model.line_of(int(rows[at % len(rows)]))
        if line is not None:
            self._go(line, tell=True)

    def _hit_rows(self) -> npt.NDArray[np.int64]:
        """Return the rows that are hits and are shown."""
        shown = self.shown
        visible = None if shown is None else self._filters.get((shown[0].key, shown[1].key))
        if self._found is None:
            if visible is None:
                return np.arange(self.model.total, dtype=np.int64)
            match = visible[1]
        else:
            match = self._found if visible is None else self._found & visible[1]
        return np.flatnonzero(match)

    def _evaluate(
        self,
        name: str,
        edit: ExpressionEdit,
        use: Callable[[Opened, Table, str, Bools | None], None],
        then: Callable[[], None] | None,
    ) -> None:
        self._timers[name].stop()
        running = self._searching.pop(name, None)
        if running is not None:
            running.cancel()
        shown = self.shown
        text = edit.text().strip()
        if shown is None:
            return
        source, table = shown
        edit.unmark()
        self._say("")
        if not text:
            use(source, table, "", None)
            return

        def work(progress: Progress) -> tuple[Bools, list[str]] | ExpressionError:
            progress.report(0, 0, text)
            try:
                return matching(table.frame, text), never(text, [table.frame])
            except ExpressionError as error:
                return error

        def done(result: tuple[Bools, list[str]] | ExpressionError) -> None:
            if isinstance(result, ExpressionError):
                lead = len(edit.text()) - len(edit.text().lstrip())
                edit.mark(result.at + lead, result.end + lead)
                self._say(f"{name}: {result}")
                return
            found, slips = result
            self._say("; ".join(f"{name}: {slip}" for slip in slips))
            use(source, table, text, found)
            if then is not None:
                then()

        title = f"{name} in {table.key}"
        self._searching[name] = self._jobs.start(title, work, done, self._say)

    def _searched(self, source: Opened, table: Table, text: str, found: Bools | None) -> None:
        self._found = found
        self._tell_count()
        self.hits.emit(source.key, table.key, found)

    def _filtered(self, source: Opened, table: Table, text: str, found: Bools | None) -> None:
        key = (source.key, table.key)
        if found is None:
            self._filters.pop(key, None)
        else:
            self._filters[key] = (text, found)
        current = self.current_row()
        self.model.show_rows(None if found is None else np.flatnonzero(found))
        self._tell_count()
        self.filtered.emit(source.key, table.key, found)
        line = None if current is None else self.model.line_of(current)
        if line is not None:
            self._go(line, tell=False)

    def _timer(self, edit: ExpressionEdit, act: Callable[[], None]) -> QTimer:
        timer = delayed(self, _PAUSE_MS, act)

        def typed(text: str) -> None:
            if edit is self.find_edit:
                self._found = None
            edit.unmark()
            timer.start()

        edit.textChanged.connect(typed)
        return timer

    def _entered(self, name: str, then: Callable[[], None]) -> None:
        """Enter: evaluate at once where that is not done, then go on."""
        edit = self.find_edit if name == "find" else self.filter_edit
        text = edit.text().strip()
        try:
            if text:
                parse(text)
        except ExpressionError as error:
            edit.setCursorPosition(min(error.at, len(edit.text())))
        if name == "find" and not self._timers[name].isActive() and self._found is not None:
            then()
        elif name == "find":
            self.search(then)
        else:
            self.apply_filter(then)

    # Internals

    def _show(self) -> None:
        shown = self.shown
        self._found = None
        if shown is None:
            self.model.show_frame(pd.DataFrame())
            self._tell_count()
            return
        source, table = shown
        words = None
        if table.text is not None:

            def words(row: int) -> str:
                assert table.text is not None
                return table.text(table.row(row))

        self.model.show_frame(table.frame, words)
        text, match = self._filters.get((source.key, table.key), ("", None))
        if match is not None and len(match) == len(table.frame):
            self.model.show_rows(np.flatnonzero(match))
        self.find_edit.setPlaceholderText(_hint(table))
        self.filter_edit.blockSignals(True)
        self.filter_edit.setText(text)
        self.filter_edit.blockSignals(False)
        self._fit_columns()
        self.columns.shown()
        self._tell_count()
        self.hits.emit(source.key, table.key, None)
        if self.find_edit.text().strip():
            self.search()

    def _fit_columns(self) -> None:
        widths = [self._width(column) for column in range(self.model.columnCount())]
        if widths and not self.model.is_number(len(widths) - 1):
            # A text at the end gets the room that is left: rows that were not looked at may be longer.
            room = self.view.viewport()
            widths[-1] = max(widths[-1], (room.width() if room else 0) - sum(widths[:-1]))
        for column, width in enumerate(widths):
            self.view.setColumnWidth(column, width)

    def _width(self, column: int) -> int:
        """Return a width from some rows: measuring all would cost what the table costs."""
        metrics = self.view.fontMetrics()
        texts = [heading(self.model.column_names()[column])]
        lines = self.model.rowCount()
        some = {*range(min(_LOOKED_AT, lines)), *range(0, lines, max(lines // _LOOKED_AT, 1))}
        texts += [self.model.cell(self.model.row_at(line), column) for line in some]
        texts += self.model.names_in(column)
        return min(max(metrics.horizontalAdvance(text) for text in texts) + 18, _WIDEST_PX)

    def _tell_count(self) -> None:
        shown, total = self.model.shown, self.model.total
        text = plural(total, "row") if shown == total else f"{shown:,} of {plural(total, 'row')}"
        if self._found is not None:
            text += f", {plural(len(self._hit_rows()), 'hit')}"
        self._pages.setVisible(self.model.pages > 1)
        if self.model.pages > 1:
            text += f", part {self.model.page + 1} of {self.model.pages}"
        self.count.setText(text)

    def _say(self, text: str) -> None:
        self.trouble.setText(printable(text))
        self.trouble.setVisible(bool(text))

    def _turn(self, by: int) -> None:
        self.model.show_page(self.model.page + by)
        self._tell_count()

    def _go(self, line: int, *, tell: bool) -> None:
        self._tell_count()
        index = self.model.index(line, 0)
        selection = self.view.selectionModel()
        if selection is None:
            return
        flags = QItemSelectionModel.SelectionFlag
        self._quiet = not tell
        selection.setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
        self._quiet = False
        self.view.scrollTo(index)

    def _place(self, line: int) -> Place | None:
        shown = self.shown
        if shown is None or not 0 <= line < self.model.rowCount():
            return None
        return Place(shown[0].key, shown[1].key, self.model.row_at(line))

    def _moved(self, index: QModelIndex, before: QModelIndex) -> None:
        place = self._place(index.row())
        if place is not None and not self._quiet:
            self.chosen.emit(place)

    def _activated(self, index: QModelIndex) -> None:
        place = self._place(index.row())
        if place is not None:
            self.activated.emit(place)


def _hint(table: Table) -> str:
    """Return what can be typed to find rows of this very table."""
    frame = table.frame
    asked = []
    for name in ("kind", "source"):
        if name in frame and len(frame):
            text = str(frame[name].iloc[0])
            asked.append(f"{name} == {text}" if text.isidentifier() else f'{name} == "{text}"')
            break
    asked += [f"{name} = 2" for name in ("flow", "seq", "row") if name in frame][:1]
    if "t_ps" in frame:
        asked.append("t_ps >= 12.5us")
    return f"Find in {table.key}: {' and '.join(asked) or 'a word'}"
