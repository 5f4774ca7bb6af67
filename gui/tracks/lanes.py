"""Tracks of slices that overlap, made into tracks in which none does."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from freezeframe.gui.plots.kernels_slices import assign_lanes
from freezeframe.gui.plots.pyramid import readable
from freezeframe.gui.tracks.tracks import SliceTrack

Int64 = npt.NDArray[np.int64]


def lanes_of(t_ps: Int64, t_end_ps: Int64, most: int = 1 << 20) -> Int64:
    """Return for each slice the first lane that is free when it begins.

    Args:
        t_ps: ``(n,)`` int64, not decreasing.
        t_end_ps: ``(n,)`` int64.
        most: how many lanes there are; slices for which none is free go to the last one.
    Returns:
        ``(n,)`` int64 lanes from 0; as few lanes as the largest number of slices at one time.
    """
    if not len(t_ps) or bool((t_end_ps[:-1] <= t_ps[1:]).all()):
        return np.zeros(len(t_ps), np.int64)
    lanes = np.zeros(len(t_ps), np.int64)
    assign_lanes(readable(t_ps), readable(t_end_ps), min(most, len(t_ps)), lanes)
    return lanes


def split_lanes(track: SliceTrack, most: int = 16) -> list[SliceTrack]:
    """Return the track itself, or one track a lane (``key/2``, ``name (2)``) when slices overlap.

    The label, tip and rows of every slice stay what they were. There are at most ``most`` lanes; in
    the last one slices may still overlap, where more than that are at one time.
    """
    lanes = lanes_of(track.t_ps, track.t_end_ps, most)
    if not lanes.any():
        return [track]
    return [
        track.taken(
            np.flatnonzero(lanes == lane),
            key=f"{track.key}/{lane + 1}" if lane else track.key,
            name=f"{track.name} ({lane + 1})" if lane else track.name,
        )
        for lane in range(lanes.max() + 1)
    ]
