"""The tracks of all sources, brought to the time line: what changes is made anew, what is costly in a worker."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from freezeframe.gui.desktop.panes import Panes
from freezeframe.gui.desktop.shown_tracks import ShownTracks, begins_thin
from freezeframe.gui.desktop.timeline.window import LEAST_SPAN_PS
from freezeframe.gui.tracks.topics import rank
from freezeframe.gui.tracks.tracks import MarkTrack, Track

Int64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
_FEW = 3  # tracks that are replaced one by one; each lays out all of them


class TrackFeed:
    """What the time line of a window shows of each source. ``tracks``: by their keys, as they are shown."""

    def __init__(self, panes: Panes) -> None:
        self._panes = panes
        self._shown: dict[str, ShownTracks] = {}
        self._known: set[str] = set()  # tracks that were shown before: the user's choices stand
        self.tracks: dict[str, Track] = {}

    def add(self, key: str) -> None:
        """Show a source of the workspace."""
        panes = self._panes
        opened = panes.workspace.sources[key]
        # Beside a live card the first recording is what is looked at; the card's counters come below.
        kinds = {shown.opened.kind for shown in self._shown.values()}
        first = not kinds or (opened.kind != "live" and kinds == {"live"})
        self._shown[key] = ShownTracks(opened, {}, panes.workspace.books.get(key))
        self.refresh(key, fit=first)

    def remove(self, key: str) -> None:
        """Show a source no longer."""
        self._shown.pop(key, None)
        for name in [name for name in self.tracks if name.split("/")[0] == key]:
            del self.tracks[name]
        self._give(fit=False)

    def of(self, key: str) -> ShownTracks | None:
        """Return what is shown of a source."""
        return self._shown.get(key)

    def hits(self, source: str, table: str, rows: Int64) -> dict[str, Int64]:
        """Return the rows of a table that each track shows; none of a source that is not shown."""
        shown = self._shown.get(source)
        return {} if shown is None else shown.hits(table, rows)

    def match(self, source: str, table: str, found: Bools | None) -> None:
        """Show only the rows of a table that match a filter; all for None."""
        shown = self._shown.get(source)
        if shown is None:
            return
        if found is None:
            shown.matches.pop(table, None)
        else:
            shown.matches[table] = found
        self.refresh(source)

    def follow(self, key: str) -> None:
        """Bring what a live source has now; a view that showed its end goes on to show it."""
        timeline = self._panes.timeline
        before, view = timeline.extent(), timeline.range()
        # A view as narrow as can be is none that was chosen: the source had nothing when it was made. Whatever has
        # moved the extent meanwhile, another source or a pyramid that was built, it is followed.
        narrow = view[1] - view[0] <= LEAST_SPAN_PS
        following = narrow or view[1] >= before[1]
        self.refresh(key)
        after = timeline.extent()
        if following and after[1] > before[1]:
            # What is newest stays in view; where everything was, everything stays.
            whole = narrow or view[0] <= before[0]
            by = after[1] - before[1]
            first = min(view[0], after[0]) if whole else view[0] + by
            timeline.set_range(first, max(view[1] + by, after[1]) if whole else view[1] + by)

    def refresh(self, key: str, fit: bool = False) -> None:
        """Bring the tracks of a source to the time line; what is costly is made in a worker."""
        shown = self._shown[key]
        shown.notes = self._panes.workspace.books.get(key)
        make = shown.prepare()

        def use(tracks: list[Track]) -> None:
            if self._shown.get(key) is not shown:
                return
            mine = {name for name in self.tracks if name.split("/")[0] == key}
            new = {track.key: track for track in tracks}
            known = mine == set(new)
            for name in mine - set(new):
                del self.tracks[name]
            changed = [track for name, track in new.items() if self.tracks.get(name) is not track]
            self.tracks |= new
            if known and len(changed) <= _FEW:
                for track in changed:
                    self._panes.timeline.replace_track(track)
            else:
                self._give(fit, key)

        if shown.costly:
            self._panes.workspace.jobs.start("prepare tracks", lambda progress: make(), use)
        else:
            use(make())

    def _give(self, fit: bool, key: str = "") -> None:
        order = sorted(
            self._panes.workspace.sources,
            key=lambda name: self._panes.workspace.sources[name].kind == "live",
        )
        tracks = sorted(
            self.tracks.values(), key=lambda t: (order.index(t.key.split("/")[0]), rank(t))
        )
        thin = {t.key for t in tracks if t.key not in self._known and begins_thin(t)}
        self._known |= {t.key for t in tracks}
        self._panes.timeline.set_tracks(tracks, keep_range=not fit)
        if not self._panes.control.own_order:
            self._panes.timeline.arranged.set_order([track.key for track in tracks])
        if thin:
            self._panes.timeline.arranged.set_collapsed(thin, True)
        self._panes.control.given()
        if fit:
            self._fit(key)
        self._panes.measurements.set_tracks(
            [(t.key, t.name) for t in tracks if not isinstance(t, MarkTrack) or len(t)]
        )

    def _fit(self, key: str) -> None:
        """Show everything; beside a live card, whose time is far longer, the recording."""
        kinds = {shown.opened.kind for shown in self._shown.values()}
        mine = [t for name, t in self.tracks.items() if name.split("/")[0] == key and len(t.t_ps)]
        if kinds == {"live"} or "live" not in kinds or not mine:
            self._panes.timeline.zoom_fit()
            return
        first, last = min(int(t.t_ps[0]) for t in mine), max(int(t.t_ps[-1]) for t in mine)
        self._panes.timeline.set_range(first, max(last, first + 1))
