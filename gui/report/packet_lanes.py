"""Packets as lanes of the time line: operations, FPDUs, broken rules of each end of a connection, and what TCP did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from freezeframe.analyzers.packets.activity import Activity
from freezeframe.analyzers.packets.names import connection_title, sides_of
from freezeframe.analyzers.packets.survey import SeenConnection, Survey
from freezeframe.capture.count_text import plural
from freezeframe.capture.time_text import format_ps
from freezeframe.gui.plots.chart import chart_sheet
from freezeframe.gui.plots.figures import Drawing
from freezeframe.gui.plots.marks import Mark
from freezeframe.gui.plots.time_lines import timeline_drawing
from freezeframe.gui.plots.timeline import Lane
from freezeframe.gui.plots.track_lanes import lanes_of
from freezeframe.gui.tracks.lanes import split_lanes
from freezeframe.gui.tracks.packets import (
    FPDUS,
    OPERATIONS,
    RULES,
    TCP,
    WHAT,
    end_track,
    packet_frame,
    said_of,
    sums_track,
)
from freezeframe.gui.tracks.tracks import SliceTrack

MOST_ROWS = 400
"""Of a lane, one by one; so many stretches are still wider than a pixel."""

NEAR = 40
_SUBLANES = 4
_MARKS = 8
_CHARTS = 4


def packet_drawings(
    survey: Survey, activity: Activity, chosen: Sequence[SeenConnection]
) -> list[Drawing]:
    """Return the time line around the first finding, that of the whole capture, and throughput."""
    span = _rounded(survey.begin_ps, survey.end_ps)
    marks = finding_marks(survey)
    made = _near(survey, activity, chosen, marks)
    lanes = activity_lanes(activity, chosen)
    if lanes:
        lasts = format_ps(survey.end_ps - survey.begin_ps)
        caption = f"The whole capture: {lasts}.{_left_out(survey, activity, chosen)}"
        title = "Time line of the whole capture"
        made.append(timeline_drawing("whole", title, caption, lanes, marks, span, span, moves=True))
    return made + _charts(survey, activity, chosen, span)


def activity_lanes(activity: Activity, chosen: Sequence[SeenConnection]) -> list[Lane]:
    """Return the lanes of each connection; what never happened has none."""
    lanes: list[Lane] = []
    for connection in chosen:
        for side, role in sides_of(connection):
            did = activity.sides[connection.number, side]
            for table, reduced in (
                (OPERATIONS, did.operations),
                (RULES, did.events),
                (TCP, did.tcp),
            ):
                said = said_of("", "", connection, side, role, WHAT[table])
                rows = reduced.rows()
                track = (
                    sums_track(table, reduced.summed(), said)
                    if rows is None
                    else _of_all(table, packet_frame(rows), said)
                )
                lanes += _lanes(connection, track)
    return lanes


def _of_all(
    table: str, frame: pd.DataFrame, said: Mapping[str, Any], meant: int | None = None
) -> SliceTrack:
    return end_track(table, frame, np.arange(len(frame), dtype=np.int64), said, meant)


def _lanes(connection: SeenConnection, track: SliceTrack | None) -> list[Lane]:
    """Return a track as lanes in which few overlap: the last takes what found no place above."""
    split = [] if track is None else split_lanes(track, _SUBLANES)
    return lanes_of((connection_title(connection), lane) for lane in split)


def finding_marks(survey: Survey) -> list[Mark]:
    """Return a mark for each of the first findings, and for the Terminate that answers the first."""
    findings = survey.explanation.findings
    marks = [Mark(each.first.t_ps, each.first.rule, "finding") for each in findings[:_MARKS]]
    if findings and findings[0].answer is not None:
        marks.append(Mark(findings[0].answer.t_ps, "Terminate", "cause"))
    return marks


def _near(
    survey: Survey, activity: Activity, chosen: Sequence[SeenConnection], marks: list[Mark]
) -> list[Drawing]:
    """Return the operations and FPDUs of the first finding's connection around it, one by one."""
    if activity.near_operations is None or activity.near_fpdus is None:
        return []
    first = survey.explanation.findings[0].first
    connection = next(each for each in chosen if each.number == first.connection)
    near = {OPERATIONS: activity.near_operations.rows(), FPDUS: activity.near_fpdus.rows()}
    frames = {table: packet_frame(rows) for table, rows in near.items() if rows is not None}
    ends = [frame[name] for frame in frames.values() for name in ("t_ps", "t_end_ps")]
    shown = _rounded(
        min([first.t_ps, *(int(column.min()) for column in ends)]),
        max([first.t_ps, *(int(column.max()) for column in ends)]),
    )
    lanes: list[Lane] = []
    for side, role in sides_of(connection):
        for table, frame in frames.items():
            mine = frame[frame["side"] == side].reset_index(drop=True)
            if len(mine):
                said = said_of("", "", connection, side, role, WHAT[table])
                meant = first.fpdu if table == FPDUS else None
                lanes += _lanes(connection, _of_all(table, mine, said, meant))
    operations, fpdus = (len(frames.get(table, ())) for table in (OPERATIONS, FPDUS))
    counts = f"{plural(operations, 'operation')} and {plural(fpdus, 'FPDU')}"
    caption = f"Around {first.rule}: the {counts} of its connection that lie closest."
    title = f"Time line around {first.rule}"
    return [timeline_drawing("near", title, caption, lanes, marks, shown, shown, moves=True)]


def _charts(
    survey: Survey, activity: Activity, chosen: Sequence[SeenConnection], span: tuple[int, int]
) -> list[Drawing]:
    rates = activity.rates
    groups = []
    if survey.connections_in_all > 1:
        title = f"Throughput of all {survey.connections_in_all:,} connections, both ways"
        groups.append((title, [rates.all("all", "all connections")]))
    for connection in chosen[:_CHARTS]:
        both = [
            rates.side(
                connection.number,
                side,
                f"rate-{side}",
                f"from the {role}" if role[0] in "ir" else role,
            )
            for side, role in sides_of(connection)
        ]
        groups.append((f"Throughput of connection {connection.number}", both))
    made = []
    for number, (title, series) in enumerate(groups):
        name = f"rate-{number}"
        said = "; ".join(f"{one.label} at most {one.value.max():,.4g} Mbit/s" for one in series)
        width = format_ps(int(series[0].t_ps[1] - series[0].t_ps[0]))
        svg = chart_sheet(name, series, *span, title=title, desc=said, moves=True).render()
        caption = f"{title}: payload of TCP, each byte once, over {width} each."
        made.append(Drawing(name, title, caption, svg, moves=True))
    return made


def _left_out(survey: Survey, activity: Activity, chosen: Sequence[SeenConnection]) -> str:
    parts = []
    more = survey.connections_in_all - len(chosen)
    if more > 0:
        parts.append(
            f" {plural(more, 'further connection')} not drawn: those without a finding that carried least."
        )
    summed = any(
        not each.whole
        for side in activity.sides.values()
        for each in (side.operations, side.events, side.tcp)
    )
    if summed:
        parts.append(
            f" Lanes of more than {MOST_ROWS} rows show how many were under way in each of {MOST_ROWS} stretches."
        )
    return "".join(parts)


def _rounded(begin_ps: int, end_ps: int) -> tuple[int, int]:
    """Return a range of time around these, with ends that are easy to read."""
    step = 10 ** max(0, len(str(end_ps - begin_ps)) - 3)
    return begin_ps // step * step, (end_ps // step + 1) * step
