"""A ladder: packets through their taps in the order in which they pass them, each bar tied to that of the next tap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

import numpy as np

from freezeframe.analyzers.card.frames import packets_frame
from freezeframe.analyzers.card.view import CardView
from freezeframe.analyzers.contract import Finding
from freezeframe.analyzers.view import CaptureView
from freezeframe.gui.plots.card_lanes import packet_ways
from freezeframe.gui.plots.figures import Drawing
from freezeframe.gui.plots.marks import Mark
from freezeframe.gui.plots.path_of import direction_of
from freezeframe.gui.plots.svg import Svg
from freezeframe.gui.plots.timeline import (
    Bar,
    Lane,
    Link,
    Tick,
    legend_of_lanes,
    timeline_sheet,
)
from freezeframe.gui.plots.track_lanes import lane_of
from freezeframe.gui.tracks.recording import packet_tracks
from freezeframe.gui.tracks.said import Meaning
from freezeframe.gui.tracks.story import rows_of_packet

_APART = 40.0
_LEAST_PS = 2_000_000
_MOST_PS = 40_000_000
RESTS_ON = Meaning("tick error", "what the finding rests on")
_LEGEND = (
    Meaning("way mine", "the packet of the finding"),
    Meaning("way lost", "it does not come to the next tap"),
    RESTS_ON,
)


def ladder_drawing(
    view: CaptureView, finding: Finding, marks: Sequence[Mark], name: str
) -> Drawing | None:
    """Return the packets around a finding at all taps of their way; None where none of them has a time there."""
    sender, receiver = direction_of(view, finding)
    packets = view.trace.packets
    taps = [f"{device}.{tap}" for device, tap in view.path(sender, receiver)]
    way = replace(finding, direction=f"{sender}->{receiver}")
    mine = packets[["t_ps", "t_end_ps"]].iloc[rows_of_packet(way, packets)]
    times = mine.to_numpy().ravel().tolist()
    if not times:
        dated = [row.t_ps for row in finding.rows if row.table == "words" and row.t_ps is not None]
        times = [t for t in dated if finding.t_ps is None or abs(t - finding.t_ps) < _MOST_PS]
    if finding.t_ps is not None:
        times.append(finding.t_ps)
    if not times:
        return None
    span = framed(min(times), max(times))
    lanes: list[Lane] = []
    numbers: list[list[int]] = []
    seq = packets["seq"].to_numpy()
    at_tap = {track.key.rpartition("/")[2]: track for track, _ in packet_tracks("", "", view.trace)}
    for tap in taps:
        track = at_tap.get(tap)
        if track is None:
            lanes.append(Lane("", tap, tap, coverage=view.trace.coverage.words(tap)))
            numbers.append([])
            continue
        t_ps = track.t_ps
        near = np.flatnonzero((t_ps > span[0] - _MOST_PS) & (t_ps < span[1] + _MOST_PS)).tolist()
        lanes.append(replace(lane_of(track, items=near), name=tap))
        numbers.append([int(seq[track.row_of(item)]) for item in near])
    links = [
        link
        for above in range(len(taps) - 1)
        for link in _links(lanes, numbers, above, finding.packet, span)
    ]
    return _drawing(name, finding, lanes, links, marks, span)


def card_ladder_drawing(
    card: CardView, finding: Finding, marks: Sequence[Mark], name: str
) -> Drawing | None:
    """Return the packets of a described card around a finding; None where none has a time there."""
    frame = packets_frame(card)
    ways = packet_ways(card, frame)
    named = {name for name in (*(finding.direction or "").split(" -> "), finding.tap or "") if name}
    groups = {group for group, tap, _ in ways if tap in named}
    ways = [way for way in ways if way[0] in groups or not groups]
    lanes = [
        replace(lane_of(track), name=card.source(card.streams[tap].tap)) for _, tap, track in ways
    ]
    times = finding.times_ps
    times += [finding.t_ps] if finding.t_ps is not None else []
    times = [t for t in times if finding.t_ps is None or abs(t - finding.t_ps) < _MOST_PS]
    if not times or not any(lane.bars for lane in lanes):
        return None
    begin, end = min(times), max(times)
    inside = [b for lane in lanes for b in lane.bars if b.t0_ps <= end and b.t1_ps >= begin]
    if inside and len(inside) < 64:
        begin, end = min(begin, *(b.t0_ps for b in inside)), max(end, *(b.t1_ps for b in inside))
    span = framed(begin, end)
    at = {lane.name: number for number, lane in enumerate(lanes)}
    number = frame["number"].to_numpy()
    bars = [
        {int(number[track.row_of(item)]): bar for item, bar in enumerate(lane.bars)}
        for (_, _, track), lane in zip(ways, lanes, strict=True)
    ]
    links = []
    for stretch in card.stretches:
        ends = [card.source(end.tap) for end in (stretch.first, stretch.second)]
        if stretch.needs or not set(ends) <= set(at):
            continue
        above, below = (at[end] for end in ends)
        for i, j in stretch.pairing.pairs:
            one, other = bars[above].get(int(i)), bars[below].get(int(j))
            if one and other and one.t0_ps < span[1] and other.t1_ps > span[0]:
                bad = " mine" if one.loud or other.loud else ""
                links += _both(one, other, above, below, f"way{bad}")
    return _drawing(name, finding, lanes, links, marks, span)


def framed(begin_ps: int, end_ps: int) -> tuple[int, int]:
    """Return a range of time with room on both sides of what is shown."""
    beside = min(max((end_ps - begin_ps) // 3, _LEAST_PS // 2), _MOST_PS)
    return begin_ps - beside, end_ps + beside


def evidence_lane(finding: Finding) -> Lane:
    """Return a lane with a tick for each record that a finding rests on."""
    ticks = [
        Tick(row.t_ps, "error", f"{row.source}: {row.label}")
        for row in finding.rows
        if row.t_ps is not None
    ]
    return Lane("", "it rests on", "records that the finding rests on", ticks=ticks)


def seen_in(sheet: Svg, legend: Sequence[Meaning]) -> tuple[Meaning, ...]:
    """Return the entries of a legend of which a drawing has a mark, each once."""
    used = [set(shape.css.split()) for shape in sheet.shapes]
    return tuple(
        each for each in dict.fromkeys(legend) if any(set(each[0].split()) <= one for one in used)
    )


def _drawing(
    name: str,
    finding: Finding,
    lanes: Sequence[Lane],
    links: Sequence[Link],
    marks: Sequence[Mark],
    span: tuple[int, int],
) -> Drawing:
    what = f"packet {finding.packet} through its taps"
    if finding.packet is None:
        what = f"the packets around {finding.diagnosis}"
    title = f"Ladder of {what}"
    caption = f"{title}: each line leads a packet from one tap to the next."
    shown = [*lanes, evidence_lane(finding)]
    sheet = timeline_sheet(
        name,
        shown,
        marks,
        *span,
        title=title,
        desc=caption,
        links=links,
        apart=_APART,
    )
    legend = seen_in(sheet, (*legend_of_lanes(lanes, *span), *_LEGEND))
    return Drawing(name, title, caption, sheet.render(), legend, sheet=sheet, still=True)


def _links(
    lanes: Sequence[Lane],
    numbers: Sequence[Sequence[int]],
    above: int,
    packet: int | None,
    span: tuple[int, int],
) -> list[Link]:
    """Return how the packets of one tap came to the next, and that of the finding where it did not."""
    below = above + 1
    waiting = list(zip(lanes[below].bars, numbers[below], strict=True))
    pairs, left = [], []
    for bar, number in zip(lanes[above].bars, numbers[above], strict=True):
        at = next(
            (
                n
                for n, (other, seq) in enumerate(waiting)
                if seq == number and other.t1_ps >= bar.t0_ps
            ),
            None,
        )
        if at is None:
            left.append((bar, number))
        else:
            pairs.append((bar, waiting.pop(at)[0], number))
    links = []
    for bar, other, number in pairs:
        if bar.t0_ps < span[1] and other.t1_ps > span[0]:
            links += _both(bar, other, above, below, "way mine" if number == packet else "way")
    usual = round(median(other.t0_ps - bar.t0_ps for bar, other, _ in pairs)) if pairs else 0
    for bar, number in left:
        due = bar.t0_ps + usual
        if number != packet or not pairs or lanes[below].coverage.reason_at(due):
            continue
        # One with a damaged number stands where this one should.
        nearest = min((b for b, _ in waiting), key=lambda b: abs(b.t0_ps - due), default=None)
        if nearest is not None and abs(nearest.t0_ps - due) < max(usual, bar.t1_ps - bar.t0_ps):
            links += _both(bar, nearest, above, below, "way mine")
        else:
            links.append(Link(bar.t0_ps, due, above, below, "way lost", lost=True))
    return links


def _both(one: Bar, other: Bar, above: int, below: int, css: str) -> list[Link]:
    """Return the lines from begin to begin and from end to end."""
    return [
        Link(one.t0_ps, other.t0_ps, above, below, css),
        Link(one.t1_ps, other.t1_ps, above, below, css),
    ]
