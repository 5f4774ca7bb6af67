"""The menu bar: made from a table, with a key for everything, so that no mouse is needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter

from PyQt6.QtCore import QObject
from PyQt6.QtGui import QAction, QKeySequence
from PyQt6.QtWidgets import QMenu

from freezeframe.gui.desktop.commands import Commands
from freezeframe.gui.desktop.menu_table import ENTRIES, SUBMENUS, Entry
from freezeframe.gui.desktop.sources.opened import Opened
from freezeframe.gui.desktop.views import Views
from freezeframe.gui.desktop.widgets import add_entry
from freezeframe.gui.export.formats import FORMATS
from freezeframe.gui.text import printable

_SUFFIXES = {"perfetto": ".pftrace"}


def formats_for(opened: Opened) -> list[tuple[str, str, str]]:
    """Return the formats a source can be exported in: name, what for, file suffix."""
    if opened.kind in (
        "live",
        "recording",
        "packets",
    ):  # the verbs export and decode write packets block by block
        return []
    found = []
    for form in FORMATS.values():
        if opened.kind == "capture" and form.decoded in ("none", "one"):  # it has several tables
            continue
        if opened.cards is not None and form.decoded != "any":
            continue
        found.append((form.name, form.doc, _SUFFIXES.get(form.name, f".{form.name}")))
    return found


class Menus(QObject):
    """The menus of a window. ``actions`` are its entries by their text without marks."""

    def __init__(self, window: Views, commands: Commands) -> None:
        super().__init__(window)
        self._window = window
        self._commands = commands
        self.actions: dict[str, QAction] = {}
        self.submenus: dict[str, QMenu] = {}
        menus: dict[str, QMenu] = {}
        bar = window.menuBar()
        for entry in ENTRIES:
            if entry.menu not in menus:
                added = None if bar is None else bar.addMenu(entry.menu)
                assert added is not None
                menus[entry.menu] = added
                if entry.menu == "&Edit":
                    self._add_undo(added)
            menu = menus[entry.menu]
            if not entry.call:
                menu.addSeparator()
            elif entry.call in SUBMENUS:
                self._add_submenu(menu, entry.call)
            else:
                self._add(menu, entry)

    def _add(self, menu: QMenu, entry: Entry) -> None:
        owner = self._window if entry.call.startswith("window.") else self._commands
        act: Callable[..., object] = attrgetter(entry.call.removeprefix("window."))(owner)
        arguments = () if entry.argument is None else (entry.argument,)
        action = QAction(entry.text, self)
        action.setShortcut(QKeySequence(entry.key))
        action.setStatusTip(entry.doc)
        action.triggered.connect(lambda _checked=False: act(*arguments))
        menu.addAction(action)
        self.actions[entry.text.replace("&", "").rstrip(".")] = action

    def _add_undo(self, menu: QMenu) -> None:
        stack = self._window.undo
        for name, action, key in (
            ("Undo", stack.createUndoAction(self, "&Undo"), "Ctrl+Z"),
            ("Redo", stack.createRedoAction(self, "&Redo"), "Ctrl+Shift+Z"),
        ):
            if action is not None:
                action.setShortcut(QKeySequence(key))
                menu.addAction(action)
                self.actions[name] = action
        menu.addSeparator()

    def _add_submenu(self, menu: QMenu, name: str) -> None:
        submenu = menu.addMenu(SUBMENUS[name])
        assert submenu is not None
        fill = {"exports": self._fill_exports, "views": self._fill_views}[name]
        submenu.aboutToShow.connect(partial(fill, submenu))
        self.submenus[name] = submenu

    def _fill_exports(self, menu: QMenu) -> None:
        menu.clear()
        opened = self._commands.current()
        formats = [] if opened is None else formats_for(opened)
        for name, doc, suffix in formats:
            add_entry(menu, f"{name}: {doc}", partial(self._commands.export_as, name, suffix))
        menu.setEnabled(bool(formats) or opened is None)

    def _fill_views(self, menu: QMenu) -> None:
        menu.clear()
        work = self._window.workspace
        views = [(k, n) for k in work.sources for n in work.books[k].views]
        for key, name in views:
            add_entry(menu, _menu_text(name), partial(self._commands.show_view, key, name))
        if views:
            forget = menu.addMenu("&Forget")
            assert forget is not None
            for key, name in views:
                act = partial(self._commands.forget_view, key, name)
                add_entry(forget, _menu_text(name), act)
        else:
            empty = menu.addAction("no view is kept")
            if empty is not None:
                empty.setEnabled(False)


def _menu_text(name: str) -> str:
    """Return a text that a menu shows as it is: ``&`` marks no key in it."""
    return printable(name).replace("&", "&&")
