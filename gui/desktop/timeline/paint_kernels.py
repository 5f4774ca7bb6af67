"""Loops that paint columns into the pixels of an image (``(height, width)`` uint32, 0xffRRGGBB).

Every kernel clips at the image's edges. Import lazily: numba.
"""

from __future__ import annotations

from typing import no_type_check

import numpy as np
from numba import njit

_NOTHING = 255


@no_type_check
@njit(cache=True, nogil=True)
def _mix(a, b, share):
    """Return ``a`` with ``share`` of 256 of ``b`` in it."""
    keep = 256 - share
    red = (((a >> 16) & 255) * keep + ((b >> 16) & 255) * share) >> 8
    green = (((a >> 8) & 255) * keep + ((b >> 8) & 255) * share) >> 8
    blue = ((a & 255) * keep + (b & 255) * share) >> 8
    return np.uint32(0xFF000000 | (red << 16) | (green << 8) | blue)


@no_type_check
@njit(cache=True, nogil=True)
def paint_slices(
    image, y0, y1, colour, cover, wrong, starts, fills, error, background, outlined, reach
):
    """Paint slices into the rows ``y0..y1``.

    A column with much idle time is paler; one with an error has the error's colour, is ``reach``
    pixels wide at least and stands ``reach`` pixels out of the row. ``outlined``: values of a bus,
    pale between two lines.
    """
    height = image.shape[0]
    width = colour.shape[0]
    top = max(y0, 0)
    bottom = min(y1, height)
    for px in range(width):
        k = colour[px]
        if k == _NOTHING:
            continue
        fill = np.int64(fills[k])
        begins = starts[px] == 1 and px > 0 and starts[px - 1] == 0 and colour[px - 1] != _NOTHING
        if outlined:
            share = min(60 + 24 * starts[px], 200)
        elif starts[px] > 0 and cover[px] == 0.0:
            share = 230  # events without length: there is something, however little
        else:
            share = int(110 + 146 * cover[px])
        inner = _mix(background, fill, share)
        if begins:
            inner = _mix(background, fill, 256 if outlined else 96)
        for y in range(top, bottom):
            image[y, px] = inner
        if outlined:
            line = _mix(background, fill, 256)
            if 0 <= y0 < height:
                image[y0, px] = line
            if 0 < y1 <= height:
                image[y1 - 1, px] = line
    loud = np.uint32(0xFF000000 | error)
    half = reach // 2
    for px in range(width):
        if wrong[px] == 0:
            continue
        narrow = starts[px] > 0
        for x in range(
            max(px - half, 0) if narrow else px, min(px + half + 1, width) if narrow else px + 1
        ):
            for y in range(max(y0 - reach, 0), min(y1 + reach, height)):
                image[y, x] = loud


@no_type_check
@njit(cache=True, nogil=True)
def paint_series(image, y0, y1, low, high, gap, least, most, line, background, thick):
    """Paint a series between the rows ``y0`` (``most``) and ``y1`` (``least``), paler below the line.

    Columns with values that are not known are dotted over the whole height.
    """
    height = image.shape[0]
    scale = (y1 - y0 - thick) / (most - least) if most > least else 0.0
    strong = _mix(background, line, 256)
    pale = _mix(background, line, 48)
    for px in range(low.shape[0]):
        if low[px] <= high[px]:
            above = y1 - thick - int((min(high[px], most) - least) * scale + 0.5)
            below = y1 - int((max(low[px], least) - least) * scale + 0.5)
            for y in range(max(above, 0), min(below, height)):
                image[y, px] = strong
            for y in range(max(below, 0), min(y1, height)):
                image[y, px] = pale
        if gap[px]:
            for y in range(max(y0, 0), min(y1, height)):
                if (y + px) % 4 == 0:
                    image[y, px] = strong


@no_type_check
@njit(cache=True, nogil=True)
def paint_wave(image, y0, y1, bits, count, line, background, thick):
    """Paint a line that is low or high: both where it changes, hatched where it is not known."""
    height = image.shape[0]
    strong = _mix(background, line, 256)
    pale = _mix(background, line, 90)
    dense = _mix(background, line, 150)
    for px in range(bits.shape[0]):
        b = bits[px]
        if b & 4:
            for y in range(max(y0, 0), min(y1, height)):
                if (y + px) % 4 < 2:
                    image[y, px] = pale
        if b & 3 == 3:
            many = count[px] > 1
            for y in range(max(y0, 0), min(y1, height)):
                image[y, px] = dense if many else strong
        if b & 2:
            for y in range(max(y0, 0), min(y0 + thick, height)):
                image[y, px] = strong
        if b & 1:
            for y in range(max(y1 - thick, 0), min(y1, height)):
                image[y, px] = strong


@no_type_check
@njit(cache=True, nogil=True)
def paint_labels(image, masks, cells, codes, offsets, xs, ys, inks):
    """Paint texts: label i has the glyphs ``codes[offsets[i]:offsets[i + 1]]``, its own ink and place.

    ``masks``: ``(glyphs, height, width)`` uint8 coverage. ``cells``: advance of each glyph, pixels.
    """
    height = image.shape[0]
    width = image.shape[1]
    for i in range(xs.shape[0]):
        x = xs[i]
        ink = np.int64(inks[i])
        for c in range(offsets[i], offsets[i + 1]):
            mask = masks[codes[c]]
            for gy in range(mask.shape[0]):
                y = ys[i] + gy
                if y < 0 or y >= height:
                    continue
                for gx in range(mask.shape[1]):
                    share = np.int64(mask[gy, gx])
                    if share and 0 <= x + gx < width:
                        under = np.int64(image[y, x + gx])
                        image[y, x + gx] = _mix(under, ink, share + (share >> 7))
            x += cells[codes[c]]
