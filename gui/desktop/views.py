"""The views of the desktop, all showing one choice: what is done in one pane is brought to the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from PyQt6.QtCore import pyqtSignal
from PyQt6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent

from freezeframe.capture.errors import FreezeframeError
from freezeframe.capture.time_text import format_ps
from freezeframe.gui.desktop.choosing import Choosing
from freezeframe.gui.desktop.measure import Measured, measure
from freezeframe.gui.desktop.panes import Panes
from freezeframe.gui.desktop.sources.opened import reaches_of
from freezeframe.gui.desktop.telling import Telling
from freezeframe.gui.desktop.timeline.view import Selection
from freezeframe.gui.desktop.track_feed import TrackFeed
from freezeframe.gui.desktop.workers import delayed
from freezeframe.gui.desktop.workspace import Workspace
from freezeframe.gui.palette import ThemeName
from freezeframe.gui.text import printable
from freezeframe.gui.tracks.said import legend_of

Bools = npt.NDArray[np.bool_]
_MEASURE_MS = 150  # after the last change of the stretch


class Views(Panes):
    """A window with all views; `window.MainWindow` adds the menus. ``opened``: what `open` was called with."""

    opened = pyqtSignal(str)

    def __init__(
        self,
        workspace: Workspace,
        *,
        allow_write: bool = False,
        theme: ThemeName = "dark",
        at_ps: int | None = None,
    ) -> None:
        """``at_ps``: where the first source is looked at."""
        super().__init__(workspace, allow_write=allow_write, theme=theme)
        self._feed = TrackFeed(self)
        self.choosing = Choosing(self, self._feed)
        self._telling = Telling(self, self.choosing, at_ps)
        self._measuring: Any = None
        self._measure_soon = delayed(self, _MEASURE_MS, self.measure)
        workspace.jobs.is_drawing = self.timeline.is_building
        self._connect()
        self._refresh_panels()
        self.show_middle()

    # What the user asks for

    def open(self, what: str, specs: Sequence[str] = ()) -> str | None:
        """Begin to open a path or URL; return its key."""
        key = self.workspace.open(what, tuple(specs))
        if key is not None:
            self.opened.emit(what)
            self.show_middle()
        return key

    def dragEnterEvent(self, event: QDragEnterEvent | None) -> None:
        """Take files and folders that are dragged over the window."""
        data = None if event is None else event.mimeData()
        if event is not None and data is not None and data.hasUrls():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent | None) -> None:
        """Open what was dropped; each that cannot be opened is said, the others are."""
        data = None if event is None else event.mimeData()
        if event is None or data is None:
            return
        for url in data.urls():
            self.open(url.toLocalFile() if url.isLocalFile() else url.toString())
        event.acceptProposedAction()

    def focus_find(self) -> None:
        """Put the keyboard into the find line."""
        self.focus_line(self.table.find_edit)

    # Views that are kept

    def view_state(self) -> dict[str, Any]:
        """Return what is seen, for a saved view."""
        shown = self.table.shown
        return {
            "timeline": self.timeline.state(),
            "table": None if shown is None else [shown[0].key, shown[1].key],
            "find": self.table.find_edit.text(),
            "filter": self.table.filter_edit.text(),
            "theme": self.theme,
        }

    def restore_view(self, state: dict[str, Any]) -> None:
        """Show what `view_state` returned; what is no longer there is left as it is."""
        table = state.get("table")
        if isinstance(table, list) and len(table) == 2:
            self.table.show_table(str(table[0]), str(table[1]))
        self.table.find_edit.setText(str(state.get("find", "")))
        self.table.filter_edit.setText(str(state.get("filter", "")))
        self.table.apply_filter()
        if state.get("theme") in ("dark", "light"):
            self.set_theme(state["theme"])
        try:
            self.timeline.restore(state.get("timeline"))
            self.control.own_order = True
            self.control.restored()
        except FreezeframeError as error:
            self.report_error(error)

    # Sources

    def _connect(self) -> None:
        work = self.workspace
        work.added.connect(self._added)
        work.changed.connect(self._changed)
        work.removed.connect(self._removed)
        work.trouble.connect(self.say_trouble)
        work.said.connect(self.say)
        work.jobs.changed.connect(self._refresh_findings)
        work.jobs.changed.connect(self.show_middle)
        self.control.changed.connect(self._refresh_legend)
        self.control.offers.connect(lambda _: self.choosing.tracks_given())
        self.timeline.gutter_changed.connect(self.overview.set_gutter)
        self.welcome.asked.connect(self.open)
        self.timeline.selection_changed.connect(self.choosing.timeline_chosen)
        self.timeline.selection_changed.connect(self._measure_chosen)
        self.timeline.item_activated.connect(self.choosing.timeline_activated)
        self.timeline.time_selection_changed.connect(lambda _: self._measure_soon.start())
        self.timeline.range_changed.connect(lambda _a, _b: self._measure_soon.start())
        self.timeline.range_changed.connect(
            lambda a, b: self.overview.set_range(self.timeline.extent(), (a, b))
        )
        self.overview.asked.connect(self.timeline.centre)
        self.timeline.tracks_changed.connect(self._reordered)
        self.timeline.find_requested.connect(self.focus_find)
        self.table.chosen.connect(lambda place: self.choosing.choose(place, "table"))
        self.table.activated.connect(self.choosing.zoom_to)
        self.table.hits.connect(self._hits)
        self.table.filtered.connect(self._feed.match)
        self.findings.chosen.connect(self.choosing.show_finding)
        self.findings.shown.connect(self._telling.finding_shown)
        self.story.asked.connect(self._telling.step_asked)
        self.docks["Proof"].visibilityChanged.connect(self.proof.set_seen)
        self.findings.evidence_chosen.connect(lambda place: self.choosing.choose(place, "findings"))
        self.inspector.word_chosen.connect(self.choosing.word_chosen)
        self.measurements.track_chosen.connect(lambda _: self.measure())
        self.notes.chosen.connect(self.choosing.note_chosen)
        self.notes.changed.connect(self.workspace.notes_changed)

    def _added(self, key: str) -> None:
        opened = self.workspace.sources[key]
        self._feed.add(key)
        self._refresh_panels()
        self._title()
        self.show_middle()
        self._telling.begin(key)
        if opened.kind == "live":
            self.show_panel("Live")
        if opened.remarks:
            self.say(opened.remarks[0])

    def _changed(self, key: str, what: str) -> None:
        if self._feed.of(key) is None:
            return
        if what == "live":
            self._live_changed(key)
            return
        if what in ("all", "notes"):
            self._feed.refresh(key)
        if what == "all":
            self.table.set_sources(list(self.workspace.sources.values()))
        self._refresh_findings()
        self._refresh_notes()
        self.sources.set_sources(list(self.workspace.sources.values()))
        self._telling.guide(key)

    def _removed(self, key: str) -> None:
        self._feed.remove(key)
        self._refresh_panels()
        self._title()
        self.show_middle()

    def _live_changed(self, key: str) -> None:
        self._feed.follow(key)
        for table in self.workspace.sources[key].tables.values():
            if not self.table.offers(key, table.key):
                self.table.set_sources(list(self.workspace.sources.values()))
            self.table.refresh(key, table.key)
        self.live.refresh()

    def _reordered(self) -> None:
        self.control.own_order = True

    def _refresh_panels(self) -> None:
        sources = list(self.workspace.sources.values())
        self.table.set_sources(sources)
        self.sources.set_sources(sources)
        self.live.set_sources(list(self.workspace.live.values()))
        self.docks["Live"].setVisible(bool(self.workspace.live))
        if sources:
            self.make_room(any(source.kind in ("capture", "packets") for source in sources))
            self.control.expect_faults(any(source.kind != "samples" for source in sources))
        self._refresh_findings()
        self._refresh_notes()

    def _refresh_findings(self) -> None:
        sources = list(self.workspace.sources.values())
        self.overview.set_memories(*reaches_of(sources))
        self.findings.set_sources(sources, self.workspace.opening)

    def _refresh_notes(self) -> None:
        self.notes.set_books(
            [(k, s.name, self.workspace.books[k]) for k, s in self.workspace.sources.items()]
        )

    def _refresh_legend(self) -> None:
        hidden = self.timeline.arranged.hidden
        self.legend.set_entries(legend_of(t for t in self.timeline.tracks() if t.key not in hidden))

    def _title(self) -> None:
        names = ", ".join(source.name for source in self.workspace.sources.values())
        self.setWindowTitle(printable(f"{names} - Freezeframe" if names else "Freezeframe"))

    # Find, filter, measure

    def _hits(self, source: str, table: str, found: Bools | None) -> None:
        if found is None:
            self.timeline.set_hits({})
            return
        self._in_worker(
            "mark hits",
            lambda: self._feed.hits(source, table, np.flatnonzero(found)),
            self.timeline.set_hits,
        )

    def measure(self) -> None:
        """Measure the chosen track over the chosen stretch, in a worker."""
        key = self.measurements.track
        track = None if key is None else self._feed.tracks.get(key)
        if self._measuring is not None:
            self._measuring.cancel()
            self._measuring = None
        if track is None:
            self.measurements.show_measured(None, "no track to measure")
            return
        chosen = self.timeline.time_selection()
        t0_ps, t1_ps = chosen or self.timeline.range()
        stretch = f"{'chosen' if chosen else 'in view'}: {format_ps(t0_ps)} to {format_ps(t1_ps)}"

        def use(measured: Measured) -> None:
            self.measurements.show_measured(measured, stretch)

        self._measuring = self._in_worker("measure", lambda: measure(track, t0_ps, t1_ps), use)

    def _measure_chosen(self, selection: Selection | None) -> None:
        if selection is not None:
            self._measure_soon.start()

    def _in_worker(self, title: str, work: Callable[[], Any], use: Callable[[Any], None]) -> Any:
        return self.workspace.jobs.start(title, lambda progress: work(), use, self.say_trouble)

    def closeEvent(self, event: QCloseEvent | None) -> None:
        """End all work; notes are saved."""
        self._measure_soon.stop()
        self.table.stop()
        self.workspace.stop()
        self.timeline.shutdown()
        super().closeEvent(event)
