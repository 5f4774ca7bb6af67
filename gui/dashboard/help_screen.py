"""The help of the dashboard: its keys, and what the marks mean."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.events import Resize
from textual.screen import ModalScreen

from freezeframe.gui.dashboard.lines import Line, LineView, hanging
from freezeframe.gui.dashboard.palette import ALARM, HEAD, PLAIN, SELECTED, WARN

KEYS: tuple[tuple[str, str], ...] = (
    ("?", "this help"),
    ("/", "filter: part of a name, or a pattern such as *err*; Enter keeps it, Esc removes it"),
    ("z", "show counters that are 0 and have not moved, or hide them"),
    ("space", "pause the picture; reading, alarms and recording go on"),
    ("+ -", "read more often, less often"),
    ("n", "select the next source; it carries >"),
    ("s", "snapshot: all counters of all sources into a new file counters-NNNN.json"),
    ("p", "pull the selected card, when frozen, into a new capture folder watch-NNNN.ff"),
    ("a", "arm the selected card (with --allow-write); twice where a recording would be lost"),
    ("f", "freeze the selected card (with --allow-write)"),
    ("arrows", "scroll, also PageUp, PageDown, Home, End; Tab goes from the table to the log"),
    ("q", "quit"),
)
_MARKS = (
    ("!!", ALARM, "an alarm of --alarm rings"),
    ("!", WARN, "errors, drops and the like grew within the last ten seconds"),
    ("?", PLAIN, "the source does not answer; the value is its last"),
)
_COLUMNS = (
    ("by second", "the highest rate of each second, newest at the right; of a gauge, its value"),
    ("waits", "of the link cycles that had something to send, those that waited for credit"),
)


class HelpScreen(ModalScreen[None]):
    """All keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape,question_mark,q", "dismiss", "Close"),
    ]
    CSS = """
    HelpScreen { background: ansi_default; }
    #help { width: 100%; height: 100%; }
    """

    def compose(self) -> ComposeResult:
        """One view of lines."""
        yield LineView(id="help", name="Help")

    def on_mount(self) -> None:
        """Take the keyboard."""
        self.query_one("#help", LineView).focus()

    def on_resize(self, event: Resize) -> None:
        """Fill it, as wide as the terminal is."""
        self.query_one("#help", LineView).show(_lines(event.size.width - 1))


def _lines(width: int) -> list[Line]:
    lines: list[Line] = [(("Keys (Esc closes this)", HEAD),)]
    for key, text in KEYS:
        lines += hanging((f"  {key:<8}", SELECTED), text, PLAIN, width)
    lines += [(), (("Marks", HEAD),)]
    for mark, style, text in _MARKS:
        lines += hanging((f"  {mark:<3}", style), text, PLAIN, width)
    lines += [(), (("Columns", HEAD),)]
    for name, text in _COLUMNS:
        lines += hanging((f"  {name}: ", PLAIN), text, PLAIN, width)
    return lines
