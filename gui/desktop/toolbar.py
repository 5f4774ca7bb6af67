"""The bar below the menus: what is used most, and which tracks are shown."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QObject, Qt
from PyQt6.QtWidgets import QComboBox, QToolBar

from freezeframe.gui.desktop.menus import Menus
from freezeframe.gui.desktop.track_tree import PRESETS
from freezeframe.gui.desktop.views import Views
from freezeframe.gui.desktop.widgets import label_of, named

TOOLS = (
    ("Open file", "Open"),
    ("Open capture folder", "Open folder"),
    ("", ""),
    ("Zoom in", "Zoom in"),
    ("Zoom out", "Zoom out"),
    ("Fit everything", "Fit"),
    ("Zoom to selection", "Selection"),
    ("", ""),
    ("Cursor here", "Cursor"),
    ("Stretch between cursors", "Stretch"),
    ("Add note", "Note"),
    ("", ""),
    ("Export picture as PNG", "Picture"),
    ("Dark or light", "Dark/light"),
)
"""Entries of the menus with their short names; empty for a rule."""


class ToolBar(QObject):
    """Buttons with names, and the presets of tracks that would show something."""

    def __init__(self, window: Views, menus: Menus) -> None:
        super().__init__(window)
        self._control = window.control
        self.bar = named(QToolBar("Tools"), "tools")
        self.bar.setObjectName("Tools")
        self.bar.setMovable(False)
        self.bar.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        self.presets = named(QComboBox(), "tracks shown", "A choice of tracks.")
        self.presets.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.bar.addWidget(label_of("&Show: ", self.presets))
        self.bar.addWidget(self.presets)
        self.bar.addSeparator()
        for name, short in TOOLS:
            if not name:
                self.bar.addSeparator()
                continue
            action = menus.actions[name]
            action.setIconText(short)
            key = action.shortcut().toString()
            action.setToolTip(f"{name} ({key})" if key else name)
            self.bar.addAction(action)
            made = self.bar.widgetForAction(action)
            if made is not None:
                named(made, name)
        window.addToolBar(self.bar)
        self._offer(list(PRESETS))
        window.control.offers.connect(self._offer)
        window.control.changed.connect(self._tell)
        self.presets.activated.connect(self._chosen)

    def _offer(self, names: Sequence[str]) -> None:
        if names != [self.presets.itemData(n) for n in range(self.presets.count())]:
            self.presets.clear()
            for name in names:
                self.presets.addItem(PRESETS[name].title, name)
        self._tell()

    def _tell(self) -> None:
        self.presets.setCurrentIndex(self.presets.findData(self._control.choice.preset))

    def _chosen(self, at: int) -> None:
        self._control.take_preset(str(self.presets.itemData(at)))
