"""A tree that its panel's width is enough for: a column without room goes below another one, and no text is cut.

A row holds the texts of its columns whole; they are broken into lines for the width there is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from math import ceil

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QFontMetricsF, QResizeEvent
from PyQt6.QtWidgets import QTreeWidget, QTreeWidgetItem

from freezeframe.gui.desktop.widgets import dress_tree, item
from freezeframe.gui.desktop.workers import delayed
from freezeframe.gui.text import printable

_TEXTS = Qt.ItemDataRole.UserRole + 1
_INDENT_PX = 12
_CELL_PX = 10  # of a cell around its text
_LEAST = 20  # letters of the first column, and of the one that others go below
_MOST = 26  # letters of any other column; what is longer is broken
_LINES = 12  # of a cell; the rest is in its tip
_WORDS = re.compile(r"\s+|\S*\d (?:ps|ns|µs|ms|s)\b\S*|\S+")  # a time has its unit beside it
_PARTS = re.compile(r"\s+|[^\s._/,:\[\]]*[._/,:\[\]]*")


def fold(text: str, letters: int) -> str:
    """Return a text in lines: broken at blanks; a name longer than a line after its points and underlines.

    Only what has none of these within a line is broken between letters.
    """
    lines = []
    for line in text.split("\n"):
        now = ""
        for word in _WORDS.findall(line):
            parts = [word] if len(word) <= letters else _PARTS.findall(word)
            for part in parts:
                if len(now) + len(part.rstrip()) > letters and now:
                    lines.append(now.rstrip())
                    now = ""
                now += part if now or not part.isspace() else ""
                while len(now.rstrip()) > letters:
                    lines.append(now[:letters])
                    now = now[letters:]
        lines.append(now.rstrip())
    return "\n".join(lines)


def row_of(
    texts: Sequence[str], children: Sequence[QTreeWidgetItem] = (), data: object = None
) -> QTreeWidgetItem:
    """Return a row of a `FittedTree`; ``data`` is what it stands for."""
    made = item(texts, children, data)
    made.setData(0, _TEXTS, [printable(text) for text in texts])
    return made


class FittedTree(QTreeWidget):
    """A tree of rows made by `row_of`; a row whose first column is spanned has all the width."""

    def __init__(
        self, name: str, columns: Sequence[str], below: Collection[int], under: int
    ) -> None:
        """Make it empty.

        Args:
            name: what a screen reader calls it.
            columns: their headings.
            below: columns that go below another where all beside each other have no room.
            under: the column they go below; it has what the others leave.
        """
        super().__init__()
        dress_tree(self, name, columns)
        self.setWordWrap(False)  # `fit` breaks the lines
        self.setUniformRowHeights(False)
        self.setIndentation(_INDENT_PX)
        self.setVerticalScrollMode(QTreeWidget.ScrollMode.ScrollPerPixel)  # a row may be high
        self._below, self._under = below, under
        self._soon = delayed(self, 0, self.fit)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Share the new width, also when a bar comes or goes."""
        super().resizeEvent(event)
        self._soon.start()

    def fit(self) -> None:
        """Share the width among the columns, and break the texts of all rows; the chosen one stays in sight.

        It goes to the middle: where it came into sight while rows had other heights would depend on what came first.
        """
        _fit(self, self._below, self._under)
        current, bar = self.currentItem(), self.verticalScrollBar()
        if current is not None and bar is not None:
            self.scrollToItem(current, QTreeWidget.ScrollHint.PositionAtCenter)
            bar.setValue(bar.value() + self.visualItemRect(self.itemAt(0, 0)).top())  # a whole row


def _fit(tree: QTreeWidget, below: Collection[int], under: int) -> None:
    view = tree.viewport()
    assert view is not None, "every tree has one"
    room = view.width()
    letter = QFontMetricsF(tree.font()).horizontalAdvance("x")  # the font has one width
    every = list(_items(tree))
    rows = [(row, depth) for row, depth in every if not row.isFirstColumnSpanned()]
    inset = max((depth for _, depth in rows), default=1) * tree.indentation()

    def wide(letters: int) -> int:
        return ceil(letters * letter) + _CELL_PX if letters else 0

    header = tree.headerItem()
    assert header is not None, "every tree has one"
    headings = [header.text(column) for column in range(tree.columnCount())]
    longest = [
        max((len(_texts(row)[column]) for row, _ in rows), default=0)
        for column in range(tree.columnCount())
    ]
    needs = [wide(max(n, len(of)) if n else 0) for n, of in zip(longest, headings, strict=True)]
    needs[0] = inset + wide(longest[0])
    least = [min(need, wide(_MOST)) for need in needs]
    least[under] = min(needs[under], wide(_LEAST) + (0 if under else inset))
    if under:  # names are broken where there is no room at all
        least[0] = min(needs[0], wide(_MOST) + inset)
    beside = sum(least) <= room
    away = {n for n, need in enumerate(needs) if n and (not need or (n in below and not beside))}
    widths = [0 if n in away else need for n, need in enumerate(least)]
    if under:  # the first column has what it needs, before the rest goes to the other
        widths[0] = max(min(least[0], room - sum(widths[1:])), inset + _CELL_PX)
    widths[under] = 0
    widths[under] = max(room - sum(widths), wide(1) + (0 if under else inset))
    for column, width in enumerate(widths):
        tree.setColumnHidden(column, column in away)
        tree.setColumnWidth(column, width)
    for row, depth in every:
        texts = list(_texts(row))
        if row.isFirstColumnSpanned():
            _set(row, 0, texts[0], int((room - depth * tree.indentation() - _CELL_PX) / letter))
            continue
        if not beside:
            values = " ".join(texts[column] for column in below if texts[column])
            texts[under] += f"\n{values}" if values else ""
        for column, width in enumerate(widths):
            left = width - _CELL_PX - (0 if column else depth * tree.indentation())
            if column in away:
                row.setText(column, texts[column])
            else:
                _set(row, column, texts[column], int(left / letter))


def _set(row: QTreeWidgetItem, column: int, text: str, letters: int) -> None:
    lines = fold(text, max(letters, 1)).split("\n")
    if len(lines) > _LINES:
        lines = [*lines[: _LINES - 1], "…"]
    row.setText(column, "\n".join(lines))


def _texts(row: QTreeWidgetItem) -> list[str]:
    held: list[str] = row.data(0, _TEXTS)
    return held


def _items(tree: QTreeWidget) -> Iterator[tuple[QTreeWidgetItem, int]]:
    """Yield all rows, and how deep they stand: 1 at the top."""

    def below(row: QTreeWidgetItem, depth: int) -> Iterator[tuple[QTreeWidgetItem, int]]:
        yield row, depth
        for number in range(row.childCount()):
            child = row.child(number)
            assert child is not None, "it was counted"
            yield from below(child, depth + 1)

    for number in range(tree.topLevelItemCount()):
        top = tree.topLevelItem(number)
        assert top is not None, "it was counted"
        yield from below(top, 1)
