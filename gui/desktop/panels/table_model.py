"""The rows of a data frame for a table view: nothing is copied, a cell becomes text when it is shown."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from PyQt6.QtCore import QAbstractTableModel, QModelIndex, Qt

from freezeframe.gui.desktop.headings import heading
from freezeframe.gui.desktop.inspection import cell_text
from freezeframe.gui.text import printable

Int64 = npt.NDArray[np.int64]

PAGE_ROWS = 1_000_000
"""Rows that a view gets at once: it keeps some bytes for each, and its scroll bar is 32 bits."""

_NONE = QModelIndex()


class FrameModel(QAbstractTableModel):
    """A page of the rows of a frame, all or those that a filter lets through.

    A *row* is a row of the frame, a *line* its place in the view.
    """

    def __init__(self) -> None:
        super().__init__()
        self._frame = pd.DataFrame()
        self._cells: list[tuple[str, Callable[[int], Any], bool]] = []
        self._rows: Int64 | None = None
        self._order: Int64 | None = None  # all rows as they are sorted; None: as they stand
        self._total = 0
        self._first = 0
        self._texts: Callable[[int], str] | None = None

    def show_frame(self, frame: pd.DataFrame, text: Callable[[int], str] | None = None) -> None:
        """Show a frame; ``text`` puts a row into words, in one more column."""
        self.beginResetModel()
        self._frame = frame
        self._cells = [_cell(str(name), frame[name]) for name in frame.columns]
        self._texts = text
        self._rows, self._order, self._first = None, None, 0
        self._total = len(frame)
        self.endResetModel()

    def update_frame(self, frame: pd.DataFrame) -> None:
        """Show newer values of the same columns; the view stays where it is. Rows may have been added."""
        if len(frame) < self._total:
            self.show_frame(frame, self._texts)
            return
        if self._order is not None and len(frame) != self._total:
            self.show_order(None)
        before = self.rowCount()
        added = min(PAGE_ROWS, len(frame) - self._first) - before if self._rows is None else 0
        if added > 0:
            self.beginInsertRows(_NONE, before, before + added - 1)
        self._frame = frame
        self._cells = [_cell(str(name), frame[name]) for name in frame.columns]
        self._total = len(frame)
        if added > 0:
            self.endInsertRows()
        if before:
            self.dataChanged.emit(self.index(0, 0), self.index(before - 1, self.columnCount() - 1))

    def show_rows(self, rows: Int64 | None) -> None:
        """Show these rows, ascending, as they are sorted; None for all."""
        self.beginResetModel()
        if rows is not None and self._order is not None:
            shown = np.zeros(self._total, np.bool_)
            shown[rows] = True
            rows = self._order[shown[self._order]]
        self._rows, self._first = self._order if rows is None else rows, 0
        self.endResetModel()

    def show_order(self, order: Int64 | None) -> None:
        """Show the rows that are shown in this order of all rows; None: as they stand."""
        rows = None if self.shown == self._total else self._rows
        self._order = order
        self.show_rows(None if rows is None else np.sort(rows))

    @property
    def frame(self) -> pd.DataFrame:
        """The frame whose rows are shown."""
        return self._frame

    @property
    def order(self) -> Int64 | None:
        """All rows as they are sorted; None: as they stand."""
        return self._order

    @property
    def shown(self) -> int:
        """The rows that the filter lets through, on all pages."""
        return self._total if self._rows is None else len(self._rows)

    @property
    def total(self) -> int:
        """The rows of the frame."""
        return self._total

    @property
    def pages(self) -> int:
        return max(1, -(-self.shown // PAGE_ROWS))

    @property
    def page(self) -> int:
        return self._first // PAGE_ROWS

    def show_page(self, page: int) -> None:
        """Show a page; one that is not there is the nearest."""
        first = min(max(page, 0), self.pages - 1) * PAGE_ROWS
        if first != self._first:
            self.beginResetModel()
            self._first = first
            self.endResetModel()

    def row_at(self, line: int) -> int:
        """Return the row of the frame in a line of the page."""
        at = self._first + line
        return at if self._rows is None else int(self._rows[at])

    def line_of(self, row: int) -> int | None:
        """Return the line that shows a row, its page turned up; None where the filter hides it."""
        if self._rows is None:
            at = row if 0 <= row < self._total else -1
        elif self._order is not None:
            found = np.flatnonzero(self._rows == row)
            at = int(found[0]) if len(found) else -1
        else:
            at = int(np.searchsorted(self._rows, row))
            if at >= len(self._rows) or self._rows[at] != row:
                at = -1
        if at < 0:
            return None
        self.show_page(at // PAGE_ROWS)
        return at - self._first

    def rowCount(self, parent: QModelIndex = _NONE) -> int:
        return 0 if parent.isValid() else min(PAGE_ROWS, self.shown - self._first)

    def columnCount(self, parent: QModelIndex = _NONE) -> int:
        return 0 if parent.isValid() else len(self._cells) + (self._texts is not None)

    def column_names(self) -> list[str]:
        """Return the names of the columns as they are headed."""
        return [
            *(["in words"] if self._texts is not None else []),
            *(name for name, _, _ in self._cells),
        ]

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            # A tool tip takes what looks like markup for such.
            text = self.cell(self.row_at(index.row()), index.column())
            return text if role == Qt.ItemDataRole.DisplayRole else _plain(text)
        if role == Qt.ItemDataRole.TextAlignmentRole and self.is_number(index.column()):
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            name = self.column_names()[index.column()]
            return f"{name}: {self.cell(self.row_at(index.row()), index.column())}"
        return None

    def cell(self, row: int, column: int) -> str:
        """Return the text of a cell of the frame."""
        if self._texts is not None:
            if column == 0:
                return printable(self._texts(row))
            column -= 1
        name, value, _ = self._cells[column]
        return printable(cell_text(name, value(row)))

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if role == Qt.ItemDataRole.ToolTipRole and orientation == Qt.Orientation.Horizontal:
            names = self.column_names()
            return _plain(f"{names[section]} in Find and Filter") if section < len(names) else None
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if orientation == Qt.Orientation.Vertical:
            return f"{self.row_at(section):,}"
        names = self.column_names()
        return heading(names[section]) if section < len(names) else None

    def names_in(self, column: int) -> list[str]:
        """Return all names that stand in a column of names; nothing for another."""
        at = column - (self._texts is not None)
        held = None if at < 0 else self._frame.iloc[:, at]
        if held is None or not isinstance(held.dtype, pd.CategoricalDtype):
            return []
        codes, known = held.cat.codes.to_numpy(), held.cat.categories
        there = np.bincount(codes[codes >= 0], minlength=len(known))
        return [printable(str(name)) for name in known[there > 0]]

    def is_number(self, column: int) -> bool:
        """Return whether a column holds numbers."""
        if self._texts is not None:
            column -= 1
        return column >= 0 and self._cells[column][2]


def _plain(text: str) -> str:
    """Return a text that a tool tip cannot take for markup."""
    return f"<span>{escape(text)}</span>"


def _cell(name: str, column: pd.Series[Any]) -> tuple[str, Callable[[int], Any], bool]:
    """Return how to read one value of a column, as fast as its type allows, and whether it is a number."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, texts = column.cat.codes.to_numpy(), list(column.cat.categories)
        return name, lambda row: texts[codes[row]] if codes[row] >= 0 else None, False
    if isinstance(column.dtype, np.dtype):
        values = column.to_numpy()
        return name, lambda row: values[row], values.dtype.kind in "iuf"
    held = column.array
    return name, lambda row: held[row], pd.api.types.is_numeric_dtype(column.dtype)
