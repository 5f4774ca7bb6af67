"""Opening a file of packets: operations and broken rules of each end, what TCP did, throughput, all tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from freezeframe.analyzers.contract import Evidence, Finding, Row
from freezeframe.analyzers.iwarp.explain import BrokenRule, PacketFinding
from freezeframe.analyzers.packets.names import sides_of
from freezeframe.analyzers.packets.rates import Rates
from freezeframe.analyzers.packets.reduced import Stretches
from freezeframe.analyzers.packets.survey import SeenConnection, Survey, survey_packets
from freezeframe.analyzers.wall_clock import WallClock
from freezeframe.capture.count_text import plural
from freezeframe.capture.packets.source import packet_blocks
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.iwarp.iwarp import IWARP
from freezeframe.decoders.iwarp.iwarp_code import IwarpState, decode_iwarp
from freezeframe.decoders.net.tcp_code import connection_table, event_table
from freezeframe.decoders.net.tcp_streams import TcpStreams
from freezeframe.gui.desktop.evidence import AROUND_PS
from freezeframe.gui.desktop.progress import Progress
from freezeframe.gui.desktop.sources.opened import Opened, Part, Table
from freezeframe.gui.text import folder_title
from freezeframe.gui.tracks.lanes import split_lanes
from freezeframe.gui.tracks.packets import (
    OPERATIONS,
    RULES,
    TCP,
    WHAT,
    end_track,
    normal_text,
    packet_frame,
    rate_track,
    said_of,
)
from freezeframe.gui.tracks.recording import finding_track
from freezeframe.gui.tracks.tracks import Track

MOST_ROWS = 2_000_000
"""Of all tables together: about half a gigabyte. What comes later is not in the tables and on the tracks."""

MOST_DRAWN = 64
_RATE_STRETCHES = 4096
_LANES = 8
_FINDINGS = 1000
_AROUND = 500  # before and after a finding this part of the capture is shown
_DOCS = {
    "iwarp.operations": "Writes, Sends, Reads with their responses",
    "iwarp.events": "broken rules, Terminates, gaps",
    "iwarp.connections": "negotiations, and sums",
    "tcp.connections": "TCP connections, each way",
    "tcp.events": "retransmissions, gaps, resets, and retransmissions with other bytes",
}
Made = tuple[Track, str | None]
_Texts = Callable[[Mapping[str, Any]], str]


def load_packets(
    key: str,
    path: Path,
    progress: Progress,
    cut_ps: tuple[int, int | None] | None = None,
    most_rows: int = MOST_ROWS,
) -> Opened:
    """Return a file of packets as it is shown. It is read twice: to see what it holds, and to take the rows.

    Args:
        cut_ps: only packets of this time; all times stay those of the file.
    Raises:
        InputError: it cannot be read.
        Cancelled: it is no longer wanted.
    """
    progress.report(0, 0, "looking at the packets")
    survey = survey_packets(path, progress.counted, cut_ps)
    progress.check()
    chosen = _chosen(survey)
    progress.report(0, 0, "taking the rows")
    rows = _rows(path, survey, chosen, progress, cut_ps, most_rows)
    tables = {each.key: each for each in _tables(rows)}
    findings = [_finding(each, tables) for each in survey.explanation.findings[:_FINDINGS]]
    name = folder_title(path)
    opened = Opened(
        key,
        name if rows.until_ps is None else f"{name} (to {format_ps(rows.until_ps)})",
        str(path),
        "packets",
        path,
        tables=tables,
        findings=findings,
        remarks=_remarks(path, survey, chosen, rows),
        facts=_facts(survey),
        wall_clock=WallClock(survey.epoch_ns, 0) if survey.epoch_ns else None,
        around_ps=max(AROUND_PS, (survey.end_ps - survey.begin_ps) // _AROUND),
        answer=_answer(survey),
    )
    tracks: list[Made] = [(finding_track(key, opened.name, findings), None)] if findings else []
    for connection in chosen:
        tracks += _tracks(key, opened.name, connection, tables, rows.rates, alone=len(chosen) == 1)
    opened.absorb(Part(tracks=tracks))
    return opened


@dataclass(slots=True)
class _Rows:
    """The tables of a file, up to ``until_ps`` where not all fit."""

    rates: Rates
    parts: dict[str, list[pa.Table]] = field(default_factory=lambda: {name: [] for name in _DOCS})
    count: int = 0
    until_ps: int | None = None

    def take(self, tables: Mapping[str, pa.Table]) -> None:
        for name, table in tables.items():
            if name in self.parts and len(table):
                self.parts[name].append(table)
                self.count += len(table)


def _chosen(survey: Survey) -> list[SeenConnection]:
    """Return the connections that have tracks, those that matter most, in the order in which they began."""
    iwarp = survey.explanation.iwarp_connections > 0
    fit = [each for each in survey.connections if each.iwarp is not None or not iwarp][:MOST_DRAWN]
    return sorted(fit, key=lambda each: (not each.broken, each.number))


def _rows(
    path: Path,
    survey: Survey,
    chosen: Sequence[SeenConnection],
    progress: Progress,
    cut_ps: tuple[int, int | None] | None,
    most: int,
) -> _Rows:
    stretches = Stretches(survey.begin_ps, survey.end_ps + 1, _RATE_STRETCHES)
    made = _Rows(Rates([each.number for each in chosen], stretches))
    options = IWARP.option_values({"fpdus": False})
    iwarp, streams = IwarpState(options), TcpStreams(retransmissions=True)
    for block, last in packet_blocks(path, progress.counted, cut_ps=cut_ps):
        progress.check()
        pieces_tables = decode_iwarp(block, options, iwarp, last)
        pieces = streams.feed(block, last)
        made.rates.take(pieces)  # of the whole file: it has one size
        if made.until_ps is None:
            made.take(pieces_tables)
            made.take(
                {"tcp.connections": connection_table(pieces), "tcp.events": event_table(pieces)}
            )
            if made.count > most and len(block):
                made.until_ps = int(block.t_ps[-1])
    return made


def _tables(rows: _Rows) -> Iterator[Table]:
    for name, parts in rows.parts.items():
        if not parts:
            continue
        table = pa.concat_tables(parts, promote_options="permissive")
        parts.clear()
        yield Table(name, packet_frame(table.sort_by("t_ps")), normal_text(name), doc=_DOCS[name])


def _tracks(
    key: str,
    name: str,
    connection: SeenConnection,
    tables: Mapping[str, Table],
    rates: Rates,
    *,
    alone: bool,
) -> Iterator[Made]:
    """Yield the tracks of a connection: operations, rules, TCP and throughput of each end."""
    before = "" if alone else f"#{connection.number} "
    for at, (side, role) in enumerate(sides_of(connection)):
        for table in (each for each in (OPERATIONS, RULES, TCP) if each in tables):
            frame = tables[table].frame
            mine = (frame["connection"] == connection.number) & (frame["side"] == side)
            rows = np.flatnonzero(mine.to_numpy()).astype(np.int64)
            if len(rows):
                said = said_of(key, name, connection, side, role, WHAT[table], before)
                for lane in split_lanes(end_track(table, frame, rows, said), _LANES):
                    yield lane, table
        said = said_of(key, name, connection, side, role, "rate", before)
        yield rate_track(rates.side(connection.number, side, "", ""), at, said), None


def _finding(found: PacketFinding, tables: Mapping[str, Table]) -> Finding:
    """Return a broken rule as the window shows findings, with the rows of its events."""
    first = found.first
    evidence = [
        Evidence(f"{first.text} ({first.clause})", first.source, rows=_rows_of(first, tables))
    ]
    if found.answer_text:
        evidence.append(Evidence(f"answer: {found.answer_text}", rows=_answer_rows(found, tables)))
    evidence += [
        Evidence(f"after it: {each.rule}: {each.text}", each.source, rows=_rows_of(each, tables))
        for each in found.later
    ]
    fpdu = "" if first.fpdu is None else f", FPDU {first.fpdu}"
    return Finding(
        first.rule,
        f"{first.source} broke {first.rule} in packet {first.packet}{fpdu}: {first.text} ({first.clause}). "
        f"Answer: {found.answer_text or 'none is asked for'}.",
        device=first.source.partition(">")[0],
        direction=first.source.replace(">", "->"),
        packet=first.packet,
        t_ps=first.t_ps,
        confidence=1.0,  # the bytes break the rule, or there is no finding
        evidence=tuple(evidence),
    )


def _rows_of(broken: BrokenRule, tables: Mapping[str, Table]) -> tuple[Row, ...]:
    return _event_rows(tables, broken.connection, broken.side, broken.rule, broken.packet)


def _answer_rows(found: PacketFinding, tables: Mapping[str, Table]) -> tuple[Row, ...]:
    if found.answer is None:
        return ()
    answer = found.answer
    return _event_rows(tables, found.first.connection, answer.side, "terminated", answer.packet)


def _event_rows(
    tables: Mapping[str, Table], connection: int, side: int, rule: str, packet: int
) -> tuple[Row, ...]:
    """Return the row of an event, if the table holds it."""
    if "iwarp.events" not in tables:
        return ()
    frame = tables["iwarp.events"].frame
    there = (
        (frame["connection"] == connection)
        & (frame["side"] == side)
        & (frame["packet"] == packet)
        & (frame["error"] == rule)
    )
    return tuple(
        Row(
            "iwarp.events",
            str(frame["source"].iloc[row]),
            rule,
            row=row,
            t_ps=int(frame["t_ps"].iloc[row]),
        )
        for row in np.flatnonzero(there.to_numpy())[:1].tolist()
    )


def _remarks(
    path: Path, survey: Survey, chosen: Sequence[SeenConnection], rows: _Rows
) -> list[str]:
    said = []
    if rows.until_ps is not None:
        said.append(
            f"tables and operations end at {format_ps(rows.until_ps)} of {format_ps(survey.end_ps)}: more rows than "
            f"are held at once; the findings and the throughput are of the whole file. The rest: freezeframe open "
            f"{path} --cut {rows.until_ps // 10**6}us..{survey.end_ps // 10**6 + 1}us"
        )
    more = survey.connections_in_all - len(chosen)
    if more > 0:
        said.append(
            f"{plural(more, 'further connection')} without a track: those without a finding that carried least; the "
            "tables have them"
        )
    unlisted = len(survey.explanation.findings) - _FINDINGS + survey.explanation.unlisted
    if unlisted > 0:
        said.append(f"{plural(unlisted, 'finding')} more: explain --json has them")
    return said + survey.explanation.notes


def _facts(survey: Survey) -> dict[str, str]:
    made = survey.explanation
    return {
        "packets": f"{made.packets:,}, {survey.wire_B:,} B on the wire",
        "connections": f"{survey.connections_in_all:,}, {made.iwarp_connections:,} with iWARP",
        "FPDUs": f"{made.fpdus:,}, {made.bad_crc:,} with a wrong CRC",
        "time 0": survey.clock_text(0),
    }


def _answer(survey: Survey) -> str:
    if survey.explanation.iwarp_connections:
        return "no finding: no rule of MPA, DDP or RDMAP is broken in what the capture holds"
    return "no iWARP in the packets; TCP is shown alone"
