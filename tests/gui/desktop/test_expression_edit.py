"""The line of an expression: its error is seen at its place, as pixels, not only known to the program."""

from __future__ import annotations

import pytest
from PyQt6.QtGui import QColor, QFontMetrics
from pytestqt.qtbot import QtBot

from freezeframe.gui.desktop.widgets import ExpressionEdit

TEXT = "kind == BODY an flow"


@pytest.fixture
def edit(qtbot: QtBot) -> ExpressionEdit:
    made = ExpressionEdit("find", "kind == CREDIT")
    qtbot.addWidget(made)
    made.resize(400, 30)
    made.show()
    made.setText(TEXT)
    return made


def underlined(edit: ExpressionEdit) -> list[int]:
    """Return the columns of pixels that have the colour of the underline."""
    image = edit.grab().toImage()
    columns = []
    for x in range(image.width()):
        colours = [QColor(image.pixel(x, y)) for y in range(image.height())]
        if any(c.red() > 180 and c.green() < 140 and c.blue() < 110 for c in colours):
            columns.append(x)
    return columns


def test_an_error_is_underlined_below_its_letters_and_nowhere_else(edit: ExpressionEdit) -> None:
    assert underlined(edit) == []
    edit.mark(13, 15)
    columns = underlined(edit)
    widths = QFontMetrics(edit.font())
    before, wrong = widths.horizontalAdvance(TEXT[:13]), widths.horizontalAdvance("an")
    margin = 10  # of the line's frame
    assert before - 2 <= columns[0] <= before + margin
    assert wrong - 4 <= columns[-1] - columns[0] <= wrong + 2
    edit.unmark()
    assert underlined(edit) == []


def test_what_is_missing_at_the_end_is_underlined_at_the_last_letter(edit: ExpressionEdit) -> None:
    edit.mark(len(TEXT), len(TEXT))
    columns = underlined(edit)
    assert columns
    assert columns[-1] - columns[0] <= QFontMetrics(edit.font()).horizontalAdvance("w") + 2


def test_the_underline_scrolls_with_a_long_text(edit: ExpressionEdit) -> None:
    edit.setText("x" * 80 + " an flow")
    edit.mark(81, 83)
    assert underlined(edit)  # the end is in sight
    edit.setCursorPosition(0)
    assert underlined(edit) == []


def test_an_empty_line_has_no_underline(edit: ExpressionEdit) -> None:
    edit.setText("")
    edit.mark(0, 0)
    assert edit.wrong_px() is None
    assert underlined(edit) == []
