"""A finding in the report: headline, facts, and the evidence with the differing digits marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from freezeframe.analyzers.contract import UNDETERMINED, Evidence, Finding, Row, Says
from freezeframe.capture.time_text import doubt_text, format_ps, plain_time
from freezeframe.gui.moments import Freeze, SinceArm
from freezeframe.gui.plots.figures import Drawing
from freezeframe.gui.report.advice import headline
from freezeframe.gui.report.analysis_sections import drawing_figure
from freezeframe.gui.report.comparison import (
    Cell,
    Comparison,
    compare,
    difference_text,
    differing_digits,
    register_text,
)
from freezeframe.gui.report.html import Html, element, join, listing, table
from freezeframe.gui.report.page_parts import fact_list
from freezeframe.gui.text import confidence_digits, folder_name, shell_path


def finding_headline(
    finding: Finding,
    freeze: Freeze | None,
    capture: Path | None = None,
    waited: SinceArm | None = None,
) -> Html:
    """Return the top of the report: what, where, when, how sure, and how the window shows it."""
    css = "headline unsure" if finding.diagnosis == UNDETERMINED else "headline"
    return element(
        "div",
        element("h1", headline(finding)),
        element("p", finding.text, css="lead"),
        _facts(finding, freeze, waited),
        _in_the_window(finding, capture),
        css=css,
    )


def clean_headline(
    freeze: Freeze | None,
    why: str,
    answer: str,
    *,
    sure: bool = True,
) -> Html:
    """Return the top of the report of a capture without a finding.

    Args:
        why: what was looked at. answer: in a few words. sure: all of it could be.
    """
    cause = f"It was frozen by {', '.join(freeze.causes)} at {freeze.device}." if freeze else ""
    return element(
        "div",
        element("h1", answer[:1].upper() + answer[1:]),
        element(
            "p",
            f"{why} {cause}".strip(),
            css="lead",
        ),
        css="headline fine" if sure else "headline unsure",
    )


PROVED = 8
"""Findings with pictures on a page; the others have their evidence."""


def findings_parts(
    findings: Sequence[Finding],
    advice: Sequence[str],
    pictures: Sequence[Sequence[Drawing]],
    freeze: Freeze | None,
    capture: Path,
) -> list[Html]:
    """Return the evidence of the first finding with what to do next, then the others, each in a section.

    Args:
        advice: what to do about the first one.
        pictures: what proves each, as far as there are any.
    """
    parts = []
    if findings:
        parts += [
            element("h2", "Evidence", id="evidence"),
            *_evidence(findings[0], pictures[0]),
            element("h2", "What to do next"),
            element("ul", *(element("li", step) for step in advice)),
        ]
    if len(findings) > 1:
        parts.append(element("h2", "Other findings"))
        parts += [
            finding_section(n + 1, finding, freeze, capture, next(iter(pictures[n : n + 1]), ()))
            for n, finding in enumerate(findings[1:], 1)
        ]
    return parts


def finding_section(
    number: int,
    finding: Finding,
    freeze: Freeze | None,
    capture: Path | None = None,
    pictures: Sequence[Drawing] = (),
) -> Html:
    """Return a finding with everything in one section."""
    return join(
        element("h3", f"{number}. {headline(finding)}"),
        element("p", finding.text),
        _facts(finding, freeze),
        _in_the_window(finding, capture),
        *_evidence(finding, pictures),
    )


def _evidence(finding: Finding, pictures: Sequence[Drawing]) -> list[Html]:
    """Return the pictures that prove a finding, every piece of evidence with all its rows, and the witnesses."""
    pieces = [
        element("li", element("p", evidence.text), _rows(evidence)) for evidence in finding.evidence
    ]
    listed = element("ol", *pieces, css="evidence")
    return [*map(drawing_figure, pictures), listed, _witnesses(finding)]


def _in_the_window(finding: Finding, capture: Path | None) -> Html:
    """Return the command that opens the desktop at a finding; nothing for one that has no time."""
    if capture is None or finding.t_ps is None:
        return Html("")
    command = f"freezeframe open {shell_path(folder_name(capture))} --at {plain_time(finding.t_ps).replace(' ', '')}"
    return element("p", "In the window: ", element("code", command))


def _witnesses(finding: Finding) -> Html:
    """Return what each witness says of a finding, and what would have shown it wrong."""
    if not finding.witnesses and not finding.falsifier:
        return Html("")
    body = [[w.name.replace("_", " "), w.says.value, w.text] for w in finding.witnesses]
    bad = [n for n, w in enumerate(finding.witnesses) if w.says is Says.AGAINST]
    said = table("", ["witness", "says", "seen"], body, bad_rows=bad) if body else Html("")
    return join(
        element("h3", "Witnesses"),
        said,
        element("p", finding.falsifier) if finding.falsifier else Html(""),
    )


def _facts(finding: Finding, freeze: Freeze | None, waited: SinceArm | None = None) -> Html:
    tap = f"{finding.device or 'unknown'}{'.' + finding.tap if finding.tap else ''}"
    facts: list[tuple[str, str, str]] = [
        ("Where", tap, "device and tap" if finding.tap else "device")
    ]
    if finding.direction:
        facts.append(("Direction", finding.direction.replace("->", " → "), ""))
    counted = bool(finding.ground or finding.confidence)  # else it is of a described card
    # A fault of the credits has no packet; a packet without a word was hit in its header, or where
    # the recording does not say.
    if finding.flow is not None:
        facts.append(("Flow", str(finding.flow), ""))
    if finding.packet is not None:
        note = "sequence number" if counted else "number in the memory of the tap"
        facts.append(("Packet", str(finding.packet), note))
        word = "none" if finding.word is None else str(finding.word)
        if counted:
            facts.append(("Word", word, "index in the payload"))
        elif finding.word is not None:
            facts.append(("Beat", word, "of the packet"))
    if finding.t_ps is not None:
        unc = finding.t_uncertainty_ps
        known = unc is not None and unc >= 0
        note = doubt_text(unc) if known else "relation to others unknown"
        facts.append(("When", format_ps(finding.t_ps), note))
    if waited is not None:
        facts.append(("After arm", waited.text, waited.by))
    if freeze is not None:
        note = f"at {freeze.device}, {format_ps(freeze.t_ps)}"
        facts.append(("Frozen by", ", ".join(freeze.causes), note))
    if finding.confidence:
        facts.append(
            ("Confidence", confidence_digits(finding.confidence), f"right in {finding.counted}")
        )
    else:
        facts.append(("Confidence", "not counted", "with this pattern of witnesses"))
    if finding.candidates:
        facts.append(("Candidates", ", ".join(finding.candidates), "likeliest first"))
    return fact_list(facts)


def _rows(evidence: Evidence) -> Html:
    if not evidence.rows:
        return Html("")
    comparison = compare(evidence.rows)
    return _side_by_side(comparison) if comparison else _listed(evidence.rows)


def _side_by_side(comparison: Comparison) -> Html:
    notes = [comparison.note(line) for line in comparison.lines]
    body = [
        [line.label, *(_cell(cell) for cell in line.cells), note]
        for line, note in zip(comparison.lines, notes, strict=True)
    ]
    return table(
        "",
        ["what", *comparison.sources, "difference"],
        body,
        bad_rows=[number for number, note in enumerate(notes) if note],
        css="compared",
    )


def _cell(cell: Cell | None) -> str:
    return "—" if cell is None else join(_value(cell.row, cell.against), _where(cell.row))


def _where(row: Row) -> Html:
    known = [f"slot {row.slot:,}"] if row.slot is not None else []
    known += [format_ps(row.t_ps)] if row.t_ps is not None else []
    return element("small", ", ".join(known)) if known else Html("")


def _listed(rows: Sequence[Row]) -> Html:
    compared = any(_wrong(row) and row.table == "words" for row in rows)
    return listing("", rows, _COLUMNS, _wrong, css="compared" if compared else "")


def _wrong(row: Row) -> bool:
    return row.expected is not None and row.value is not None and row.value != row.expected


_COLUMNS: dict[str, Callable[[Row], str]] = {
    "source": lambda row: row.source,
    "what": lambda row: row.label,
    "#slot": lambda row: "" if row.slot is None else f"{row.slot:,}",
    "#cycle": lambda row: "" if row.cycle is None else f"{row.cycle:,}",
    "#time": lambda row: "" if row.t_ps is None else format_ps(row.t_ps),
    "recorded": lambda row: _value(row, row.expected),
    "expected": lambda row: "" if row.expected is None else _value(row, None, row.expected),
    "difference": lambda row: (
        difference_text(row.value or 0, row.expected or 0)
        if _wrong(row) and row.table == "words"
        else ""
    ),
}


def _value(row: Row, against: int | None, value: int | None = None) -> Html:
    """Return a word in hex with the digits marked that differ, or a register's count."""
    shown = row.value if value is None else value
    if shown is None:
        return Html("")
    if row.table == "registers":
        return element("span", register_text(row, shown), css="hex")
    digits = f"{shown & (1 << 64) - 1:016x}"
    marks = differing_digits(shown, against) if against is not None else [False] * 16
    pieces: list[str] = ["0x"]
    for digit, marked in zip(digits, marks, strict=True):
        pieces.append(element("mark", digit) if marked else digit)
    return element("span", *pieces, css="hex")
