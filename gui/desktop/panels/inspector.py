"""The inspector: the chosen row with all its fields; of a packet the words, their bits, and the checks."""

from __future__ import annotations

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QFontDatabase
from PyQt6.QtWidgets import QScrollArea, QTreeWidgetItem, QWidget

from freezeframe.capture.count_text import plural
from freezeframe.capture.time_text import format_ps
from freezeframe.gui.desktop.inspection import Field, InspectedWord, Inspection
from freezeframe.gui.desktop.widgets import (
    fill_panel,
    fill_tree,
    fit_columns,
    item,
    named,
    plain_label,
    tree,
)
from freezeframe.gui.text import printable

_WORD = Qt.ItemDataRole.UserRole
_BAR_PX = 14  # of the bar below the bits


class InspectorPanel(QWidget):
    """A heading, a tree, and the bits of the chosen word. ``word_chosen`` has the row of a word."""

    word_chosen = pyqtSignal(int)

    def __init__(self) -> None:
        super().__init__()
        self.title = plain_label("what is inspected", "Nothing is chosen.")
        self.tree = tree("inspected fields", ("field", "value", "expected", "bits"))
        self.bits = plain_label("bits of the chosen word")
        self.bits.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.bits.setWordWrap(False)
        self._bits_area = named(
            QScrollArea(), "bits, scrolled"
        )  # 64 bits must not make the panel wide
        self._bits_area.setWidget(self.bits)
        self._bits_area.setWidgetResizable(True)
        self._bits_area.setFrameShape(QScrollArea.Shape.NoFrame)
        self._bits_area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._bits_area.hide()
        fill_panel(self, self.title, (self.tree, 1), self._bits_area, focus=self.tree)
        self._words: dict[int, InspectedWord] = {}
        self.tree.currentItemChanged.connect(lambda now, _: self._moved(now))

    def show_inspection(self, what: Inspection, row: int | None = None) -> None:
        """Show it; ``row``: the word that is chosen, by its row of the table ``words``."""
        self.title.setText(printable(what.title))
        self._words = {word.row: word for word in what.words}
        items = []
        if what.verdicts:
            items.append(item(["checks", "", "", ""], [_line(field) for field in what.verdicts]))
        chosen = None
        if what.words:
            words = [_word(word) for word in what.words]
            chosen = next((one for one in words if one.data(0, _WORD) == row), None)
            items.append(item([f"{len(words)} words", "", "", ""], words))
        fields = [_line(field) for field in what.fields]
        items += [item(["row", "", "", ""], fields)] if what.words else fields
        self.tree.blockSignals(True)
        fill_tree(self.tree, items)
        for one in items[: 2 if what.words else 0]:
            one.setExpanded(True)
        fit_columns(self.tree)
        said = [
            *what.verdicts,
            *what.fields,
            *(field for word in what.words for field in word.fields),
        ]
        self.tree.setColumnHidden(2, not what.words and not any(field.expected for field in said))
        self.tree.setColumnHidden(3, not what.words and all(field.lsb is None for field in said))
        for column, most in ((0, 190), (1, 165), (2, 200)):
            self.tree.setColumnWidth(column, min(self.tree.columnWidth(column), most))
        if chosen is not None:
            chosen.setExpanded(True)
            self.tree.setCurrentItem(chosen)
            self.tree.scrollToItem(chosen)
        self.tree.blockSignals(False)
        self._show_bits(None if row is None else self._words.get(row))

    def _moved(self, now: QTreeWidgetItem | None) -> None:
        while now is not None and now.data(0, _WORD) is None:
            now = now.parent()
        if now is not None:
            row = int(now.data(0, _WORD))
            self._show_bits(self._words.get(row))
            self.word_chosen.emit(row)

    def _show_bits(self, word: InspectedWord | None) -> None:
        self._bits_area.setVisible(word is not None)
        if word is None:
            return
        lines = ["bit   63       55       47       39       31       23       15       7"]
        lines.append(f"is    {word.bits}")
        if word.wrong:
            wanted = f"{word.expected:064b}"
            wrong = f"{word.wrong:064b}"
            lines.append("meant " + " ".join(wanted[at : at + 8] for at in range(0, 64, 8)))
            marks = " ".join(
                wrong[at : at + 8].replace("0", " ").replace("1", "^") for at in range(0, 64, 8)
            )
            count = word.wrong.bit_count()
            lines.append(f"      {marks}")
            lines.append(f"{plural(count, 'bit differs', 'bits differ')}")
        self.bits.setText("\n".join(lines))
        self._bits_area.setFixedHeight(self.bits.sizeHint().height() + _BAR_PX)


def _line(field: Field) -> QTreeWidgetItem:
    bits = (
        ""
        if field.lsb is None or field.width is None
        else (
            f"[{field.lsb}]" if field.width == 1 else f"[{field.lsb + field.width - 1}:{field.lsb}]"
        )
    )
    wrong = " ≠" if field.wrong and field.expected else ""
    made = item([field.name, field.value, field.expected + wrong, bits])
    if field.wrong:
        _bold(made)
    return made


def _word(word: InspectedWord) -> QTreeWidgetItem:
    expected = (
        ""
        if word.expected is None
        else ("the same" if not word.wrong else f"{word.expected:#018x} ≠")
    )
    made = item(
        [f"{word.name}, {format_ps(word.t_ps)}", f"{word.value:#018x}", expected, "[63:0]"],
        [_line(field) for field in word.fields],
        word.row,
    )
    if word.wrong:
        _bold(made)
    return made


def _bold(made: QTreeWidgetItem) -> None:
    font = made.font(0)
    font.setBold(True)
    for column in range(made.columnCount()):
        made.setFont(column, font)
