"""What a decoder made of a capture, as tracks: its table's rows as slices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from freezeframe.gui.tracks.lanes import split_lanes
from freezeframe.gui.tracks.slices import classes_by_appearance, slices_of_rows
from freezeframe.gui.tracks.tracks import SliceTrack

_MOST_SOURCES = 64  # with more, connections say, a track of each would be no picture


def table_tracks(
    key: str,
    name: str,
    title: str,
    frame: pd.DataFrame,
    text: Callable[[dict[str, Any]], str] | None,
) -> list[SliceTrack]:
    """Return a decoded table as slices, each source apart: by kind coloured, errors marked, texts made on demand."""
    if not len(frame):
        return []
    kind = frame["kind"].astype(str).to_numpy(dtype=object)
    classes, colour = classes_by_appearance(kind)
    of_rows = {"colour": colour}
    if (kind == "error").any():
        of_rows["error"] = kind == "error"
    columns: dict[str, Any] = {}

    def label(row: int) -> str:
        if text is None:
            return str(kind[row])
        if not columns:
            columns.update((str(column), frame[column].to_numpy()) for column in frame.columns)
        return text({column: values[row] for column, values in columns.items()})

    made = []
    for source, rows in _sources(frame):
        whole = slices_of_rows(
            SliceTrack,
            frame["t_ps"].to_numpy(),
            frame["t_end_ps"].to_numpy() if "t_end_ps" in frame.columns else None,
            rows,
            key=f"{key}/table/{title}{f'/{source}' if source else ''}",
            name=f"{title} {source}".rstrip(),
            source=name,
            columns=of_rows,
            classes=classes,
            label=label,
            note=f"Decoded by {title}.",
        )
        made += split_lanes(whole)
    return made


def _sources(frame: pd.DataFrame) -> list[tuple[str, Any]]:
    """Return rows by their source; all together where that tells nothing, or too much."""
    if "source" not in frame.columns:
        return [("", None)]
    codes, names = pd.factorize(frame["source"].astype(str).to_numpy(dtype=object))
    if not 1 < len(names) <= _MOST_SOURCES:
        return [("", None)]
    return [(str(name), np.flatnonzero(codes == at)) for at, name in enumerate(names)]
