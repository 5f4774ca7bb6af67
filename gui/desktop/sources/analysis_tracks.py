"""What a named analysis found, as tracks and tables: read from its result, nothing is computed here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from freezeframe.analyzers.analysis import AnalysisResult, Intervals, Series
from freezeframe.analyzers.coverage import of_intervals, of_series
from freezeframe.decoders.trace.coverage import Coverage
from freezeframe.gui.desktop.sources.opened import Table
from freezeframe.gui.desktop.sources.slices import classes_by_appearance, slices_of_rows
from freezeframe.gui.desktop.timeline.lanes import split_lanes
from freezeframe.gui.desktop.timeline.tracks import IntervalTrack, SeriesTrack, SliceTrack, Track

_ROLES = ("a", "b", "c", "d", "e", "f", "g", "h")


def result_tracks(
    key: str, name: str, result: AnalysisResult
) -> Iterator[tuple[Track, str | None]]:
    """Yield a track for each series and each set of intervals, and for each dated table."""
    for number, series in enumerate(result.series):
        if len(series.t_ps):
            line = _series(key, name, result.name, series, _ROLES[number % len(_ROLES)])
            yield replace(line, coverage=of_series(series, result.memories)), None
    for number, intervals in enumerate(result.intervals):
        if len(intervals.t_ps):
            coverage = of_intervals(intervals, result.memories)
            for lane in split_lanes(_intervals(key, name, result.name, intervals, number)):
                yield replace(lane, coverage=coverage), intervals_key(result, number)
    for title, table in result.tables.items():
        track = _table_track(key, name, result.name, title, table)
        if track is not None:
            for lane in split_lanes(track):
                yield lane, f"{result.name}: {title}"


def intervals_key(result: AnalysisResult, number: int) -> str:
    """Return the name of the table that lists a set of intervals."""
    return f"{result.name}: {result.intervals[number].label}"


def result_tables(result: AnalysisResult) -> Iterator[Table]:
    """Yield the figures, the intervals and the tables of a result as tables of the window."""
    if result.figures:
        yield Table(f"{result.name}: figures", figures_table(result), doc="numbers of the analysis")
    for number, one in enumerate(result.intervals):
        frame = pd.DataFrame(
            {
                "t_ps": one.t_ps,
                "kind": pd.Categorical(list(one.kind)),
                "t_end_ps": one.t_end_ps,
                "flow": one.flow,
                "text": list(one.text),
                "open_start": one.open_start,
                "open_end": one.open_end,
            }
        )
        yield Table(intervals_key(result, number), frame, lambda row: str(row["text"]))
    for title, table in result.tables.items():
        yield Table(f"{result.name}: {title}", table.reset_index(drop=True))
    if result.findings:
        yield Table(
            f"{result.name}: findings", _findings(result), doc="what the analysis found wrong"
        )


def figures_table(result: AnalysisResult) -> pd.DataFrame:
    """Return the figures of a result, one a row; a value that the capture lacks is empty."""
    return pd.DataFrame(
        {
            "name": [figure.name for figure in result.figures],
            "label": [figure.label for figure in result.figures],
            "amount": pd.Series([figure.value for figure in result.figures], dtype=object),
            "unit": [figure.unit for figure in result.figures],
            "plus_minus": pd.Series(
                [figure.uncertainty for figure in result.figures], dtype=object
            ),
            "note": [figure.note for figure in result.figures],
        }
    )


def _findings(result: AnalysisResult) -> pd.DataFrame:
    found = result.findings
    columns: dict[str, list[Any]] = {
        "t_ps": [one.t_ps for one in found],
        "kind": [one.diagnosis for one in found],
        "device": [one.device for one in found],
        "tap": [one.tap for one in found],
        "flow": [one.flow for one in found],
        "packet": [one.packet for one in found],
        "word": [one.word for one in found],
        "text": [one.text for one in found],
    }
    numbers = ("t_ps", "flow", "packet", "word")
    return pd.DataFrame(
        {
            name: pd.array(values, dtype="Int64")
            if name in numbers
            else pd.Series(values, dtype=object)
            for name, values in columns.items()
        }
    )


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


def _intervals(key: str, name: str, analysis: str, one: Intervals, number: int) -> IntervalTrack:
    classes, colour = classes_by_appearance(one.kind)
    return slices_of_rows(
        IntervalTrack,
        one.t_ps,
        one.t_end_ps,
        key=f"{key}/{analysis}/intervals/{number}/{one.name}",
        name=one.label or one.name,
        source=name,
        columns={"colour": colour, "open_start": one.open_start, "open_end": one.open_end},
        classes=classes,
        label=lambda row: one.text[row],
        note=f"Of the analysis {analysis}.",
    )


def _table_track(
    key: str, name: str, analysis: str, title: str, table: pd.DataFrame
) -> SliceTrack | None:
    """Return a track of a table whose rows begin and end at known times; None for another."""
    if not {"t_ps", "t_end_ps"} <= set(table.columns) or not len(table):
        return None
    known = (table["t_ps"].notna() & table["t_end_ps"].notna()).to_numpy()
    rows = np.flatnonzero(known).astype(np.int64)
    begin = _whole(table["t_ps"], rows)
    end = np.maximum(_whole(table["t_end_ps"], rows), begin)
    order = np.argsort(begin, kind="stable")
    rows, begin, end = rows[order], begin[order], end[order]
    words = [column for column in ("text", "kind", "label", "name") if column in table.columns]
    column = table[words[0]] if words else None

    def label(item: int) -> str:
        return f"row {rows[item]}" if column is None else str(column.iloc[rows[item]])

    return SliceTrack(
        key=f"{key}/{analysis}/table/{title}",
        name=f"{analysis}: {title}",
        source=name,
        t_ps=begin,
        t_end_ps=end,
        rows=rows,
        label=label,
        note=f"The table {title} of the analysis {analysis}.",
        coverage=Coverage.between(
            int(begin[0]),
            int(end.max()) + 1,
            "no row of the table before",
            "no row of the table after",
        ),
    )


def _whole(column: pd.Series[int], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.asarray(column.iloc[rows].to_numpy(), dtype=np.int64)
