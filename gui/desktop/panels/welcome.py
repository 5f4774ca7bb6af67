"""What the window shows while nothing is open: what can be opened, and what was opened last."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from freezeframe.gui.desktop.widgets import beside, button, named, plain_label
from freezeframe.gui.text import printable

_WHAT = Qt.ItemDataRole.UserRole
_WIDE_PX, _LEAST_PX = 640, 440
_HELP = (
    "Drop a capture folder, a logic-analyzer file or packets here, or open one.\n"
    "No capture at hand: 'freezeframe demo' in a terminal makes one."
)


class Welcome(QWidget):
    """Buttons to open something, and a list of recent sources. ``asked``: open this; ``browse``: a command's name."""

    asked = pyqtSignal(str)
    browse = pyqtSignal(str)

    def __init__(self) -> None:
        super().__init__()
        title = plain_label("welcome", "Nothing is open")
        font = title.font()
        font.setPointSizeF(font.pointSizeF() * 1.5)
        title.setFont(font)
        self.recent = named(QListWidget(), "recent sources", "Enter opens one again.")
        self.recent.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self._recent_title = plain_label("recent", "Opened last:")
        inner = QWidget()
        inner.setMaximumWidth(_WIDE_PX)
        column = QVBoxLayout(inner)
        column.addStretch(1)
        column.addWidget(title)
        column.addWidget(plain_label("what can be opened", _HELP))
        column.addWidget(
            beside(
                button("Open file...", "open file", lambda: self.browse.emit("open_file")),
                button("Open folder...", "open folder", lambda: self.browse.emit("open_folder")),
                button("Open target...", "open target", lambda: self.browse.emit("open_target")),
            )
        )
        column.addSpacing(12)
        column.addWidget(self._recent_title)
        column.addWidget(self.recent)
        column.addStretch(2)
        self.setFocusProxy(self.recent)
        outer = QVBoxLayout(self)
        outer.addWidget(inner, 1, Qt.AlignmentFlag.AlignHCenter)
        inner.setMinimumWidth(_LEAST_PX)
        self.recent.itemActivated.connect(lambda item: self.asked.emit(str(item.data(_WHAT))))

    def set_recent(self, recent: Sequence[str]) -> None:
        """List what was opened last, the last first."""
        self.recent.clear()
        for what in recent:
            line = QListWidgetItem(printable(what))
            line.setData(_WHAT, what)
            self.recent.addItem(line)
        self.recent.setVisible(bool(recent))
        self._recent_title.setVisible(bool(recent))
