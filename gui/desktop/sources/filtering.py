"""Filters and hits on tracks: which items show the rows of a table that an expression matches."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from freezeframe.gui.tracks.tracks import MarkTrack, SliceTrack, Track

Bools = npt.NDArray[np.bool_]
Int64 = npt.NDArray[np.int64]


def filtered(track: Track, matches: Bools) -> Track:
    """Return a track of the items whose rows match.

    What holds from one item to the next (waves, buses, states, series) stays whole: with items left
    out it would say something that was not recorded.
    """
    if not isinstance(track, SliceTrack):
        return track
    return track.taken(
        np.flatnonzero(matches[: len(track)] if track.rows is None else matches[track.rows])
    )


def rows_shown(track: Track, rows: Int64) -> Int64:
    """Return which of these rows of its table the track shows, ascending."""
    if isinstance(track, MarkTrack):
        return rows[:0]
    if track.rows is None:
        return rows[rows < len(track)]
    return np.intersect1d(rows, track.rows)
