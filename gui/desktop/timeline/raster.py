"""The time area painted into an image: columns from the pyramids, pixels by kernels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PyQt6.QtGui import QImage
from PyQt6.sip import voidptr

from freezeframe.gui.desktop.timeline import paint_kernels as kernels
from freezeframe.gui.desktop.timeline.glyphs import GlyphAtlas, Labels
from freezeframe.gui.desktop.timeline.layout import Row
from freezeframe.gui.desktop.timeline.paint_kernels import (
    paint_comb,
    paint_series,
    paint_slices,
    paint_wave,
)
from freezeframe.gui.desktop.timeline.prepared import Prepared
from freezeframe.gui.desktop.timeline.scene import LABEL_PX, Scene, pixels_hit
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

Image = npt.NDArray[np.uint32]

_TEXT_PAD = 4  # free on both sides of a label, logical pixels
_REASON_PX = 14  # of the ground behind the reason of a hatched stretch
_SHORTEST = 3  # letters: shorter pieces of a label say nothing
_MARK_LABELS = 200  # more marks than this in view are drawn without text


class Raster:
    """An image that is kept between drawings.

    Attributes:
        image: what was painted last; shares its memory with the pixels.
    """

    def __init__(self) -> None:
        self.image = QImage()
        self._pixels: Image = np.empty((0, 0), np.uint32)
        self._labels: Labels | None = None
        self._dpr = 0.0

    def paint(self, scene: Scene, dpr: float = 1.0) -> QImage:
        """Paint a scene; ``dpr`` device pixels a logical one."""
        self._fit(scene, dpr)
        pixels = self._pixels
        theme = scene.theme
        pixels[:] = _opaque(theme.background)
        for number, (row, _) in enumerate(scene.rows):
            if number % 2:
                top = max(self._px(row.y - scene.scroll), 0)
                bottom = max(self._px(row.y - scene.scroll + row.height), 0)
                pixels[top:bottom] = _opaque(theme.stripe)
        width = pixels.shape[1]
        for t_ps, _ in scene.axis().ticks:
            x = int(scene.window.x_of(t_ps, width))
            if 0 <= x < width:
                pixels[:, x] = _opaque(theme.grid)
        for number, (row, prepared) in enumerate(scene.rows):
            ground = theme.stripe if number % 2 else theme.background
            self._paint_row(scene, row, prepared, ground)
        if self._labels is not None:
            self._labels.paint(pixels)
        return self.image

    def _paint_row(self, scene: Scene, row: Row, prepared: Prepared, ground: int) -> None:
        top, bottom = (self._px(y) for y in scene.inside(row))
        width = self._pixels.shape[1]
        if not prepared.said:  # the overlay writes it: before `ready` no kernel may be called here
            self._paint_items(scene, row, prepared, ground)
        held = isinstance(prepared.track, WaveTrack | BusTrack | StateTrack | SeriesTrack)
        y0, y1 = max(top, 0), max(bottom, 0)
        for left, right, why in scene.holes(prepared.track, width):
            if held:  # what held before a hole is not known to have held in it
                self._pixels[y0:y1, left:right] = _opaque(ground)
            paint_hatch(self._pixels, top, bottom, left, right, _opaque(scene.theme.hatch))
            if not (row.collapsed or prepared.said):
                theme = scene.theme
                self._reason(left, right, (top + bottom) // 2, why, theme.dim, ground, theme.hatch)

    def _paint_items(self, scene: Scene, row: Row, prepared: Prepared, ground: int) -> None:
        theme, pixels = scene.theme, self._pixels
        top, bottom = (self._px(y) for y in scene.inside(row))
        width = pixels.shape[1]
        if isinstance(prepared.track, MarkTrack):
            self._paint_marks(scene, row, prepared, top, bottom)
            return
        window = scene.window
        wide_px = width + 1 if row.collapsed else self._px(2 * _TEXT_PAD) + _SHORTEST * self._cell()
        columns = prepared.columns(window.t0_ps, window.t1_ps, width, wide_px)
        if isinstance(columns, SeriesColumns):
            self._paint_series(scene, prepared, columns, top, bottom, ground)
        elif isinstance(columns, WaveColumns):
            line = theme.role("b")
            thick = max(self._px(1.5), 1)
            paint_wave(pixels, top, bottom, columns.bits, columns.edges, line, ground, thick)
        elif isinstance(columns, SliceColumns):
            self._paint_slices(scene, prepared, columns, top, bottom, ground)
            if not row.collapsed and not isinstance(prepared.track, BusTrack):
                self._label_beside(scene, prepared, columns, top, bottom)
        until = prepared.built_until_ps
        if until is not None:
            x = int(window.x_of(until, width))
            ink = _opaque(mixed(ground, theme.dim, 0.5))
            paint_hatch(pixels, top, bottom, max(x, 0), width, ink)

    def _paint_slices(
        self,
        scene: Scene,
        prepared: Prepared,
        columns: SliceColumns,
        top: int,
        bottom: int,
        ground: int,
    ) -> None:
        theme, pixels, track = scene.theme, self._pixels, prepared.track
        fills = np.array([theme.role(role) for role in prepared.roles], np.int64)
        outlined = isinstance(track, BusTrack)
        error = theme.role("error")
        paint_slices(
            pixels, top, bottom, columns.colour, columns.cover, columns.wrong, columns.starts, fills,
            error, ground, outlined, max(self._px(3), 1),
        )  # fmt: skip
        width = pixels.shape[1]
        pad = self._px(_TEXT_PAD)
        for item in np.unique(columns.wide).tolist():
            left, right = (
                scene.window.x_of(t, width) for t in (int(track.t_ps[item]), track.end_of(item))
            )
            x0, x1 = max(int(left), 0), min(int(right), width)
            if isinstance(track, IntervalTrack):
                comb = min(self._px(6), (x1 - x0) // 3)
                if track.open_start is not None and track.open_start[item] and left >= 0:
                    paint_comb(pixels, top, bottom, x0, x0 + comb, _opaque(ground))
                if track.open_end is not None and track.open_end[item] and right <= width:
                    paint_comb(pixels, top, bottom, x1 - comb, x1, _opaque(ground))
            shown = mixed(
                ground, int(fills[columns.colour[(x0 + x1) // 2]]), 0.33 if outlined else 1
            )
            if prepared.is_wrong(item):
                shown = error
            ink = theme.on(shown)
            whole = left >= 0 and right <= width
            self._write(
                x0 + pad, (top + bottom) // 2, x1 - x0 - 2 * pad, prepared.label(item), ink, whole
            )

    def _label_beside(
        self, scene: Scene, prepared: Prepared, columns: SliceColumns, top: int, bottom: int
    ) -> None:
        """Name items too narrow for a label, and moments, in the idle time after them."""
        width, window = self._pixels.shape[1], scene.window
        inside = set(columns.wide.tolist())
        for item, end, until in prepared.beside(window.t0_ps, window.t1_ps, inside):
            x, room_ends = (int(window.x_of(t, width)) for t in (end, until))
            if not 0 <= x < width:
                continue
            if int(prepared.track.t_ps[item]) == end:  # a moment: one pixel is easily missed
                self._pixels[max(top, 0) : max(bottom, 0), x : x + self._px(2)] = self._pixels[
                    max(top, 0) : max(bottom, 0), x : x + 1
                ]
            left = x + self._px(_TEXT_PAD + 2)
            room = room_ends - left - self._px(_TEXT_PAD)
            self._write(left, (top + bottom) // 2, room, prepared.label(item), scene.theme.text)

    def _paint_series(
        self,
        scene: Scene,
        prepared: Prepared,
        columns: SeriesColumns,
        top: int,
        bottom: int,
        ground: int,
    ) -> None:
        span = value_range(scene, prepared, columns)
        if span is None:
            return
        theme = scene.theme
        line = theme.role(prepared.roles[0])
        thick = max(self._px(1.5), 1)
        paint_series(
            self._pixels, top, bottom, columns.low, columns.high, columns.gap, span[0], span[1], line,
            ground, thick,
        )  # fmt: skip
        track = prepared.track
        if not isinstance(track, SeriesTrack) or track.limit is None or span[1] <= span[0]:
            return
        y = (
            bottom
            - thick
            - round((track.limit - span[0]) * (bottom - top - thick) / (span[1] - span[0]))
        )
        if top <= y < bottom and 0 <= y < self._pixels.shape[0]:
            dash = np.arange(self._pixels.shape[1]) % self._px(10) < self._px(6)
            self._pixels[y, dash] = _opaque(theme.role("warn"))
            text = track.limit_label or "limit"
            below = y + self._px(8) if y - top < self._px(16) else y - self._px(8)
            cells = self._px(6) + self._cell() * len(text)
            half = self._px(7)
            self._pixels[max(below - half, 0) : max(below + half, 0), self._px(4) : cells] = (
                _opaque(ground)
            )
            self._write(self._px(6), below, self._px(260), text, theme.text)

    def _paint_marks(
        self, scene: Scene, row: Row, prepared: Prepared, top: int, bottom: int
    ) -> None:
        pixels, theme, track = self._pixels, scene.theme, prepared.track
        height, width = pixels.shape
        y0, y1 = max(top, 0), min(bottom, height)
        if y1 <= y0 or not isinstance(track, MarkTrack):
            return
        first, last = prepared.visible(scene.window.t0_ps, scene.window.t1_ps)
        if last - first > _MARK_LABELS:
            for x in pixels_hit(track.t_ps, scene.window, width).tolist():
                pixels[y0:y1, x : x + max(self._px(1), 1)] = _opaque(theme.role("warn"))
            return
        places = [int(scene.window.x_of(int(t), width)) for t in track.t_ps[first:last]]
        for number, (item, x) in enumerate(zip(range(first, last), places, strict=True)):
            if not 0 <= x < width:
                continue
            colour = theme.role(track.role_of(item))
            flag = self._px(5)
            pixels[y0:y1, x : x + max(self._px(2), 1)] = _opaque(colour)
            pixels[y0 : min(y0 + flag, y1), x : x + flag] = _opaque(colour)
            room = (places[number + 1] if number + 1 < len(places) else width) - x
            if not row.collapsed:
                pad = self._px(8)
                self._write(
                    x + pad, (top + bottom) // 2, room - pad - 2, prepared.label(item), theme.text
                )

    def _reason(
        self,
        left: int,
        right: int,
        middle: int,
        why: str,
        ink: int,
        ground: int,
        hatch: int,
    ) -> None:
        """Write into a hatched stretch why it is; whole, or not at all."""
        room, pad = self._cell() * len(why), self._px(_TEXT_PAD)
        if right - left < room + 4 * pad:
            return
        half, x = self._px(_REASON_PX) // 2, left + (right - left - room) // 2
        # A plate with a line around it, so that no column of the stretch is without the hatch's colour.
        for beside, colour in ((1, hatch), (0, ground)):
            y0, y1 = max(middle - half - beside, 0), max(middle + half + beside, 0)
            self._pixels[y0:y1, x - pad - beside : x + room + pad + beside] = _opaque(colour)
        self._write(x, middle, room + pad, printable(why), ink)

    def _write(
        self, x: int, middle: int, room: int, text: str, ink: int, centred: bool = False
    ) -> None:
        if self._labels is not None and text and room > 0:
            y = middle - self._labels.atlas.height // 2
            self._labels.add(x, y, room, text, ink, centred)

    def _fit(self, scene: Scene, dpr: float) -> None:
        width, height = (max(round(n * dpr), 1) for n in (scene.width, scene.height))
        if self._labels is None or dpr != self._dpr:
            self._labels = Labels(GlyphAtlas(max(round(LABEL_PX * dpr), 6)))
            self._dpr = dpr
        if self._pixels.shape != (height, width):
            self._pixels = np.zeros((height, width), np.uint32)
            memory = voidptr(self._pixels.ctypes.data)
            pixels = QImage.Format.Format_RGB32
            # type: the stubs know bytes only; a pointer makes the image share the memory, unlike bytes
            self.image = QImage(memory, width, height, width * 4, pixels)  # type: ignore[call-overload]
            # the image does not own the memory: it holds on to the array, whoever keeps the image
            setattr(self.image, "_array", self._pixels)  # noqa: B010 - the stubs know no such name
        self.image.setDevicePixelRatio(dpr)

    def _cell(self) -> int:
        return self._labels.atlas.cell if self._labels is not None else 7

    def _px(self, logical: float) -> int:
        return round(logical * self._dpr)


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


def warm_up() -> None:
    """Compile and load every painting kernel; for a worker, before the window paints."""
    image = np.zeros((4, 4), np.uint32)
    four, none = np.zeros(4, np.int64), np.zeros(4)
    bytes_ = np.zeros(4, np.uint8)
    for outlined in (False, True):
        kernels.paint_slices(
            image, 0, 4, bytes_, none, four, four, np.zeros(1, np.int64), 0, 0, outlined, 3
        )
    kernels.paint_series(image, 0, 4, none, none, four, 0.0, 1.0, 0, 0, 1)
    kernels.paint_wave(image, 0, 4, bytes_, four, 0, 0, 1)
    kernels.paint_comb(image, 0, 4, 0, 4, _opaque(0))
    one = np.zeros(1, np.int64)
    kernels.paint_labels(
        image, np.zeros((1, 2, 2), np.uint8), one + 1, np.zeros(1, np.int32), np.array([0, 1]), one,
        one, one,
    )  # fmt: skip


def paint_hatch(image: Image, y0: int, y1: int, x0: int, x1: int, ink: np.uint32) -> None:
    """Paint slanted lines, a pixel in each column of eight rows: nothing is known here.

    No kernel: it is painted before the worker has any ready.
    """
    left, right = max(x0, 0), min(x1, image.shape[1])
    for y in range(max(y0, 0), min(y1, image.shape[0])):
        image[y, left + (-left - y) % 8 : max(right, 0) : 8] = ink


def _opaque(colour: int) -> np.uint32:
    return np.uint32(0xFF000000 | colour)
