"""Text painted by a kernel: every glyph is drawn once by Qt, then copied a hundred thousand times a second.

A time line may show hundreds of labels and has 16 ms for all of it; QPainter takes 18 µs for one.
"""

from __future__ import annotations

import unicodedata

import numpy as np
import numpy.typing as npt
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QFont, QFontMetrics, QImage, QPainter

from freezeframe.gui.desktop.timeline.paint_kernels import paint_labels

_KEPT = 20_000  # texts whose glyph numbers are kept


def label_font(pixels: int) -> QFont:
    """Return the font of labels: fixed pitch, so that how much fits is known without measuring."""
    font = QFont("DejaVu Sans Mono")
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setFixedPitch(True)
    font.setPixelSize(pixels)
    return font


class GlyphAtlas:
    """Coverage masks of the glyphs met so far, at one size.

    Attributes:
        cell: advance of a usual glyph in pixels; a wide one (east asian) takes two.
        height: of a line, pixels.
        masks: ``(room, height, 2 * cell)`` uint8.
        cells: ``(room,)`` int64 advances.
    """

    def __init__(self, pixels: int) -> None:
        self.font = label_font(pixels)
        metrics = QFontMetrics(self.font)
        self.cell = max(metrics.horizontalAdvance("0"), 1)
        self.height = metrics.height()
        self._ascent = metrics.ascent()
        self.masks = np.zeros((256, self.height, 2 * self.cell), np.uint8)
        self.cells = np.full(256, self.cell, np.int64)
        self._numbers: dict[str, int] = {}
        self._texts: dict[str, npt.NDArray[np.int32]] = {}
        for code in range(32, 127):
            self._number(chr(code))

    def codes(self, text: str) -> npt.NDArray[np.int32]:
        """Return the glyph numbers of a text."""
        known = self._texts.get(text)
        if known is None:
            if len(self._texts) >= _KEPT:
                self._texts.clear()
            letters = unicodedata.normalize("NFC", text[:512])
            known = np.array([self._number(c) for c in letters], np.int32)
            self._texts[text] = known
        return known

    def fitted(self, text: str, room_px: int) -> npt.NDArray[np.int32] | None:
        """Return the glyphs of as much of a text as fits, with ``…`` when cut; None below 3 letters."""
        codes = self.codes(text)
        fits = room_px // self.cell
        used = int(self.cells[codes].sum()) // self.cell if len(codes) > fits // 2 else len(codes)
        if used <= fits:
            return codes if len(codes) else None
        if fits < 3:
            return None
        ends = np.cumsum(self.cells[codes]) // self.cell
        kept = int(np.searchsorted(ends, fits - 1, side="right"))
        return np.append(codes[:kept], np.int32(self._number("…")))

    def _number(self, letter: str) -> int:
        number = self._numbers.get(letter)
        if number is not None:
            return number
        number = len(self._numbers)
        if number == len(self.masks):
            self.masks = np.concatenate([self.masks, np.zeros_like(self.masks)])
            self.cells = np.concatenate([self.cells, np.full_like(self.cells, self.cell)])
        self._numbers[letter] = number
        wide = unicodedata.east_asian_width(letter) in "WF"
        self.cells[number] = self.cell * (2 if wide else 1)
        image = QImage(2 * self.cell, self.height, QImage.Format.Format_Grayscale8)
        image.fill(0)
        painter = QPainter(image)
        painter.setFont(self.font)
        painter.setPen(Qt.GlobalColor.white)
        painter.drawText(0, self._ascent, letter)
        painter.end()
        bits = image.constBits()
        assert bits is not None  # an image just made has bits
        lines = np.frombuffer(bits.asstring(image.sizeInBytes()), np.uint8)
        grey = lines.reshape(self.height, image.bytesPerLine())[:, : 2 * self.cell]
        self.masks[number] = grey
        if not wide:
            self.masks[number, :, self.cell + 1 :] = 0  # a glyph that leans over by one pixel may
        return number


class Labels:
    """Texts gathered for one call of the kernel."""

    def __init__(self, atlas: GlyphAtlas) -> None:
        self.atlas = atlas
        self._codes: list[npt.NDArray[np.int32]] = []
        self._places: list[tuple[int, int, int]] = []

    def __len__(self) -> int:
        return len(self._places)

    def add(self, x: int, y: int, room_px: int, text: str, ink: int, centred: bool = False) -> bool:
        """Place as much of a text as fits; False when not even its beginning does."""
        codes = self.atlas.fitted(text, room_px)
        if codes is None:
            return False
        if centred:
            x += max(room_px - int(self.atlas.cells[codes].sum()), 0) // 2
        self._codes.append(codes)
        self._places.append((x, y, ink))
        return True

    def paint(self, image: npt.NDArray[np.uint32]) -> None:
        """Paint all texts into an image and forget them."""
        if not self._places:
            return
        codes = np.concatenate(self._codes)
        offsets = np.zeros(len(self._codes) + 1, np.int64)
        np.cumsum([len(c) for c in self._codes], out=offsets[1:])
        xs, ys, inks = np.array(self._places, np.int64).T.copy()
        paint_labels(image, self.atlas.masks, self.atlas.cells, codes, offsets, xs, ys, inks)
        self._codes, self._places = [], []
