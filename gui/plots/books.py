"""The books of a flow as staircases: what was sent, freed and told, what may be sent, and how full the FIFO was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from freezeframe.analyzers.analysis import Series
from freezeframe.analyzers.contract import Finding
from freezeframe.analyzers.coverage import of_series
from freezeframe.analyzers.credits.staircases import Staircases
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.trace.coverage import Coverages
from freezeframe.gui.plots.axis import TimeAxis
from freezeframe.gui.plots.chart import Gap, chart_sheet, filled
from freezeframe.gui.plots.figures import Drawing
from freezeframe.gui.plots.marks import Mark
from freezeframe.gui.plots.timeline import hatched
from freezeframe.gui.tracks.said import Meaning

_STEPS = 6  # of the credits, before the finding and twice as many behind it
_WAITS = 8  # times as far as what is shown: a wait so far behind may still follow from it
_HEIGHT = 220.0
_LEAST_PS = 2_000_000


def books_span(
    books: Staircases, finding: Finding, waits: Sequence[tuple[int, int]] = ()
) -> tuple[int, int] | None:
    """Return a range of time in which single credits are seen, around the finding; None without any known count.

    Args:
        waits: those of the flow, begin and end; the first behind the finding is seen, too.
    """
    every = [one for one in books.series if len(one.t_ps)]
    if not every:
        return None
    first = min(int(one.t_ps[0]) for one in every)
    last = max(int(one.t_ps[-1]) for one in every)
    if finding.t_ps is None:
        return first, max(last, first + 1)
    steps = [
        np.diff(one.t_ps)
        for one in (books.told, books.credited)
        if one is not None and len(one.t_ps) > 2
    ]
    step = int(np.median(np.concatenate(steps))) if steps else 0
    around = max(_STEPS * step, _LEAST_PS)
    begin, end = finding.t_ps - around, finding.t_ps + 2 * around
    wait = next((pair for pair in waits if pair[0] >= finding.t_ps), None)
    if wait is not None and wait[0] < finding.t_ps + _WAITS * around:
        end = max(end, min(wait[1], wait[0] + around))
    return max(begin, min(first, finding.t_ps)), max(
        min(end, max(last, finding.t_ps)), begin + _LEAST_PS
    )


def books_drawing(
    books: Staircases, span: tuple[int, int], marks: Sequence[Mark], memories: Coverages, name: str
) -> Drawing:
    """Return the staircases between two times."""
    account = books.account
    over_room = [
        Gap(books.room, one, "", "") for one in (books.limit, books.sent) if one and books.room
    ]
    if not any(_seen(gap, span) for gap in over_room):
        books = replace(books, room=None)  # far above all others, it would press them together
    series = books.series
    gaps = []
    if books.credited is not None and books.told is not None:
        gaps.append(
            Gap(
                books.credited,
                books.told,
                "owed",
                f"told by {account.receiver}, not yet credited to {account.sender}",
            )
        )
    if books.sent is not None:
        for limit, said in (
            (books.limit, "than its credits allow"),
            (books.room, "than the FIFO has room for"),
        ):
            if limit is not None:
                gaps.append(Gap(limit, books.sent, "beyond", f"more sent {said}"))
        if books.limit is not None:
            gaps.append(Gap(books.sent, books.limit, "free", f"{account.sender} may still send"))
    shown = {gap.css: gap.label for gap in reversed(gaps) if _seen(gap, span)}
    lines = [(float(at), f"the counters begin from 0 again ({at:,})") for at in books.wraps]
    lines = lines if len(lines) == 1 else []
    title = f"Books of flow {account.flow}, {account.direction}"
    covered = [of_series(one, memories) for one in series]
    caption = f"{title}, in words; from {format_ps(span[0])} to {format_ps(span[1])}."
    sheet = chart_sheet(
        name, series, *span, title=title, desc=caption, coverage=covered, gaps=gaps,
        marks=marks, lines=lines, near=True, height=_HEIGHT,
    )  # fmt: skip
    legend = (*(Meaning(css, label) for css, label in shown.items()), *hatched(covered, span))
    return Drawing(name, title, caption, sheet.render(), legend, sheet=sheet, still=True)


def series_drawing(
    one: Series, span: tuple[int, int], marks: Sequence[Mark], memories: Coverages, name: str
) -> Drawing:
    """Return one quantity between two times, on the axis of the staircases."""
    covered = of_series(one, memories)
    title = one.label[:1].upper() + one.label[1:]
    caption = f"{title}, in {one.unit}."
    sheet = chart_sheet(
        name,
        [one],
        *span,
        title=title,
        desc=caption,
        coverage=[covered],
        marks=marks,
        limits=True,
    )
    legend = hatched([covered], span)
    return Drawing(name, title, caption, sheet.render(), legend, sheet=sheet, still=True)


def _seen(gap: Gap, span: tuple[int, int]) -> bool:
    """Return whether anything of a gap is filled between two times."""
    return bool(filled(gap, TimeAxis(*span, 0, 1000), lambda value: -value))


def level_within(level: Series | None, span: tuple[int, int]) -> bool:
    """Return whether a level is known anywhere between two times."""
    return level is not None and bool(((level.t_ps >= span[0]) & (level.t_ps < span[1])).any())
