"""The parts of the report on packets: the verdict, findings, connections, latencies, the capture itself."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from freezeframe.analyzers.iwarp.explain import BrokenRule, PacketFinding
from freezeframe.analyzers.packets.latencies import ALL, Latency
from freezeframe.analyzers.packets.names import ends_of, roles_of
from freezeframe.analyzers.packets.reduced import Nearest
from freezeframe.analyzers.packets.survey import WAYS, SeenConnection, Survey
from freezeframe.capture.count_text import plural
from freezeframe.capture.packets.block import LINKTYPES
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.iwarp.words import iwarp_texts
from freezeframe.gui.report.html import Html, Thing, element, join, listing
from freezeframe.gui.report.page_parts import fact_list

_FINDINGS = 50
_CONNECTIONS = 100
_LATER = 10

_Way = tuple[SeenConnection, int]
"""What one end of a connection sent."""

_Columns = Mapping[str, Callable[[Thing], str]]


def verdict(survey: Survey) -> Html:
    """Return the top of the page: what was broken first, by whom, and how the peer answered; or that nothing was."""
    made = survey.explanation
    if made.findings:
        finding = made.findings[0]
        return element(
            "div",
            element("h1", f"{finding.first.rule}, by {finding.first.source.partition('>')[0]}"),
            element("p", _sentence(finding.first), css="lead"),
            element("p", f"Answer: {finding.answer_text}.") if finding.answer_text else Html(""),
            fact_list(_facts(finding, survey)),
            css="headline",
        )
    whole = not any(survey.sums.get(name) for name in ("gaps", "different", "resets"))
    if made.iwarp_connections:
        title = "No broken rule"
        said = made.nothing_broken
        sure = whole and not made.notes and not made.terminates
    else:
        title = f"No iWARP in {plural(made.packets, 'packet')}"
        said = "There is no connection of which anything of MPA, DDP or RDMAP is seen; TCP is looked at alone."
        sure = whole
    return element(
        "div",
        element("h1", title),
        element("p", f"{said} {_tcp_words(survey)}", css="lead"),
        css="headline fine" if sure else "headline unsure",
    )


def findings_section(survey: Survey) -> Html:
    """Return what was broken after the first rule, and the findings on other connections."""
    made = survey.explanation
    if not made.findings:
        return Html("")
    parts = []
    if made.findings[0].later:
        parts += [
            element("h2", "After it, on the same connection", id="later"),
            element("p", "What was broken after it may be its consequence."),
            _rules(made.findings[0].later),
        ]
    others = made.findings[1 : _FINDINGS + 1]
    if others:
        parts.append(element("h2", "Other connections", id="others"))
        columns = {head: _of_first(cell) for head, cell in _OF_RULE.items()}
        columns["answer"] = lambda each: each.answer_text
        parts.append(listing("The first rule that was broken on each.", others, columns))
    more = len(made.findings) - 1 - len(others) + made.unlisted
    if more > 0:
        parts.append(
            element("p", f"{plural(more, 'finding')} more: explain --json has them.", css="note")
        )
    return join(*parts)


def around_section(
    operations: Nearest | None,
    fpdus: Nearest | None,
    survey: Survey,
    connection: SeenConnection | None,
) -> Html:
    """Return the operations and the FPDUs around the first finding, which is of ``connection``, as tables."""
    if connection is None:
        return Html("")
    roles = roles_of(connection)
    parts = []
    tables = [None if each is None else each.rows() for each in (fpdus, operations)]
    found = [[] if each is None else each.to_pylist() for each in tables]
    first = survey.explanation.findings[0].first if survey.explanation.findings else None
    fpdus_columns: _Columns[dict[str, Any]] = {
        "#FPDU": lambda row: f"{row['number']:,}",
        "from": lambda row: roles[row["side"]],
        "#begins": lambda row: format_ps(row["t_ps"]),
        "#packet": lambda row: f"{row['packet']:,}",
        "#octet": lambda row: f"{row['position']:,}",
        "what": lambda row: iwarp_texts(row).normal,
        "CRC": lambda row: row["verdict"] + (f": {row['error']}" if row["error"] else ""),
    }
    operations_columns: _Columns[dict[str, Any]] = {
        "operation": lambda row: row["kind"],
        "by": lambda row: roles[row["side"]],
        "#begins": lambda row: format_ps(row["t_ps"]),
        "#took": lambda row: _took(row["latency_ps"]) if row["whole"] else "not whole",
        "#octets": lambda row: f"{row['size_B']:,}",
        "#segments": lambda row: str(row["segments"]),
        "packets": lambda row: f"{row['packet']:,} to {row['packet_end']:,}",
    }
    if found[0]:
        caption = "FPDUs of the connection that lie closest. Marked: a wrong CRC, and the FPDU of the finding."
        meant = None if first is None else first.fpdu
        parts.append(
            listing(
                caption,
                found[0],
                fpdus_columns,
                lambda row: row["verdict"] == "bad" or row["number"] == meant,
            )
        )
    if found[1]:
        caption = "Operations of the connection that lie closest."
        parts.append(listing(caption, found[1], operations_columns))
    return join(element("h2", "Around it", id="around"), *parts) if parts else Html("")


def connections_section(survey: Survey) -> Html:
    """Return the connections: what each way carried, what TCP had to do, and what was negotiated."""
    shown = survey.connections[:_CONNECTIONS]
    if not shown:
        return join(
            element("h2", "Connections", id="connections"),
            element("p", "There is no TCP connection."),
        )
    left = survey.connections_in_all - len(shown)
    caption = "A line for what each end sent." + (
        f" {left:,} further connections, without a finding and with less payload, are left out; freezeframe decode "
        "-d tcp has them all."
        if left
        else ""
    )
    ways = [(each, side) for each in shown for side in (0, 1)]
    parts = [
        element("h2", "Connections", id="connections"),
        listing(caption, ways, _OF_WAY, lambda way: bool(way[0].broken)),
    ]
    negotiated = [each for each in shown if each.iwarp]
    if negotiated:
        columns: _Columns[SeenConnection] = {
            "#": lambda each: str(each.number),
            "between": lambda each: " and ".join(ends_of(each)),
            "in words": lambda each: each.iwarp["text"] if each.iwarp else "",
        }
        parts.append(listing("What was negotiated.", negotiated, columns))
    return join(*parts)


def latency_section(survey: Survey) -> Html:
    """Return how long operations of each kind took."""
    kept = [
        each
        for each in survey.latencies
        if each.connection == ALL or survey.explanation.iwarp_connections > 1
    ]
    listed = {each.number for each in survey.connections[:_CONNECTIONS]} | {ALL}
    kept = [each for each in kept if each.connection in listed]
    if not kept:
        return Html("")
    alone = all(each.connection == ALL for each in kept)
    times = {
        "#least": "least_ps",
        "#median": "median_ps",
        "#99 of 100": "p99_ps",
        "#most": "most_ps",
    }
    columns: _Columns[Latency] = {
        "#connection": lambda each: (
            "" if alone else "all" if each.connection == ALL else str(each.connection)
        ),
        "kind": lambda each: each.kind,
        "#count": lambda each: f"{each.count:,}",
        "#not whole": lambda each: f"{each.count - each.answered:,}",
        "#octets": lambda each: f"{each.size_B:,}",
        **{head: _time(name) for head, name in times.items()},
    }
    caption = (
        "From the first octet to the last; of a Read or an atomic from its request to the end of its response. "
        "Median and 99 of 100 within 1.1 %."
    )
    return join(element("h2", "Operations", id="operations"), listing(caption, kept, columns))


def _time(name: str) -> Callable[[Latency], str]:
    return lambda each: _took(getattr(each, name)) if each.answered else ""


def capture_section(source: Path, survey: Survey) -> Html:
    """Return what the file is."""
    interfaces = ", ".join(
        f"{each.name or f'interface {place}'} ({LINKTYPES.get(each.linktype, f'link type {each.linktype}')})"
        for place, each in enumerate(survey.interfaces)
    )
    made = survey.explanation
    facts = [
        ("File", source.name, f"{source.stat().st_size:,} B, {survey.format}"),
        ("SHA-256", _digest(source), ""),
        (
            "Packets",
            f"{made.packets:,}",
            f"{survey.cut_packets:,} of them cut" if survey.cut_packets else "",
        ),
        ("On the wire", f"{survey.wire_B:,} B", ""),
        ("Time 0", survey.clock_text(0), "of the first packet"),
        ("Lasts", format_ps(survey.end_ps - survey.begin_ps), ""),
        ("Interfaces", interfaces or "none", ""),
    ]
    return join(element("h2", "The capture", id="capture"), fact_list(facts))


def _facts(finding: PacketFinding, survey: Survey) -> list[tuple[str, str, str]]:
    first = finding.first
    facts = [
        ("Rule", first.rule, f"{first.severity}, {first.clause}"),
        ("Connection", first.source.replace(">", " → "), f"number {first.connection}"),
        ("Packet", f"{first.packet:,}", f"octet {first.position:,} of its stream"),
    ]
    if first.fpdu is not None:
        facts.append(("FPDU", f"{first.fpdu:,}", "counted over the whole capture"))
    facts.append(("When", format_ps(first.t_ps), survey.clock_text(first.t_ps)))
    if first.count > 1:
        facts.append(("How often", f"{first.count:,} times", "on this connection and side"))
    if finding.answer is not None:
        answer = finding.answer
        facts.append(
            (
                "Terminate",
                f"packet {answer.packet:,}",
                f"{format_ps(answer.t_ps - first.t_ps)} later",
            )
        )
    return facts


def _sentence(broken: BrokenRule) -> str:
    return f"{broken.text[:1].upper()}{broken.text[1:]} ({broken.clause})."


def _rules(rules: Sequence[BrokenRule]) -> Html:
    more = len(rules) > _LATER
    caption = f"The first {_LATER} of {len(rules)} rules." if more else ""
    return listing(caption, rules[:_LATER], _OF_RULE)


_OF_RULE: _Columns[BrokenRule] = {
    "rule": lambda rule: rule.rule,
    "by": lambda rule: rule.source,
    "#packet": lambda rule: f"{rule.packet:,}",
    "#FPDU": lambda rule: "" if rule.fpdu is None else f"{rule.fpdu:,}",
    "#when": lambda rule: format_ps(rule.t_ps),
    "#times": lambda rule: f"{rule.count:,}",
    "what": lambda rule: f"{rule.text} ({rule.clause})",
}


def _of_first(cell: Callable[[BrokenRule], str]) -> Callable[[PacketFinding], str]:
    return lambda finding: cell(finding.first)


def _of_tcp(text: Callable[[Mapping[str, Any], str], str]) -> Callable[[_Way], str]:
    """Return a column of what TCP did in a way of a connection; ``text`` gets its row and the name of the way."""
    return lambda way: text(way[0].tcp, WAYS[way[1]])


def _of_iwarp(what: str) -> Callable[[_Way], str]:
    """Return a column of what an end sent by iWARP."""

    def text(way: _Way) -> str:
        (connection, side), ends = way, ("initiator", "responder")
        role = roles_of(connection)[side]
        who = role if role in ends else ends[side]
        return "" if connection.iwarp is None else f"{connection.iwarp[f'{who}_{what}']:,}"

    return text


_OF_WAY: _Columns[_Way] = {
    "#": lambda way: str(way[0].number),
    "from": lambda way: ends_of(way[0])[way[1]],
    "#packets": _of_tcp(lambda row, way: f"{row[f'packets_{way}']:,}"),
    "#payload": _of_tcp(lambda row, way: f"{row[f'stream_{way}_B'] + row[f'cut_{way}_B']:,} B"),
    "#throughput": _of_tcp(
        lambda row, way: (
            f"{rate / 1e6:,.4g} Mbit/s" if (rate := row[f"rate_{way}_bps"]) >= 0 else ""
        )
    ),
    "#sent again": _of_tcp(lambda row, way: f"{row[f'repeated_{way}']:,}"),
    "#missing": _of_tcp(
        lambda row, way: (
            f"{row[f'lost_{way}_B']:,} B in {gaps:,}" if (gaps := row[f"gaps_{way}"]) else "0"
        )
    ),
    "#other bytes": _of_tcp(lambda row, way: f"{row[f'different_{way}']:,}"),
    "#handshake": _of_tcp(lambda row, _: format_ps(t) if (t := row["handshake_ps"]) >= 0 else ""),
    "end": _of_tcp(lambda row, _: str(row["ended"])),
    "#FPDUs": _of_iwarp("fpdus"),
    "#wrong CRC": _of_iwarp("bad_crc"),
    "#octets of operations": _of_iwarp("payload_B"),
}


def _tcp_words(survey: Survey) -> str:
    sums = survey.sums
    words = [
        f"{sums[name]:,} {one if sums[name] == 1 else many}"
        for name, one, many in (
            ("repeated", "segment sent again", "segments sent again"),
            ("gaps", "hole in the streams", "holes in the streams"),
            ("different", "retransmission with other bytes", "retransmissions with other bytes"),
            ("resets", "reset", "resets"),
        )
        if sums.get(name)
    ]
    count = plural(survey.connections_in_all, "TCP connection")
    return f"{count}: {', '.join(words) or 'nothing was sent again, nothing is missing'}."


def _took(ps: int) -> str:
    """Return a time to four digits: more of a median would be invented."""
    return format_ps(int(float(f"{ps:.4g}"))) if ps else "one packet"


def _digest(source: Path) -> str:
    with source.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
