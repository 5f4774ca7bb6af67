"""The whole report as a page, and writing it so that no part of a file ever stays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from freezeframe.analyzers.api import AnyCapture, opened
from freezeframe.analyzers.card.view import CardsView
from freezeframe.analyzers.declarations import THROUGHPUT
from freezeframe.analyzers.explain import Explanation, explain
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.errors import InputError
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.capture.packets.recognise import is_packets
from freezeframe.gui.moments import Freeze, first_freeze, freezes, waited_for
from freezeframe.gui.places import refuse_evidence, refuse_taken, write_whole
from freezeframe.gui.plots.proof import finding_drawings
from freezeframe.gui.report.advice import next_steps
from freezeframe.gui.report.analysis_sections import Ran, analyses_section, run_all
from freezeframe.gui.report.capture_sections import (
    commands_section,
    devices_section,
    integrity_section,
    state_section,
)
from freezeframe.gui.report.card_write import explain_cards, render_card_report
from freezeframe.gui.report.finding_section import (
    PROVED,
    clean_headline,
    finding_headline,
    findings_parts,
)
from freezeframe.gui.report.html import Html, element, page
from freezeframe.gui.report.packet_write import packet_report
from freezeframe.gui.report.page_parts import contents, footer, notes_list
from freezeframe.gui.report.style import script_text, style_text
from freezeframe.gui.report.trace_sections import packets_section, timeline_section
from freezeframe.gui.text import folder_title, printable


def check_place(path: Path, force: bool) -> None:
    """Refuse a place where no report can be written, before any work is done.

    Raises:
        InputError: something is there and ``force`` is not given, it is a folder or a
            device, the folder for it is missing, or that is a capture folder.
    """
    refuse_evidence(path)
    refuse_taken(path, force, "report.html")


def report(
    capture: AnyCapture,
    path: Path | str = "report.html",
    *,
    analyses: bool = True,
    overwrite: bool = False,
) -> Path:
    """Write the explanation of a recording as one HTML file that needs nothing else; return its path.

    Args:
        capture: also the path of a file of packets.
        analyses: also throughput, credits, latency and the others.
        overwrite: replace a file that is there.
    Raises:
        InputError: the capture cannot be opened, or the file cannot be written there.
    """
    place = Path(path)
    check_place(place, overwrite)
    if isinstance(capture, Path | str) and is_packets(capture):
        report_packets(Path(capture), place)
    else:
        report_capture(opened(capture), place, with_analyses=analyses)
    return place


def report_packets(
    source: Path, place: Path, progress: Callable[[int, int], None] | None = None
) -> list[str]:
    """Write the report of a file of packets, in place of a file that is there; return the rules that were broken.

    Raises:
        InputError: it cannot be read, or is the file that would be written.
    """
    if place.exists() and place.samefile(source):
        raise InputError(f"{place}: is the capture itself, and is not replaced")
    text, broken = packet_report(source, progress)
    _write(place, text)
    return broken


def report_capture(
    folder: CaptureFolder | CardFolder,
    place: Path,
    *,
    with_analyses: bool,
    explanation: Explanation | None = None,
) -> tuple[list[str], list[str]]:
    """Write the report of a capture of any card, in place of a file that is there.

    Args:
        explanation: of a recording that was explained already.
    Returns:
        The diagnoses, and the analyses that were run.
    """
    view: CaptureView | CardsView
    if isinstance(folder, CardFolder):
        view = CardsView(folder)
        cards = explain_cards(view)
        ran = run_all(view) if with_analyses else []
        text = render_card_report(view, cards, ran)
        findings = [finding for each in cards for finding in each.findings]
    else:
        explanation = explanation or explain(folder)
        view = CaptureView(folder, explanation.trace.devices, explanation.trace)
        ran = run_all(view) if with_analyses else []
        text = render_report(folder, explanation, ran)
        findings = explanation.findings
    _write(place, text)
    return [finding.diagnosis for finding in findings], [each.result.name for each in ran]


def render_report(
    capture: CaptureFolder, explanation: Explanation, analyses: Sequence[Ran] = ()
) -> str:
    """Return the report as one HTML document that loads nothing and runs only its own script.

    Args:
        analyses: what `analysis_sections.run_all` gives; without, the report has no such part.
    """
    trace = explanation.trace
    findings = explanation.findings
    freeze = first_freeze(capture, trace)
    frozen = freezes(capture, trace)
    best = findings[0] if findings else None
    name = printable(folder_title(capture.path))
    parts = [
        element("p", f"Freezeframe report of {name}", css="eyebrow"),
        finding_headline(best, freeze, capture.path, waited_for(capture, trace, best.t_ps))
        if best
        else _without_finding(explanation, freeze),
        notes_list(explanation.notes),
        contents(bool(best), bool(analyses)),
    ]
    rates = next((ran.result for ran in analyses if ran.result.name == THROUGHPUT.id), None)
    view = CaptureView(capture, explanation.trace.devices, trace)
    pictures = [
        finding_drawings(view, finding, frozen, prefix=f"proof{number}-", throughput=rates)
        for number, finding in enumerate(findings[:PROVED])
    ]
    steps = next_steps(best, capture, trace) if best else ()
    parts += findings_parts(findings, steps, pictures, freeze, capture.path)
    parts += [
        timeline_section(trace, findings, frozen),
        packets_section(trace, best),
        analyses_section(analyses),
        state_section(capture),
        devices_section(capture),
        integrity_section(capture),
        commands_section(capture),
        footer(
            "Times count from the earliest record of the capture; ± is the uncertainty between clock "
            "domains."
        ),
    ]
    title = f"{best.diagnosis if best else explanation.answer} - {name}"
    return page(title, style_text(), *parts, script=script_text())


def _without_finding(explanation: Explanation, freeze: Freeze | None) -> Html:
    """Return the top of the report where nothing was found: what was looked at, who waited, and what was not seen."""
    looked = f"Looked at: {'; '.join(explanation.looked_at)}."
    unseen = explanation.not_seen
    lacks = [f"Not seen: {'; '.join(unseen)}."] if unseen else []
    why = " ".join([*explanation.stalls, looked, *lacks])
    return clean_headline(freeze, why, explanation.answer, sure=not unseen)


def _write(path: Path, text: str) -> None:
    # A name can hold bytes that are no text; they are shown as an escape.
    write_whole(path, text.encode("utf-8", "backslashreplace"))
