"""The menus as a table, menus.toml: text, key, what is called, and a sentence for the status bar."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from freezeframe.gui.desktop.track_tree import PRESETS

_TABLE = tomllib.loads(Path(__file__).with_name("menus.toml").read_text("utf-8"))
PANELS: tuple[str, ...] = tuple(_TABLE.pop("panels"))
"""The panels around the time line, in the order of their keys Ctrl+1 to Ctrl+8; tracks have Ctrl+K, proof Ctrl+B."""

SUBMENUS = {"exports": "&Export selection as", "views": "Sa&ved views"}


class Entry(NamedTuple):
    """A line of a menu. ``call`` is a method of `Commands`, a submenu, or empty for a rule.

    After ``window.`` it is a method of the window or of one of its parts. ``argument``: what it is called
    with; None for nothing.
    """

    menu: str
    text: str = ""
    key: str = ""
    call: str = ""
    doc: str = ""
    argument: Any = None


def _entries() -> Iterator[Entry]:
    for entry in (Entry(menu, *line) for menu, lines in _TABLE.items() for line in lines):
        if entry.call == "presets":
            for number, (name, preset) in enumerate(PRESETS.items(), start=1):
                text, key = f"&{number} {preset.title}", f"Alt+{number}"
                yield Entry(entry.menu, text, key, "preset", argument=name)
        elif entry.call == "panels":
            for number, title in enumerate(PANELS[:8], start=1):
                text, key = f"&{number} {title}", f"Ctrl+{number}"
                yield Entry(entry.menu, text, key, "go_to_panel", argument=title)
        else:
            yield entry


ENTRIES = tuple(_entries())
