"""``freezeframe report``: explanation and analyses of a capture as one HTML file."""

from __future__ import annotations

from pathlib import Path

from freezeframe.gui.cli.compiling import compile_notice
from freezeframe.gui.cli.output import emit_json, progress_bar
from freezeframe.gui.cli.work.captures import opened_any
from freezeframe.gui.report.write import check_place, report_capture, report_packets
from freezeframe.gui.text import printable


def save_report(
    capture: Path,
    output: Path,
    *,
    with_analyses: bool,
    force: bool,
    json: bool,
) -> None:
    """Write the report and print its size.

    Raises:
        CaptureFormatError, InputError: it is no capture, or no report can be written there.
    """
    folder = opened_any(capture)
    check_place(output, force)
    findings, analyses = report_capture(folder, output, with_analyses=with_analyses)
    _say(output, findings, analyses, json=json)


def save_packet_report(source: Path, output: Path, *, force: bool, json: bool) -> None:
    """Write the report of a file of packets and print its size.

    Raises:
        InputError: the packets cannot be read, or no report can be written there.
    """
    check_place(output, force)
    with compile_notice(), progress_bar("report", "B") as update:
        broken = report_packets(source, output, lambda done, total: update(done, total, ""))
    _say(output, broken, [], json=json)


def _say(output: Path, findings: list[str], analyses: list[str], *, json: bool) -> None:
    size_B = output.stat().st_size
    if json:
        emit_json(
            {"report": str(output), "bytes": size_B, "findings": findings, "analyses": analyses}
        )
    else:
        print(f"{printable(output)}: {size_B:,} B")
