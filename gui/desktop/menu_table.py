"""The menus as a table: text, key, what is called, and a sentence for the status bar."""

from __future__ import annotations

from typing import Any, NamedTuple

from freezeframe.gui.desktop.track_tree import PRESETS

PANELS = (
    "Events",
    "Findings",
    "Inspector",
    "Measurements",
    "Cursors",
    "Notes",
    "Sources",
    "Live",
    "Tracks",
    "Proof",
)
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


_FILE, _EDIT, _VIEW, _FIND = "&File", "&Edit", "&View", "F&ind"
_CURSORS, _DECODE, _PANELS, _HELP = "&Cursors", "&Decode", "&Panels", "&Help"

ENTRIES: tuple[Entry, ...] = (
    Entry(_FILE, "&Open file...", "Ctrl+O", "open_file", "Opens captures of logic analyzers."),
    Entry(
        _FILE, "Open ca&pture folder...", "Ctrl+Shift+O", "open_folder", "Opens a folder NAME.ff."
    ),
    Entry(_FILE, "Open &target...", "Ctrl+T", "open_target", "Watches a card or counters live."),
    Entry(_FILE, "&Close source", "Ctrl+W", "close_current", "Takes the chosen source out."),
    Entry(_FILE),
    Entry(
        _FILE,
        "Export picture as P&NG...",
        "Ctrl+P",
        "export_view",
        "What is seen of the time line.",
        "png",
    ),
    Entry(
        _FILE,
        "Export picture as &SVG...",
        "Ctrl+Shift+P",
        "export_view",
        "The same as lines and texts.",
        "svg",
    ),
    Entry(
        _FILE,
        "Export what is seen as CS&V...",
        "Ctrl+E",
        "export_view",
        "A line for each item in view.",
        "csv",
    ),
    Entry(_FILE, "Export p&roof as PNG...", "", "export_proof", "Pictures of the finding.", "png"),
    Entry(_FILE, "Export proo&f as SVG...", "", "export_proof", "Pictures of the finding.", "svg"),
    Entry(_FILE, call="exports"),
    Entry(_FILE),
    Entry(_FILE, "&Quit", "Ctrl+Q", "window.close"),
    Entry(_EDIT, "Add &note...", "Ctrl+M", "add_note", "A note at the chosen event or stretch."),
    Entry(_EDIT, "&Copy row", "Ctrl+Shift+C", "copy_row", "The chosen row as text."),
    Entry(
        _EDIT, "Cancel all &work", "Ctrl+.", "cancel_all", "Ends loading, decoding and searching."
    ),
    Entry(_VIEW, "Zoom &in", "Ctrl++", "window.timeline.zoom_by", argument=2.0),
    Entry(_VIEW, "Zoom &out", "Ctrl+-", "window.timeline.zoom_by", argument=0.5),
    Entry(_VIEW, "&Fit everything", "Ctrl+0", "window.timeline.zoom_fit"),
    Entry(_VIEW, "Zoom to &selection", "Ctrl+9", "window.timeline.zoom_to_selection"),
    Entry(_VIEW, "&Go to time...", "Ctrl+G", "go_to_time"),
    Entry(
        _VIEW, "Choose a s&tretch...", "Ctrl+R", "choose_stretch", "What is measured and exported."
    ),
    Entry(_VIEW, "Trac&ks...", "Ctrl+K", "go_to_panel", "Which are shown.", "Tracks"),
    Entry(_VIEW, "&Pin track", "Ctrl+Shift+K", "window.control.pin_focused", "Stays open."),
    *(
        Entry(_VIEW, f"&{number} {preset.title}", f"Alt+{number}", "preset", "", name)
        for number, (name, preset) in enumerate(PRESETS.items(), start=1)
    ),
    Entry(_VIEW, "&Legend", "Ctrl+Shift+G", "other_legend", "What the colours mean."),
    Entry(_VIEW),
    Entry(
        _VIEW, "Save vie&w...", "Ctrl+S", "save_view", "Keeps range, tracks, cursors and filter."
    ),
    Entry(_VIEW, call="views"),
    Entry(_VIEW),
    Entry(_VIEW, "&Dark or light", "Ctrl+L", "other_theme"),
    Entry(_VIEW, "F&ull screen", "F11", "full_screen"),
    Entry(_FIND, "&Find...", "Ctrl+F", "window.focus_find", "Goes to the rows that match."),
    Entry(_FIND, "F&ilter...", "Ctrl+Shift+F", "focus_filter", "Shows only the rows that match."),
    Entry(_FIND, "&Next hit", "F3", "window.table.step", argument=1),
    Entry(_FIND, "&Previous hit", "Shift+F3", "window.table.step", argument=-1),
    Entry(_FIND, "Next step of the st&ory", "Ctrl+J", "window.story.step", argument=1),
    Entry(_FIND, "Step &back in the story", "Ctrl+Shift+J", "window.story.step", argument=-1),
    Entry(_FIND, "&Clear find and filter", "Ctrl+Backspace", "clear_search"),
    Entry(_FIND),
    Entry(_FIND, "&Sort by column", "Ctrl+Shift+S", "window.table.columns.sort_current"),
    Entry(_FIND, "&Hide column", "Ctrl+Shift+D", "window.table.columns.hide_current"),
    Entry(_FIND, "Show &all columns", "Ctrl+Shift+W", "window.table.columns.show_all"),
    Entry(_CURSORS, "&Add cursor at time...", "Ctrl+Shift+A", "add_cursor"),
    Entry(
        _CURSORS, "Cursor &here", "Ctrl+Shift+H", "window.timeline.add_cursor", "Under the mouse."
    ),
    Entry(
        _CURSORS, "&Stretch between cursors", "Ctrl+Shift+R", "window.timeline.band_between_cursors"
    ),
    Entry(
        _CURSORS, "&Remove all cursors", "Ctrl+Shift+X", "window.timeline.set_cursors", argument=()
    ),
    Entry(
        _DECODE,
        "&Decode signals...",
        "Ctrl+D",
        "ask_of_current",
        "With a decoder of your choice.",
        "decode",
    ),
    Entry(
        _DECODE,
        "&Offset of a source...",
        "Ctrl+Shift+T",
        "ask_of_current",
        "Moves it in time.",
        "offset",
    ),
    Entry(
        _DECODE,
        "&Align by packets",
        "Ctrl+Shift+L",
        "ask_of_current",
        "To the first capture.",
        "align",
    ),
    Entry(
        _DECODE,
        "Co&mpare two captures",
        "Ctrl+Shift+M",
        "compare",
        "Aligns them, lists differences.",
    ),
    Entry(_PANELS, "&Time line", "Ctrl+`", "focus_timeline"),
    *(
        Entry(_PANELS, f"&{number} {title}", f"Ctrl+{number}", "go_to_panel", argument=title)
        for number, title in enumerate(PANELS[:8], start=1)
    ),
    Entry(_PANELS, "&Proof", "Ctrl+B", "go_to_panel", "Pictures that prove the finding.", "Proof"),
    Entry(_PANELS, "Ne&xt panel", "F6", "step_panel", argument=1),
    Entry(_PANELS, "Pre&vious panel", "Shift+F6", "step_panel", argument=-1),
    Entry(_HELP, "&Keys", "F1", "show_keys"),
)
