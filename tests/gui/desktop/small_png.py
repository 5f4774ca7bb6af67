"""Pictures of windows as small files: 256 colours, those that are most of a window and those least like them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
from PyQt6.QtGui import QImage, QPixmap

_MOST, _USUAL = 256, 192


def save_small(shown: QPixmap, place: Path) -> bool:
    """Save as PNG with a palette; return whether that worked."""
    image = shown.toImage().convertToFormat(QImage.Format.Format_RGB32)
    bits = image.constBits()
    if bits is None:
        return False
    wide, high = image.width(), image.height()
    pixels = np.frombuffer(bytes(bits.asarray(image.sizeInBytes())), np.uint32).reshape(high, wide)
    colours, place_of, counts = np.unique(pixels, return_inverse=True, return_counts=True)
    parts = np.stack([(colours >> shift) & 255 for shift in (16, 8, 0)], axis=1).astype(np.int32)
    kept = _palette(parts, counts)
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


def _palette(parts: npt.NDArray[np.int32], counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the colours that are kept: most often seen, then one by one the one that is least like those kept.

    Few pixels of a legend are as true as the ground.
    """
    kept = np.argsort(-counts, kind="stable")[:_USUAL].tolist()
    far = np.full(len(parts), np.iinfo(np.int32).max, np.int32)
    for colour in kept:
        far = np.minimum(far, ((parts - parts[colour]) ** 2).sum(axis=1, dtype=np.int32))
    while len(kept) < min(_MOST, len(parts)) and far.max() > 0:
        kept.append(int(far.argmax()))
        far = np.minimum(far, ((parts - parts[kept[-1]]) ** 2).sum(axis=1, dtype=np.int32))
    return np.sort(np.array(kept, np.int64))
