"""The drawings of an analysis: its series as charts, its intervals as lanes, all on one range of time.

The report, the verb ``plot`` and notebooks show the same drawings; nothing is computed here but layout.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from freezeframe.analyzers.analysis import AnalysisResult, Series
from freezeframe.analyzers.coverage import of_series
from freezeframe.capture.count_text import plural
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.trace.coverage import Coverages
from freezeframe.gui.plots.chart import MOST_LINES, chart_sheet
from freezeframe.gui.plots.svg import Svg, escape
from freezeframe.gui.plots.timeline import can_move, hatched, legend_of_lanes, timeline_sheet
from freezeframe.gui.plots.track_lanes import lanes_of
from freezeframe.gui.tracks.analysis import intervals_tracks
from freezeframe.gui.tracks.lanes import split_lanes
from freezeframe.gui.tracks.said import Meaning, one_swatch_each

_SUBLANES = 8  # of one track, for intervals that overlap


@dataclass(frozen=True, slots=True)
class Drawing:
    """One picture.

    Attributes:
        title, caption: plain text.
        legend: style classes and meanings of the colours that are not named in the picture itself.
        moves: a page's script can zoom it.
        sheet: its marks, for a writer of another kind; None where only its SVG was kept.
        still: it is not made to be zoomed: there is nothing beside what is drawn.
    """

    name: str
    title: str
    caption: str
    svg: str
    legend: tuple[Meaning, ...] = ()
    moves: bool = False
    sheet: Svg | None = None
    still: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "legend", tuple(one_swatch_each(self.legend)))


def extent(results: Iterable[AnalysisResult]) -> tuple[int, int] | None:
    """Return the first and last time in all series and intervals, None where there are none."""
    firsts: list[int] = []
    lasts: list[int] = []
    for result in results:
        for series in result.series:
            if len(series.t_ps):
                firsts.append(int(series.t_ps[0]))
                lasts.append(int(series.t_ps[-1]))
        for track in result.intervals:
            if len(track.t_ps):
                firsts.append(int(track.t_ps.min()))
                lasts.append(int(track.t_end_ps.max()))
    return (min(firsts), max(*lasts, min(firsts) + 1)) if firsts else None


def drawings(
    result: AnalysisResult,
    span: tuple[int, int] | None = None,
    *,
    prefix: str = "",
    moves: bool = False,
) -> list[Drawing]:
    """Return the drawings of a result; none where it has neither series nor intervals.

    Args:
        span: first and last time, picoseconds; by default those of this result.
        prefix: makes names unique where several captures are shown on one page.
        moves: the script of a page is to zoom them.
    """
    span = span or extent([result])
    if span is None:
        return []
    safe = "".join(c if c.isalnum() else "-" for c in result.name)  # an id has no blanks
    name = f"{prefix}{safe}"
    made = [
        _chart(f"{name}-{number}", group, span, result.memories, moves)
        for number, group in enumerate(_groups(result.series))
    ]
    if any(len(track.t_ps) for track in result.intervals):
        made.append(_lanes(f"{name}-intervals", result, span, moves))
    return made


def _groups(series: Sequence[Series]) -> list[list[Series]]:
    """Return the series chart by chart: of one unit, one place and one kind, a few at a time."""
    groups: dict[tuple[str, str, str, bool], list[Series]] = {}
    for one in series:
        if len(one.t_ps):
            place, _, rest = one.name.partition(".")
            key = (one.unit, place, rest.rpartition(".")[2], one.step)
            groups.setdefault(key, []).append(one)
    return [
        group[at : at + MOST_LINES]
        for group in groups.values()
        for at in range(0, len(group), MOST_LINES)
    ]


def _chart(
    name: str, group: list[Series], span: tuple[int, int], memories: Coverages, moves: bool
) -> Drawing:
    points = sum(len(one.t_ps) for one in group)
    unit = f" in {group[0].unit}" if group[0].unit else ""
    title = _joint([one.label for one in group])
    said = []
    for one in group:
        known = [v for v in one.value.astype(float).tolist() if math.isfinite(v)]
        if known:
            said.append(f"{one.label}: {min(known):,.6g} to {max(known):,.6g} {one.unit}".strip())
    desc = f"{'; '.join(said) or 'No value is known'}. From {_range(span)}."
    covered = [of_series(one, memories) for one in group]
    moves = moves and can_move(points, span[1])
    svg = chart_sheet(name, group, *span, title=title, desc=desc, coverage=covered, moves=moves)
    held = "each holds until the next" if group[0].step else "single points, joined by lines"
    return Drawing(
        name,
        title,
        f"{title}{unit}; {points:,} values, {held}.",
        svg.render(),
        hatched(covered, span),
        moves,
    )


def _lanes(name: str, result: AnalysisResult, span: tuple[int, int], moves: bool) -> Drawing:
    tracks = [track for _, track in intervals_tracks(result.name, "", result)]
    shown = [lane for track in tracks for lane in split_lanes(track, _SUBLANES)]
    lanes = lanes_of(("", track) for track in shown)
    crowded = sum(int((t.t_end_ps[:-1] > t.t_ps[1:]).sum()) for t in shown)
    count = sum(map(len, tracks))
    title = _joint([track.name for track in tracks])
    legend = legend_of_lanes(lanes, *span)
    desc = (
        f"{plural(count, 'interval')} in {plural(len(tracks), 'track')}, from {_range(span)}. "
        f"Kinds: {', '.join(dict.fromkeys(kind for one in result.intervals for kind in one.kind))}."
    )
    moves = moves and can_move(count, span[1])
    reach = span if moves else None
    svg = timeline_sheet(name, lanes, [], *span, title=title, desc=desc, reach=reach).render()
    caption = f"{title}; {plural(count, 'interval')}."
    if crowded:
        caption += (
            f" {crowded:,} that overlap more than {_SUBLANES} others are drawn over each other."
        )
    return Drawing(name, title, caption, svg, legend, moves)


def _joint(labels: Sequence[str]) -> str:
    """Return one heading for several labels: both of two, or the first and how many more there are."""
    if len(labels) < 3:
        return " · ".join(labels)
    return f"{labels[0]}, and {len(labels) - 1} more"


def _range(span: tuple[int, int]) -> str:
    return f"{format_ps(span[0])} to {format_ps(span[1])}"


def swatch(css: str, x: float = 1, y: float = 1) -> str:
    """Return 20 x 10 pixels of a look, for a legend; that of ``tick`` and ``way`` looks is a line."""
    if css == "hatch":
        data = "M1 9 9 1M6 9 14 1M11 9 19 1"
        return f'<path class="hatchline" transform="translate({x:g} {y:g})" d="{data}"/>'
    way, look = css.startswith("way"), escape(css)
    if way or css.startswith("tick "):
        (x1, y1), (x2, y2) = (
            ((x, y + 5), (x + 20, y + 5)) if way else ((x + 10, y - 1), (x + 10, y + 11))
        )
        return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" class="{look}"/>'
    return f'<rect x="{x:g}" y="{y:g}" width="20" height="10" class="{look}"/>'


def legend_html(legend: Sequence[tuple[str, ...]]) -> str:
    """Return the legend of a drawing as an HTML list, its texts escaped."""
    items = "".join(
        '<li><svg class="drawing" viewBox="0 0 22 12" aria-hidden="true">'
        f"{swatch(css)}</svg>{escape(text)}</li>"
        if css
        else f'<li class="of">{escape(text)}:</li>'
        for css, text, _ in one_swatch_each(legend)
    )
    return f'<ul class="legend">{items}</ul>' if items else ""
