"""A ladder: packets through their taps in the order in which they pass them, each bar tied to that of the next tap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from freezeframe.analyzers.card.view import CardView
from freezeframe.analyzers.contract import Finding
from freezeframe.analyzers.view import CaptureView
from freezeframe.gui.plots.card_lanes import card_lanes, card_legend
from freezeframe.gui.plots.figures import HATCHED, Drawing
from freezeframe.gui.plots.marks import Mark
from freezeframe.gui.plots.path_of import direction_of
from freezeframe.gui.plots.timeline import Bar, Lane, Link, Tick, timeline_sheet
from freezeframe.gui.plots.trace_lanes import packet_bar, packet_rows

_APART = 40.0
_SAME_PACKET_PS = 10**9  # 65,536 packets last longer than 1 ms
_LEAST_PS = 2_000_000
_MOST_PS = 40_000_000
_LEGEND = (
    ("packet", "packet, with its sequence number"),
    ("bad", "packet that fails a check"),
    ("cut", "packet of which the recording holds only a part"),
    ("way mine", "the packet of the finding"),
    ("way lost", "it does not come to the next tap"),
    ("tick refused", "what the finding rests on"),
    HATCHED,
)


def ladder_drawing(
    view: CaptureView, finding: Finding, marks: Sequence[Mark], gutter: float, name: str
) -> Drawing | None:
    """Return the packets around a finding at all taps of their way; None where none of them has a time there."""
    sender, receiver = direction_of(view, finding)
    rows = packet_rows(view.trace, f"{sender}->{receiver}")
    taps = [f"{device}.{tap}" for device, tap in view.path(sender, receiver)]
    mine = [
        row
        for row in rows
        if row["seq"] == finding.packet
        and (finding.t_ps is None or abs(row["t_ps"] - finding.t_ps) < _SAME_PACKET_PS)
    ]
    times = [t for row in mine for t in (row["t_ps"], row["t_end_ps"])]
    if not mine:
        dated = [
            row.t_ps
            for e in finding.evidence
            for row in e.rows
            if row.table == "words" and row.t_ps is not None
        ]
        times = [t for t in dated if finding.t_ps is None or abs(t - finding.t_ps) < _MOST_PS]
    if finding.t_ps is not None:
        times.append(finding.t_ps)
    if not times:
        return None
    span = framed(min(times), max(times))
    lanes, numbers = [], []
    for tap in taps:
        near = [
            r
            for r in rows
            if r["source"] == tap and span[0] - _MOST_PS < r["t_ps"] < span[1] + _MOST_PS
        ]
        lanes.append(
            Lane(
                "", tap, tap, [packet_bar(r) for r in near], coverage=view.trace.coverage.words(tap)
            )
        )
        numbers.append([r["seq"] for r in near])
    links = [
        link
        for above in range(len(taps) - 1)
        for link in _links(lanes, numbers, above, finding.packet, span)
    ]
    return _drawing(name, finding, lanes, links, marks, span, gutter)


def card_ladder_drawing(
    card: CardView, finding: Finding, marks: Sequence[Mark], gutter: float, name: str
) -> Drawing | None:
    """Return the packets of a described card around a finding; None where none has a time there."""
    lanes = [lane for lane in card_lanes(card) if lane.group.startswith(("Path", "Taps"))]
    named = {name for name in (*(finding.direction or "").split(" -> "), finding.tap or "") if name}
    groups = {lane.group for lane in lanes if lane.name.partition(".")[2] in named}
    lanes = [replace(lane, group="") for lane in lanes if lane.group in groups or not groups]
    times = [row.t_ps for e in finding.evidence for row in e.rows if row.t_ps is not None]
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
    links = []
    for stretch in card.stretches:
        ends = [card.source(end.tap) for end in (stretch.first, stretch.second)]
        if stretch.needs or not set(ends) <= set(at):
            continue
        above, below = (at[end] for end in ends)
        first, second = ({bar.label: bar for bar in lanes[n].bars} for n in (above, below))
        for i, j in stretch.pairing.pairs:
            one, other = first.get(str(i)), second.get(str(j))
            if one and other and one.t0_ps < span[1] and other.t1_ps > span[0]:
                bad = " mine" if one.loud or other.loud else ""
                links += _both(one, other, above, below, f"way{bad}")
    return _drawing(name, finding, lanes, links, marks, span, gutter, card_legend(card))


def framed(begin_ps: int, end_ps: int) -> tuple[int, int]:
    """Return a range of time with room on both sides of what is shown."""
    beside = min(max((end_ps - begin_ps) // 3, _LEAST_PS // 2), _MOST_PS)
    return begin_ps - beside, end_ps + beside


def evidence_lane(finding: Finding) -> Lane:
    """Return a lane with a tick for each record that a finding rests on."""
    ticks = [
        Tick(row.t_ps, "refused", f"{row.source}: {row.label}")
        for evidence in finding.evidence
        for row in evidence.rows
        if row.t_ps is not None
    ]
    return Lane("", "it rests on", "records that the finding rests on", ticks=ticks)


def _drawing(
    name: str,
    finding: Finding,
    lanes: Sequence[Lane],
    links: Sequence[Link],
    marks: Sequence[Mark],
    span: tuple[int, int],
    gutter: float,
    legend: Sequence[tuple[str, str]] = (),
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
        gutter=gutter,
        links=links,
        apart=_APART,
    )
    used = {shape.css for shape in sheet.shapes}
    meant = [*_LEGEND, *(each for each in legend if each not in _LEGEND)]
    seen = tuple(
        (css, label)
        for css, label in dict(meant).items()
        if any(set(css.split()) <= set(one.split()) for one in used)
    )
    return Drawing(name, title, caption, sheet.render(), seen, sheet=sheet, still=True)


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
