"""Where each track stands: order, collapsed and hidden tracks, headings of sources and groups, scrolling."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from freezeframe.gui.tracks.tracks import (
    BusTrack,
    IntervalTrack,
    MarkTrack,
    SeriesTrack,
    SliceTrack,
    Track,
    WaveTrack,
)

COLLAPSED_PX = 14
HEADING_PX = 20
GROUP_PX = 18
_USUAL_PX = (
    (SeriesTrack, 64),
    (WaveTrack, 30),
    (BusTrack, 28),
    (IntervalTrack, 26),
    (SliceTrack, 28),
    (MarkTrack, 24),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One track in the drawing; ``y`` from the top of all tracks, before scrolling.

    ``heading`` is the source's name when this is the first of its tracks; it is drawn in the
    HEADING_PX above ``y``, or above the line of its group.
    """

    key: str
    y: int
    height: int
    collapsed: bool
    heading: str = ""
    grouped: bool = False  # the line of its group is directly above it


@dataclass(frozen=True, slots=True)
class GroupLine:
    """The line above the tracks of a group, GROUP_PX high; a click on it shows or hides them.

    ``keys`` are all tracks of the group, ``shown`` how many of them are.
    """

    name: str
    y: int
    keys: tuple[str, ...]
    shown: int

    @property
    def text(self) -> str:
        """What is written: the group, and where some are hidden how many are shown."""
        whole = self.shown == len(self.keys)
        return f"▾ {self.name}" if whole else f"▸ {self.name}  {self.shown} of {len(self.keys)}"


class Layout:
    """Rows of tracks, in logical pixels; ``changed`` is called when they stand otherwise."""

    def __init__(self, changed: Callable[[], object] = lambda: None) -> None:
        self._changed = changed
        self._tracks: dict[str, Track] = {}
        self._order: list[str] = []
        self.collapsed: set[str] = set()
        self.hidden: set[str] = set()
        self.rows: list[Row] = []
        self.groups: list[GroupLine] = []
        self.height = 0
        self._group_of: Mapping[str, str] = {}

    def set_tracks(self, tracks: Sequence[Track]) -> None:
        """Take tracks: known ones keep their place, new ones come below the rest of their source.

        Raises:
            ValueError: two tracks have the same key.
        """
        fresh = {track.key: track for track in tracks}
        if len(fresh) != len(tracks):
            keys = [track.key for track in tracks]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise ValueError(f"two tracks have the key {twice!r}")
        order = [key for key in self._order if key in fresh]
        for track in tracks:
            if track.key in order:
                continue
            same = [i for i, key in enumerate(order) if fresh[key].source == track.source]
            order.insert(same[-1] + 1 if same else len(order), track.key)
        self._tracks = fresh
        self._order = order
        self._place()

    def replace(self, track: Track) -> None:
        """Put new columns in the place of a track. Raises: KeyError."""
        if track.key not in self._tracks:
            raise KeyError(track.key)
        self._tracks[track.key] = track
        self._place()

    def order(self) -> list[str]:
        """Return all keys from top to bottom, hidden tracks too."""
        return list(self._order)

    def set_order(self, keys: Iterable[str]) -> None:
        """Put tracks into an order; keys that are not known are skipped, those not named come last."""
        wanted = [key for key in dict.fromkeys(keys) if key in self._tracks]
        self._order = wanted + [key for key in self._order if key not in set(wanted)]
        self._place()

    def move(self, key: str, step: int) -> bool:
        """Move a track past the next visible one; False when there is none. Raises: KeyError."""
        shown = [k for k in self._order if k not in self.hidden]
        if key not in self._tracks:
            raise KeyError(key)
        if key not in shown or not 0 <= shown.index(key) + step < len(shown):
            return False
        other = shown[shown.index(key) + step]
        self._order.remove(key)
        self._order.insert(self._order.index(other) + (1 if step > 0 else 0), key)
        self._place()
        return True

    def set_collapsed(self, keys: Iterable[str], collapsed: bool) -> None:
        """Make tracks thin strips, or open them again. Raises: KeyError."""
        changed = set(keys)
        for key in changed - set(self._tracks):
            raise KeyError(key)
        self.collapsed = self.collapsed | changed if collapsed else self.collapsed - changed
        self._place()

    def set_hidden(self, keys: Iterable[str]) -> None:
        """Hide exactly these tracks."""
        self.hidden = set(keys)
        self._place()

    def set_groups(self, group_of: Mapping[str, str]) -> None:
        """Put a line with the name of its group above tracks; those not named have none."""
        self._group_of = dict(group_of)
        self._place()

    def row(self, key: str) -> Row | None:
        """Return the row of a track; None when it is hidden or not known."""
        return next((row for row in self.rows if row.key == key), None)

    def row_at(self, y: int) -> Row | None:
        """Return the row at a height below the top of all tracks."""
        return next((row for row in self.rows if row.y <= y < row.y + row.height), None)

    def group_at(self, y: int) -> GroupLine | None:
        """Return the line of a group at a height below the top of all tracks."""
        return next((line for line in self.groups if line.y <= y < line.y + GROUP_PX), None)

    def _place(self) -> None:
        """Place rows from top to bottom; groups of a source that show nothing come below its others."""
        self.rows, self.groups = [], []
        y = 0
        source = ""
        for name, keys in groupby(self._order, key=lambda key: self._tracks[key].source):
            runs = [
                (group, tuple(run))
                for group, run in groupby(keys, key=lambda key: self._group_of.get(key, ""))
            ]
            open_runs = [(g, run) for g, run in runs if not self.hidden.issuperset(run)]
            folded: dict[str, tuple[str, ...]] = {}
            for group, run in runs:
                if group and self.hidden.issuperset(run):
                    folded[group] = folded.get(group, ()) + run
            heading = name if name != source else ""
            if open_runs or folded:
                source = name
            for group, run in open_runs:
                shown = [key for key in run if key not in self.hidden]
                y += HEADING_PX if heading else 0
                if group:
                    self.groups.append(GroupLine(group, y, run, len(shown)))
                    y += GROUP_PX
                for number, key in enumerate(shown):
                    collapsed = key in self.collapsed
                    track = self._tracks[key]
                    height = COLLAPSED_PX if collapsed else track.height_px or _usual_px(track)
                    grouped = bool(group) and not number
                    self.rows.append(Row(key, y, height, collapsed, heading, grouped))
                    heading = ""
                    y += height
            for group, run in folded.items():
                self.groups.append(GroupLine(group, y, run, 0))
                y += GROUP_PX
        self.height = y
        self._changed()


def _usual_px(track: Track) -> int:
    return next((px for kind, px in _USUAL_PX if isinstance(track, kind)), 28)
