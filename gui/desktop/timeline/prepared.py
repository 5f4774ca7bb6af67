"""A track together with its pyramid: what to draw, what is where, what comes next.

A worker calls `Prepared.build`; from the first built piece on (`ready`) the window may ask everything
else, and gets answers about the part that is built.
"""

from __future__ import annotations

from collections.abc import Callable, Container

import numpy as np

from freezeframe.capture.errors import FreezeframeError
from freezeframe.gui.desktop.timeline.positions import Selection
from freezeframe.gui.plots.pyramid import SeriesColumns, SeriesPyramid
from freezeframe.gui.plots.slices import SliceColumns, SlicePyramid, WaveColumns, WavePyramid
from freezeframe.gui.text import printable
from freezeframe.gui.tracks.said import is_wrong, tip_of
from freezeframe.gui.tracks.tracks import (
    BusTrack,
    ClassedTrack,
    MarkTrack,
    SeriesTrack,
    SliceTrack,
    Track,
    WaveTrack,
)

Columns = SeriesColumns | SliceColumns | WaveColumns

_BESIDE_MOST = 64  # labels beside their items: more than that have no room
_LABELS_KEPT = 4096  # texts kept for a track, so that a pan does not ask for them again


class Prepared:
    """One track, drawable.

    Attributes:
        ready: `build` came as far as a first part and compiled every kernel that draws it.
        failed: why it cannot be drawn; empty when it can.
    """

    def __init__(self, track: Track) -> None:
        self.track = track
        self.ready = False
        self.failed = ""
        self.pyramid = None if isinstance(track, MarkTrack) else _pyramid_of(track)
        self.roles = _roles(track)
        self._labels: dict[int, str] = {}
        self._extremes: tuple[int, tuple[float, float] | None] = (-1, None)

    @property
    def done(self) -> bool:
        """Whether all of the track can be drawn."""
        return self.ready and (self.pyramid is None or self.pyramid.done or bool(self.failed))

    @property
    def said(self) -> str:
        """Return what is written in the row of a track that has nothing to draw; empty when it has."""
        if self.failed:
            return self.failed
        if not len(self.track):
            return "" if self.track.coverage.holes else "nothing in it"
        return "" if self.ready else "being prepared ..."

    @property
    def built_until_ps(self) -> int | None:
        """Return the time up to which the track is built; None when all of it is."""
        if self.pyramid is None or self.pyramid.done or not self.ready:
            return None
        return int(self.track.t_ps[self.pyramid.built - 1])

    def build(self, progress: Callable[[int, int], object] = lambda done, total: None) -> None:
        """Build the pyramid; what is wrong with the columns is kept in `failed`. As `Pyramid.build`."""

        def piece_done(done: int, total: int) -> None:
            if not self.ready:
                self._warm()
                _ = self.track.rows_in_order  # kept by the track: a pass over all rows
                self.ready = True
            progress(done, total)

        if self.pyramid is not None and len(self.track):
            try:
                self.pyramid.build(piece_done)
            except FreezeframeError as error:
                self.failed = str(error)
        self.ready = True

    def columns(self, t0_ps: int, t1_ps: int, width: int, wide_px: int = 28) -> Columns | None:
        """Return what fills each column of pixels; None for marks and for what cannot be drawn."""
        if self.failed or not self.ready or not len(self.track):
            return None
        if isinstance(self.pyramid, SlicePyramid):
            return self.pyramid.columns(t0_ps, t1_ps, width, wide_px)
        if isinstance(self.pyramid, SeriesPyramid | WavePyramid):
            return self.pyramid.columns(t0_ps, t1_ps, width)
        return None

    def extremes(self) -> tuple[float, float] | None:
        """Return the smallest and largest value of a series, its limit included; None for none."""
        if not isinstance(self.pyramid, SeriesPyramid) or not self.ready:
            return None
        if self._extremes[0] != self.pyramid.built:
            self._extremes = (self.pyramid.built, self.pyramid.extremes())
        span = self._extremes[1]
        limit = self.track.limit if isinstance(self.track, SeriesTrack) else None
        if span is None or limit is None:
            return span
        return min(span[0], float(limit)), max(span[1], float(limit))

    def extent_ps(self) -> tuple[int, int] | None:
        """Return the range that the track covers; exact once all of it is built."""
        span = self.track.extent_ps()
        if span is None or not isinstance(self.pyramid, SlicePyramid) or not self.pyramid.done:
            return span
        return span[0], max(span[1], self.pyramid.latest_end_ps)

    def label(self, item: int) -> str:
        """Return the text of an item in one line without control characters."""
        text = self._labels.get(item)
        if text is None:
            if len(self._labels) >= _LABELS_KEPT:
                self._labels.clear()
            text = self._labels[item] = printable(self.track.label_of(item))
        return text

    def tip(self, item: int) -> str:
        """Return what is shown when the mouse rests on an item."""
        return tip_of(self.track, item)

    def is_wrong(self, item: int) -> bool:
        """Return whether an item is marked as an error."""
        return is_wrong(self.track, item)

    def selection(self, item: int) -> Selection:
        """Return an item as a selection."""
        track = self.track
        return Selection(
            track.key, item, track.row_of(item), int(track.t_ps[item]), track.end_of(item)
        )

    def item_at(self, t_ps: int, slack_ps: int) -> int | None:
        """Return the item that covers a time, or begins or ends within ``slack_ps`` of it."""
        if not self._usable():
            return None
        if isinstance(self.pyramid, SlicePyramid):
            return self.pyramid.item_at(t_ps, slack_ps)
        times = self.track.t_ps
        after = int(np.searchsorted(times, t_ps, side="right"))
        if isinstance(self.track, MarkTrack) or not getattr(self.track, "step", True):
            near = [i for i in (after - 1, after) if 0 <= i < len(times)]
            best = min(near, key=lambda i: abs(int(times[i]) - t_ps))
            return best if abs(int(times[best]) - t_ps) <= slack_ps else None
        extent = self.track.extent_ps()
        held = after and extent is not None and t_ps < extent[1] + slack_ps
        return after - 1 if held else None

    def value_at(self, t_ps: int) -> str:
        """Return what holds at a time, as the label column shows it; empty where nothing does or is known."""
        reason = self.track.coverage.reason_at(t_ps)
        if reason:
            return "not recorded"
        item = None if isinstance(self.track, MarkTrack) else self.item_at(t_ps, 0)
        if item is not None:
            return self.label(item)
        if not isinstance(self.track, SeriesTrack) or self.track.step or not self._usable():
            return ""
        # Between two points of a line nothing was measured: both are said.
        after = int(np.searchsorted(self.track.t_ps, t_ps, side="right"))
        near = self.track.value[max(after - 1, 0) : after + 1]
        ends = [f"{value:,.4g}" for value in near.tolist()]
        return f"{' .. '.join(dict.fromkeys(ends))} {self.track.unit}".rstrip() if after else ""

    def edge_near(self, t_ps: int, within_ps: int) -> int | None:
        """Return the start or end of an item that is closest to a time; None when none is near."""
        if not self._usable():
            return None
        after = int(np.searchsorted(self.track.t_ps, t_ps))
        items = [i for i in range(after - 2, after + 2) if 0 <= i < len(self.track)]
        standing = self.item_at(t_ps, 0)
        items += [] if standing is None else [standing]
        edges = [int(self.track.t_ps[i]) for i in items] + [self.track.end_of(i) for i in items]
        best = min(edges, key=lambda edge: abs(edge - t_ps))
        return best if abs(best - t_ps) <= within_ps else None

    def next_edge(self, t_ps: int, step: int) -> int | None:
        """Return the first start or end of an item after (+1) or before (-1) a time."""
        if not self._usable():
            return None
        after = int(np.searchsorted(self.track.t_ps, t_ps))
        items = [i for i in range(after - 3, after + 3) if 0 <= i < len(self.track)]
        edges = [int(self.track.t_ps[i]) for i in items] + [self.track.end_of(i) for i in items]
        if step > 0:
            return min((edge for edge in edges if edge > t_ps), default=None)
        return max((edge for edge in edges if edge < t_ps), default=None)

    def neighbour(self, t_ps: int, item: int | None, step: int) -> int | None:
        """Return the item after (+1) or before (-1) an item, without one that of a time."""
        if not self._usable():
            return None
        if item is None:
            side = int(np.searchsorted(self.track.t_ps, t_ps, side="left"))
            found = side if step > 0 else side - 1
        else:
            found = item + step
        return found if 0 <= found < len(self.track) else None

    def visible(self, t0_ps: int, t1_ps: int) -> tuple[int, int]:
        """Return the half-open range of items that begin in a range of time or cover its start."""
        first, last = (int(i) for i in np.searchsorted(self.track.t_ps, [t0_ps, t1_ps]))
        if first and self.track.end_of(first - 1) > t0_ps:
            first -= 1
        return first, last

    def beside(self, t0_ps: int, t1_ps: int, inside: Container[int]) -> list[tuple[int, int, int]]:
        """Return the items in view that have no label inside, with the idle time after each.

        Args:
            inside: items whose label is drawn in them.
        Returns:
            item, where it ends, where the next or a hole begins (``t1_ps`` for the last); nothing when there
            are too many to be distinguished.
        """
        first, last = self.visible(t0_ps, t1_ps)
        if last - first > _BESIDE_MOST:
            return []
        times = self.track.t_ps
        nexts = [int(t) for t in times[first + 1 : last]] + [t1_ps]
        found = zip(range(first, last), nexts, strict=True) if last > first else ()
        return [
            (item, end, self._recorded_until(end, until))
            for item, until in found
            if item not in inside and t0_ps <= (end := self.track.end_of(item)) < until
        ]

    def _recorded_until(self, begin_ps: int, until_ps: int) -> int:
        """Return where what was recorded ends: the reason that stands in a hole must not cross a label."""
        holes = self.track.coverage.within(begin_ps, until_ps)
        return min((hole.t0_ps for hole in holes), default=until_ps)

    def memory_B(self) -> int:
        """Return the bytes of the pyramid."""
        return 0 if self.pyramid is None else self.pyramid.memory_B()

    def _usable(self) -> bool:
        return self.ready and not self.failed and len(self.track) > 0

    def _warm(self) -> None:
        """Compile and load here, in the worker, every kernel that the window will call."""
        first = int(self.track.t_ps[0])
        if isinstance(self.pyramid, SlicePyramid):
            self.pyramid.columns(first, first + 16, 4)
            self.pyramid.item_at(first)
        elif isinstance(self.pyramid, SeriesPyramid | WavePyramid):
            self.pyramid.columns(first, first + 16, 4)


def _pyramid_of(track: Track) -> SeriesPyramid | SlicePyramid | WavePyramid:
    if isinstance(track, SeriesTrack):
        return SeriesPyramid(track.t_ps, track.value, step=track.step, end_ps=track.end_ps)
    if isinstance(track, WaveTrack):
        return WavePyramid(track.t_ps, track.level, end_ps=track.end_ps)
    if isinstance(track, ClassedTrack):
        return SlicePyramid(
            track.t_ps,
            track.t_end_ps if isinstance(track, SliceTrack) else None,
            end_ps=getattr(track, "end_ps", None),
            colour=track.colour,
            classes=len(track.classes),
            error=track.error,
        )
    if isinstance(track, BusTrack):
        return SlicePyramid(track.t_ps, None, end_ps=track.end_ps, error=track.error)
    raise TypeError(f"{track.key}: no pyramid for a {type(track).__name__}")


def _roles(track: Track) -> tuple[str, ...]:
    if isinstance(track, ClassedTrack):
        return track.role_of_class
    return (getattr(track, "role", "a"),) if not isinstance(track, MarkTrack) else ()
