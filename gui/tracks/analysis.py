"""What a named analysis found, as tracks: read from its result, nothing is computed here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from freezeframe.analyzers.analysis import AnalysisResult, Series
from freezeframe.analyzers.coverage import of_intervals, of_series
from freezeframe.analyzers.declarations import PRESSURE
from freezeframe.decoders.trace.coverage import Coverage
from freezeframe.decoders.trace.decode import Trace
from freezeframe.gui.palette import CLASSES
from freezeframe.gui.tracks.lanes import split_lanes
from freezeframe.gui.tracks.recording import Made, wait_tracks
from freezeframe.gui.tracks.slices import classes_by_appearance, slices_of_rows
from freezeframe.gui.tracks.topics import WAITS, role_of_all
from freezeframe.gui.tracks.tracks import IntervalTrack, SeriesTrack, SliceTrack, Track


def result_tracks(
    key: str, name: str, result: AnalysisResult
) -> Iterator[tuple[Track, str | None]]:
    """Yield a track for each series and each set of intervals, and for each dated table."""
    for number, series in enumerate(result.series):
        if len(series.t_ps):
            line = _series(key, name, result.name, series, CLASSES[number % len(CLASSES)])
            yield replace(line, coverage=of_series(series, result.memories)), None
    for number, whole in intervals_tracks(key, name, result):
        for lane in split_lanes(whole):
            yield lane, intervals_key(result, number)
    for title, table in result.tables.items():
        track = _table_track(key, name, result.name, title, table)
        if track is not None:
            for lane in split_lanes(track):
                yield lane, f"{result.name}: {title}"


def analysis_tracks(
    key: str, name: str, trace: Trace | None, result: AnalysisResult
) -> Iterator[Made]:
    """Yield the tracks of what a named analysis found in a recording.

    Of waits for credit they are those of the recording once more, each with what it was for: they take their place.
    """
    if trace is None or result.name != PRESSURE.id:
        yield from result_tracks(key, name, result)
        return
    yield from wait_tracks(key, name, trace, waits_told(result))


def waits_told(result: AnalysisResult) -> dict[tuple[str, int, int], str]:
    """Return what each wait for credit was for, by its device, the time from which it lasts, and its flow."""
    return {
        (one.name.partition("->")[0], t_ps, flow): text
        for one in result.intervals
        for t_ps, flow, text in zip(one.t_ps.tolist(), one.flow.tolist(), one.text, strict=True)
    }


def intervals_tracks(
    key: str, name: str, result: AnalysisResult
) -> Iterator[tuple[int, IntervalTrack]]:
    """Yield number and track of each set of intervals that holds any; a kind has one colour in all of them."""
    every = [kind for one in result.intervals for kind in one.kind]
    classes, colours = classes_by_appearance(every)
    role = role_of_all(result.name)
    if role == "warn":
        classes, colours = (WAITS,), np.zeros_like(colours)
    first = 0
    for number, one in enumerate(result.intervals):
        mine = colours[first : first + len(one.t_ps)]
        first += len(one.t_ps)
        if len(one.t_ps):
            yield (
                number,
                slices_of_rows(
                    IntervalTrack,
                    one.t_ps,
                    one.t_end_ps,
                    key=f"{key}/{result.name}/intervals/{number}/{one.name}",
                    name=one.label or one.name,
                    source=name,
                    columns={
                        "colour": mine,
                        "open_start": one.open_start,
                        "open_end": one.open_end,
                    },
                    classes=classes,
                    roles=(role,) * len(classes) if role else (),
                    label=one.text.__getitem__,
                    tip=one.kind.__getitem__ if role else None,
                    note=f"Of the analysis {result.name}.",
                    coverage=of_intervals(one, result.memories),
                ),
            )


def intervals_key(result: AnalysisResult, number: int) -> str:
    """Return the name of the table that lists a set of intervals."""
    return f"{result.name}: {result.intervals[number].label}"


def _series(key: str, name: str, analysis: str, series: Series, role: str) -> SeriesTrack:
    values = series.value
    if values.dtype.kind not in "iuf":
        values = values.astype(np.float64)
    return SeriesTrack(
        key=f"{key}/{analysis}/series/{series.name}",
        name=series.label or series.name,
        source=name,
        t_ps=series.t_ps,
        value=values,
        step=series.step,
        unit=series.unit,
        limit=series.limit,
        limit_label=series.limit_label,
        role=role,
        scale=f"{name}/{analysis}/{series.unit}" if series.unit else "",
        note=f"Of the analysis {analysis}. Drawn to the same height as the others of its unit."
        if series.unit
        else f"Of the analysis {analysis}.",
    )


def _table_track(
    key: str, name: str, analysis: str, title: str, table: pd.DataFrame
) -> SliceTrack | None:
    """Return a track of a table whose rows begin and end at known times; None for another."""
    if not {"t_ps", "t_end_ps"} <= set(table.columns):
        return None
    times = table[["t_ps", "t_end_ps"]].reset_index(drop=True)
    rows = np.asarray(times.dropna().index, dtype=np.int64)
    if not len(rows):
        return None
    begin, end = (np.asarray(times[name].fillna(0), dtype=np.int64) for name in times)
    words = [column for column in ("text", "kind", "label", "name") if column in table.columns]
    column = table[words[0]] if words else None
    return slices_of_rows(
        SliceTrack,
        begin,
        end,
        rows,
        label=lambda row: f"row {row}" if column is None else str(column.iloc[row]),
        key=f"{key}/{analysis}/table/{title}",
        name=f"{analysis}: {title}",
        source=name,
        note=f"The table {title} of the analysis {analysis}.",
        coverage=Coverage.between(
            int(begin[rows].min()),
            int(np.maximum(begin, end)[rows].max()) + 1,
            "no row of the table before",
            "no row of the table after",
        ),
    )
