"""Tracks for the tests, and the same columns of pixels computed in plain Python integers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from freezeframe.gui.tracks.tracks import SliceTrack

Int64 = npt.NDArray[np.int64]


def pixel_of(t_ps: int, t0_ps: int, t1_ps: int, width: int) -> int:
    """Return the pixel column of a time by the definition, in integers of any size."""
    return (t_ps - t0_ps) * width // (t1_ps - t0_ps)


def first_time_of(px: int, t0_ps: int, t1_ps: int, width: int) -> int:
    """Return the first time that lies in a pixel column or after it."""
    return t0_ps - (-px * (t1_ps - t0_ps) // width)


def packets(count: int = 20, key: str = "a", source: str = "x.ff") -> SliceTrack:
    """Return ``count`` packets, one a microsecond, 600 ns long; packet 7 is in error."""
    t_ps = np.arange(count, dtype=np.int64) * 1_000_000
    return SliceTrack(
        key=key,
        name=f"packets {key}",
        source=source,
        t_ps=t_ps,
        t_end_ps=t_ps + 600_000,
        colour=(np.arange(count) % 2).astype(np.uint8),
        classes=("DATA", "ACK"),
        error=np.arange(count) == 7,
        rows=np.arange(count, dtype=np.int64) + 100,
        label=lambda item: f"packet {item}",
    )
