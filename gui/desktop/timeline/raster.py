"""The time area painted into an image: columns from the pyramids, pixels by kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
from PyQt6.QtGui import QImage
from PyQt6.sip import voidptr

from freezeframe.gui.desktop.timeline import paint_kernels as kernels
from freezeframe.gui.desktop.timeline.glyphs import GlyphAtlas, Labels
from freezeframe.gui.desktop.timeline.rows import Band, RowSurface
from freezeframe.gui.desktop.timeline.scene import LABEL_PX, Scene
from freezeframe.gui.plots.pyramid import SeriesColumns, SeriesPyramid
from freezeframe.gui.plots.slices import SliceColumns, SlicePyramid, WaveColumns, WavePyramid

Image = npt.NDArray[np.uint32]


class Raster(RowSurface):
    """An image that is kept between drawings.

    Attributes:
        image: what was painted last; shares its memory with the pixels.
    """

    def __init__(self) -> None:
        self.image = QImage()
        self._pixels: Image = np.empty((0, 0), np.uint32)
        self._labels = Labels(GlyphAtlas(LABEL_PX))

    def paint(self, scene: Scene, dpr: float = 1.0) -> QImage:
        """Paint a scene; ``dpr`` device pixels a logical one."""
        self._fit(scene, dpr)
        self.draw(scene)
        self._labels.paint(self._pixels)
        return self.image

    def fill(self, x0: int, y0: int, x1: int, y1: int, colour: int) -> None:
        self._pixels[max(y0, 0) : max(y1, 0), max(x0, 0) : max(x1, 0)] = _opaque(colour)

    def dash(self, y: int, ink: int) -> None:
        self._pixels[y, np.arange(self.width) % self.px(10) < self.px(6)] = _opaque(ink)

    def hatch(self, x0: int, y0: int, x1: int, y1: int, ink: int) -> None:
        """Paint slanted lines, a pixel in each column of eight rows. No kernel: it is painted before there are any."""
        left, right = max(x0, 0), min(x1, self.width)
        for y in range(max(y0, 0), min(y1, self.height)):
            self._pixels[y, left + (-left - y) % 8 : max(right, 0) : 8] = _opaque(ink)

    def write(
        self, x: int, middle: int, room: int, text: str, ink: int, centred: bool = False
    ) -> None:
        if text and room > 0:
            y = middle - self._labels.atlas.height // 2
            self._labels.add(x, y, room, text, ink, centred)

    def wide(self, text: str) -> int:
        return self._labels.atlas.cell * len(text)

    def widen(self, x: int, band: Band) -> None:
        row = slice(max(band.top, 0), max(band.bottom, 0))
        self._pixels[row, x : x + self.px(2)] = self._pixels[row, x : x + 1]

    def slices(
        self, band: Band, columns: SliceColumns, fills: Sequence[int], error: int, outlined: bool
    ) -> None:
        kernels.paint_slices(
            self._pixels, band.top, band.bottom, columns.colour, columns.cover, columns.wrong, columns.starts,
            np.array(fills, np.int64), error, band.ground, outlined, max(self.px(3), 1),
        )  # fmt: skip

    def series(
        self, band: Band, columns: SeriesColumns, span: tuple[float, float], line: int
    ) -> None:
        kernels.paint_series(
            self._pixels, band.top, band.bottom, columns.low, columns.high, columns.gap, *span, line, band.ground,
            max(self.px(1.5), 1),
        )  # fmt: skip

    def wave(self, band: Band, columns: WaveColumns, line: int) -> None:
        kernels.paint_wave(
            self._pixels, band.top, band.bottom, columns.bits, columns.edges, line, band.ground,
            max(self.px(1.5), 1),
        )  # fmt: skip

    def _fit(self, scene: Scene, dpr: float) -> None:
        width, height = (max(round(n * dpr), 1) for n in (scene.width, scene.height))
        if dpr != self.dpr:
            self._labels = Labels(GlyphAtlas(max(round(LABEL_PX * dpr), 6)))
            self.dpr = dpr
        if self._pixels.shape != (height, width):
            self.width, self.height = width, height
            self._pixels = np.zeros((height, width), np.uint32)
            memory = voidptr(self._pixels.ctypes.data)
            pixels = QImage.Format.Format_RGB32
            # type: the stubs know bytes only; a pointer makes the image share the memory, unlike bytes
            self.image = QImage(memory, width, height, width * 4, pixels)  # type: ignore[call-overload]
            # the image does not own the memory: it holds on to the array, whoever keeps the image
            setattr(self.image, "_array", self._pixels)  # noqa: B010 - the stubs know no such name
        self.image.setDevicePixelRatio(dpr)


def warm_up(pyramids: Iterable[SeriesPyramid | SlicePyramid | WavePyramid | None]) -> None:
    """Compile and load the kernels that paint these; for a worker, before the window paints."""
    kinds = {type(pyramid) for pyramid in pyramids}
    image = np.zeros((4, 4), np.uint32)
    four, none = np.zeros(4, np.int64), np.zeros(4)
    bytes_ = np.zeros(4, np.uint8)
    one = np.zeros(1, np.int64)
    if SlicePyramid in kinds:
        for outlined in (False, True):
            kernels.paint_slices(image, 0, 4, bytes_, none, four, four, one, 0, 0, outlined, 3)
    if SeriesPyramid in kinds:
        kernels.paint_series(image, 0, 4, none, none, four, 0.0, 1.0, 0, 0, 1)
    if WavePyramid in kinds:
        kernels.paint_wave(image, 0, 4, bytes_, four, 0, 0, 1)
    kernels.paint_labels(
        image, np.zeros((1, 2, 2), np.uint8), one + 1, np.zeros(1, np.int32), np.array([0, 1]), one,
        one, one,
    )  # fmt: skip


def _opaque(colour: int) -> np.uint32:
    return np.uint32(0xFF000000 | colour)
