"""Measurements over a stretch of time: what a track does in it, as numbers and a histogram."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from freezeframe.capture.time_text import format_ps
from freezeframe.gui.tracks.tracks import (
    BusTrack,
    SeriesTrack,
    SliceTrack,
    StateTrack,
    Track,
    WaveTrack,
)

_BINS = 32
_PS_PER_S = 10**12


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts between edges, ``len(edges) == len(counts) + 1``; ``unit`` of the edges."""

    title: str
    unit: str
    counts: npt.NDArray[np.int64]
    edges: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Measured:
    """What a track does in ``[t0_ps, t1_ps)``: lines of name and value, and a histogram where one fits."""

    track: str
    lines: tuple[tuple[str, str], ...]
    histogram: Histogram | None = None


def measure(track: Track, t0_ps: int, t1_ps: int) -> Measured:
    """Return the measurements of a track over a half-open stretch.

    Items count that begin in it. A mean of a series that holds its values is weighted by time; a value
    that is not known counts for nothing, and how long that is, is said.
    """
    first, last = (int(at) for at in np.searchsorted(track.t_ps, [t0_ps, t1_ps]))
    span_ps = max(t1_ps - t0_ps, 0)
    count = last - first
    lines = [("length", format_ps(span_ps)), ("count", f"{count:,}")]
    if span_ps:
        lines.append(("rate", f"{count * _PS_PER_S / span_ps:,.6g} a second"))
    if isinstance(track, SeriesTrack):
        more, histogram = _of_series(track, t0_ps, t1_ps, first, last)
    elif isinstance(track, SliceTrack):
        more, histogram = _of_slices(track, first, last)
    elif isinstance(track, StateTrack | WaveTrack):
        more, histogram = _of_levels(track, t0_ps, t1_ps)
    elif isinstance(track, BusTrack):
        more, histogram = _gaps(track.t_ps[first:last])
        more.insert(0, ("different values", f"{len(np.unique(track.value[first:last])):,}"))
    else:
        more, histogram = _gaps(track.t_ps[first:last])
    return Measured(track.name, (*lines, *more), histogram)


_Lines = list[tuple[str, str]]


def _of_series(
    track: SeriesTrack, t0_ps: int, t1_ps: int, first: int, last: int
) -> tuple[_Lines, Histogram | None]:
    if not track.step:
        values = track.value[first:last].astype(np.float64)
        weight = np.ones(len(values))
    else:
        start = max(first - 1, 0)  # the value that holds when the stretch begins
        values = track.value[start:last].astype(np.float64)
        weight = _held(track.t_ps[start:last], track.end_ps, track, last, t0_ps, t1_ps)
    known = ~np.isnan(values) & (weight > 0)
    if not known.any():
        return [("values", "none known")], None
    values, held = values[known], weight[known]
    unit = f" {track.unit}" if track.unit else ""
    lines = [
        ("minimum", f"{values.min():,.6g}{unit}"),
        ("mean", f"{float(np.average(values, weights=held)):,.6g}{unit}"),
        ("maximum", f"{values.max():,.6g}{unit}"),
    ]
    missing = weight[~known].sum()
    if missing and track.step:
        lines.append(("not known for", format_ps(int(missing))))
    return lines, _histogram(f"values of {track.name}", track.unit, values)


def _held(
    t_ps: npt.NDArray[np.int64], end_ps: int | None, track: Track, last: int, t0_ps: int, t1_ps: int
) -> npt.NDArray[np.float64]:
    """Return for how long each value holds inside the stretch."""
    if not len(t_ps):
        return np.empty(0)
    after = int(track.t_ps[last]) if last < len(track) else max(end_ps or 0, int(t_ps[-1]))
    ends = np.append(t_ps[1:], after)
    inside: npt.NDArray[np.int64] = np.clip(ends, t0_ps, t1_ps) - np.clip(t_ps, t0_ps, t1_ps)
    return inside.astype(np.float64)


def _of_slices(track: SliceTrack, first: int, last: int) -> tuple[_Lines, Histogram | None]:
    lengths = track.t_end_ps[first:last] - track.t_ps[first:last]
    lines: _Lines = []
    if track.error is not None:
        lines.append(("in error", f"{int(np.count_nonzero(track.error[first:last])):,}"))
    if track.colour is not None and len(track.classes) > 1:
        counts = np.bincount(track.colour[first:last], minlength=len(track.classes))
        lines += [
            (name, f"{count:,}")
            for name, count in zip(track.classes, counts.tolist(), strict=False)
            if count
        ]
    if len(lengths) and lengths.max() > 0:
        lines += _three("length", lengths)
        return lines, _histogram("lengths", "ns", lengths / 1000)
    more, histogram = _gaps(track.t_ps[first:last])
    return [*lines, *more], histogram


def _of_levels(
    track: StateTrack | WaveTrack, t0_ps: int, t1_ps: int
) -> tuple[_Lines, Histogram | None]:
    """Return how long each state or level holds in the stretch."""
    first, last = (int(at) for at in np.searchsorted(track.t_ps, [t0_ps, t1_ps]))
    start = max(first - 1, 0)
    held = _held(track.t_ps[start:last], track.end_ps, track, last, t0_ps, t1_ps)
    column = track.colour if isinstance(track, StateTrack) else track.level
    names = track.classes if isinstance(track, StateTrack) else ("low", "high", "not known")
    total = np.bincount(column[start:last], weights=held, minlength=len(names))
    span = max(t1_ps - t0_ps, 1)
    lines = [
        (name, f"{format_ps(int(ps))} ({100 * ps / span:.1f} %)")
        for name, ps in zip(names, total.tolist(), strict=False)
        if ps
    ]
    more, histogram = _gaps(track.t_ps[first:last])
    return [*lines, *more], histogram


def _gaps(t_ps: npt.NDArray[np.int64]) -> tuple[_Lines, Histogram | None]:
    if len(t_ps) < 2:
        return [], None
    between = np.diff(t_ps)
    return _three("between two", between), _histogram("times between two", "ns", between / 1000)


def _three(what: str, values_ps: npt.NDArray[np.int64]) -> _Lines:
    return [
        (f"{what}, minimum", format_ps(int(values_ps.min()))),
        (f"{what}, mean", format_ps(int(values_ps.sum(dtype=np.float64) / len(values_ps)))),
        (f"{what}, maximum", format_ps(int(values_ps.max()))),
    ]


def _histogram(title: str, unit: str, values: npt.NDArray[Any]) -> Histogram | None:
    known = np.asarray(values, np.float64)
    known = known[np.isfinite(known)]
    if len(known) < 2 or known.min() == known.max():
        return None
    counts, edges = np.histogram(known, bins=_BINS)
    return Histogram(title, unit, counts.astype(np.int64), edges)
