"""The result of an analysis as text for a terminal: figures, the shape of series, intervals by kind, notes."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence

import numpy as np

from freezeframe.analyzers.analysis import AnalysisResult, Figure, Intervals, Series
from freezeframe.capture.count_text import plural
from freezeframe.capture.time_text import format_ps
from freezeframe.gui.cli.output import count_text, table, text_width
from freezeframe.gui.figure_text import figure_text
from freezeframe.gui.text import printable

_BARS = "▁▂▃▄▅▆▇█"
_SPARK = 48  # characters of a series
_LEAST_SPARK = 16


def analysis_text(title: str, result: AnalysisResult) -> str:
    """Return the whole result but its tables, which are only named."""
    parts = [f"{title} ({result.name})"]
    if result.figures:
        parts.append(_figures(result.figures))
    if result.series:
        parts.append(_series(result.series))
    if result.intervals:
        parts.append(_intervals(result.intervals))
    if result.findings:
        lines = [line for f in result.findings for line in _wrapped(f"- {f.diagnosis}: {f.text}")]
        parts.append("\n".join(["  Findings", *lines]))
    if result.tables:
        names = ", ".join(f"{name} ({plural(len(t), 'row')})" for name, t in result.tables.items())
        parts.append("\n".join(_wrapped(f"Tables, for --tables and --json: {names}", "  ", "    ")))
    if result.notes:
        lines = [line for note in result.notes for line in _wrapped(f"- {note}")]
        parts.append("\n".join(["  Notes", *lines]))
    if len(parts) == 1:
        parts.append("  Nothing to tell, and nothing is missing.")
    return "\n\n".join("\n".join(printable(line) for line in part.split("\n")) for part in parts)


def sparkline(values: Sequence[float], width: int = _SPARK) -> str:
    """Return values as a line of bars from 0 to their largest, the largest of each part; a blank is not known."""
    found = np.asarray(values, np.float64)
    if not len(found):
        return ""
    edges = np.linspace(0, len(found), min(width, len(found)) + 1).astype(int)
    peaks = []
    for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        part = found[begin:end]
        part = part[~np.isnan(part)]
        peaks.append(float(part.max()) if len(part) else math.nan)
    top = max((peak for peak in peaks if not math.isnan(peak)), default=0.0)
    if top <= 0:
        return "".join(" " if math.isnan(p) else _BARS[0] for p in peaks)
    last = len(_BARS) - 1
    return "".join(
        " " if math.isnan(p) else _BARS[max(0, min(last, round(p / top * last)))] for p in peaks
    )


def _figures(figures: Sequence[Figure]) -> str:
    lines: list[str] = []
    rows = [(figure.label, *figure_text(figure)) for figure in figures]
    text = table(("", "value", ""), rows, right=(1,)).split("\n")[1:]
    for line, figure in zip(text, figures, strict=True):
        lines.append(f"  {line}")
        if figure.note:
            lines += _wrapped(figure.note, "      ", "      ")
    return "\n".join(lines)


def _series(series: Sequence[Series]) -> str:
    rows = []
    for one in series:
        known = one.value[~np.isnan(one.value.astype(np.float64))]
        most = f"most {float(known.max()):,.4g} {one.unit}".rstrip() if len(known) else "not known"
        limit = f"{one.limit_label} {one.limit:,.4g}" if one.limit is not None else ""
        rows.append((f"  {one.label}", sparkline(one.value.tolist()), most, limit))
    lines = table(("", "", "", ""), rows).split("\n")[1:]
    if max(map(len, lines)) <= text_width():
        return "\n".join(["  Series", *lines])
    # Figures below their shape: a line that a terminal breaks tears the shape apart.
    room = text_width() - max(len(printable(row[0])) for row in rows) - 2
    shapes = table(
        ("", ""),
        [
            (row[0], sparkline(one.value.tolist(), max(_LEAST_SPARK, min(_SPARK, room))))
            for row, one in zip(rows, series, strict=True)
        ],
    ).split("\n")[1:]
    below = [f"      {',  '.join(part for part in row[2:] if part)}" for row in rows]
    return "\n".join(
        ["  Series", *(line for pair in zip(shapes, below, strict=True) for line in pair)]
    )


def _intervals(tracks: Sequence[Intervals]) -> str:
    rows = [row for track in tracks for row in _kinds(track)]
    heads = ("    track", "kind", "count", "in all", "longest", "first at")
    return "\n".join(["  Intervals", table(heads, rows, right=(2, 3, 4, 5))])


def _kinds(track: Intervals) -> Iterator[tuple[str, str, str, str, str, str]]:
    kinds = np.array(track.kind, dtype=object)
    lengths = track.t_end_ps - track.t_ps
    for kind in dict.fromkeys(track.kind):
        mine = kinds == kind
        cut = mine & (track.open_start | track.open_end)
        count = count_text(int(mine.sum())) + (f" ({int(cut.sum())} cut)" if cut.any() else "")
        yield (
            f"    {track.label}",
            kind,
            count,
            format_ps(int(lengths[mine].sum())),
            format_ps(int(lengths[mine].max())),
            format_ps(int(track.t_ps[mine].min())),
        )


def _wrapped(text: str, first: str = "  ", rest: str = "    ") -> list[str]:
    return textwrap.wrap(
        text, text_width(), initial_indent=first, subsequent_indent=rest, break_long_words=False
    )
