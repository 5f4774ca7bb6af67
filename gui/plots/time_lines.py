"""Time lines of a recording: around the first finding or cause, and whole, with a mark for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from freezeframe.analyzers.contract import Finding
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.trace.decode import Trace
from freezeframe.gui.moments import Freeze
from freezeframe.gui.plots.figures import Drawing
from freezeframe.gui.plots.marks import Mark
from freezeframe.gui.plots.timeline import (
    Lane,
    can_move,
    legend_of_lanes,
    timeline_sheet,
)
from freezeframe.gui.plots.trace_lanes import time_range, trace_lanes
from freezeframe.gui.tracks.story import rows_of_packet

_LEAST_MARGIN_PS = 1_500_000
_MOST_MARGIN_PS = 8_000_000  # more than the longest packet takes at 78.125 MHz
_WORTH = 1.5  # a second drawing is worth its place when it is this much finer


def timeline_drawings(
    trace: Trace,
    findings: Sequence[Finding],
    freezes: Sequence[Freeze],
    *,
    prefix: str = "",
    moves: bool = False,
) -> list[Drawing]:
    """Return the time line around the first finding or cause, and that of the whole recording.

    Args:
        prefix: makes names unique where several captures are shown on one page.
        moves: the script of a page is to zoom them.
    """
    devices = list(trace.devices)
    first = findings[0] if findings else None
    sender = first.direction.partition("->")[0] if first and first.direction else None
    lanes = trace_lanes(trace, devices, sender)
    marks = time_marks(findings, freezes)
    t0_ps, t1_ps = time_range(trace)
    t1_ps = max([t1_ps, *(mark.t_ps for mark in marks)])
    near = around(trace, first, freezes)
    if near is not None:
        near = max(t0_ps, near[0]), min(t1_ps, near[1])
    what = first.diagnosis if first else "the cause of the freeze"
    return near_and_whole(lanes, marks, near, (t0_ps, t1_ps), what, prefix=prefix, moves=moves)


def near_and_whole(
    lanes: Sequence[Lane],
    marks: Sequence[Mark],
    near: tuple[int, int] | None,
    whole: tuple[int, int],
    what: str,
    *,
    prefix: str = "",
    moves: bool = False,
) -> list[Drawing]:
    """Return the time line around ``what``, where that shows more, and that of the whole recording."""
    spans = [("whole", "of the whole recording", whole)]
    if near is not None and (near[1] - near[0]) * _WORTH < whole[1] - whole[0]:
        spans.insert(0, ("near", f"around {what}", near))
    lasts = f"The whole recording: {format_ps(whole[1] - whole[0])}."
    return [
        timeline_drawing(
            f"{prefix}{name}",
            f"Time line {of}",
            f"{lasts} Each tap reaches as far back as its memory does."
            if name == "whole"
            else f"Around {what}: {format_ps(span[0])} to {format_ps(span[1])}.",
            lanes,
            marks,
            span,
            whole,
            moves=moves,
        )
        for name, of, span in spans
    ]


def time_marks(findings: Sequence[Finding], freezes: Sequence[Freeze]) -> list[Mark]:
    """Return a mark for each freeze that no other device caused, and for each finding that has a time."""
    marks = [
        Mark(
            freeze.t_ps,
            f"{', '.join(freeze.causes)} at {freeze.device}",
            "cause",
            max(freeze.t_unc_ps, 0),
        )
        for freeze in freezes
        if not freeze.is_cross
    ]
    marks += [
        Mark(finding.t_ps, finding.diagnosis, "finding", max(finding.t_uncertainty_ps or 0, 0))
        for finding in findings
        if finding.t_ps is not None
    ]
    return marks


def timeline_drawing(
    name: str,
    title: str,
    caption: str,
    lanes: Sequence[Lane],
    marks: Sequence[Mark],
    shown: tuple[int, int],
    whole: tuple[int, int],
    *,
    moves: bool = False,
) -> Drawing:
    """Return lanes and marks between two times; with ``moves`` a page's script can zoom it out to ``whole``."""
    desc = _describe(lanes, marks, *shown)
    moves = moves and can_move(sum(len(lane.bars) + len(lane.ticks) for lane in lanes), whole[1])
    reach = whole if moves else None
    svg = timeline_sheet(name, lanes, marks, *shown, title=title, desc=desc, reach=reach).render()
    return Drawing(name, title, caption, svg, legend_of_lanes(lanes, *whole), moves)


def around(
    trace: Trace, finding: Finding | None, freezes: Sequence[Freeze]
) -> tuple[int, int] | None:
    """Return the times around the packet of the finding at all its taps, or around what there is."""
    times = [freezes[0].t_ps] if freezes else []
    if finding is not None and finding.t_ps is not None:
        times = [finding.t_ps]
    if finding is not None and finding.direction is not None and finding.packet is not None:
        near = replace(finding, t_ps=times[0] if times else None)
        rows = rows_of_packet(near, trace.packets)
        times += trace.packets[["t_ps", "t_end_ps"]].iloc[rows].to_numpy().ravel().tolist()
    if not times:
        return None
    margin_ps = _MOST_MARGIN_PS
    if len(times) > 1:
        margin_ps = min(margin_ps, max(_LEAST_MARGIN_PS, 2 * (max(times) - min(times))))
    return min(times) - margin_ps, max(times) + margin_ps


def _describe(lanes: Sequence[object], marks: Sequence[Mark], t0_ps: int, t1_ps: int) -> str:
    shown = [f"{m.label} at {format_ps(m.t_ps)}" for m in marks if t0_ps <= m.t_ps <= t1_ps]
    return (
        f"{len(lanes)} lanes from {format_ps(t0_ps)} to {format_ps(t1_ps)}. "
        f"Marked: {'; '.join(shown) or 'nothing'}. The packets are listed in a table below."
    )
