"""Keys alone reach everything, and every control has a name for screen readers."""

from __future__ import annotations

from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from freezeframe.gui.desktop.menu_table import ENTRIES, PANELS
from freezeframe.gui.desktop.window import MainWindow
from tests.gui.desktop.conftest import press, settle, type_text, wait_loaded

CONTROLS = (QAbstractButton, QAbstractItemView, QComboBox, QLineEdit, QPlainTextEdit, QProgressBar)
# Letters and signs that the time line has for itself (D1's table of keys).
SINGLE = {Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier}


def is_own(widget: QWidget) -> bool:
    """Return whether we made a control: Qt's own parts (scroll arrows, tabs, dock buttons) it names itself."""
    name = widget.objectName()
    if name.startswith("qt_") or isinstance(widget, QHeaderView):
        return False
    parent = widget.parent()
    while parent is not None:
        if isinstance(parent, QComboBox | QAbstractItemView):
            return False  # the list of a combo box, the corner of a table
        parent = parent.parent()
    return type(widget).__name__ not in (
        "QTabBar",
        "QMenuBar",
        "QMenu",
        "CloseButton",
        "QDockWidgetTitleButton",
    )


def test_every_control_has_a_name(qtbot: QtBot, window: MainWindow, fault_capture: Path) -> None:
    wait_loaded(qtbot, window, fault_capture)
    for title in PANELS:
        window.show_panel(title)
    own = [w for w in window.findChildren(QWidget) if isinstance(w, CONTROLS) and is_own(w)]
    assert len(own) > 25
    nameless = [type(w).__name__ for w in own if not w.accessibleName()]
    assert nameless == []
    assert window.timeline.accessibleName()


def test_every_entry_of_a_menu_has_a_key_or_a_letter_and_no_key_stands_twice(
    window: MainWindow,
) -> None:
    keys = [entry.key for entry in ENTRIES if entry.key]
    assert len(keys) == len(set(keys))
    for entry in ENTRIES:
        assert not entry.text or "&" in entry.text, entry.text
    letters: dict[str, set[str]] = {}
    for entry in ENTRIES:
        if entry.text:
            letter = entry.text[entry.text.index("&") + 1].lower()
            assert letter not in letters.setdefault(entry.menu, set()), entry.text
            letters[entry.menu].add(letter)


def test_no_key_of_the_menus_is_one_that_the_time_line_or_a_text_needs() -> None:
    for entry in ENTRIES:
        plain = entry.key.removeprefix("Shift+")
        assert len(plain) != 1, f"{entry.text}: {entry.key} would be taken from typing"


def test_every_entry_calls_something_that_is_there(window: MainWindow) -> None:
    texts = {entry.text.replace("&", "").rstrip(".") for entry in ENTRIES if entry.text}
    assert texts | {"Undo", "Redo"} == set(window.menus.actions)
    assert set(window.menus.submenus) == {"exports", "views"}


@pytest.mark.parametrize("title", [title for title in PANELS if title != "Live"])
def test_a_key_leads_into_each_panel(
    qtbot: QtBot, window: MainWindow, fault_capture: Path, title: str
) -> None:
    number = "" if title in ("Tracks", "Proof") else f"{PANELS.index(title) + 1} "
    window.menus.actions[number + title].trigger()
    focus = QApplication.focusWidget()
    inside = window.docks[title].widget()
    assert focus is not None and inside is not None
    assert inside.isAncestorOf(focus)


def test_f6_goes_around_all_open_panels_and_the_time_line(
    qtbot: QtBot, window: MainWindow, fault_capture: Path
) -> None:
    wait_loaded(qtbot, window, fault_capture)
    window.activateWindow()
    window.timeline.setFocus()
    seen = []
    for _ in range(len(PANELS)):
        window.menus.actions["Next panel"].trigger()
        focus = QApplication.focusWidget()
        assert focus is not None
        seen += [t for t, dock in window.docks.items() if dock.isAncestorOf(focus)] or ["time line"]
    visible = [t for t in PANELS if window.docks[t].isVisible()]
    assert set(seen) == {*visible, "time line"}


def test_the_fault_is_found_with_keys_alone(opened: MainWindow, qtbot: QtBot) -> None:
    """Ctrl+2 and Down: the finding; Ctrl+F: a search; F3: on; Ctrl+Z is offered for notes."""
    opened.activateWindow()
    qtbot.waitUntil(opened.isActiveWindow, timeout=10_000)
    opened.timeline.setFocus()
    press(opened, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(opened.findings.list.hasFocus, timeout=10_000)
    press(opened.findings.list, Qt.Key.Key_Home)
    if opened.timeline.selection() is None:
        press(opened.findings.list, Qt.Key.Key_Return)
    selection = opened.timeline.selection()
    assert selection is not None and selection.key == "1/words/A.tx_deq"
    opened.timeline.setFocus()
    press(opened.timeline, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(opened.table.find_edit.hasFocus, timeout=10_000)
    type_text(opened.table.find_edit, "word == 5")
    press(opened.table.find_edit, Qt.Key.Key_Return)
    settle(qtbot, opened)
    row = opened.table.current_row()
    frame = opened.workspace.sources["1"].tables["words"].frame
    assert row is not None and int(frame["word"].iloc[row]) == 5
    press(opened, Qt.Key.Key_F3)
    after = opened.table.current_row()
    assert after is not None and after > row
    # Tab leaves the table: the keyboard is not caught in it
    opened.table.view.setFocus()
    press(opened.table.view, Qt.Key.Key_Tab)
    assert not opened.table.view.hasFocus()


def test_both_themes_have_texts_that_can_be_read(window: MainWindow) -> None:
    """WCAG 2.1 clause 1.4.6: a contrast of 7 to 1; 4.5 to 1 (1.4.3) for hints."""
    from PyQt6.QtGui import QPalette

    from freezeframe.gui.palette import THEMES, contrast

    roles = QPalette.ColorRole
    for theme in THEMES.values():
        window.set_theme(theme.name)
        palette = QApplication.palette()

        def colour(role: QPalette.ColorRole, palette: QPalette = palette) -> int:
            return palette.color(QPalette.ColorGroup.Active, role).rgb() & 0xFFFFFF

        for text, ground, least in (
            (roles.Text, roles.Base, 7.0),
            (roles.Text, roles.AlternateBase, 7.0),
            (roles.WindowText, roles.Window, 7.0),
            (roles.ButtonText, roles.Button, 7.0),
            (roles.HighlightedText, roles.Highlight, 4.5),
            (roles.PlaceholderText, roles.Base, 4.5),
        ):
            assert contrast(colour(text), colour(ground)) >= least, (theme.name, text.name)
