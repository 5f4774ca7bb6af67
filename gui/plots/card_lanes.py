"""A card's recording as lanes of the time line: packets of each tap in the order of the paths, waits below."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np

from freezeframe.analyzers.card.claims import said_of
from freezeframe.analyzers.card.pressure import run as pressure_of
from freezeframe.analyzers.card.view import CardView
from freezeframe.analyzers.contract import Finding
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.tap.checked import BAD, GOOD, CheckedStream
from freezeframe.decoders.tap.event_log import decode_log, entry_text, row_of
from freezeframe.decoders.tap.kinds import PARTIAL
from freezeframe.gui.moments import Freeze, card_freeze
from freezeframe.gui.plots.figures import Drawing
from freezeframe.gui.plots.time_lines import time_marks, timeline_drawing
from freezeframe.gui.plots.timeline import Bar, Lane, Tick

_PACKETS = (
    ("packet", "packet, with its number in the memory of the tap"),
    ("cut", "packet of which the memory holds only a part"),
    ("bad", "packet that fails a check of its format"),
    ("hatch", "not recorded; the tip says why"),
    ("wait", "cycles without a beat inside a packet, or a stream that stands still"),
)

_LOG = (
    ("other", "state of a state machine"),
    ("tick plain", "event of the log, with its value"),
    ("tick refused", "entries that came too fast to be recorded"),
)

_WORTH = 1.5  # a second drawing is worth its place when it is this much finer
_BESIDE = 6  # packets on each side of the finding's in the drawing around it
_GUTTER = 150.0


def card_lanes(card: CardView) -> list[Lane]:
    """Return a lane for each tap that has a place on the time line, path by path, and one for each track of waits."""
    paths = card.recording.card.said.path
    lanes = []
    drawn: set[str] = set()
    for path, said in paths.items():
        for name in said.taps:
            if name in card.streams and name not in drawn and card.placed(card.streams[name].tap):
                lanes.append(_lane(card, f"Path {path}", card.streams[name]))
                drawn.add(name)
    for name, end in card.streams.items():
        if name not in drawn and card.placed(end.tap):
            lanes.append(_lane(card, "Taps of no path" if paths else "Taps", end))
    for track in pressure_of(card).intervals:
        bars = [
            Bar(int(t0), max(int(t1), int(t0) + 1), "wait", "", text)
            for t0, t1, text in zip(track.t_ps, track.t_end_ps, track.text, strict=True)
        ]
        lanes.append(Lane("Waits", track.label, track.label, bars))
    return lanes + _logged(card)


def card_legend(card: CardView) -> tuple[tuple[str, str], ...]:
    """Return what the looks of bars and ticks mean on the time line of a card."""
    return _PACKETS + (_LOG if card.recording.log is not None else ())


def _logged(card: CardView) -> list[Lane]:
    """Return a lane for each event and each state machine of the log."""
    entries = [e for e in decode_log(card.recording, card.times).entries if e.kind != "error"]
    lanes = []
    freeze = card_freeze(card)
    end_ps = max([entry.t_ps for entry in entries] + ([freeze.t_ps] if freeze else []), default=0)
    for name in dict.fromkeys(entry.name for entry in entries):
        mine = [entry for entry in entries if entry.name == name]
        states = [entry for entry in mine if entry.kind == "state"]
        ticks = [
            Tick(
                e.t_ps,
                "plain" if e.kind == "event" else "refused",
                f"{entry_text(row_of(e))}, {format_ps(e.t_ps)}",
            )
            for e in mine
            if e.kind != "state"
        ]
        bars = [
            Bar(
                now.t_ps,
                max(after.t_ps if after else end_ps, now.t_ps + 1),
                "other",
                now.state,
                f"{name} in {now.state} from {format_ps(now.t_ps)}",
            )
            for now, after in zip_longest(states, states[1:])
        ]
        what = "state machine" if states else "event"
        lanes.append(Lane("Log", f"{card.device} {name}", f"{what} {name}", bars, ticks))
    return lanes


def unplaced(card: CardView) -> list[str]:
    """Return a line for each tap that has no place on the time line."""
    return [
        f"{card.source(end.tap)} is not drawn: its clock {end.tap.clock.name} has no known relation to the others"
        for end in card.streams.values()
        if not card.placed(end.tap)
    ]


def card_drawings(
    card: CardView, findings: Sequence[Finding], freezes: Sequence[Freeze], *, prefix: str = ""
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
    made = []
    first = placed[0] if placed else None
    near = None if first is None else _around(lanes, first)
    if (
        first is not None
        and near is not None
        and (near[1] - near[0]) * _WORTH < whole[1] - whole[0]
    ):
        caption = f"Around {first.diagnosis}: {format_ps(near[0])} to {format_ps(near[1])}."
        title = f"Time line around {first.diagnosis}"
        made.append(
            timeline_drawing(
                f"{prefix}near", title, caption, lanes, marks, near, whole, gutter=_GUTTER
            )
        )
    caption = f"The whole recording: {format_ps(whole[1] - whole[0])}. Each tap reaches as far back as its memory does."
    title = "Time line of the whole recording"
    made.append(
        timeline_drawing(
            f"{prefix}whole", title, caption, lanes, marks, whole, whole, gutter=_GUTTER
        )
    )
    return made


def _around(lanes: Sequence[Lane], finding: Finding) -> tuple[int, int] | None:
    """Return the times of the finding's packets and of those beside them, at every tap."""
    times = [row.t_ps for e in finding.evidence for row in e.rows if row.t_ps is not None]
    assert finding.t_ps is not None
    times = [*(t for t in times if t >= 0), finding.t_ps]
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


def _lane(card: CardView, group: str, end: CheckedStream) -> Lane:
    columns = end.stream.packets
    dated = np.flatnonzero((columns.begin_slack >= 0) & (columns.end_slack >= 0))
    t_ps, _ = card.times_ps(end.tap, columns.begin[dated])
    t_end_ps, _ = card.times_ps(end.tap, columns.end[dated] + 1)
    bars = []
    for at, packet in enumerate(dated.tolist()):
        bad = end.verdict[packet] == BAD
        css = "bad" if bad else "cut" if columns.flags[packet] & int(PARTIAL) else "packet"
        begin, stop = int(t_ps[at]), max(int(t_end_ps[at]), int(t_ps[at]) + 1)
        verdict = {GOOD: ", good", BAD: f", {said_of(int(end.wrong[packet]))}"}.get(
            int(end.verdict[packet]), ""
        )
        tip = (
            f"{card.source(end.tap)}: packet {packet}, {int(end.length_B[packet]):,} B, {format_ps(begin)} to "
            f"{format_ps(stop)}{verdict}"
        )
        bars.append(Bar(begin, stop, css, str(packet), tip, loud=bool(bad)))
    said = end.tap.said
    meaning = said.doc or f"{said.kind} of {said.bits} bits, clock {said.clock}"
    covered = card.coverage.of(card.source(end.tap))
    return Lane(group, card.source(end.tap), meaning, bars, coverage=covered)
