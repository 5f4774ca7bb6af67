"""The open sources: what each is, what a reader should know of it, and where it begins on the time base."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QTreeWidgetItem, QWidget

from freezeframe.capture.time_text import format_ps
from freezeframe.gui.desktop.sources.opened import Opened
from freezeframe.gui.desktop.widgets import beside, button, fill_panel, fill_tree, item, tree

_KEY = Qt.ItemDataRole.UserRole
_KINDS = {
    "capture": "recording of a card",
    "samples": "logic-analyzer capture",
    "packets": "packets",
    "recording": "recording of counters",
    "live": "live",
}


class SourcesPanel(QWidget):
    """A tree of sources. ``asked`` has what (decode, offset, align, close) and the source's key."""

    asked = pyqtSignal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self.tree = tree("sources", ("source", "what it says"))
        buttons = [
            button(text, name, partial(self._ask, what), doc)
            for text, name, what, doc in (
                (
                    "&Decode...",
                    "decode",
                    "decode",
                    "Decodes the signals of a logic-analyzer capture.",
                ),
                (
                    "&Offset...",
                    "offset of a source",
                    "offset",
                    "Moves a source on the time base of the first.",
                ),
                (
                    "A&lign",
                    "align by packets",
                    "align",
                    "Puts the packets of a capture where the first has them.",
                ),
                ("&Close", "close source", "close", "Takes a source out of the window."),
            )
        ]
        fill_panel(self, (self.tree, 1), beside(*buttons), focus=self.tree)

    def set_sources(self, sources: Sequence[Opened]) -> None:
        """Show these sources; the chosen one stays."""
        before = self.current
        items = [_source(one) for one in sources]
        fill_tree(self.tree, items)
        self.tree.setColumnWidth(0, min(self.tree.columnWidth(0), 220))
        for one in items:
            one.setExpanded(True)
            if before is None or one.data(0, _KEY) == before:
                self.tree.setCurrentItem(one)
                before = before or str(one.data(0, _KEY))

    @property
    def current(self) -> str | None:
        """The key of the chosen source; the only one where none is chosen."""
        now = self.tree.currentItem()
        while now is not None and now.parent() is not None:
            now = now.parent()
        if now is None and self.tree.topLevelItemCount() == 1:
            now = self.tree.topLevelItem(0)
        return None if now is None else str(now.data(0, _KEY))

    def _ask(self, what: str) -> None:
        key = self.current
        if key is not None:
            self.asked.emit(what, key)


def _source(source: Opened) -> QTreeWidgetItem:
    lines = [item([name, text]) for name, text in source.facts.items()]
    if source.offset_ps:
        lines.append(item(["offset", format_ps(source.offset_ps)]))
    lines += [item(["decoded", spec]) for spec in source.specs]
    lines += [item(["remark", text]) for text in source.remarks]
    return item([source.name, _KINDS[source.kind]], lines, source.key)
