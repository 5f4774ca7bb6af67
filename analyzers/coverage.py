"""What the series and intervals of an analysis cover: they know no more than the memories they were made from."""

from __future__ import annotations

import numpy as np

from freezeframe.analyzers.analysis import Intervals, Series
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.trace.coverage import Coverage, Coverages, Hole


def of_series(series: Series, memories: Coverages) -> Coverage:
    """Return where a series has a value: within the memories it rests on, from its first point to its last."""
    covered = memories.all_of(series.rests_on)
    if not len(series.t_ps):
        return covered.less(Coverage.nothing("no value").holes)
    covered = covered.less(_beside(int(series.t_ps[0]), int(series.t_ps[-1]) + 1, "no value").holes)
    if series.value.dtype.kind != "f" or not series.step:
        return covered
    edges = np.flatnonzero(np.diff(np.isnan(series.value).astype(np.int8), prepend=0, append=0))
    last = len(series.t_ps) - 1
    return covered.less(
        Hole(int(series.t_ps[a]), int(series.t_ps[min(b, last)]), "the value is not known")
        for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
        if series.t_ps[a] < series.t_ps[min(b, last)]
    )


def of_intervals(track: Intervals, memories: Coverages) -> Coverage:
    """Return where the absence of an interval says that there was none."""
    if track.rests_on:
        return memories.all_of(track.rests_on)
    if not len(track.t_ps):
        return Coverage.nothing("nothing is said")
    return _beside(int(track.t_ps.min()), int(track.t_end_ps.max()) + 1, "nothing is said")


def _beside(first_ps: int, end_ps: int, what: str) -> Coverage:
    return Coverage.between(
        first_ps,
        end_ps,
        f"{what} before {format_ps(first_ps)}",
        f"{what} after {format_ps(end_ps - 1)}",
    )
