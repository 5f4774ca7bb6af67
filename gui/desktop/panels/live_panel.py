"""A live source: whether it answers, what its recorders do, and the actions, where they are allowed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QComboBox, QWidget

from freezeframe.gui.desktop.widgets import (
    beside,
    button,
    fill_panel,
    fill_tree,
    item,
    label_of,
    named,
    offer,
    plain_label,
    tree,
)
from freezeframe.gui.text import printable

if TYPE_CHECKING:
    from freezeframe.gui.desktop.sources.live import LiveSource  # readers, monitors


class LivePanel(QWidget):
    """One live source at a time. ``asked`` has the action (arm, freeze, pull) and the source's key."""

    asked = pyqtSignal(str, str)

    def __init__(self, allow_write: bool) -> None:
        super().__init__()
        self._allow_write = allow_write
        self._sources: dict[str, LiveSource] = {}
        self.which = named(QComboBox(), "live source")
        self.banner = plain_label("state of the live source")
        font = self.banner.font()
        font.setBold(True)
        self.banner.setFont(font)
        self.facts = tree("facts of the live source", ("what", "value"))
        why = "" if allow_write else " Needs to be started with --allow-write."
        docs = {
            "arm": "Starts a new recording; the one in the card is lost.",
            "freeze": "Stops recording and keeps what was recorded.",
            "pull": "Copies a frozen recording into a capture folder and opens it.",
        }
        self.arm = button("&Arm", "arm", lambda: self._ask("arm"), docs["arm"] + why)
        self.freeze = button("Free&ze", "freeze", lambda: self._ask("freeze"), docs["freeze"] + why)
        self.pull = button("P&ull", "pull", lambda: self._ask("pull"), docs["pull"] + why)
        which = beside(label_of("&Live", self.which), self.which, stretch=1)
        actions = beside(self.arm, self.freeze, self.pull)
        fill_panel(self, which, self.banner, (self.facts, 1), actions, focus=self.which)
        self.which.currentIndexChanged.connect(lambda _: self.refresh())

    def set_sources(self, sources: Sequence[LiveSource]) -> None:
        """Offer these live sources."""
        self._sources = {source.opened.key: source for source in sources}
        offer(self.which, [(key, source.opened.name) for key, source in self._sources.items()])
        self.refresh()

    @property
    def current(self) -> LiveSource | None:
        """The source that is shown."""
        return self._sources.get(str(self.which.currentData()))

    def refresh(self) -> None:
        """Show the newest state."""
        source = self.current
        states = [] if source is None else list(source.watched.recorders)
        frozen = bool(states) and all(state.state == "frozen" for state in states)
        # Only a card has recorders; of a network interface nothing can be armed.
        # Asked once: the reader's thread may change it between two questions.
        busy = "" if source is None else source.busy
        stale = source is not None and source.watched.stale
        ready = source is not None and not busy and not stale
        able = self._allow_write and bool(states) and ready
        self.arm.setEnabled(able)
        self.freeze.setEnabled(able and not frozen)
        self.pull.setEnabled(able and frozen)
        if source is None:
            self.banner.setText("no live source")
            fill_tree(self.facts, [])
            return
        watched = source.watched
        if busy:
            text = f"{busy}: asked, not answered yet"
        elif stale:
            age = source.reader.age_ns()
            old = "never answered" if age is None else f"last answer {age / 1e9:.1f} s ago"
            text = f"STALE, {old}: {source.reader.trouble or 'no answer'}"
        elif watched.sample is None:
            text = "waiting for the first answer"
        else:
            text = (
                "; ".join(
                    f"{state.device} {state.state}"
                    + (f", cause {', '.join(state.causes)}" if state.causes else "")
                    for state in states
                )
                or "answers"
            )
            text += f"; {watched.told}" if watched.told else ""
            broken = [f"{name}: {why}" for name, why in watched.broken.items()]
            text += "".join(f"; broken law {line}" for line in broken)
        self.banner.setText(printable(text))
        since_s = (time.monotonic_ns() - source.start_ns) // 10**9
        lines = [item(["watched for", f"{since_s} s"])]
        lines += [item([name, value]) for name, value in watched.facts.items()]
        lines += [item([name, f"{value:,.3g}"]) for name, value in watched.ratios().items()]
        fill_tree(self.facts, lines)

    def _ask(self, what: str) -> None:
        source = self.current
        if source is not None and self._allow_write:
            self.asked.emit(what, source.opened.key)
