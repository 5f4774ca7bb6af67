"""One choice for all views: a row that is chosen in one of them is shown in the others, with its words and its time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from freezeframe.gui.desktop.evidence import (
    evidence_rows,
    evidence_stretch,
    first_evidence,
    framed,
    subject_of,
)
from freezeframe.gui.desktop.inspection import inspect_place, known_time
from freezeframe.gui.desktop.panes import Panes
from freezeframe.gui.desktop.sources.opened import Opened, Place
from freezeframe.gui.desktop.timeline.view import Selection
from freezeframe.gui.desktop.track_feed import TrackFeed
from freezeframe.gui.tracks.tracks import MarkTrack


class Choosing:
    """What is chosen in a window. ``place``: the row; ``guided``: a finding was shown, by the user or by itself."""

    def __init__(self, panes: Panes, feed: TrackFeed) -> None:
        self._panes = panes
        self._feed = feed
        self.place: Place | None = None
        self.guided = False
        self._evidence: list[str] = []  # tracks of the finding that was shown
        self._scrolled_px = 0  # as it was scrolled to them
        self._tracks = 0  # that there were then, hidden ones too

    def choose(self, place: Place, by: str) -> None:
        """Show a row in all views but the one that it was chosen in."""
        opened = self._panes.workspace.sources.get(place.source)
        if opened is None or place.table not in opened.tables:
            return
        if not 0 <= place.row < len(opened.tables[place.table]):
            return
        self.place = place
        if by != "table" and not self._panes.table.show_place(place):
            self._panes.say("the filter hides this row in the table")
        if by != "timeline":
            self._show_on_timeline(opened, place)
        if opened.tables[place.table].partner:
            self._panes.timeline.set_hits(
                self._feed.hits(place.source, place.table, np.array([place.row], np.int64))
            )
            place = self._packet_of_pair(opened, place, by)
            opened = self._panes.workspace.sources[place.source]
            self.place = place
        if by != "inspector":
            inspection, word = inspect_place(opened, place)
            self._panes.inspector.show_inspection(inspection, word)

    def zoom_to(self, place: Place) -> None:
        """Choose a row and show it as large as it can be read."""
        self.choose(place, "table")
        selection = self._panes.timeline.selection()
        if selection is not None:
            beside = max((selection.t_end_ps - selection.t_ps) * 2, 50_000)
            self._panes.timeline.set_range(selection.t_ps - beside, selection.t_end_ps + beside)

    def show_finding(self, source: str, number: int) -> None:
        """Show what a finding rests on in all views: its time, its rows, its words."""
        shown = self._feed.of(source)
        if shown is None or not 0 <= number < len(shown.opened.findings):
            return
        finding = shown.opened.findings[number]
        self.guided = True
        opened = shown.opened
        frames = {name: table.frame for name, table in opened.tables.items()}
        subject = subject_of(finding, frames)
        stretch = evidence_stretch(finding, opened.around_ps)
        if subject is not None:
            frame = frames[subject[0]]
            begin, end = (int(frame[at].iloc[subject[1]]) for at in ("t_ps", "t_end_ps"))
            lasted = begin, end
            stretch = framed(
                stretch or lasted,
                lasted,
                self._panes.timeline.area_width(),
                moment_ps=finding.t_ps,
            )
        best = (
            first_evidence(finding) or subject
        )  # registers alone have no row: the wait they explain
        if best is not None:
            self.choose(Place(source, *best), "findings")
            at = shown.hits(best[0], np.array([best[1]], np.int64))
            if subject is not None and not any(len(rows) for rows in at.values()):
                # No track shows the row: what it is about is chosen, not what was chosen before.
                self._show_on_timeline(opened, Place(source, *subject))
        # Behind the choice, which brings its row into view wherever it stands.
        if stretch is not None:
            self._panes.timeline.set_range(
                stretch[0] + opened.offset_ps, stretch[1] + opened.offset_ps
            )
        hits: dict[str, npt.NDArray[np.int64]] = {}
        marked = evidence_rows(finding)
        if subject is not None:
            rows = marked.get(subject[0], np.empty(0, np.int64))
            marked[subject[0]] = np.union1d(rows, np.array([subject[1]], np.int64))
        for table, rows in marked.items():
            hits |= shown.hits(table, rows)
        self._panes.timeline.set_hits(hits)
        self._evidence = [key for key, rows in hits.items() if len(rows)]
        self._panes.control.set_evidence(self._evidence)
        self._show_evidence()

    def tracks_given(self) -> None:
        """Bring the evidence back into view where tracks above it moved it; not once the user has scrolled."""
        timeline = self._panes.timeline
        others = len(timeline.arranged.order()) != self._tracks
        if others and self._evidence and timeline.scrolled_px == self._scrolled_px:
            self._show_evidence()

    def place_of(self, selection: Selection) -> Place | None:
        """Return the row of a table that an item of the time line stands for."""
        key = selection.key.split("/")[0]
        opened = self._panes.workspace.sources.get(key)
        table = None if opened is None else opened.shown_by.get(selection.key)
        return None if table is None else Place(key, table, selection.row)

    def timeline_chosen(self, selection: Selection | None) -> None:
        if selection is None:
            return
        self._panes.measurements.choose(selection.key)
        source, _, what = selection.key.partition("/")
        if what == "findings":
            self._panes.findings.select(source, selection.row)
            return
        place = self.place_of(selection)
        if place is not None:
            self.choose(place, "timeline")

    def timeline_activated(self, selection: Selection) -> None:
        source, _, what = selection.key.partition("/")
        if what == "findings":
            self._panes.findings.select(source, selection.row)
            self.show_finding(source, selection.row)
            return
        place = self.place_of(selection)
        if place is not None:
            self.zoom_to(place)

    def word_chosen(self, row: int) -> None:
        if self.place is not None:
            self.choose(Place(self.place.source, "words", row), "inspector")

    def note_chosen(self, source: str, t_ps: object) -> None:
        opened = self._panes.workspace.sources.get(source)
        if opened is not None and isinstance(t_ps, int):
            self._panes.timeline.show_time(t_ps + opened.offset_ps)

    def _show_evidence(self) -> None:
        """Scroll to the tracks of the evidence that are not in view, below the begin of their source if it has room."""
        timeline, selection = self._panes.timeline, self._panes.timeline.selection()
        chosen = [] if selection is None else [selection.key]
        keys = {*self._evidence, *chosen}
        rows = [row.key for row in timeline.arranged.rows]
        shown = [key for key in rows if key in keys]
        if shown:
            source = shown[0].split("/")[0]
            begin = next(key for key in rows if key.split("/")[0] == source)
            if not (timeline.show_tracks([begin, *shown]) or timeline.show_tracks(shown)):
                timeline.show_track((chosen or shown)[0])
        self._scrolled_px, self._tracks = timeline.scrolled_px, len(timeline.arranged.order())

    def _show_on_timeline(self, opened: Opened, place: Place) -> None:
        for track in opened.tracks:
            if opened.shown_by.get(track.key) != place.table or track.key not in self._feed.tracks:
                continue
            if isinstance(track, MarkTrack) and opened.tables[place.table].partner:
                continue  # where two captures part first: the packet itself says more
            if self._feed.tracks[track.key].item_of(place.row) is not None:
                self._panes.control.reveal(track.key)
                self._panes.timeline.arranged.set_collapsed([track.key], False)
                self._panes.timeline.select(track.key, place.row)
                self._panes.measurements.choose(track.key)
                return
        values = opened.tables[place.table].row(place.row)
        t_ps = known_time(values.get("t_ps"))
        if t_ps is not None:
            # No track shows the row (it is part of another table): at least its time.
            self._panes.timeline.show_time(t_ps + opened.offset_ps)

    def _packet_of_pair(self, opened: Opened, place: Place, by: str) -> Place:
        """Return the packet of the side that was clicked; else of the first that has it."""
        table = opened.tables[place.table]
        said = table.row(place.row)
        chosen = self._panes.timeline.selection()
        clicked = by == "timeline" and chosen is not None and chosen.key.endswith("/second")
        if int(said["row"]) >= 0 and not (clicked and int(said["other_row"]) >= 0):
            return Place(place.source, "packets", int(said["row"]))
        if table.partner not in self._panes.workspace.sources:  # it was closed meanwhile
            return place
        return Place(table.partner, "packets", int(said["other_row"]))
