"""Packets as lanes of the time line: operations, FPDUs, broken rules of each end of a connection, and what TCP did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from freezeframe.analyzers.packets.activity import Activity, Side
from freezeframe.analyzers.packets.names import connection_title, ends_of, sides_of
from freezeframe.analyzers.packets.reduced import Reduced
from freezeframe.analyzers.packets.survey import SeenConnection, Survey
from freezeframe.capture.count_text import plural
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.iwarp.words import iwarp_texts
from freezeframe.decoders.net.tcp import tcp_texts
from freezeframe.gui.plots.chart import chart_sheet
from freezeframe.gui.plots.figures import Drawing
from freezeframe.gui.plots.marks import Mark
from freezeframe.gui.plots.time_lines import timeline_drawing
from freezeframe.gui.plots.timeline import Bar, Lane, Tick
from freezeframe.gui.tracks.packet_roles import FPDU, KINDS, role_of

MOST_ROWS = 400
"""Of a lane, one by one; so many stretches are still wider than a pixel."""

NEAR = 40
_SUBLANES = 4
_MARKS = 8
_CHARTS = 4

LEGEND = (
    *((css, kind) for css, kind in KINDS),
    (FPDU, "FPDU, with its number"),
    ("error", "FPDU with a wrong CRC, and that of the finding"),
    ("tick error", "broken rule; bytes missing; retransmission with other bytes; reset"),
    ("tick warn", "warning; retransmission"),
    ("tick plain", "note"),
)
_TICKS = {"note": "plain"}  # the look of a tick of a role, where it has another name


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
    lanes = []
    for connection in chosen:
        group = connection_title(connection)
        for side, role in sides_of(connection):
            did = activity.sides[connection.number, side]
            end = ends_of(connection)[side]
            lanes += _operations(group, role, end, did)
            lanes += _ticks(
                group, f"{role} rules", f"rules that {end} broke, and notes", did.events, _event
            )
            lanes += _ticks(
                group, f"{role} TCP", f"what TCP had to do for {end}", did.tcp, _tcp_event
            )
    return lanes


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
    operations, fpdus = (
        [] if rows is None else rows.to_pylist()
        for rows in (activity.near_operations.rows(), activity.near_fpdus.rows())
    )
    times = [
        first.t_ps,
        *(row[name] for row in operations + fpdus for name in ("t_ps", "t_end_ps")),
    ]
    shown = _rounded(min(times), max(times))
    lanes: list[Lane] = []
    group = connection_title(connection)
    for side, role in sides_of(connection):
        mine = [row for row in operations if row["side"] == side]
        lanes += _bars(group, f"{role} operations", ends_of(connection)[side], mine)
        frames = [row for row in fpdus if row["side"] == side]
        if frames:
            tip = f"FPDUs that {ends_of(connection)[side]} sent"
            lanes.append(
                Lane(group, f"{role} FPDUs", tip, [_fpdu(row, first.fpdu) for row in frames])
            )
    counts = f"{plural(len(operations), 'operation')} and {plural(len(fpdus), 'FPDU')}"
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


def _operations(group: str, role: str, end: str, did: Side) -> list[Lane]:
    name = f"{role} operations"
    rows = did.operations.rows()
    if rows is not None:
        return _bars(group, name, end, rows.to_pylist())
    bars = []
    for each in did.operations.summed():
        most = max(each.kinds, key=lambda kind: each.kinds[kind])
        bars.append(
            Bar(
                each.t_ps,
                each.t_end_ps,
                role_of("iwarp.operations", most),
                "",
                _sums(each.kinds, each.t_ps, each.t_end_ps),
            )
        )
    return [Lane(group, name, f"operations under way that {end} asked for", bars)] if bars else []


def _bars(group: str, name: str, end: str, rows: Sequence[Mapping[str, Any]]) -> list[Lane]:
    """Return operations so that few overlap: the last lane takes what found no place above."""
    ends: list[int] = []
    lanes: list[Lane] = []
    for row in sorted(rows, key=lambda row: row["t_ps"]):
        bar = Bar(
            row["t_ps"],
            max(row["t_end_ps"], row["t_ps"] + 1),
            role_of("iwarp.operations", row["kind"]),
            row["kind"],
            _operation_tip(row),
            loud=True,
        )
        place = next((i for i, until in enumerate(ends) if until <= bar.t0_ps), len(ends))
        if place == len(ends) and place < _SUBLANES:
            ends.append(0)
            lanes.append(Lane(group, "" if lanes else name, f"operations that {end} asked for"))
        place = min(place, _SUBLANES - 1)
        ends[place] = max(ends[place], bar.t1_ps)
        lanes[place].bars.append(bar)
    return lanes


def _operation_tip(row: Mapping[str, Any]) -> str:
    unanswered = "" if row["whole"] else ", not whole in the capture"
    packets = f"packets {row['packet']} to {row['packet_end']}"
    return f"{iwarp_texts(row).long}{unanswered}; {packets}, {format_ps(row['t_ps'])}"


def _fpdu(row: Mapping[str, Any], meant: int | None) -> Bar:
    bad = row["verdict"] == "bad" or row["number"] == meant
    css = "error" if bad else "idle" if row["verdict"] == "cut" else FPDU
    tip = f"{iwarp_texts(row).long}; packet {row['packet']}, {format_ps(row['t_ps'])}"
    return Bar(
        row["t_ps"], max(row["t_end_ps"], row["t_ps"] + 1), css, str(row["number"]), tip, loud=True
    )


def _ticks(group: str, name: str, tip: str, reduced: Reduced, tick: Any) -> list[Lane]:
    rows = reduced.rows()
    if rows is not None:
        return [Lane(group, name, tip, ticks=[tick(row) for row in rows.to_pylist()])]
    bars = [
        Bar(each.t_ps, each.t_end_ps, "warn", "", _sums(each.kinds, each.t_ps, each.t_end_ps))
        for each in reduced.summed()
    ]
    return [Lane(group, name, tip, bars)] if bars else []


def _event(row: Mapping[str, Any]) -> Tick:
    return Tick(
        row["t_ps"],
        _look("iwarp.events", row),
        f"{iwarp_texts(row).normal}, {format_ps(row['t_ps'])}",
    )


def _tcp_event(row: Mapping[str, Any]) -> Tick:
    text = tcp_texts(row).normal
    return Tick(row["t_ps"], _look("tcp.events", row), f"{text}, {format_ps(row['t_ps'])}")


def _look(table: str, row: Mapping[str, Any]) -> str:
    role = role_of(table, row["kind"])
    return _TICKS.get(role, role)


def _sums(kinds: Mapping[str, int], begin_ps: int, end_ps: int) -> str:
    counted = ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items()))
    return f"{format_ps(begin_ps)} to {format_ps(end_ps)}: {counted}"


def _rounded(begin_ps: int, end_ps: int) -> tuple[int, int]:
    """Return a range of time around these, with ends that are easy to read."""
    step = 10 ** max(0, len(str(end_ps - begin_ps)) - 3)
    return begin_ps // step * step, (end_ps // step + 1) * step
