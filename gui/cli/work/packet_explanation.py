"""``freezeframe explain`` of packets: what was broken on iWARP connections, printed."""

from __future__ import annotations

from pathlib import Path

from freezeframe.analyzers.iwarp.explain import PacketExplanation, PacketFinding, explain_packets
from freezeframe.capture.count_text import plural
from freezeframe.capture.packets.recognise import is_live
from freezeframe.capture.time_text import format_ps
from freezeframe.gui.cli.compiling import compile_notice
from freezeframe.gui.cli.explanation_text import bulleted, printable_lines
from freezeframe.gui.cli.output import emit_json, progress_bar
from freezeframe.gui.text import printable

_SHOWN = 20
_SHOWN_LATER = 5


def show_packet_explanation(source: Path, *, json: bool) -> bool:
    """Explain packets and print it; return whether something was broken."""
    with compile_notice(), progress_bar("explain", "B") as update:
        progress = None if is_live(source) else lambda done, total: update(done, total, "")
        explanation = explain_packets(source, progress)
    if json:
        emit_json({"file": str(source), **explanation.to_json()})
    else:
        print(printable_lines(explanation_text(source, explanation)))
    return bool(explanation.findings)


def explanation_text(source: Path, made: PacketExplanation) -> str:
    """Return an explanation for people."""
    name = printable(source.name)
    if not made.iwarp_connections:
        what = f"{name}: no iWARP in {plural(made.packets, 'packet')}"
        if made.packets:
            decoder, shown = (
                ("tcp", "the connections") if made.tcp_packets else ("ethernet", "the packets")
            )
            what += f"; freezeframe decode {source} -d {decoder} shows {shown} that there are"
        return "\n\n".join([what, *bulleted("Notes", made.notes)])
    operations = ", ".join(f"{count:,} {kind}" for kind, count in made.operations.items())
    bad = f", {made.bad_crc:,} with a wrong CRC" if made.bad_crc else ""
    head = (
        f"{name}: {plural(made.packets, 'packet')}, {plural(made.iwarp_connections, 'iWARP connection')}, "
        f"{plural(made.fpdus, 'FPDU')}{bad}; {operations or 'no operation'}"
    )
    parts = [head]
    if not made.findings:
        parts.append(made.nothing_broken)
    parts += [_finding(number, each) for number, each in enumerate(made.findings[:_SHOWN], 1)]
    more = len(made.findings) - _SHOWN + made.unlisted
    if more > 0:
        parts.append(f"and {plural(more, 'finding')} more: --json has them")
    parts += bulleted("Negotiated", made.connections[:_SHOWN])
    parts += bulleted("Notes", made.notes)
    return "\n\n".join(parts)


def _finding(number: int, finding: PacketFinding) -> str:
    first = finding.first
    fpdu = "" if first.fpdu is None else f", FPDU {first.fpdu}"
    times = "" if first.count == 1 else f", {first.count:,} times in all"
    lines = [
        f"{number}. {first.rule} ({first.severity}) by {first.source}",
        f"   packet {first.packet} at {format_ps(first.t_ps)}{fpdu}, octet {first.position:,} of its stream{times}",
        f"   {first.text} ({first.clause})",
    ]
    if finding.answer_text:
        lines.append(f"   answer: {finding.answer_text}")
    lines += [
        f"   after it: {each.rule} in packet {each.packet} by {each.source}"
        + ("" if each.count == 1 else f", {each.count:,} times")
        for each in finding.later[:_SHOWN_LATER]
    ]
    if len(finding.later) > _SHOWN_LATER:
        lines.append(f"   and {len(finding.later) - _SHOWN_LATER} rules more after it")
    return "\n".join(lines)
