"""The rows of the time line, for every surface: what a row shows, where, in which colour and with which words.

A surface is the screen's pixels (`raster.Raster`) or lines and texts for a file (`vector.Vector`). It says how a
rectangle, a hatch and a text come onto it, and how columns do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from freezeframe.gui.desktop.timeline.layout import Row
from freezeframe.gui.desktop.timeline.prepared import Prepared
from freezeframe.gui.desktop.timeline.scene import Scene, pixels_hit
from freezeframe.gui.palette import mixed
from freezeframe.gui.plots.pyramid import SeriesColumns
from freezeframe.gui.plots.slices import SliceColumns, WaveColumns
from freezeframe.gui.text import printable
from freezeframe.gui.tracks.tracks import (
    BusTrack,
    IntervalTrack,
    MarkTrack,
    SeriesTrack,
    StateTrack,
    WaveTrack,
)

_TEXT_PAD = 4  # free on both sides of a label, logical pixels
_REASON_PX = 14  # of the ground behind the reason of a hatched stretch
_SHORTEST = 3  # letters: shorter pieces of a label say nothing
_MARK_LABELS = 200  # more marks than this in view are drawn without text
_COMB = 4  # pixels from tooth to tooth of an interval that goes on outside what was recorded


class Band(NamedTuple):
    """Where on a surface a row shows its items: from ``top`` to ``bottom``, on ``ground``."""

    top: int
    bottom: int
    ground: int

    @property
    def middle(self) -> int:
        return (self.top + self.bottom) // 2


class RowSurface(ABC):
    """What rows are drawn on; all places are its own pixels, and everything is cut at its edges."""

    dpr = 1.0
    """Its pixels in a logical one."""
    width = 0
    height = 0

    @abstractmethod
    def fill(self, x0: int, y0: int, x1: int, y1: int, colour: int) -> None:
        """Fill ``[x0, x1)`` x ``[y0, y1)``."""

    @abstractmethod
    def dash(self, y: int, ink: int) -> None:
        """Draw a dashed line from edge to edge."""

    @abstractmethod
    def hatch(self, x0: int, y0: int, x1: int, y1: int, ink: int) -> None:
        """Draw slanted lines: nothing is known here."""

    @abstractmethod
    def write(
        self, x: int, middle: int, room: int, text: str, ink: int, centred: bool = False
    ) -> None:
        """Write as much of a text as fits into ``room`` pixels, around the height ``middle``."""

    @abstractmethod
    def wide(self, text: str) -> int:
        """Return how many pixels a text takes."""

    @abstractmethod
    def slices(
        self, band: Band, columns: SliceColumns, fills: Sequence[int], error: int, outlined: bool
    ) -> None:
        """Draw columns of slices; paler with more idle time in them. ``outlined``: values of a bus."""

    @abstractmethod
    def series(
        self, band: Band, columns: SeriesColumns, span: tuple[float, float], line: int
    ) -> None:
        """Draw columns of a series between the values at the bottom and the top."""

    @abstractmethod
    def wave(self, band: Band, columns: WaveColumns, line: int) -> None:
        """Draw columns of a line that is low or high."""

    @abstractmethod
    def widen(self, x: int, band: Band) -> None:
        """Draw the column at ``x`` once more beside it, where a pixel is easily missed."""

    def draw(self, scene: Scene) -> None:
        """Draw the ground, the grid and all rows of a scene."""
        theme = scene.theme
        self.fill(0, 0, self.width, self.height, theme.background)
        for row, _ in scene.rows[1::2]:
            top = self.px(row.y - scene.scroll)
            bottom = self.px(row.y - scene.scroll + row.height)
            self.fill(0, top, self.width, bottom, theme.stripe)
        for t_ps, _ in scene.axis().ticks:
            x = int(scene.window.x_of(t_ps, self.width))
            self.fill(x, 0, x + 1, self.height, theme.grid)
        for number, (row, prepared) in enumerate(scene.rows):
            self._row(scene, row, prepared, theme.stripe if number % 2 else theme.background)

    def px(self, logical: float) -> int:
        """Return a length of logical pixels in those of the surface."""
        return round(logical * self.dpr)

    def _row(self, scene: Scene, row: Row, prepared: Prepared, ground: int) -> None:
        top, bottom = (self.px(y) for y in scene.inside(row))
        band = Band(top, bottom, ground)
        if not prepared.said:  # the overlay writes it: before `ready` no kernel may be called here
            self._items(scene, row, prepared, band)
        held = isinstance(prepared.track, WaveTrack | BusTrack | StateTrack | SeriesTrack)
        for left, right, why in scene.holes(prepared.track, self.width):
            if held:  # what held before a hole is not known to have held in it
                self.fill(left, top, right, bottom, ground)
            self.hatch(left, top, right, bottom, scene.theme.hatch)
            if not (row.collapsed or prepared.said):
                self._reason(scene, left, right, printable(why), band)

    def _items(self, scene: Scene, row: Row, prepared: Prepared, band: Band) -> None:
        theme, window = scene.theme, scene.window
        if isinstance(prepared.track, MarkTrack):
            self._marks(scene, row, prepared, prepared.track, band)
            return
        label = self.px(2 * _TEXT_PAD) + self.wide("x" * _SHORTEST)
        least = self.width + 1 if row.collapsed else label
        columns = prepared.columns(window.t0_ps, window.t1_ps, self.width, least)
        if isinstance(columns, SeriesColumns):
            span = value_range(scene, prepared, columns)
            if span is not None:
                self.series(band, columns, span, theme.role(prepared.roles[0]))
                self._limit(scene, prepared, span, band)
        elif isinstance(columns, WaveColumns):
            self.wave(band, columns, theme.role("b"))
        elif isinstance(columns, SliceColumns):
            fills = [theme.role(role) for role in prepared.roles]
            outlined = isinstance(prepared.track, BusTrack)
            self.slices(band, columns, fills, theme.role("error"), outlined)
            self._label_inside(scene, prepared, columns, fills, band)
            if not row.collapsed and not outlined:
                self._label_beside(scene, prepared, columns, band)
        until = prepared.built_until_ps
        if until is not None:
            x = int(window.x_of(until, self.width))
            self.hatch(x, band.top, self.width, band.bottom, mixed(band.ground, theme.dim, 0.5))

    def _label_inside(
        self,
        scene: Scene,
        prepared: Prepared,
        columns: SliceColumns,
        fills: Sequence[int],
        band: Band,
    ) -> None:
        """Name items that are wide enough, and fray those that go on outside what was recorded."""
        theme, track, width, pad = scene.theme, prepared.track, self.width, self.px(_TEXT_PAD)
        for item in np.unique(columns.wide).tolist():
            left, right = (
                scene.window.x_of(t, width) for t in (int(track.t_ps[item]), track.end_of(item))
            )
            x0, x1 = max(int(left), 0), min(int(right), width)
            if isinstance(track, IntervalTrack):
                comb = min(self.px(6), (x1 - x0) // 3)
                if track.open_start is not None and track.open_start[item] and left >= 0:
                    self._comb(band, x0, x0 + comb)
                if track.open_end is not None and track.open_end[item] and right <= width:
                    self._comb(band, x1 - comb, x1)
            share = 0.33 if isinstance(track, BusTrack) else 1
            shown = mixed(band.ground, fills[columns.colour[(x0 + x1) // 2]], share)
            ink = theme.on(theme.role("error") if prepared.is_wrong(item) else shown)
            room, whole = x1 - x0 - 2 * pad, left >= 0 and right <= width
            self.write(x0 + pad, band.middle, room, prepared.label(item), ink, whole)

    def _label_beside(
        self, scene: Scene, prepared: Prepared, columns: SliceColumns, band: Band
    ) -> None:
        """Name items too narrow for a label, and moments, in the idle time after them."""
        window, inside = scene.window, set(columns.wide.tolist())
        for item, end, until in prepared.beside(window.t0_ps, window.t1_ps, inside):
            x, room_ends = (int(window.x_of(t, self.width)) for t in (end, until))
            if not 0 <= x < self.width:
                continue
            if int(prepared.track.t_ps[item]) == end:  # a moment: one pixel is easily missed
                self.widen(x, band)
            left = x + self.px(_TEXT_PAD + 2)
            room = room_ends - left - self.px(_TEXT_PAD)
            self.write(left, band.middle, room, prepared.label(item), scene.theme.text)

    def _limit(
        self, scene: Scene, prepared: Prepared, span: tuple[float, float], band: Band
    ) -> None:
        (top, bottom, ground), theme = band, scene.theme
        track, thick = prepared.track, max(self.px(1.5), 1)
        if not isinstance(track, SeriesTrack) or track.limit is None or span[1] <= span[0]:
            return
        rise = (track.limit - span[0]) * (bottom - top - thick) / (span[1] - span[0])
        y = bottom - thick - round(rise)
        if not (top <= y < bottom and 0 <= y < self.height):
            return
        self.dash(y, theme.role("warn"))
        text = track.limit_label or "limit"
        below = y + self.px(8) if y - top < self.px(16) else y - self.px(8)
        half, left = self.px(7), self.px(6)
        self.fill(self.px(4), below - half, left + self.wide(text), below + half, ground)
        self.write(left, below, self.px(260), text, theme.text)

    def _marks(
        self, scene: Scene, row: Row, prepared: Prepared, track: MarkTrack, band: Band
    ) -> None:
        (top, bottom, _), theme, width = band, scene.theme, self.width
        first, last = prepared.visible(scene.window.t0_ps, scene.window.t1_ps)
        if last - first > _MARK_LABELS:
            for x in pixels_hit(track.t_ps, scene.window, width).tolist():
                self.fill(x, top, x + max(self.px(1), 1), bottom, theme.role("warn"))
            return
        places = [int(scene.window.x_of(int(t), width)) for t in track.t_ps[first:last]]
        free = 0  # from here on nothing is written
        for item, x, after in zip(range(first, last), places, [*places, width][1:], strict=True):
            if not 0 <= x < width:
                continue
            colour, flag, pad = theme.role(track.role_of(item)), self.px(5), self.px(8)
            self.fill(x, top, x + max(self.px(2), 1), bottom, colour)
            self.fill(x, top, x + flag, min(max(top, 0) + flag, bottom), colour)
            if not row.collapsed:
                label, room = prepared.label(item), after - x - pad - 2
                needs = self.wide(label) + 1
                goes_before = room < needs <= x - pad - free
                left = x - pad - needs if goes_before else x + pad
                self.write(left, band.middle, needs if goes_before else room, label, theme.text)
                free = x + flag if goes_before else x + pad + min(room, needs)

    def _reason(self, scene: Scene, left: int, right: int, why: str, band: Band) -> None:
        """Write into a hatched stretch why it is; whole, or not at all."""
        room, pad, half = self.wide(why), self.px(_TEXT_PAD), self.px(_REASON_PX) // 2
        if right - left < room + 4 * pad:
            return
        x = left + (right - left - room) // 2
        # A plate with a line around it, so that no column of the stretch is without the hatch's colour.
        for beside, colour in ((1, scene.theme.hatch), (0, band.ground)):
            y0, y1 = band.middle - half - beside, band.middle + half + beside
            self.fill(x - pad - beside, y0, x + room + pad + beside, y1, colour)
        self.write(x, band.middle, room + pad, why, scene.theme.dim)

    def _comb(self, band: Band, x0: int, x1: int) -> None:
        for y in range(band.top, band.bottom, _COMB):
            self.fill(x0, y, x1, min(y + _COMB // 2, band.bottom), band.ground)


def value_range(
    scene: Scene, prepared: Prepared, columns: SeriesColumns | None = None
) -> tuple[float, float] | None:
    """Return the values at the bottom and the top of a series' row; None without any value.

    From 0 when all values lie on one side of it and the drawing is of the whole range.
    """
    if scene.scale_in_view and columns is not None:
        drawn = columns.low <= columns.high
        if not drawn.any():
            return None
        low, high = float(columns.low[drawn].min()), float(columns.high[drawn].max())
    else:
        span = prepared.extremes()
        if span is None:
            return None
        if isinstance(prepared.track, SeriesTrack):
            span = scene.scales.get(prepared.track.scale, span)
        low, high = min(span[0], 0.0), max(span[1], 0.0)
    return (low, high) if high > low else (low, low + 1.0)
