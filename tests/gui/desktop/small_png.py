"""Pictures of windows as small files: a palette of the 256 colours that a window has most, for others the nearest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PyQt6.QtGui import QImage, QPixmap

_MOST = 256


def save_small(shown: QPixmap, place: Path) -> bool:
    """Save as PNG with a palette; return whether that worked."""
    image = shown.toImage().convertToFormat(QImage.Format.Format_RGB32)
    bits = image.constBits()
    if bits is None:
        return False
    wide, high = image.width(), image.height()
    pixels = np.frombuffer(bits.asarray(image.sizeInBytes()), np.uint32).reshape(high, wide)
    colours, place_of, counts = np.unique(pixels, return_inverse=True, return_counts=True)
    kept = np.sort(np.argsort(-counts, kind="stable")[:_MOST])
    parts = np.stack([(colours >> shift) & 255 for shift in (16, 8, 0)], axis=1).astype(np.int32)
    nearest = np.concatenate(
        [
            ((parts[at : at + 1024, None] - parts[kept][None]) ** 2).sum(axis=2).argmin(axis=1)
            for at in range(0, len(colours), 1024)
        ]
    ).astype(np.uint8)
    numbers = nearest[place_of.reshape(high, wide)]
    stride = -(-wide // 4) * 4
    rows = np.zeros((high, stride), np.uint8)
    rows[:, :wide] = numbers
    made = QImage(rows.tobytes(), wide, high, stride, QImage.Format.Format_Indexed8)
    made.setColorTable([int(colour) | 0xFF000000 for colour in colours[kept]])
    return made.save(str(place), "PNG", 0)  # 0: as small as deflate makes it
