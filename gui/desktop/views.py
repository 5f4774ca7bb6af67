"""The views of the desktop: the time line in the middle, tables and panels around it, all showing one choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QUndoStack
from PyQt6.QtWidgets import QDockWidget, QLineEdit, QMainWindow, QVBoxLayout, QWidget

from freezeframe.capture.errors import FreezeframeError
from freezeframe.capture.time_text import format_ps
from freezeframe.gui.desktop.evidence import (
    evidence_rows,
    evidence_stretch,
    first_evidence,
    framed,
    subject_of,
)
from freezeframe.gui.desktop.inspection import Field, Inspection, inspect_place, known_time
from freezeframe.gui.desktop.legend import Legend
from freezeframe.gui.desktop.measure import Measured, measure
from freezeframe.gui.desktop.panels.cursors import CursorsPanel
from freezeframe.gui.desktop.panels.event_table import EventTable
from freezeframe.gui.desktop.panels.findings import FindingsPanel
from freezeframe.gui.desktop.panels.inspector import InspectorPanel
from freezeframe.gui.desktop.panels.jobs_bar import JobsBar
from freezeframe.gui.desktop.panels.live_panel import LivePanel
from freezeframe.gui.desktop.panels.measurements import MeasurementsPanel
from freezeframe.gui.desktop.panels.notes_panel import NotesPanel
from freezeframe.gui.desktop.panels.proof_panel import ProofPanel
from freezeframe.gui.desktop.panels.sources_panel import SourcesPanel
from freezeframe.gui.desktop.panels.story_strip import StoryStrip
from freezeframe.gui.desktop.panels.tracks_panel import TracksPanel
from freezeframe.gui.desktop.panels.welcome import Welcome
from freezeframe.gui.desktop.shown_tracks import ShownTracks, begins_thin
from freezeframe.gui.desktop.sources.opened import Opened, Place, reaches_of
from freezeframe.gui.desktop.theme import apply_theme
from freezeframe.gui.desktop.timeline.overview import Overview
from freezeframe.gui.desktop.timeline.scene import GUTTER_PX
from freezeframe.gui.desktop.timeline.view import Selection, TimelineView
from freezeframe.gui.desktop.timeline.window import LEAST_SPAN_PS
from freezeframe.gui.desktop.track_control import TrackControl
from freezeframe.gui.desktop.track_tree import rank
from freezeframe.gui.desktop.widgets import beside, button, named, plain_label
from freezeframe.gui.desktop.workers import delayed
from freezeframe.gui.desktop.workspace import Workspace
from freezeframe.gui.palette import THEMES, ThemeName
from freezeframe.gui.text import printable
from freezeframe.gui.tracks.said import legend_of
from freezeframe.gui.tracks.story import Step
from freezeframe.gui.tracks.tracks import MarkTrack, Track

Bools = npt.NDArray[np.bool_]
_FEW = 3  # tracks that are replaced one by one; each lays out all of them
_TROUBLES = 5  # messages that are shown at once
_MEASURE_MS = 150  # after the last change of the stretch


class Views(QMainWindow):
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
        super().__init__()
        self.setWindowTitle("Freezeframe")
        self.workspace = workspace
        workspace.setParent(self)
        self.allow_write = allow_write
        self.undo = QUndoStack(self)
        self._shown: dict[str, ShownTracks] = {}
        self._given: dict[str, Track] = {}
        self._known: set[str] = set()  # tracks that were shown before: the user's choices stand
        self._measuring: Any = None
        self._chosen: Place | None = None
        self._recordings = True
        self._findings_away = False  # hidden for want of recordings, not by the user
        self._guided = False  # a finding was shown, by the user or by itself
        self._at_ps = at_ps
        self._told = ""  # the source of the finding whose story is told
        self._step_cursor = ""  # the cursor that marks the time of a step without a row
        self.theme: ThemeName = theme
        self.timeline = named(
            TimelineView(), "time line", "Arrows move, + and - zoom, F fits, n and p step."
        )
        self.overview = named(Overview(GUTTER_PX), "overview of the whole recording")
        self.overview.hide()
        self.table = EventTable(workspace.jobs)
        self.findings = FindingsPanel()
        self.proof = ProofPanel(workspace.jobs)
        self.story = named(StoryStrip(), "story", "How the finding came about, step by step.")
        self.inspector = InspectorPanel()
        self.measurements = MeasurementsPanel()
        self.cursors = CursorsPanel(self.timeline)
        self.notes = NotesPanel(self.undo)
        self.sources = SourcesPanel()
        self.live = LivePanel(allow_write)
        self.tracks = TracksPanel()
        self.control = TrackControl(self.timeline, self.tracks, self)
        self.legend = named(Legend(), "legend")
        self.welcome = Welcome()
        self.legend_on = True
        self.setAcceptDrops(True)
        self.jobs_bar = JobsBar(workspace.jobs)
        self._troubles: list[str] = []
        self.trouble = plain_label("message")
        self.trouble.setContentsMargins(8, 4, 8, 4)
        self._trouble_bar = beside(
            self.trouble,
            button("Dismiss", "dismiss message", lambda: self.say_trouble("")),
            stretch=0,
        )
        self._trouble_bar.hide()
        self.docks: dict[str, QDockWidget] = {}
        self._lay_out()
        self._measure_soon = delayed(self, _MEASURE_MS, self.measure)
        self._connect()
        self.set_theme(theme)
        self._refresh_panels()
        self._show_middle()

    # Building

    def _lay_out(self) -> None:
        middle = QWidget()
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._trouble_bar)
        column.addWidget(self.welcome, 1)
        column.addWidget(self.story)
        column.addWidget(self.overview)
        column.addWidget(self.timeline, 1)
        column.addWidget(self.legend)
        column.addWidget(self.jobs_bar)
        self.setCentralWidget(middle)
        right, bottom = (
            Qt.DockWidgetArea.RightDockWidgetArea,
            Qt.DockWidgetArea.BottomDockWidgetArea,
        )
        # What is read of the time line lies in its width; beside it, what is said of a choice, and what is shown.
        self._dock("Findings", self.findings, right)
        for area, tabs in (
            (
                bottom,
                {
                    "Events": self.table,
                    "Proof": self.proof,
                    "Measurements": self.measurements,
                    "Cursors": self.cursors,
                    "Notes": self.notes,
                },
            ),
            (
                right,
                {
                    "Inspector": self.inspector,
                    "Sources": self.sources,
                    "Live": self.live,
                    "Tracks": self.tracks,
                },
            ),
        ):
            first = next(iter(tabs))
            for title, widget in tabs.items():
                self._dock(title, widget, area)
                if title != first:
                    self.tabifyDockWidget(self.docks[first], self.docks[title])
            self.docks[first].raise_()
        self.setCorner(Qt.Corner.BottomRightCorner, right)
        self.setTabPosition(right, self.tabPosition(bottom))
        self.resize(1600, 900)
        self.resizeDocks([self.docks["Events"]], [260], Qt.Orientation.Vertical)
        self.resizeDocks([self.docks["Findings"]], [470], Qt.Orientation.Horizontal)
        status = self.statusBar()
        if status is not None:
            named(status, "status")

    def _dock(self, title: str, widget: QWidget, area: Qt.DockWidgetArea) -> None:
        dock = named(QDockWidget(title), f"{title} panel")
        dock.setObjectName(title)
        dock.setWidget(widget)
        self.addDockWidget(area, dock)
        self.docks[title] = dock

    def _connect(self) -> None:
        work = self.workspace
        work.added.connect(self._added)
        work.changed.connect(self._changed)
        work.removed.connect(self._removed)
        work.trouble.connect(self.say_trouble)
        work.said.connect(self.say)
        work.jobs.changed.connect(self._refresh_findings)
        work.jobs.changed.connect(self._show_middle)
        self.control.changed.connect(self._refresh_legend)
        self.timeline.gutter_changed.connect(self.overview.set_gutter)
        self.welcome.asked.connect(self.open)
        self.timeline.selection_changed.connect(self._timeline_chosen)
        self.timeline.item_activated.connect(self._timeline_activated)
        self.timeline.time_selection_changed.connect(lambda _: self._measure_soon.start())
        self.timeline.range_changed.connect(lambda _a, _b: self._measure_soon.start())
        self.timeline.range_changed.connect(
            lambda a, b: self.overview.set_range(self.timeline.extent(), (a, b))
        )
        self.overview.asked.connect(self.timeline.centre)
        self.timeline.tracks_changed.connect(self._reordered)
        self.timeline.find_requested.connect(self.focus_find)
        self.table.chosen.connect(lambda place: self.choose(place, "table"))
        self.table.activated.connect(self.zoom_to)
        self.table.hits.connect(self._hits)
        self.table.filtered.connect(self._filtered)
        self.findings.chosen.connect(self.show_finding)
        self.findings.shown.connect(self._finding_shown)
        self.story.asked.connect(self._step_asked)
        self.docks["Proof"].visibilityChanged.connect(self.proof.set_seen)
        self.docks["Findings"].visibilityChanged.connect(self._panel_seen)
        self.findings.evidence_chosen.connect(lambda place: self.choose(place, "findings"))
        self.inspector.word_chosen.connect(self._word_chosen)
        self.measurements.track_chosen.connect(lambda _: self.measure())
        self.notes.chosen.connect(self._note_chosen)
        self.notes.changed.connect(self.workspace.notes_changed)

    # What the user asks for

    def open(self, what: str, specs: Sequence[str] = ()) -> str | None:
        """Begin to open a path or URL; return its key."""
        key = self.workspace.open(what, tuple(specs))
        if key is not None:
            self.opened.emit(what)
            self._show_middle()
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

    def show_legend(self, on: bool) -> None:
        """Show what colours mean below the time line, or not."""
        self.legend_on = on
        self._show_middle()

    def choose(self, place: Place, by: str) -> None:
        """Show a row in all views but the one that it was chosen in."""
        opened = self.workspace.sources.get(place.source)
        if opened is None or place.table not in opened.tables:
            return
        if not 0 <= place.row < len(opened.tables[place.table]):
            return
        self._chosen = place
        if by != "table" and not self.table.show_place(place):
            self.say("the filter hides this row in the table")
        if by != "timeline":
            self._show_on_timeline(opened, place)
        if opened.tables[place.table].partner:
            self.timeline.set_hits(
                self._shown[place.source].hits(place.table, np.array([place.row], np.int64))
            )
            place = self._packet_of_pair(opened, place, by)
            opened = self.workspace.sources[place.source]
            self._chosen = place
        if by != "inspector":
            inspection, word = inspect_place(opened, place)
            self.inspector.show_inspection(inspection, word)

    def _packet_of_pair(self, opened: Opened, place: Place, by: str) -> Place:
        """Return the packet of the side that was clicked; else of the first that has it."""
        table = opened.tables[place.table]
        said = table.row(place.row)
        chosen = self.timeline.selection()
        clicked = by == "timeline" and chosen is not None and chosen.key.endswith("/second")
        if int(said["row"]) >= 0 and not (clicked and int(said["other_row"]) >= 0):
            return Place(place.source, "packets", int(said["row"]))
        if table.partner not in self.workspace.sources:  # it was closed meanwhile
            return place
        return Place(table.partner, "packets", int(said["other_row"]))

    def zoom_to(self, place: Place) -> None:
        """Choose a row and show it as large as it can be read."""
        self.choose(place, "table")
        selection = self.timeline.selection()
        if selection is not None:
            beside = max((selection.t_end_ps - selection.t_ps) * 2, 50_000)
            self.timeline.set_range(selection.t_ps - beside, selection.t_end_ps + beside)

    def show_finding(self, source: str, number: int) -> None:
        """Show what a finding rests on in all views: its time, its rows, its words."""
        shown = self._shown.get(source)
        if shown is None or not 0 <= number < len(shown.opened.findings):
            return
        finding = shown.opened.findings[number]
        self._guided = True
        opened = shown.opened
        frames = {name: table.frame for name, table in opened.tables.items()}
        subject = subject_of(finding, frames)
        stretch = evidence_stretch(finding, opened.around_ps)
        if subject is not None:
            frame = frames[subject[0]]
            begin, end = (int(frame[at].iloc[subject[1]]) for at in ("t_ps", "t_end_ps"))
            lasted = begin, end
            stretch = framed(stretch or lasted, lasted, self.timeline.area_width())
        best = (
            first_evidence(finding) or subject
        )  # registers alone have no row: the wait they explain
        if best is not None:
            self.choose(Place(source, *best), "findings")
        # Behind the choice, which brings its row into view wherever it stands.
        if stretch is not None:
            self.timeline.set_range(stretch[0] + opened.offset_ps, stretch[1] + opened.offset_ps)
        hits: dict[str, npt.NDArray[np.int64]] = {}
        marked = evidence_rows(finding)
        if subject is not None:
            rows = marked.get(subject[0], np.empty(0, np.int64))
            marked[subject[0]] = np.union1d(rows, np.array([subject[1]], np.int64))
        for table, rows in marked.items():
            hits |= shown.hits(table, rows)
        self.timeline.set_hits(hits)
        self.control.set_evidence([key for key, rows in hits.items() if len(rows)])
        selection = self.timeline.selection()
        if selection is not None:
            self.timeline.scroll_to_top()
            self.timeline.show_track(selection.key)

    def _finding_shown(self, source: str, number: int) -> None:
        opened = self.workspace.sources.get(source)
        known = opened is not None and 0 <= number < len(opened.findings)
        finding = opened.findings[number] if opened and known else None
        self.proof.set_finding(opened, finding)
        steps = [] if opened is None or finding is None else opened.story(finding)
        if steps != self.story.steps:
            self._unmark_step()
        self.story.set_steps(steps)
        self._told = source

    def _step_asked(self, step: Step) -> None:
        """Show a step of the story: its row in all views, then its time, as large as it can be read."""
        opened = self.workspace.sources.get(self._told)
        if opened is None:
            return
        self._unmark_step()
        if step.place is not None:
            self.choose(Place(self._told, *step.place), "findings")
        elif step.span_ps is not None:
            self._mark_step(step.span_ps[0] + opened.offset_ps)
        if step.span_ps is not None:
            begin, end = (t_ps + opened.offset_ps for t_ps in step.span_ps)
            beside = max((end - begin) // 2, opened.around_ps // 2)
            self.timeline.set_range(begin - beside, end + beside)

    def _mark_step(self, t_ps: int) -> None:
        """Set a cursor to the time of a step that no row shows; what was chosen before is of another step."""
        self._step_cursor = name = f"step {self.story.at + 1}"
        if name in (cursor.name for cursor in self.timeline.cursors()):  # of a kept view
            self.timeline.move_cursor(name, t_ps)
        else:
            self.timeline.add_cursor(t_ps, name)
        selection = self.timeline.selection()
        if selection is not None:
            self.timeline.select(selection.key, None)
        self._chosen = None
        self.table.choose_none()
        fields = Field("row", "none shows it"), Field("cursor", name)
        self.inspector.show_inspection(Inspection(self.story.text_of(self.story.at), fields=fields))

    def _unmark_step(self) -> None:
        if self._step_cursor in (cursor.name for cursor in self.timeline.cursors()):
            self.timeline.remove_cursor(self._step_cursor)
        self._step_cursor = ""

    def focus_find(self) -> None:
        """Put the keyboard into the find line."""
        self.focus_line(self.table.find_edit)

    def focus_line(self, line: QLineEdit) -> None:
        """Put the keyboard into a line of the table, its text chosen."""
        self.show_panel("Events")
        line.setFocus()
        line.selectAll()

    def show_panel(self, title: str) -> None:
        """Bring a panel to the front."""
        dock = self.docks[title]
        dock.show()
        dock.raise_()

    def set_theme(self, theme: ThemeName) -> None:
        """Show everything dark or light."""
        self.theme = theme
        apply_theme(theme)
        self.timeline.set_theme(theme)
        self.proof.set_theme(theme)
        self.story.set_theme(theme)
        self.overview.theme = THEMES[theme]
        self.overview.update()
        self.legend.theme = THEMES[theme]
        self.legend.update()

    def say(self, text: str) -> None:
        """Show a line in the status bar for a while."""
        status = self.statusBar()
        if status is not None:
            status.showMessage(printable(text), 8000)

    def say_trouble(self, text: str) -> None:
        """Show what went wrong above the time line, below what was said before; empty dismisses all."""
        line = printable(text)
        if line in self._troubles:
            return
        self._troubles = [*self._troubles, line] if line else []
        self.trouble.setText("\n".join(f"⚠ {one}" for one in self._troubles[-_TROUBLES:]))
        self._trouble_bar.setVisible(bool(line))

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

    def _added(self, key: str) -> None:
        opened = self.workspace.sources[key]
        # Beside a live card the first recording is what is looked at; the card's counters come below.
        kinds = {shown.opened.kind for shown in self._shown.values()}
        first = not kinds or (opened.kind != "live" and kinds == {"live"})
        self._shown[key] = ShownTracks(opened, {}, self.workspace.books.get(key))
        self._tracks_changed(key, fit=first)
        self._refresh_panels()
        self._title()
        self._show_middle()
        if self._at_ps is not None:
            at_ps = self._at_ps + opened.offset_ps
            self.timeline.set_range(at_ps - opened.around_ps, at_ps + opened.around_ps)
            self.timeline.add_cursor(at_ps)
        if opened.kind == "live":
            self.show_panel("Live")
        if opened.remarks:
            self.say(opened.remarks[0])

    def _changed(self, key: str, what: str) -> None:
        if key not in self._shown:
            return
        if what == "live":
            self._live_changed(key)
            return
        if what in ("all", "notes"):
            self._tracks_changed(key)
        if what == "all":
            self.table.set_sources(list(self.workspace.sources.values()))
        self._refresh_findings()
        self._refresh_notes()
        self.sources.set_sources(list(self.workspace.sources.values()))
        self._guide(key)

    def _guide(self, key: str) -> None:
        """Show the first finding by itself, where the user has not begun to look at something."""
        if self._at_ps is not None:
            near = [f.t_ps for f in self.workspace.sources[key].findings]
            if self._at_ps in near:
                self.findings.select(key, near.index(self._at_ps), tell=True)
                self._at_ps = None
            return
        untouched = self._chosen is None and self.timeline.selection() is None
        if self._guided or not (untouched and self.timeline.shows_all):
            return
        if self.workspace.sources[key].findings:
            self.findings.select(key, 0, tell=True)

    def _removed(self, key: str) -> None:
        self._shown.pop(key, None)
        for name in [name for name in self._given if name.split("/")[0] == key]:
            del self._given[name]
        self._give_tracks(fit=False)
        self._refresh_panels()
        self._title()
        self._show_middle()

    def _live_changed(self, key: str) -> None:
        opened = self.workspace.sources[key]
        before, view = self.timeline.extent(), self.timeline.range()
        # A view as narrow as can be is none that was chosen: the source had nothing when it was made. Whatever has
        # moved the extent meanwhile, another source or a pyramid that was built, it is followed.
        narrow = view[1] - view[0] <= LEAST_SPAN_PS
        following = narrow or view[1] >= before[1]
        self._tracks_changed(key)
        after = self.timeline.extent()
        if following and after[1] > before[1]:
            # What is newest stays in view; where everything was, everything stays.
            whole = narrow or view[0] <= before[0]
            by = after[1] - before[1]
            first = min(view[0], after[0]) if whole else view[0] + by
            self.timeline.set_range(first, max(view[1] + by, after[1]) if whole else view[1] + by)
        for table in opened.tables.values():
            if not self.table.offers(key, table.key):
                self.table.set_sources(list(self.workspace.sources.values()))
            self.table.refresh(key, table.key)
        self.live.refresh()

    def _tracks_changed(self, key: str, fit: bool = False) -> None:
        """Bring the tracks of a source to the time line; what is costly is made in a worker."""
        shown = self._shown[key]
        shown.notes = self.workspace.books.get(key)
        make = shown.prepare()

        def use(tracks: list[Track]) -> None:
            if self._shown.get(key) is not shown:
                return
            mine = {name for name in self._given if name.split("/")[0] == key}
            new = {track.key: track for track in tracks}
            known = mine == set(new)
            for name in mine - set(new):
                del self._given[name]
            changed = [track for name, track in new.items() if self._given.get(name) is not track]
            self._given |= new
            if known and len(changed) <= _FEW:
                for track in changed:
                    self.timeline.replace_track(track)
            else:
                self._give_tracks(fit, key)

        if shown.costly:
            self.workspace.jobs.start("prepare tracks", lambda progress: make(), use)
        else:
            use(make())

    def _give_tracks(self, fit: bool, key: str = "") -> None:
        order = sorted(
            self.workspace.sources, key=lambda name: self.workspace.sources[name].kind == "live"
        )
        tracks = sorted(
            self._given.values(), key=lambda t: (order.index(t.key.split("/")[0]), rank(t))
        )
        thin = {t.key for t in tracks if t.key not in self._known and begins_thin(t)}
        self._known |= {t.key for t in tracks}
        self.timeline.set_tracks(tracks, keep_range=not fit)
        if not self.control.own_order:
            self.timeline.set_order([track.key for track in tracks])
        for name in thin:
            self.timeline.set_collapsed(name, True)
        self.control.given()
        if fit:
            self._fit(key)
        self.measurements.set_tracks(
            [(t.key, t.name) for t in tracks if not isinstance(t, MarkTrack) or len(t)]
        )

    def _fit(self, key: str) -> None:
        """Show everything; beside a live card, whose time is far longer, the recording."""
        kinds = {shown.opened.kind for shown in self._shown.values()}
        mine = [t for name, t in self._given.items() if name.split("/")[0] == key and len(t.t_ps)]
        if kinds == {"live"} or "live" not in kinds or not mine:
            self.timeline.zoom_fit()
            return
        first, last = min(int(t.t_ps[0]) for t in mine), max(int(t.t_ps[-1]) for t in mine)
        self.timeline.set_range(first, max(last, first + 1))

    def _reordered(self) -> None:
        self.control.own_order = True

    def _refresh_panels(self) -> None:
        sources = list(self.workspace.sources.values())
        self.table.set_sources(sources)
        self.sources.set_sources(sources)
        self.live.set_sources(list(self.workspace.live.values()))
        self.docks["Live"].setVisible(bool(self.workspace.live))
        recordings = any(source.kind in ("capture", "packets") for source in sources)
        if recordings != self._recordings and sources:
            # Only recordings of cards and packets have findings; without one the room is for the others.
            self._recordings = recordings
            self._make_room(recordings)
        self._refresh_findings()
        self._refresh_notes()

    def _make_room(self, recordings: bool) -> None:
        """Hide the findings while nothing can have one; a panel that the user closed stays closed."""
        dock = self.docks["Findings"]
        if not recordings and not dock.isHidden():
            dock.hide()
            self._findings_away = True
        elif recordings and self._findings_away:
            self._findings_away = False
            dock.show()

    def _panel_seen(self, seen: bool) -> None:
        """Once the user has opened the findings, what becomes of them is his choice again."""
        self._findings_away = self._findings_away and not seen

    def panels_state(self) -> bytes:
        """Return what Qt keeps of the panels as the user left them: findings that are only away are among them."""
        dock, away = self.docks["Findings"], self._findings_away
        if away:
            dock.show()
        state = bytes(self.saveState().data())
        if away:
            dock.hide()
            self._findings_away = True
        return state

    def _refresh_findings(self) -> None:
        sources = list(self.workspace.sources.values())
        self.overview.set_memories(*reaches_of(sources))
        self.findings.set_sources(sources, self.workspace.opening)

    def _refresh_notes(self) -> None:
        self.notes.set_books(
            [(k, s.name, self.workspace.books[k]) for k, s in self.workspace.sources.items()]
        )

    def _refresh_legend(self) -> None:
        hidden = self.timeline.hidden()
        self.legend.set_entries(legend_of(t for t in self.timeline.tracks() if t.key not in hidden))

    def _show_middle(self) -> None:
        """Show the time line, or while nothing is open what can be opened."""
        empty = not self.workspace.sources and not self.workspace.opening
        self.welcome.setVisible(empty)
        self.timeline.setVisible(not empty)
        self.legend.setVisible(self.legend_on and not empty)

    def _title(self) -> None:
        names = ", ".join(source.name for source in self.workspace.sources.values())
        self.setWindowTitle(printable(f"{names} - Freezeframe" if names else "Freezeframe"))

    # Choices

    def place_of(self, selection: Selection) -> Place | None:
        """Return the row of a table that an item of the time line stands for."""
        key = selection.key.split("/")[0]
        opened = self.workspace.sources.get(key)
        table = None if opened is None else opened.shown_by.get(selection.key)
        return None if table is None else Place(key, table, selection.row)

    def _timeline_chosen(self, selection: Selection | None) -> None:
        if selection is None:
            return
        self.measurements.choose(selection.key)
        self._measure_soon.start()
        source, _, what = selection.key.partition("/")
        if what == "findings":
            self.findings.select(source, selection.row)
            return
        place = self.place_of(selection)
        if place is not None:
            self.choose(place, "timeline")

    def _timeline_activated(self, selection: Selection) -> None:
        source, _, what = selection.key.partition("/")
        if what == "findings":
            self.findings.select(source, selection.row)
            self.show_finding(source, selection.row)
            return
        place = self.place_of(selection)
        if place is not None:
            self.zoom_to(place)

    def _show_on_timeline(self, opened: Opened, place: Place) -> None:
        for track in opened.tracks:
            if opened.shown_by.get(track.key) != place.table or track.key not in self._given:
                continue
            if isinstance(track, MarkTrack) and opened.tables[place.table].partner:
                continue  # where two captures part first: the packet itself says more
            if self._given[track.key].item_of(place.row) is not None:
                self.control.reveal(track.key)
                self.timeline.set_collapsed(track.key, False)
                self.timeline.select(track.key, place.row)
                self.measurements.choose(track.key)
                return
        values = opened.tables[place.table].row(place.row)
        t_ps = known_time(values.get("t_ps"))
        if t_ps is not None:
            # No track shows the row (it is part of another table): at least its time.
            self.timeline.show_time(t_ps + opened.offset_ps)

    def _word_chosen(self, row: int) -> None:
        if self._chosen is not None:
            self.choose(Place(self._chosen.source, "words", row), "inspector")

    def _note_chosen(self, source: str, t_ps: object) -> None:
        opened = self.workspace.sources.get(source)
        if opened is not None and isinstance(t_ps, int):
            self.timeline.show_time(t_ps + opened.offset_ps)

    # Find, filter, measure

    def _hits(self, source: str, table: str, found: Bools | None) -> None:
        shown = self._shown.get(source)
        if shown is None or found is None:
            self.timeline.set_hits({})
            return
        self._in_worker(
            "mark hits", lambda: shown.hits(table, np.flatnonzero(found)), self.timeline.set_hits
        )

    def _filtered(self, source: str, table: str, found: Bools | None) -> None:
        shown = self._shown.get(source)
        if shown is None:
            return
        if found is None:
            shown.matches.pop(table, None)
        else:
            shown.matches[table] = found
        self._tracks_changed(source)

    def measure(self) -> None:
        """Measure the chosen track over the chosen stretch, in a worker."""
        key = self.measurements.track
        track = None if key is None else self._given.get(key)
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

    def _in_worker(self, title: str, work: Callable[[], Any], use: Callable[[Any], None]) -> Any:
        return self.workspace.jobs.start(title, lambda progress: work(), use, self.say_trouble)

    def report_error(self, error: FreezeframeError) -> None:
        """Show an error of something that was asked for."""
        self.say_trouble(str(error))

    def closeEvent(self, event: QCloseEvent | None) -> None:
        """End all work; notes are saved."""
        self._measure_soon.stop()
        self.table.stop()
        self.workspace.stop()
        self.timeline.shutdown()
        super().closeEvent(event)
