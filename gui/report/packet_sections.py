"""The parts of the report on packets: the verdict, findings, connections, latencies, the capture itself."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from freezeframe.analyzers.iwarp.explain import BrokenRule, PacketFinding
from freezeframe.analyzers.packets.latencies import ALL
from freezeframe.analyzers.packets.names import ends_of, roles_of
from freezeframe.analyzers.packets.reduced import Nearest
from freezeframe.analyzers.packets.survey import WAYS, SeenConnection, Survey
from freezeframe.capture.count_text import plural
from freezeframe.capture.packets.block import LINKTYPES
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.iwarp.words import iwarp_texts
from freezeframe.gui.report.html import Html, element, join, table
from freezeframe.gui.report.page_parts import fact_list

_FINDINGS = 50
_CONNECTIONS = 100
_LATER = 10
_CHUNK_B = 1 << 20


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
        rows = [
            (
                each.first.rule,
                each.first.source,
                f"{each.first.packet:,}",
                _fpdu(each.first),
                format_ps(each.first.t_ps),
                f"{each.first.text} ({each.first.clause})",
                each.answer_text,
            )
            for each in others
        ]
        heads = ("rule", "by", "packet", "FPDU", "when", "what", "answer")
        parts.append(
            table("The first rule that was broken on each.", heads, rows, numbers=(2, 3, 4))
        )
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
    if found[0]:
        rows = [
            (
                f"{row['number']:,}",
                roles[row["side"]],
                format_ps(row["t_ps"]),
                f"{row['packet']:,}",
                f"{row['position']:,}",
                iwarp_texts(row).normal,
                row["verdict"] + (f": {row['error']}" if row["error"] else ""),
            )
            for row in found[0]
        ]
        bad = [
            at
            for at, row in enumerate(found[0])
            if row["verdict"] == "bad" or (first is not None and row["number"] == first.fpdu)
        ]
        heads = ("FPDU", "from", "begins", "packet", "octet", "what", "CRC")
        caption = "FPDUs of the connection that lie closest. Marked: a wrong CRC, and the FPDU of the finding."
        parts.append(table(caption, heads, rows, numbers=(0, 2, 3, 4), bad_rows=bad))
    if found[1]:
        rows = [
            (
                row["kind"],
                roles[row["side"]],
                format_ps(row["t_ps"]),
                _took(row["latency_ps"]) if row["whole"] else "not whole",
                f"{row['size_B']:,}",
                str(row["segments"]),
                f"{row['packet']:,} to {row['packet_end']:,}",
            )
            for row in found[1]
        ]
        heads = ("operation", "by", "begins", "took", "octets", "segments", "packets")
        parts.append(
            table(
                "Operations of the connection that lie closest.", heads, rows, numbers=(2, 3, 4, 5)
            )
        )
    return join(element("h2", "Around it", id="around"), *parts) if parts else Html("")


def connections_section(survey: Survey) -> Html:
    """Return the connections: what each way carried, what TCP had to do, and what was negotiated."""
    shown = survey.connections[:_CONNECTIONS]
    if not shown:
        return join(
            element("h2", "Connections", id="connections"),
            element("p", "There is no TCP connection."),
        )
    rows = [row for each in shown for row in _connection(each)]
    bad = [2 * at + side for at, each in enumerate(shown) for side in (0, 1) if each.broken]
    left = survey.connections_in_all - len(shown)
    caption = "A line for what each end sent." + (
        f" {left:,} further connections, without a finding and with less payload, are left out; freezeframe decode "
        "-d tcp has them all."
        if left
        else ""
    )
    heads = [
        "", "from", "packets", "payload", "throughput", "sent again", "missing", "other bytes", "handshake",
        "end",
    ]  # fmt: skip
    if any(each.iwarp for each in shown):
        heads += ["FPDUs", "wrong CRC", "octets of operations"]
    else:
        rows = [row[: len(heads)] for row in rows]
    parts = [
        element("h2", "Connections", id="connections"),
        table(caption, heads, rows, numbers=(0, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12), bad_rows=bad),
    ]
    negotiated = [
        (str(each.number), " and ".join(ends_of(each)), each.iwarp["text"])
        for each in shown
        if each.iwarp
    ]
    if negotiated:
        parts.append(
            table("What was negotiated.", ("", "between", "in words"), negotiated, numbers=(0,))
        )
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
    rows = [
        (
            "all" if each.connection == ALL else str(each.connection),
            each.kind,
            f"{each.count:,}",
            f"{each.count - each.answered:,}",
            f"{each.size_B:,}",
            *(_took(ps) if each.answered else "" for ps in
              (each.least_ps, each.median_ps, each.p99_ps, each.most_ps)),
        )
        for each in kept
    ]  # fmt: skip
    alone = all(each.connection == ALL for each in kept)
    heads = (
        "connection", "kind", "count", "not whole", "octets", "least", "median", "99 of 100", "most",
    )  # fmt: skip
    return join(
        element("h2", "Operations", id="operations"),
        table(
            "From the first octet to the last; of a Read or an atomic from its request to the end of its response. "
            "Median and 99 of 100 within 1.1 %.",
            heads[alone:],
            [row[alone:] for row in rows],
            numbers=[column - alone for column in (0, 2, 3, 4, 5, 6, 7, 8) if column >= alone],
        ),
    )


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
    rows = [
        (each.rule, each.source, f"{each.packet:,}", _fpdu(each), format_ps(each.t_ps), f"{each.count:,}",
         f"{each.text} ({each.clause})")
        for each in rules[:_LATER]
    ]  # fmt: skip
    more = len(rules) - len(rows)
    caption = f"The first {len(rows)} of {len(rules)} rules." if more else ""
    return table(
        caption,
        ("rule", "by", "packet", "FPDU", "when", "times", "what"),
        rows,
        numbers=(2, 3, 4, 5),
    )


def _fpdu(broken: BrokenRule) -> str:
    return "" if broken.fpdu is None else f"{broken.fpdu:,}"


def _connection(each: SeenConnection) -> list[tuple[str, ...]]:
    ends, row = ends_of(each), each.tcp
    rows = []
    for side, way in enumerate(WAYS):
        rate = row[f"rate_{way}_bps"]
        missing = row[f"lost_{way}_B"]
        line: tuple[Any, ...] = (
            str(each.number),
            ends[side],
            f"{row[f'packets_{way}']:,}",
            f"{row[f'stream_{way}_B'] + row[f'cut_{way}_B']:,} B",
            f"{rate / 1e6:,.4g} Mbit/s" if rate >= 0 else "",
            f"{row[f'repeated_{way}']:,}",
            f"{missing:,} B in {row[f'gaps_{way}']:,}" if row[f"gaps_{way}"] else "0",
            f"{row[f'different_{way}']:,}",
            format_ps(row["handshake_ps"]) if row["handshake_ps"] >= 0 else "",
            row["ended"],
        )
        who = roles_of(each)[side]
        if each.iwarp is None:
            line += ("", "", "")
        else:
            who = who if who in ("initiator", "responder") else ("initiator", "responder")[side]
            line += tuple(
                f"{each.iwarp[f'{who}_{what}']:,}" for what in ("fpdus", "bad_crc", "payload_B")
            )
        rows.append(line)
    return rows


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
    made = hashlib.sha256()
    with source.open("rb") as file:
        while chunk := file.read(_CHUNK_B):
            made.update(chunk)
    return made.hexdigest()
