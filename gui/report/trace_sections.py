"""The parts of the report on the recording: time lines, packets near the fault."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from freezeframe.analyzers.contract import Finding
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.trace.decode import Trace
from freezeframe.gui.moments import Freeze
from freezeframe.gui.plots.time_lines import timeline_drawings
from freezeframe.gui.plots.trace_lanes import packet_rows, verdict_text
from freezeframe.gui.report.analysis_sections import drawing_figure
from freezeframe.gui.report.html import Html, element, join, listing

_NEAR_PACKETS = 3
_COLUMNS: dict[str, Callable[[dict[str, Any]], str]] = {
    "tap": lambda row: str(row["source"]),
    "#seq": lambda row: str(row["seq"]),
    "#flow": lambda row: str(row["flow"]),
    "type": lambda row: str(row["kind"]),
    "#payload words": lambda row: f"{row['body_words']} of {row['length']}",
    "#begins": lambda row: format_ps(row["t_ps"]),
    "#lasts": lambda row: format_ps(row["t_end_ps"] - row["t_ps"]),
    "checks": verdict_text,
}


def timeline_section(trace: Trace, findings: Sequence[Finding], freezes: Sequence[Freeze]) -> Html:
    """Return the time lines with their legends."""
    made = timeline_drawings(trace, findings, freezes, moves=True)
    return join(element("h2", "Time line", id="time-line"), *map(drawing_figure, made))


def packets_section(trace: Trace, finding: Finding | None) -> Html:
    """Return the packets before and after the one of the finding, at each tap it passed."""
    if finding is None or finding.packet is None or finding.direction is None:
        return Html("")
    rows = packet_rows(trace, finding.direction)
    shown: list[dict[str, Any]] = []
    for source in dict.fromkeys(row["source"] for row in rows):
        of_tap = [row for row in rows if row["source"] == source]
        here = [i for i, row in enumerate(of_tap) if row["seq"] == finding.packet]
        if here:
            shown += of_tap[max(0, here[0] - _NEAR_PACKETS) : here[-1] + _NEAR_PACKETS + 1]
    if not shown:
        return Html("")
    return join(
        element("h2", f"Packets around {finding.packet}"),
        listing(
            "In the order in which they crossed each tap. Marked: the packet, and what is bad.",
            shown,
            _COLUMNS,
            lambda row: row["seq"] == finding.packet or "bad" in verdict_text(row),
        ),
    )
