"""A table of columns as HTML: times and words as people read them, so many rows, the rest counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from freezeframe.capture.time_text import format_ps
from freezeframe.gui.report.html import Html, table

_WORDS = ("data", "computed", "received", "payload", "header")
"""Columns that hold words of 64 bits, stored as their int64 pattern."""


def frame_table(frame: pd.DataFrame, caption: str, rows: int) -> Html:
    """Return the first rows of a table as HTML."""
    shown = frame.head(rows)
    numbers = [
        i
        for i, kind in enumerate(frame.dtypes)
        if pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind)
    ]
    names = [str(column) for column in frame.columns]
    missing = shown.isna().to_numpy()
    cells = [
        [
            "" if gone else cell_text(name, value)
            for name, value, gone in zip(names, row, no, strict=True)
        ]
        for row, no in zip(shown.itertuples(index=False, name=None), missing, strict=True)
    ]
    return table(caption, names, cells, numbers=numbers)


def cell_text(column: str, value: Any) -> str:
    """Return a value as text; picoseconds (``*_ps``) with their unit, words in hexadecimal."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return f"{float(value):,.6g}"
    if isinstance(value, int | np.integer):
        number = int(value)
        if column.endswith("_ps"):
            return format_ps(number)
        if column.removeprefix("up_").removeprefix("down_") in _WORDS:
            return f"{number & (1 << 64) - 1:#018x}"
        return f"{number:,}"
    return str(value)
