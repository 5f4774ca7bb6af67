"""The time line of a capture: lanes of bars and ticks over one axis, and marks across all lanes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from freezeframe.decoders.trace.coverage import Coverage
from freezeframe.gui.plots.axis import MARGIN, WIDTH, TimeAxis
from freezeframe.gui.plots.frame import draw_name, draw_times
from freezeframe.gui.plots.marks import Mark, Marks
from freezeframe.gui.plots.svg import Svg, text_width
from freezeframe.gui.tracks.said import Meaning

_NARROW = 4.0  # bars under this have no outline, which would take much of their width
_LANE = 24.0
_BAR = 16.0
_HEADING = 22.0
_SMALL = 10.0  # font size inside bars
_MOST_MOVED = 40_000  # marks; with more a page would be slow and tens of megabytes
_EXACT_PS = 1 << 53
_REASONS, _REASON_LETTERS = 3, 110  # of a hatch, that stand in the legend
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
    legend: tuple[Meaning, ...] = ()  # of what is in it


@dataclass(frozen=True, slots=True)
class Link:
    """The way of one thing from a lane to a later one; ``lost``: it did not come there, and ends before it."""

    t0_ps: int
    t1_ps: int
    above: int
    below: int
    css: str = "way"
    lost: bool = False


def timeline_sheet(
    name: str,
    lanes: Sequence[Lane],
    marks: Sequence[Mark],
    t0_ps: int,
    t1_ps: int,
    *,
    title: str,
    desc: str,
    links: Sequence[Link] = (),
    apart: float = 0.0,
    reach: tuple[int, int] | None = None,
) -> Svg:
    """Return the lanes between two times.

    Args:
        name: makes the ids of this drawing unique in the page.
        lanes: in the order they are drawn, those of one group next to each other.
        marks: those outside the range are left out.
        t0_ps: the left edge, picoseconds.
        t1_ps: the right edge, exclusive.
        links: between lanes, by their number; apart: pixels between lanes, so that links are seen.
        reach: what the script of a page can show of them, as `Svg.begin_axis`; links do not move.
    """
    axis = TimeAxis.across(t0_ps, t1_ps)
    drawn = Marks(axis, marks)
    top = _top(drawn)
    tops, headings, bottom = _places(lanes, top, apart)
    svg = Svg(name, WIDTH, bottom + 26, title=title, desc=desc)
    for group, y in headings.items():
        if not group:
            continue
        svg.text(2, y + _HEADING - 7, group, "group")
        svg.line(0, y + _HEADING - 1, WIDTH - MARGIN, y + _HEADING - 1, "rule")
    for lane, y in zip(lanes, tops, strict=True):
        draw_name(svg, y + _LANE / 2, lane.name, lane.tip)
        svg.line(axis.x0, y + _LANE - 1, axis.x1, y + _LANE - 1, "lane")
    svg.begin_axis(axis, reach)
    draw_times(svg, axis, bottom, "grid", top)
    drawn.bands(svg, top, bottom)
    for link in links:
        _draw_link(svg, axis, link, tops)
    for lane, y in zip(lanes, tops, strict=True):
        _draw_lane(svg, axis, lane, y, reach or (t0_ps, t1_ps))
    drawn.lines(svg, 0, bottom)
    svg.end_axis()
    return svg


def can_move(items: int, last_ps: int) -> bool:
    """Return whether a page can move so many marks up to such a time: its script counts in doubles."""
    return items <= _MOST_MOVED and last_ps < _EXACT_PS


def legend_of_lanes(lanes: Sequence[Lane], t0_ps: int, t1_ps: int) -> tuple[Meaning, ...]:
    """Return the meanings of what lanes hold, each once; of a hatch where one is between the two times."""
    said = dict.fromkeys(entry for lane in lanes for entry in lane.legend)
    return (*said, *hatched([lane.coverage for lane in lanes], (t0_ps, t1_ps)))


def hatched(covered: Iterable[Coverage], span: tuple[int, int]) -> tuple[Meaning, ...]:
    """Return the legend of what is hatched between two times, with the reasons; nothing where nothing is."""
    reasons = list(dict.fromkeys(hole.reason for one in covered for hole in one.within(*span)))
    if not reasons:
        return ()
    said = reasons[:_REASONS]
    while len(said) > 1 and len("; ".join(said)) > _REASON_LETTERS:
        said.pop()
    more = [f"{len(reasons) - len(said)} more"] if len(said) < len(reasons) else []
    return (Meaning("hatch", f"not recorded: {'; '.join([*said, *more])}"),)


def _top(marks: Marks) -> float:
    return marks.height + 4


def _places(
    lanes: Sequence[Lane], top: float, apart: float = 0.0
) -> tuple[list[float], dict[str, float], float]:
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
                y += _LANE + apart
        y -= apart
    return [at[number] for number in range(len(lanes))], headings, y


def _draw_lane(svg: Svg, axis: TimeAxis, lane: Lane, y: float, reach: tuple[int, int]) -> None:
    first, last = reach
    for hole in lane.coverage.within(first, last):
        left, right = axis.clamp(hole.t0_ps), axis.clamp(hole.t1_ps)
        svg.lasts(hole.t0_ps, hole.t1_ps)
        svg.hatch(left, y + 2, right - left, _LANE - 4, tip=f"not recorded: {hole.reason}")
        needs = text_width(hole.reason, _SMALL) + 40
        if svg.moves or needs <= right - left:
            svg.lasts(hole.t0_ps, hole.t1_ps, needs=needs)
            svg.text((left + right) / 2, y + 16, hole.reason, "why", anchor="middle")
    inside = [bar for bar in lane.bars if bar.t1_ps > first and bar.t0_ps < last]
    quiet = sorted((bar for bar in inside if not bar.loud), key=lambda bar: bar.t0_ps)
    for bar in quiet if svg.moves else _merged(axis, quiet):
        _draw_bar(svg, axis, bar, y, least=_THIN)
    for bar in (bar for bar in inside if bar.loud):
        _draw_bar(svg, axis, bar, y, least=3)
    for css in dict.fromkeys(tick.css for tick in lane.ticks):
        mine = [tick for tick in lane.ticks if tick.css == css and first <= tick.t_ps < last]
        _draw_ticks(svg, axis, mine, css, y)


def _draw_link(svg: Svg, axis: TimeAxis, link: Link, tops: Sequence[float]) -> None:
    """Draw the part of a link that lies in the range."""
    (t0, t1), y0 = (link.t0_ps, link.t1_ps), tops[link.above] + 4 + _BAR
    y1 = tops[link.below] + 4
    if link.lost:
        t1, y1 = (t0 + t1) // 2, (y0 + y1) / 2
    if t1 < axis.t0_ps or t0 >= axis.t1_ps:
        return
    slope = (y1 - y0) / (axis.x(t1) - axis.x(t0)) if t1 > t0 else 0.0
    left, right = axis.clamp(t0), axis.clamp(t1)
    ya, yb = y0 + (left - axis.x(t0)) * slope, y1 - (axis.x(t1) - right) * slope
    svg.line(left, ya, right, yb, link.css)
    if link.lost:
        for side in (-5, 5):
            svg.line(right - 5, yb - side, right + 5, yb + side, "crossed")


def _draw_bar(svg: Svg, axis: TimeAxis, bar: Bar, y: float, *, least: float) -> None:
    left, right = axis.clamp(bar.t0_ps), axis.clamp(bar.t1_ps)
    width = max(right - left, least)
    svg.lasts(bar.t0_ps, bar.t1_ps, least=least)
    svg.rect(left, y + 4, width, _BAR, bar.css + " thin" * (width < _NARROW), tip=bar.tip)
    needs = text_width(bar.label, _SMALL) + 4
    if bar.label and (svg.moves or needs <= width):
        svg.lasts(bar.t0_ps, bar.t1_ps, needs=needs)
        svg.text(left + width / 2, y + 16, bar.label, f"inside {bar.css}", anchor="middle")


def _merged(axis: TimeAxis, bars: Sequence[Bar]) -> list[Bar]:
    """Join bars, in order of time, that could not be distinguished: the drawing of a long capture stays small."""

    def thin(bar: Bar) -> bool:
        return axis.x(bar.t1_ps) - axis.x(bar.t0_ps) < 2 * _THIN

    merged: list[Bar] = []
    joined = 0
    for bar in bars:
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
    if (
        len(ticks) > 200 and not svg.moves
    ):  # a tip for each would be most of the file; the positions stay
        spots = sorted({round(axis.x(tick.t_ps), 1) for tick in ticks})
        svg.ticks(spots, y + 5, 14, f"tick {css}")
        return
    for tick in ticks:
        x = axis.x(tick.t_ps)
        svg.stands(tick.t_ps)
        svg.line(x, y + 5, x, y + 19, f"tick {css}", tip=tick.tip)
