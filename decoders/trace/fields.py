"""Bit fields of many words at once, and the names of their values.

Source: docs/formats.md sections 3 and 4; layouts from firmware-hooks/registers/formats.toml.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from freezeframe.capture.registers.layout import Layout

__all__ = ["field_of", "name_of"]


def field_of(layout: Layout, field: str, words: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return one field of words, ``(n,)`` int64 bit patterns."""
    lsb, width = layout.fields[field]
    return words >> np.int64(lsb) & np.int64((1 << width) - 1)


def name_of(names: Sequence[str], number: int) -> str:
    """Return the name of a value, ``unknown-7`` for one that has none."""
    return names[number] if number < len(names) else f"unknown-{number}"
