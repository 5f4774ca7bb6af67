"""The time line of a capture: lanes of bars and ticks over one axis, and marks across all lanes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.trace.coverage import Coverage
from freezeframe.gui.plots.axis import TimeAxis
from freezeframe.gui.plots.svg import Svg, text_width

_WIDTH = 1120.0
GUTTER = 112.0
"""Room for the names of the lanes, in pixels."""

_MARGIN = 14.0
_NARROW = 4.0  # bars under this have no outline, which would take much of their width
_LANE = 24.0
_BAR = 16.0
_HEADING = 22.0
_LABEL = 12.0  # font size of lane names, axis and marks
_SMALL = 10.0  # font size inside bars
_ROW = 16.0  # height of a row of mark labels
_BESIDE = 7.0  # between the line of a mark and its label, so that the flag has room
_THIN = 1.0  # no bar is narrower: it would fade; those that are, are drawn together with their neighbours


@dataclass(frozen=True, slots=True)
class Bar:
    """Something that lasts, ``[t0_ps, t1_ps)``. A loud bar is never merged into its neighbours."""

    t0_ps: int
    t1_ps: int
    css: str
    label: str = ""
    tip: str = ""
    loud: bool = False


@dataclass(frozen=True, slots=True)
class Tick:
    """Something that happens at one time."""

    t_ps: int
    css: str
    tip: str = ""


@dataclass(slots=True)
class Lane:
    """A row of the time line. Lanes with the same ``group`` are drawn together under that heading, if it has text."""

    group: str
    name: str
    tip: str = ""
    bars: list[Bar] = field(default_factory=list)
    ticks: list[Tick] = field(default_factory=list)
    coverage: Coverage = field(default_factory=Coverage)


@dataclass(frozen=True, slots=True)
class Mark:
    """A line across all lanes at a time, with a label above; the band shows its uncertainty."""

    t_ps: int
    label: str
    css: str
    unc_ps: int = 0


def draw_timeline(
    name: str,
    lanes: Sequence[Lane],
    marks: Sequence[Mark],
    t0_ps: int,
    t1_ps: int,
    *,
    title: str,
    desc: str,
    gutter: float = GUTTER,
) -> str:
    """Return the SVG of the lanes between two times.

    Args:
        name: makes the ids of this drawing unique in the page.
        lanes: in the order they are drawn, those of one group next to each other.
        marks: those outside the range are left out.
        t0_ps: the left edge, picoseconds.
        t1_ps: the right edge, exclusive.
        gutter: room for the names of the lanes; longer names are cut, the whole one is the tip.
    """
    axis = TimeAxis(t0_ps, t1_ps, gutter, _WIDTH - _MARGIN)
    shown = sorted((m for m in marks if t0_ps <= m.t_ps <= t1_ps), key=lambda m: m.t_ps)
    lefts = _label_lefts(axis, shown)
    rows = _mark_rows(lefts, shown)
    top = _top(rows)
    tops, headings, bottom = _places(lanes, top)
    svg = Svg(name, _WIDTH, bottom + 26, title=title, desc=desc)
    for group, y in headings.items():
        if not group:
            continue
        svg.text(2, y + _HEADING - 7, group, "group")
        svg.line(0, y + _HEADING - 1, _WIDTH - _MARGIN, y + _HEADING - 1, "rule")
    for lane, y in zip(lanes, tops, strict=True):
        cut = _cut(lane.name, gutter - 10)
        tip = (
            lane.tip if cut == lane.name else f"{lane.name}: {lane.tip}" if lane.tip else lane.name
        )
        svg.text(gutter - 8, y + 16, cut, "label", anchor="end", tip=tip)
        svg.line(axis.x0, y + _LANE - 1, axis.x1, y + _LANE - 1, "lane")
    svg.begin_group("moving")
    _draw_axis(svg, axis, top, bottom)
    for mark in shown:
        if mark.unc_ps:
            left, right = axis.clamp(mark.t_ps - mark.unc_ps), axis.clamp(mark.t_ps + mark.unc_ps)
            svg.rect(left, top, right - left, bottom - top, f"band {mark.css}")
    for lane, y in zip(lanes, tops, strict=True):
        _draw_lane(svg, axis, lane, y)
    # Labels after all lines: a label has an outline that keeps the lines of others out of its letters.
    for mark, row in zip(shown, rows, strict=True):
        _draw_mark(svg, axis, mark, _ROW * row + _LABEL, bottom)
    for mark, row, left in zip(shown, rows, lefts, strict=True):
        baseline = _ROW * row + _LABEL - 2
        svg.text(left, baseline, mark.label, f"marklabel {mark.css}")
    svg.end_group()
    return svg.render()


def timeline_data(
    lanes: Sequence[Lane],
    marks: Sequence[Mark],
    t0_ps: int,
    t1_ps: int,
    least_ps: int,
    most_ps: int,
    gutter: float = GUTTER,
) -> dict[str, Any]:
    """Return what a script needs to draw the same lanes over another range of time.

    Args:
        t0_ps, t1_ps: the range that `draw_timeline` was given, least_ps, most_ps: all there is.
    """
    axis = TimeAxis(t0_ps, t1_ps, gutter, _WIDTH - _MARGIN)
    shown = sorted((m for m in marks if t0_ps <= m.t_ps <= t1_ps), key=lambda m: m.t_ps)
    top = _top(_mark_rows(_label_lefts(axis, shown), shown))
    tops, _, bottom = _places(lanes, top)
    return {
        "x": [axis.x0, axis.x1],
        "y": [top, bottom],
        "t": [t0_ps, t1_ps],
        "all": [least_ps, most_ps],
        "width": _WIDTH,
        "rows": round((top - 4) / _ROW),
        "marks": [[m.t_ps, m.label, m.css, m.unc_ps] for m in marks],
        "lanes": [
            {
                "y": y,
                "holes": [list(hole) for hole in lane.coverage.within(least_ps, most_ps)],
                "bars": [
                    [b.t0_ps, b.t1_ps, b.css, b.label, b.tip, int(b.loud)]
                    for b in sorted(lane.bars, key=lambda bar: bar.t0_ps)
                ],
                "ticks": [
                    [t.t_ps, t.css, t.tip] for t in sorted(lane.ticks, key=lambda tick: tick.t_ps)
                ],
            }
            for lane, y in zip(lanes, tops, strict=True)
        ],
    }


def _top(rows: Sequence[int]) -> float:
    return _ROW * max(rows, default=-1) + _ROW + 4


def _places(lanes: Sequence[Lane], top: float) -> tuple[list[float], dict[str, float], float]:
    """Return the top of each lane and of each group's heading, and where the last lane ends."""
    at: dict[int, float] = {}
    headings: dict[str, float] = {}
    y = top
    for group in dict.fromkeys(lane.group for lane in lanes):
        headings[group] = y
        y += _HEADING if group else 0.0
        for number, lane in enumerate(lanes):
            if lane.group == group:
                at[number] = y
                y += _LANE
    return [at[number] for number in range(len(lanes))], headings, y


def _cut(text: str, width: float) -> str:
    most = int(width / text_width("x", _LABEL))
    return text if len(text) <= most else f"{text[: max(most - 1, 1)]}…"


def _draw_axis(svg: Svg, axis: TimeAxis, top: float, bottom: float) -> None:
    svg.line(axis.x0, bottom, axis.x1, bottom, "axis")
    for x, label in axis.ticks():
        svg.line(x, top, x, bottom + 4, "grid")
        half = text_width(label, _LABEL) / 2
        svg.text(min(max(x, half), _WIDTH - half), bottom + 18, label, "label", anchor="middle")


def _draw_lane(svg: Svg, axis: TimeAxis, lane: Lane, y: float) -> None:
    for hole in lane.coverage.within(axis.t0_ps, axis.t1_ps):
        left, right = axis.x(hole.t0_ps), axis.x(hole.t1_ps)
        svg.hatch(left, y + 2, right - left, _LANE - 4, tip=f"not recorded: {hole.reason}")
        if text_width(hole.reason, _SMALL) + 40 <= right - left:
            svg.text((left + right) / 2, y + 16, hole.reason, "why", anchor="middle")
    inside = [bar for bar in lane.bars if bar.t1_ps > axis.t0_ps and bar.t0_ps < axis.t1_ps]
    for bar in _merged(axis, [bar for bar in inside if not bar.loud]):
        _draw_bar(svg, axis, bar, y, least=_THIN)
    for bar in (bar for bar in inside if bar.loud):
        _draw_bar(svg, axis, bar, y, least=3)
    for css in dict.fromkeys(tick.css for tick in lane.ticks):
        _draw_ticks(svg, axis, [t for t in lane.ticks if t.css == css], css, y)


def _draw_bar(svg: Svg, axis: TimeAxis, bar: Bar, y: float, *, least: float) -> None:
    left, right = axis.clamp(bar.t0_ps), axis.clamp(bar.t1_ps)
    width = max(right - left, least)
    svg.rect(left, y + 4, width, _BAR, bar.css + " thin" * (width < _NARROW), tip=bar.tip)
    if bar.label and text_width(bar.label, _SMALL) + 4 <= width:
        svg.text(left + width / 2, y + 16, bar.label, f"inside {bar.css}", anchor="middle")


def _merged(axis: TimeAxis, bars: Sequence[Bar]) -> list[Bar]:
    """Join bars that could not be distinguished, so that the drawing of a long capture stays small."""

    def thin(bar: Bar) -> bool:
        return axis.x(bar.t1_ps) - axis.x(bar.t0_ps) < 2 * _THIN

    merged: list[Bar] = []
    joined = 0
    for bar in sorted(bars, key=lambda bar: bar.t0_ps):
        last = merged[-1] if merged else None
        if (
            last is not None
            and last.css == bar.css
            and thin(bar)
            and (joined > 1 or thin(last))
            and axis.x(bar.t0_ps) - axis.x(last.t1_ps) < _THIN
        ):
            joined += 1
            end = max(last.t1_ps, bar.t1_ps)
            merged[-1] = Bar(last.t0_ps, end, bar.css, "", f"{joined:,} together")
        else:
            joined = 1
            merged.append(bar)
    return merged


def _draw_ticks(svg: Svg, axis: TimeAxis, ticks: Sequence[Tick], css: str, y: float) -> None:
    inside = [tick for tick in ticks if axis.t0_ps <= tick.t_ps < axis.t1_ps]
    if len(inside) > 200:  # a tip for each would be most of the file; the positions stay
        spots = sorted({round(axis.x(tick.t_ps), 1) for tick in inside})
        svg.path("".join(f"M{x:g} {y + 5:g}v14" for x in spots), f"tick {css}")
        return
    for tick in inside:
        x = axis.x(tick.t_ps)
        svg.line(x, y + 5, x, y + 19, f"tick {css}", tip=tick.tip)


def _draw_mark(svg: Svg, axis: TimeAxis, mark: Mark, baseline: float, bottom: float) -> None:
    x = axis.x(mark.t_ps)
    unc = f" ± {format_ps(mark.unc_ps)}" if mark.unc_ps else ""
    svg.line(
        x,
        baseline + 3,
        x,
        bottom,
        f"mark {mark.css}",
        tip=f"{mark.label}: {format_ps(mark.t_ps)}{unc}",
    )
    svg.polygon(
        [(x - 4, baseline + 1), (x + 4, baseline + 1), (x, baseline + 7)], f"flag {mark.css}"
    )


def _label_lefts(axis: TimeAxis, marks: Sequence[Mark]) -> list[float]:
    """Return where each label begins: beside its own line, on the side away from the next mark."""
    lefts = []
    for number, mark in enumerate(marks):
        width = text_width(mark.label, _LABEL)
        x = axis.x(mark.t_ps)
        later = axis.x(marks[number + 1].t_ps) if number + 1 < len(marks) else math.inf
        room_right = x + _BESIDE + width < min(later - _BESIDE, _WIDTH)
        left = x + _BESIDE if room_right or x - _BESIDE < width else x - _BESIDE - width
        lefts.append(min(max(left, 0.0), _WIDTH - width))
    return lefts


def _mark_rows(lefts: Sequence[float], marks: Sequence[Mark]) -> list[int]:
    """Return for each mark, in order of time, the first row of labels in which its own has room."""
    ends: list[float] = []
    rows = []
    for mark, left in zip(marks, lefts, strict=True):
        row = next((i for i, end in enumerate(ends) if left > end + 8), len(ends))
        end = left + text_width(mark.label, _LABEL)
        if row == len(ends):
            ends.append(end)
        else:
            ends[row] = end
        rows.append(row)
    return rows
