"""Small controls that the panels share: named for screen readers, and of plain text only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import TypeVar

from PyQt6.QtCore import QPointF, Qt
from PyQt6.QtGui import (
    QColor,
    QFontDatabase,
    QFontMetrics,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QPolygonF,
)
from PyQt6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QTableView,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from freezeframe.gui.palette import THEMES
from freezeframe.gui.text import printable

Control = TypeVar("Control", bound=QWidget)
_EDGE_PX = 2  # of the frame of a line of text
_SHORT = 12  # letters that every column has room for
_WAVE_PX = 2  # height and half a period of the underline


def named(widget: Control, name: str, description: str = "") -> Control:
    """Give a control the name, and the description, that a screen reader says; return it."""
    widget.setAccessibleName(name)
    if description:
        widget.setAccessibleDescription(description)
        widget.setStatusTip(description)
    return widget


def plain_label(name: str, text: str = "") -> QLabel:
    """Return a label that shows markup as plain text and can be selected with the keyboard."""
    made = named(QLabel(), name)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(True)
    made.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse
        | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    made.setText(text)
    return made


def button(
    text: str, name: str, clicked: Callable[[], object], description: str = ""
) -> QPushButton:
    """Return a push button; ``&`` in the text marks its key."""
    made = named(QPushButton(text), name, description)
    made.setAutoDefault(False)
    made.clicked.connect(lambda _checked=False: clicked())
    return made


def text_box(name: str) -> QPlainTextEdit:
    """Return a box of plain text that can be read and copied."""
    made = named(QPlainTextEdit(), name)
    made.setReadOnly(True)
    made.setTabChangesFocus(True)
    return made


def tree(name: str, columns: Sequence[str]) -> QTreeWidget:
    """Return a tree with these columns."""
    made = QTreeWidget()
    dress_tree(made, name, columns)
    return made


def dress_tree(made: QTreeWidget, name: str, columns: Sequence[str]) -> None:
    """Give a tree its name, its columns and the look of all."""
    named(made, name)
    made.setColumnCount(len(columns))
    made.setHeaderLabels(list(columns))
    made.setUniformRowHeights(True)
    made.setAllColumnsShowFocus(True)
    made.setAlternatingRowColors(True)
    made.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))


def item(
    texts: Sequence[str], children: Sequence[QTreeWidgetItem] = (), data: object = None
) -> QTreeWidgetItem:
    """Return a line of a tree, control characters shown as such; ``data`` is what it stands for."""
    made = QTreeWidgetItem([printable(text) for text in texts])
    for column, text in enumerate(texts):
        if (
            len(text) > _SHORT
        ):  # a column may be too narrow for it; a tip takes what looks like markup for such
            made.setToolTip(column, f"<span>{escape(printable(text))}</span>")
    made.addChildren(list(children))
    made.setData(0, Qt.ItemDataRole.UserRole, data)
    return made


def add_entry(menu: QMenu, text: str, act: Callable[[], object]) -> None:
    """Add an entry to a menu that is made when it is opened."""
    action = menu.addAction(text)
    if action is not None:
        action.triggered.connect(lambda _checked=False: act())


def fill_tree(
    widget: QTreeWidget, items: Sequence[QTreeWidgetItem], *, expanded: bool = False
) -> None:
    """Replace all lines of a tree; its columns become as wide as what they hold."""
    widget.clear()
    widget.addTopLevelItems(list(items))
    if expanded:
        for one in items:
            one.setExpanded(True)
    fit_columns(widget)


def fit_columns(widget: QTreeWidget) -> None:
    """Make the columns as wide as what can be seen of them; the last takes the rest."""
    for column in range(widget.columnCount() - 1):
        widget.resizeColumnToContents(column)


def table_view(name: str) -> QTableView:
    """Return a view for tables of any length: rows of one height, nothing measured."""
    made = named(QTableView(), name)
    made.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
    made.setSelectionMode(QTableView.SelectionMode.SingleSelection)
    made.setTabKeyNavigation(False)
    made.setAlternatingRowColors(True)
    made.setWordWrap(False)
    made.setShowGrid(False)
    made.setHorizontalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
    made.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
    header = made.verticalHeader()
    if header is not None:
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setDefaultSectionSize(made.fontMetrics().height() + 4)
    return made


def beside(*widgets: QWidget, stretch: int = -1) -> QWidget:
    """Return widgets in a line; ``stretch`` is the number of the one that takes the room."""
    box = QWidget()
    line = QHBoxLayout(box)
    line.setContentsMargins(0, 0, 0, 0)
    for number, widget in enumerate(widgets):
        line.addWidget(widget, 1 if number == stretch else 0)
    return box


def label_of(text: str, widget: QWidget) -> QLabel:
    """Return the label of a control; the key that ``&`` marks in it leads to the control."""
    made = QLabel(text)
    made.setBuddy(widget)
    return made


def fill_panel(panel: QWidget, *rows: QWidget | tuple[QWidget, int], focus: QWidget) -> None:
    """Put rows below each other, those with a number growing by it; the key of the panel leads to ``focus``."""
    column = QVBoxLayout(panel)
    column.setContentsMargins(4, 4, 4, 4)
    for row in rows:
        column.addWidget(*(row if isinstance(row, tuple) else (row,)))
    panel.setFocusProxy(focus)


def offer(box: QComboBox, choices: Sequence[tuple[str, str]]) -> None:
    """Offer choices, (key, name) each; the chosen one stays, else it is the first."""
    before = box.currentData()
    box.blockSignals(True)
    box.clear()
    for key, name in choices:
        box.addItem(printable(name), key)
    box.setCurrentIndex(max(box.findData(before), 0) if choices else -1)
    box.blockSignals(False)


class ExpressionEdit(QLineEdit):
    """A line for an expression; what is wrong in it is underlined at its place."""

    def __init__(self, name: str, hint: str) -> None:
        super().__init__()
        named(self, name, hint)
        self.setPlaceholderText(hint)
        self.setClearButtonEnabled(True)
        for clear in self.findChildren(QToolButton):
            named(clear, f"clear {name}")
        self.wrong: tuple[int, int] | None = None
        """The part ``[at, end)`` that is underlined."""

    def mark(self, at: int, end: int) -> None:
        """Underline a part of the text; at its end, where something is missing, the last character."""
        self.wrong = (at, end)
        self.update()

    def unmark(self) -> None:
        """Take the underline away."""
        if self.wrong is not None:
            self.wrong = None
            self.update()

    def wrong_px(self) -> tuple[int, int] | None:
        """Return from where to where the underline reaches; None without one, or scrolled out of sight."""
        text = self.text()
        if self.wrong is None or not text:
            return None
        first = max(min(self.wrong[0], len(text) - 1), 0)
        last = min(max(self.wrong[1], first + 1), len(text))
        widths = QFontMetrics(self.font())
        # The cursor is the one character whose place a QLineEdit reports, however far it is scrolled.
        zero = self.cursorRect().center().x() - widths.horizontalAdvance(
            text[: self.cursorPosition()]
        )
        begin, end = (zero + widths.horizontalAdvance(text[:at]) for at in (first, last))
        begin, end = max(begin, _EDGE_PX), min(end, self.width() - _EDGE_PX)
        return (begin, end) if begin < end else None

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Paint the line, and the underline as a wave, which differs from a letter also without its colour."""
        super().paintEvent(event)
        reach = self.wrong_px()
        if reach is None:
            return
        y = self.cursorRect().bottom()
        points = [
            QPointF(x, y - (_WAVE_PX if number % 2 else 0))
            for number, x in enumerate(range(reach[0], reach[1] + 1, _WAVE_PX))
        ]
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._wrong_ink(), 2))
        painter.drawPolyline(QPolygonF(points))
        painter.end()

    def _wrong_ink(self) -> QColor:
        dark = self.palette().color(QPalette.ColorRole.Base).lightness() < 128
        return QColor(THEMES["dark" if dark else "light"].role("error"))
