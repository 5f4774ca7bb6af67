"""What each key does in the time line; the help of the desktop is made from this table."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import QKeyCombination, Qt
from PyQt6.QtGui import QKeyEvent, QKeySequence

from freezeframe.gui.desktop.timeline.steering import SteerableTimeline

Action = Callable[[SteerableTimeline], object]

KEYS: tuple[tuple[tuple[str, ...], str, Action], ...] = (
    (("Left",), "earlier by a tenth of the view", lambda v: v.pan_by(-0.1)),
    (("Right",), "later by a tenth of the view", lambda v: v.pan_by(0.1)),
    (("Shift+Left",), "earlier by most of the view", lambda v: v.pan_by(-0.9)),
    (("Shift+Right",), "later by most of the view", lambda v: v.pan_by(0.9)),
    (("+", "=", "Shift++"), "zoom in", lambda v: v.zoom_step(1)),
    (("-",), "zoom out", lambda v: v.zoom_step(-1)),
    (("Home",), "to the start", lambda v: v.go_to_end(first=True)),
    (("End",), "to the end", lambda v: v.go_to_end(first=False)),
    (("F",), "show everything", lambda v: v.zoom_fit()),
    (("Z",), "zoom to the selected stretch or item", lambda v: v.zoom_to_selection()),
    (("Up",), "choose the track above", lambda v: v.move_focus(-1)),
    (("Down",), "choose the track below", lambda v: v.move_focus(1)),
    (("PgUp",), "scroll the tracks up", lambda v: v.scroll_by(-0.8)),
    (("PgDown",), "scroll the tracks down", lambda v: v.scroll_by(0.8)),
    (("N",), "next hit of the search, else next item of the track", lambda v: v.step(1)),
    (("P", "Shift+N"), "the one before", lambda v: v.step(-1)),
    (("Ctrl+Right",), "next item of the track", lambda v: v.step_item(1)),
    (("Ctrl+Left",), "previous item of the track", lambda v: v.step_item(-1)),
    (("Return", "Enter"), "open the selected item", lambda v: v.activate()),
    (("C",), "set a cursor", lambda v: v.add_cursor()),
    ((".",), "cursor to the next edge of the track", lambda v: v.cursor_to_edge(1)),
    ((",",), "cursor to the edge before", lambda v: v.cursor_to_edge(-1)),
    (("Delete",), "remove the cursor", lambda v: v.cursors.remove_active()),
    (("B",), "select the time between the last two cursors", lambda v: v.band_between_cursors()),
    (("S",), "cursors snap to edges, on or off", lambda v: v.toggle_snapping()),
    (("M",), "write a note", lambda v: v.ask_for_mark()),
    (
        ("Y",),
        "series: each scaled to what is in view, or all of a unit alike",
        lambda v: v.toggle_scale(),
    ),
    (("Space",), "make the track thin, or open it", lambda v: v.toggle_collapsed()),
    (("Alt+Up",), "move the track up", lambda v: v.move_focused_track(-1)),
    (("Alt+Down",), "move the track down", lambda v: v.move_focused_track(1)),
    (("Ctrl+F", "/"), "find", lambda v: v.ask_for_find()),
    (("Menu", "Shift+F10"), "menu of the selected item", lambda v: v.ask_for_menu()),
    (("Esc",), "select nothing", lambda v: v.clear_selection()),
)


def key_help() -> list[tuple[str, str]]:
    """Return the keys of each action and what it does, as the help shows them."""
    return [(", ".join(keys), what) for keys, what, _ in KEYS]


def action_of(event: QKeyEvent) -> Action | None:
    """Return what a key press does; None for a key without a meaning here."""
    modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    pressed = QKeyCombination(modifiers, Qt.Key(event.key())).toCombined()
    found = _ACTIONS.get(pressed)
    if found is None and not modifiers & ~Qt.KeyboardModifier.ShiftModifier:
        # on some keyboards + and / need shift
        found = _BY_TEXT.get(event.text())
    return found


def _combined(key: str) -> int:
    sequence = QKeySequence(key)
    return int(sequence[0].toCombined())


_ACTIONS = {_combined(key): action for keys, _, action in KEYS for key in keys}
_BY_TEXT = {key: action for keys, _, action in KEYS for key in keys if key in "+-=/.,"}
