"""Questions in dialogs: a text, a time, a file."""

from __future__ import annotations

from html import escape
from pathlib import Path

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QFontDatabase
from PyQt6.QtWidgets import (
    QDialog,
    QFileDialog,
    QInputDialog,
    QLineEdit,
    QMessageBox,
    QVBoxLayout,
    QWidget,
)

from freezeframe.capture.errors import FreezeframeError
from freezeframe.gui.desktop.widgets import button, text_box
from freezeframe.gui.text import printable
from freezeframe.gui.typed_time import parse_time_ps

_KEY = Qt.ItemDataRole.UserRole


def ask_text(parent: QWidget, title: str, question: str, *, several_lines: bool = False) -> str:
    """Return what was typed; empty where the dialog was cancelled."""
    shown = _plain(question)
    if several_lines:
        text, ok = QInputDialog.getMultiLineText(parent, title, shown)
    else:
        text, ok = QInputDialog.getText(parent, title, shown)
    return text.strip() if ok else ""


def ask_time(parent: QWidget, title: str, question: str) -> int | None:
    """Return picoseconds; a text that is no time is asked for again with what is wrong."""
    text, why = "", ""
    while True:
        shown = _plain(f"{question}\n{why}" if why else question)
        text, ok = QInputDialog.getText(parent, title, shown, QLineEdit.EchoMode.Normal, text)
        if not ok:
            return None
        try:
            return parse_time_ps(text)
        except FreezeframeError as error:
            why = str(error)


def ask_place(parent: QWidget, title: str, name: str, suffix: str) -> Path | None:
    """Return where a file is to be written; the dialog asks before it replaces one."""
    path, _ = QFileDialog.getSaveFileName(parent, title, name, f"*.{suffix}")
    if not path:
        return None
    return Path(path) if Path(path).suffix else Path(f"{path}.{suffix}")


def sure(parent: QWidget, title: str, text: str) -> bool:
    """Return whether the user is sure."""
    box = QMessageBox(QMessageBox.Icon.Warning, title, "", parent=parent)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(printable(text))
    yes = box.addButton(title, QMessageBox.ButtonRole.AcceptRole)
    box.addButton(QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(QMessageBox.StandardButton.Cancel)
    box.exec()
    return box.clickedButton() is yes


def show_text(parent: QWidget, title: str, text: str) -> None:
    """Show a text in a new window."""
    dialog = QDialog(parent)
    dialog.setWindowTitle(title)
    box = text_box(title)
    box.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
    box.setPlainText(text)
    column = QVBoxLayout(dialog)
    column.addWidget(box)
    column.addWidget(button("&Close", "close", dialog.accept))
    dialog.resize(720, 560)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()


def _plain(text: str) -> str:
    """Return a text that a label of an input dialog cannot take for markup."""
    lines = "<br>".join(escape(printable(line)) for line in text.split("\n"))
    return f"<span>{lines}</span>"
