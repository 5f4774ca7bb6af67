"""The columns of the table: sorted by a click on a heading, hidden and shown again by its menu."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from PyQt6.QtCore import QObject, QPoint, Qt
from PyQt6.QtWidgets import QMenu, QTableView

from freezeframe.gui.desktop.headings import heading
from freezeframe.gui.desktop.panels.table_model import FrameModel
from freezeframe.gui.desktop.progress import Progress
from freezeframe.gui.desktop.sorting import Int64, order_of
from freezeframe.gui.desktop.sources.opened import Opened, Table
from freezeframe.gui.desktop.widgets import add_entry

_UP, _DOWN = Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder


class _Shown(Protocol):
    """What is asked of an `event_table.EventTable`."""

    view: QTableView
    model: FrameModel
    hidden_columns: dict[str, set[str]]

    @property
    def shown(self) -> tuple[Opened, Table] | None: ...

    def current_row(self) -> int | None: ...

    def go_quietly(self, line: int) -> None: ...

    def in_worker(
        self, title: str, work: Callable[[Progress], Any], use: Callable[[Any], None]
    ) -> None: ...


class ColumnControl(QObject):
    """What the headings of an `EventTable` do. A table begins as its rows stand."""

    def __init__(self, table: _Shown) -> None:
        super().__init__(table.view)
        self._table = table
        self._by: tuple[str, bool] | None = None  # column, descending
        header = table.view.horizontalHeader()
        assert header is not None
        self._header = header
        header.setSectionsClickable(True)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._menu)
        header.sectionClicked.connect(self.sort)

    def shown(self) -> None:
        """Take the table that is shown now."""
        self._by = None
        self._header.setSortIndicatorShown(False)
        self.shown_again()

    def sort(self, column: int) -> None:
        """Sort by a column; the second time downwards, the third time as the rows stand."""
        names = self._table.model.column_names()
        shown = self._table.shown
        if shown is None or not 0 <= column < len(names) or names[column] not in shown[1].frame:
            return
        name = names[column]
        steps = {None: (name, False), (name, False): (name, True), (name, True): None}
        self._by = steps.get(self._by, (name, False))
        self._header.setSortIndicatorShown(self._by is not None)
        if self._by is not None:
            self._header.setSortIndicator(column, _DOWN if self._by[1] else _UP)
        self.refresh()

    def sort_current(self) -> None:
        """Sort by the column of the chosen cell."""
        self.sort(max(self._table.view.currentIndex().column(), 0))

    def refresh(self) -> None:
        """Sort anew, in a worker: the rows may have changed."""
        shown, by = self._table.shown, self._by
        if shown is None:
            return
        if by is None:
            if self._table.model.order is not None:
                self._use(None)
            return
        frame, table = shown[1].frame, shown[1]

        def work(progress: Progress) -> Int64:
            return order_of(frame, by[0], descending=by[1])

        def use(order: Int64) -> None:
            now = self._table.shown
            if now is not None and now[1].frame is frame and self._by == by:
                self._use(order)

        self._table.in_worker(f"sort {table.key}", work, use)

    def hide(self, column: int) -> None:
        """Hide a column of this table; one always stays."""
        names = self._table.model.column_names()
        view = self._table.view
        left = [n for n in range(len(names)) if not view.isColumnHidden(n)]
        shown = self._table.shown
        if shown is None or column not in left or len(left) < 2:
            return
        self._table.hidden_columns.setdefault(shown[1].key, set()).add(names[column])
        view.setColumnHidden(column, True)

    def hide_current(self) -> None:
        """Hide the column of the chosen cell."""
        self.hide(max(self._table.view.currentIndex().column(), 0))

    def show_all(self) -> None:
        """Show every column of this table."""
        shown = self._table.shown
        if shown is not None:
            self._table.hidden_columns.pop(shown[1].key, None)
            self.shown_again()

    def shown_again(self) -> None:
        """Show and hide columns as is kept."""
        away = self._hidden()
        for number, name in enumerate(self._table.model.column_names()):
            self._table.view.setColumnHidden(number, name in away)

    def _hidden(self) -> set[str]:
        """Return the columns that are hidden: of what is kept at most all but one."""
        shown = self._table.shown
        away = set() if shown is None else self._table.hidden_columns.get(shown[1].key, set())
        return away if set(self._table.model.column_names()) - away else set()

    def _use(self, order: Int64 | None) -> None:
        table = self._table
        current = table.current_row()
        table.model.show_order(order)
        line = None if current is None else table.model.line_of(current)
        if line is not None:
            table.go_quietly(line)

    def _menu(self, at: QPoint) -> None:
        column = self._header.logicalIndexAt(at)
        names = self._table.model.column_names()
        if not 0 <= column < len(names):
            return
        menu = QMenu(self._header)
        title = heading(names[column]).replace("&", "&&")
        add_entry(menu, f"&Sort by {title}", partial(self.sort, column))
        add_entry(menu, f"&Hide {title}", partial(self.hide, column))
        add_entry(menu, "Show &all columns", self.show_all)
        menu.popup(self._header.mapToGlobal(at))
