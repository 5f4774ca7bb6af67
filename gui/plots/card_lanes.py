"""A card's recording as lanes of the time line: packets of each tap in the order of the paths, waits below."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from freezeframe.analyzers.card.frames import packets_frame
from freezeframe.analyzers.card.view import CardView
from freezeframe.analyzers.contract import Finding
from freezeframe.decoders.tap.event_log import decode_log, log_table
from freezeframe.gui.moments import Freeze
from freezeframe.gui.plots.figures import Drawing
from freezeframe.gui.plots.time_lines import near_and_whole, time_marks
from freezeframe.gui.plots.timeline import Lane
from freezeframe.gui.plots.track_lanes import lanes_of
from freezeframe.gui.tracks.card import logged_tracks, packet_tracks, wait_tracks
from freezeframe.gui.tracks.lanes import split_lanes
from freezeframe.gui.tracks.tracks import Track

_BESIDE = 6  # packets on each side of the finding's in the drawing around it


def packet_ways(card: CardView, packets: pd.DataFrame) -> list[tuple[str, str, Track]]:
    """Return heading, tap and track of each tap that has a place on the time line, path by path."""
    paths = card.recording.card.said.path
    tracks = dict(packet_tracks("", "", card, packets))
    ways = {
        name: f"Path {path}" for path, said in reversed(paths.items()) for name in said.taps
    }  # a tap on several paths stands in the first
    order = [name for said in paths.values() for name in said.taps]
    names = [name for name in dict.fromkeys((*order, *tracks)) if name in tracks]
    rest = "Taps of no path" if paths else "Taps"
    return [(ways.get(name, rest), name, tracks[name]) for name in names]


def card_lanes(card: CardView) -> list[Lane]:
    """Return a lane for each tap that has a place on the time line, for waits, and for what was logged."""
    shown = [(group, track) for group, _, track in packet_ways(card, packets_frame(card))]
    shown += [
        ("Waits", track) for whole in wait_tracks("", "", card) for track in split_lanes(whole)
    ]
    if card.recording.log is not None:
        events = log_table(card.recording, decode_log(card.recording, card.times)).to_pandas()
        events["source"] = pd.Categorical(events["source"])
        shown += [("Log", track) for track, _ in logged_tracks("", "", [card], events)]
    return lanes_of(shown)


def unplaced(card: CardView) -> list[str]:
    """Return a line for each tap that has no place on the time line."""
    return [
        f"{card.source(end.tap)} is not drawn: its clock {end.tap.clock.name} has no known relation to the others"
        for end in card.streams.values()
        if not card.placed(end.tap)
    ]


def card_drawings(
    card: CardView,
    findings: Sequence[Finding],
    freezes: Sequence[Freeze],
    *,
    prefix: str = "",
    moves: bool = False,
) -> list[Drawing]:
    """Return the time line around the first finding, where that shows more, and that of the whole recording."""
    lanes = card_lanes(card)
    bars = [bar for lane in lanes for bar in lane.bars]
    ticks = [tick.t_ps for lane in lanes for tick in lane.ticks]
    if not bars and not ticks:
        return []
    placed = [f for f in findings if f.t_ps is not None and (f.t_uncertainty_ps or 0) >= 0]
    marks = time_marks(placed, freezes)
    begins = [*ticks, *(bar.t0_ps for bar in bars)]
    ends = [*ticks, *(bar.t1_ps for bar in bars), *(mark.t_ps for mark in marks)]
    whole = min(begins), max(*ends, min(begins)) + 1
    first = placed[0] if placed else None
    near = None if first is None else _around(lanes, first)
    what = "" if first is None else first.diagnosis
    return near_and_whole(lanes, marks, near, whole, what, prefix=prefix, moves=moves)


def _around(lanes: Sequence[Lane], finding: Finding) -> tuple[int, int] | None:
    """Return the times of the finding's packets and of those beside them, at every tap."""
    assert finding.t_ps is not None
    times = [*(t for t in finding.times_ps if t >= 0), finding.t_ps]
    first, last = min(times), max(times)
    bars = sorted(
        (bar for lane in lanes if lane.group not in ("Waits", "Log") for bar in lane.bars),
        key=lambda bar: bar.t0_ps,
    )
    before = [bar.t0_ps for bar in bars if bar.t0_ps < first][-_BESIDE:]
    after = [bar.t1_ps for bar in bars if bar.t0_ps > last][:_BESIDE]
    inside = [bar.t1_ps for bar in bars if first <= bar.t0_ps <= last]
    if not (before or after or inside):
        return None
    return min([first, *before]), max([last + 1, *inside, *after])
