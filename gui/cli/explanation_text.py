"""An explanation as text for a terminal, and as the document that ``--json`` prints."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from freezeframe.analyzers.contract import Evidence, Finding, Row
from freezeframe.analyzers.explain import Explanation
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.folder.history import history_lines
from freezeframe.capture.time_text import format_doubt, format_ps
from freezeframe.gui.cli.output import hex_word, table, text_width
from freezeframe.gui.fired import fired
from freezeframe.gui.moments import Freeze, SinceArm, first_freeze, since_arm, waited_for
from freezeframe.gui.report.advice import headline, next_steps
from freezeframe.gui.report.comparison import Comparison, compare, difference_text, register_text
from freezeframe.gui.text import confidence_digits, folder_name, printable

_ROWS = 24  # of one piece of evidence; the report and --json have all


def explanation_document(capture: CaptureFolder, explanation: Explanation) -> dict[str, Any]:
    """Return findings best first, what limits them, and what the capture does not hold."""
    freeze = first_freeze(capture, explanation.trace)
    came = None if freeze is None else since_arm(capture, explanation.trace, freeze.t_ps)
    return {
        **explanation.to_json(),
        "findings": [_padded(finding.to_json()) for finding in explanation.findings],
        "lost": capture.lost,
        "freeze": None
        if freeze is None
        else {
            "device": freeze.device,
            "causes": list(freeze.causes),
            "cycle": freeze.cycle,
            "t_ps": freeze.t_ps,
            "t_uncertainty_ps": freeze.t_unc_ps if freeze.t_unc_ps >= 0 else None,
            "since_arm_ps": None if came is None else came.t_ps,
            "since_arm_uncertainty_ps": None if came is None else came.unc_ps,
        },
        "fired": [one.to_json() for one in fired(capture, explanation.trace)],
        "history": capture.manifest.get("history", []),
    }


def _padded(finding: dict[str, Any]) -> dict[str, Any]:
    """Return a finding with words as wide as they are, so that they compare as text."""
    for evidence in finding["evidence"]:
        for row in evidence["rows"]:
            digits = 8 if row["table"] == "registers" else 16
            for key in ("value", "expected"):
                if row[key] is not None:
                    row[key] = f"0x{int(row[key], 16):0{digits}x}"
    return finding


def explanation_text(capture: CaptureFolder, explanation: Explanation) -> str:
    """Return the whole explanation; control characters from the capture are made visible."""
    freeze = first_freeze(capture, explanation.trace)
    frozen = f"frozen by {', '.join(freeze.causes)} at {freeze.device}" if freeze else "not frozen"
    findings = explanation.findings
    parts = [f"{printable(folder_name(capture.path))}: {explanation.answer}, {frozen}"]
    parts += bulleted("What fired", [one.text for one in fired(capture, explanation.trace)])
    parts += [
        finding_text(
            finding,
            freeze,
            next_steps(finding, capture, explanation.trace),
            waited=waited_for(capture, explanation.trace, finding.t_ps),
        )
        for finding in findings
    ]
    if not findings:
        parts += bulleted("Who waited for whom", explanation.stalls)
        parts += bulleted("Looked at", explanation.looked_at)
        parts += bulleted("Not seen", explanation.not_seen)
    if not explanation.decided:
        parts += bulleted("What the event logs hold", [reach.text for reach in explanation.reaches])
    parts += bulleted("Qualification of this card", explanation.qualified)
    # What is not in the capture stands below, once.
    notes = [note for note in explanation.notes if note not in capture.lost]
    parts += bulleted("Limits of this answer", notes)
    parts += bulleted("What could not be asked", explanation.not_asked)
    parts += bulleted("Not in the capture", capture.lost)
    parts += bulleted("When, and who", history_lines(capture.manifest.get("history", [])))
    return "\n\n".join(printable_lines(part) for part in parts)


def printable_lines(text: str) -> str:
    """Return text made safe for a terminal, its lines kept."""
    return "\n".join(printable(line) for line in text.split("\n"))


def place_text(finding: Finding) -> str:
    """Return where: ``A.tx_deq, A->B, flow 1, packet 35, word 117``, without what is not known."""
    tap = f"{finding.device}.{finding.tap}" if finding.tap else finding.device
    parts = [tap, finding.direction]
    parts += [
        f"{name} {value}"
        for name, value in (
            ("flow", finding.flow),
            ("packet", finding.packet),
            ("word", finding.word),
        )
        if value is not None
    ]
    return ", ".join(part for part in parts if part) or "unknown"


def when_text(finding: Finding, freeze: Freeze | None) -> str:
    """Return when: time on the capture's base, its uncertainty, and the distance to the freeze."""
    if finding.t_ps is None:
        return "unknown"
    unc_ps = -1 if finding.t_uncertainty_ps is None else finding.t_uncertainty_ps
    text = format_doubt(finding.t_ps, unc_ps)
    if unc_ps < 0:
        return f"{text}: this clock's relation to the others is not in the recording"
    if freeze is not None:
        distance = freeze.t_ps - finding.t_ps
        side = "before" if distance >= 0 else "after"
        text += f", {format_ps(abs(distance))} {side} the cause of the freeze"
    return text


def finding_text(
    finding: Finding,
    freeze: Freeze | None = None,
    steps: Sequence[str] = (),
    *,
    counted: bool = True,
    waited: SinceArm | None = None,
) -> str:
    """Return one finding, with its evidence and what to do next.

    Args:
        waited: as `waited_for` says.
        counted: how often its name is right has been counted, so that the confidence says something.
    """
    lines = [headline(finding), ""]
    lines.append(f"  where       {place_text(finding)}")
    lines.append(f"  when        {when_text(finding, freeze)}")
    if waited is not None:
        lines.append(f"  after arm   {waited.text}, {waited.by}")
    sure = confidence_text(finding) if counted else "not counted yet"
    lines.append(f"  confidence  {sure}")
    if finding.general:
        lines.append(f"  in general  {finding.general}")
    if finding.candidates:
        names = ", ".join(finding.candidates)
        lines += _wrapped(names, "  candidates  ", " " * 14, inside_words=False)
    lines += ["", *_wrapped(finding.text, "  ")]
    lines += ["", "  Evidence"]
    for number, evidence in enumerate(finding.evidence, 1):
        lines += _wrapped(f"{number}. {evidence.text}", "  ", "     ")
        lines += [f"     {line}" for line in _rows(evidence)]
    if finding.witnesses:
        lines += ["", "  Witnesses"]
        for witness in finding.witnesses:
            lines += _wrapped(
                f"{witness.says.value:8} {witness.name}: {witness.text}", "  ", " " * 11
            )
    if finding.falsifier:
        lines += ["", *_wrapped(finding.falsifier, "  ")]
    lines += ["", "  What to do next"] if steps else []
    for step in steps:
        lines += _wrapped(f"- {step}", "  ", "    ")
    return "\n".join(lines)


def confidence_text(finding: Finding) -> str:
    """Return how sure a name is, with its count: ``0.99 (300 of 300)``, ``0.89 (412 of 415)``, ``not counted``."""
    if not finding.counted:
        return "not counted"
    return f"{confidence_digits(finding.confidence)} ({finding.counted})"


def _rows(evidence: Evidence) -> list[str]:
    rows = evidence.rows[:_ROWS]
    if not rows:
        return []
    comparison = compare(rows)
    text = _side_by_side(comparison) if comparison else _listed(rows)
    lines = text.split("\n")
    if len(evidence.rows) > _ROWS:
        lines.append(f"... and {len(evidence.rows) - _ROWS} more rows (--json has all)")
    return lines


def _side_by_side(comparison: Comparison) -> str:
    lines = []
    for line in comparison.lines:
        values = ["-" if cell is None else _value(cell.row) for cell in line.cells]
        note = comparison.note(line)
        lines.append((line.label, *values, f"<- {note}" if note else ""))
    return table(("", *comparison.sources, ""), lines)


def _listed(rows: Sequence[Row]) -> str:
    lines = []
    for row in rows:
        note = ""
        if row.expected is not None and row.value is not None and row.value != row.expected:
            note = f"<- expected {_number(row, row.expected)}"
            if row.table == "words":
                note += f", {difference_text(row.value, row.expected)}"
        time = "" if row.t_ps is None else format_ps(row.t_ps)
        slot = "" if row.slot is None else f"slot {row.slot}"
        lines.append((row.source, slot, time, row.label, _value(row), note))
    headers = ("source", "slot", "time", "what", "value", "")
    used = [i for i in range(len(headers)) if any(line[i] for line in lines)]
    return table(
        [headers[i] for i in used],
        [[line[i] for i in used] for line in lines],
        right=[n for n, i in enumerate(used) if headers[i] == "time"],
    )


def _value(row: Row) -> str:
    return "" if row.value is None else _number(row, row.value)


def _number(row: Row, value: int) -> str:
    """Words as recorded are read in hex, register values as counts."""
    return register_text(row, value) if row.table == "registers" else hex_word(value)


def bulleted(heading: str, lines: Sequence[str]) -> list[str]:
    """Return a heading with a line for each text, wrapped; nothing without any."""
    if not lines:
        return []
    wrapped = [text for line in lines for text in _wrapped(f"- {line}", "  ", "    ")]
    return ["\n".join([heading, *wrapped])]


def _wrapped(
    text: str, first: str, rest: str | None = None, *, inside_words: bool = True
) -> list[str]:
    return textwrap.wrap(
        text,
        text_width(),
        initial_indent=first,
        subsequent_indent=first if rest is None else rest,
        break_long_words=False,
        break_on_hyphens=inside_words,
    )
