"""The report of a capture of packets as a page; the parts are those of any report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from freezeframe.analyzers.packets.activity import Activity, packet_activity
from freezeframe.analyzers.packets.survey import SeenConnection, Survey, survey_packets
from freezeframe.capture.errors import InputError
from freezeframe.capture.packets.recognise import is_live
from freezeframe.gui.report.analysis_sections import drawing_figure
from freezeframe.gui.report.html import Html, element, page
from freezeframe.gui.report.packet_lanes import MOST_ROWS, NEAR, packet_drawings
from freezeframe.gui.report.packet_sections import (
    around_section,
    capture_section,
    connections_section,
    findings_section,
    latency_section,
    verdict,
)
from freezeframe.gui.report.page_parts import again_section, footer, links_to, notes_list
from freezeframe.gui.report.style import script_text, style_text
from freezeframe.gui.text import printable, shell_path

_DRAWN = 8  # connections; what is on the page stays readable, and a script can still zoom it


def refuse_stream(source: Path, verb: str) -> None:
    """Refuse packets that can be read only once.

    Raises:
        InputError: they come from standard input or an interface.
    """
    if is_live(source):
        raise InputError(
            f"{source}: {verb} reads its packets twice; write them to a file first: tcpdump -w lab.pcap"
        )


def packet_report(
    source: Path, progress: Callable[[int, int], None] | None = None
) -> tuple[str, list[str]]:
    """Return the report of a file of packets, and the rules that were broken first on its connections.

    Raises:
        InputError: it cannot be read, or can be read only once.
    """
    refuse_stream(source, "report")
    survey = survey_packets(source, progress)
    chosen = chosen_connections(survey)
    numbers = [each.number for each in chosen]
    activity = packet_activity(
        source, survey, numbers, most=MOST_ROWS, near=NEAR, progress=progress
    )
    text = render_packet_report(source, survey, activity, chosen)
    return text, [finding.diagnosis for finding in survey.explanation.findings]


def chosen_connections(survey: Survey) -> list[SeenConnection]:
    """Return the connections that are drawn: that of the first finding first; iWARP alone, if there is any."""
    first = survey.explanation.findings[0].first.connection if survey.explanation.findings else None
    iwarp = survey.explanation.iwarp_connections > 0
    fit = [each for each in survey.connections if each.iwarp is not None or not iwarp]
    return sorted(fit, key=lambda each: each.number != first)[:_DRAWN]


def render_packet_report(
    source: Path, survey: Survey, activity: Activity, chosen: list[SeenConnection]
) -> str:
    """Return the report as one HTML document that loads nothing and runs only its own script."""
    made = survey.explanation
    name = printable(source.name)
    drawn = packet_drawings(survey, activity, chosen)
    around = around_section(
        activity.near_operations, activity.near_fpdus, survey, chosen[0] if made.findings else None
    )
    later = findings_section(survey)
    latencies = latency_section(survey)
    parts = [
        element("p", f"Freezeframe report of {name}", css="eyebrow"),
        verdict(survey),
        notes_list(made.notes),
        links_to(
            {
                "later": "After it" if 'id="later"' in later else "",
                "others": "Other connections" if 'id="others"' in later else "",
                "time-line": "Time line",
                "around": "Around it" if around else "",
                "operations": "Operations" if latencies else "",
                "connections": "Connections",
                "capture": "The capture",
                "again": "To see it again",
            }
        ),
        later,
        element("h2", "Time line", id="time-line"),
        *map(drawing_figure, drawn),
        around,
        latencies,
        connections_section(survey),
        capture_section(source, survey),
        _again(source, bool(made.iwarp_connections)),
        footer(
            "Times count from the first packet of the capture, by the clock of the machine that captured."
        ),
    ]
    what = (
        made.findings[0].diagnosis
        if made.findings
        else "no broken rule"
        if made.iwarp_connections
        else "no iWARP"
    )
    return page(f"{what} - {name}", style_text(), *parts, script=script_text())


def _again(source: Path, iwarp: bool) -> Html:
    name = shell_path(source.name)
    lines = [
        f"freezeframe explain {name}          # this explanation as text",
        f"freezeframe explain {name} --json   # for a machine",
        f"freezeframe report {name} -o report.html",
        f"freezeframe open {name}             # in a window, with every operation",
        f"freezeframe decode {name} -d tcp -o connections.parquet",
    ]
    if iwarp:
        lines.append(f"freezeframe decode {name} -d iwarp -o operations.parquet")
        lines.append(f"freezeframe export {name} --to pcapng -o commented.pcapng   # for Wireshark")
    return again_section(lines)
