"""Filters and hits on tracks: which items show the rows of a table that an expression matches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from freezeframe.gui.tracks.tracks import IntervalTrack, MarkTrack, SliceTrack, Track

Bools = npt.NDArray[np.bool_]
Int64 = npt.NDArray[np.int64]


def filtered(track: Track, matches: Bools) -> Track:
    """Return a track of the items whose rows match.

    What holds from one item to the next (waves, buses, states, series) stays whole: with items left
    out it would say something that was not recorded.
    """
    if not isinstance(track, SliceTrack):
        return track
    rows = np.arange(len(track), dtype=np.int64) if track.rows is None else track.rows
    kept = np.flatnonzero(matches[rows])
    changed: dict[str, Any] = {
        "t_ps": track.t_ps[kept],
        "t_end_ps": track.t_end_ps[kept],
        "rows": rows[kept],
    }
    columns: tuple[str, ...] = ("colour", "error")
    if isinstance(track, IntervalTrack):
        columns += ("open_start", "open_end")
    for name in columns:
        column = getattr(track, name)
        if column is not None:
            changed[name] = column[kept]
    for name in ("label", "tip"):
        text = getattr(track, name)
        if text is not None:
            changed[name] = _moved(text, kept)
    return replace(track, **changed)


def rows_shown(track: Track, rows: Int64) -> Int64:
    """Return which of these rows of its table the track shows, ascending."""
    if isinstance(track, MarkTrack):
        return rows[:0]
    if track.rows is None:
        return rows[rows < len(track)]
    return np.intersect1d(rows, track.rows)


def _moved(text: Any, kept: Int64) -> Any:
    return lambda item: text(int(kept[item]))
