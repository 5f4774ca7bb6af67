"""The inspector: the chosen row with all its fields; of a packet the words, their bits, and the checks."""

from __future__ import annotations

from collections.abc import Iterator

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QFontDatabase, QResizeEvent
from PyQt6.QtWidgets import QScrollArea, QTreeWidgetItem, QWidget

from freezeframe.capture.count_text import plural
from freezeframe.capture.time_text import format_ps
from freezeframe.gui.desktop.inspection import Field, InspectedWord, Inspection
from freezeframe.gui.desktop.panels.fitted import FittedTree, row_of
from freezeframe.gui.desktop.widgets import fill_panel, fill_tree, named, plain_label
from freezeframe.gui.desktop.workers import delayed
from freezeframe.gui.text import printable

_WORD = Qt.ItemDataRole.UserRole
_BELOW = (2,), 1  # what is expected goes below the value where it has no room
_BYTES = 8  # of a word
_BITS_LETTERS = 6 + 9 * _BYTES  # of its bits in one line
_BAR_PX = 14  # of the bar below the bits


class InspectorPanel(QWidget):
    """A heading, a tree, and the bits of the chosen word. ``word_chosen`` has the row of a word."""

    word_chosen = pyqtSignal(int)

    def __init__(self) -> None:
        super().__init__()
        self.title = plain_label("what is inspected", "Nothing is chosen.")
        self.tree = FittedTree("inspected fields", ("field", "value", "expected"), *_BELOW)
        self.tree.setHeaderHidden(True)  # headings of nothing
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
        self._bits_of: InspectedWord | None = None
        self._soon = delayed(self, 0, lambda: self._show_bits(self._bits_of))
        self.tree.currentItemChanged.connect(lambda now, _: self._moved(now))

    def show_inspection(self, what: Inspection, row: int | None = None) -> None:
        """Show it; ``row``: the word that is chosen, by its row of the table ``words``."""
        self.title.setText(printable(what.title))
        self._words = {word.row: word for word in what.words}
        items = []
        if what.verdicts:
            items.append(row_of(["checks", "", ""], [_line(field) for field in what.verdicts]))
        chosen = None
        if what.words:
            words = [_word(word, what.words[0].t_ps) for word in what.words]
            chosen = next((one for one in words if one.data(0, _WORD) == row), None)
            items.append(row_of([f"{len(words)} words", "", ""], words))
        fields = [_line(field) for field in what.fields]
        items += [row_of(["row", "", ""], fields)] if what.words else fields
        self.tree.blockSignals(True)
        self.tree.setHeaderHidden(not items)
        fill_tree(self.tree, items)
        for one in items[: 2 if what.words else 0]:
            one.setExpanded(True)
        self.tree.fit()
        if chosen is not None:
            chosen.setExpanded(True)
            self.tree.setCurrentItem(chosen)
        self.tree.blockSignals(False)
        self._show_bits(None if row is None else self._words.get(row))

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Share the new width."""
        super().resizeEvent(event)
        self._soon.start()

    def _moved(self, now: QTreeWidgetItem | None) -> None:
        while now is not None and now.data(0, _WORD) is None:
            now = now.parent()
        if now is not None:
            row = int(now.data(0, _WORD))
            self._show_bits(self._words.get(row))
            self.word_chosen.emit(row)

    def _show_bits(self, word: InspectedWord | None) -> None:
        self._bits_of = word
        self._bits_area.setVisible(word is not None)
        if word is None:
            return
        letter = self.bits.fontMetrics().horizontalAdvance("x")
        whole = self._bits_area.width() >= letter * _BITS_LETTERS
        self.bits.setText("\n".join(_bit_lines(word, _BYTES if whole else _BYTES // 2)))
        self._bits_area.setFixedHeight(self.bits.sizeHint().height() + _BAR_PX)


def _bit_lines(word: InspectedWord, bytes_a_line: int) -> Iterator[str]:
    """Yield the bits of a word below their numbers, below each other what they should be and which differ."""
    rows = [("is   ", f"{word.value:064b}")]
    if word.wrong:
        rows.append(("meant", f"{word.expected:064b}"))
        rows.append(("     ", f"{word.wrong:064b}".replace("0", " ").replace("1", "^")))
    for first in range(0, _BYTES, bytes_a_line):
        groups = range(8 * first, 8 * (first + bytes_a_line), 8)
        yield "bit   " + "".join(f"{63 - at:<9}" for at in groups).rstrip()
        for name, bits in rows:
            yield f"{name} " + " ".join(bits[at : at + 8] for at in groups).rstrip()
    if word.wrong:
        yield plural(word.wrong.bit_count(), "bit differs", "bits differ")


def _line(field: Field) -> QTreeWidgetItem:
    bits = ""
    if field.lsb is not None and field.width is not None:
        top = field.lsb + field.width - 1
        bits = f" [{field.lsb}]" if field.width == 1 else f" [{top}:{field.lsb}]"
    wrong = " ≠" if field.wrong and field.expected else ""
    made = row_of([field.name + bits, field.value + wrong, field.expected])
    if field.wrong:
        _bold(made)
    return made


def _word(word: InspectedWord, first_ps: int) -> QTreeWidgetItem:
    """Return the row of a word; its time counts from the packet's first word, which the heading dates."""
    after = f", +{format_ps(word.t_ps - first_ps)}" if word.t_ps > first_ps else ""
    mark = "" if word.expected is None else " ≠" if word.wrong else " ="
    made = row_of(
        [
            word.name + after,
            f"{word.value:#018x}{mark}",
            f"{word.expected:#018x}" if word.wrong else "",
        ],
        [_line(field) for field in word.fields],
        word.row,
    )
    made.setToolTip(0, format_ps(word.t_ps))
    if mark == " =":
        made.setToolTip(1, "the same as what the recording says should stand here")
    if word.wrong:
        _bold(made)
    return made


def _bold(made: QTreeWidgetItem) -> None:
    font = made.font(0)
    font.setBold(True)
    for column in range(made.columnCount()):
        made.setFont(column, font)
