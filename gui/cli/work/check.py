"""``freezeframe check``: the laws of a capture, checked and printed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from freezeframe.analyzers.conservation.analysis_code import Checked, check_laws
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.code import code
from freezeframe.capture.count_text import plural
from freezeframe.gui.cli.output import emit_json, table
from freezeframe.gui.cli.work.captures import card_folder, opened
from freezeframe.gui.text import folder_name, printable

# Cards described by a file: not loaded for a capture of the built-in one.
_show_card_laws = code("freezeframe.gui.cli.work.card_capture:show_card_laws")
_FLOW = re.compile(r"frozen_flow\[\d+\]")


def show_laws(capture: Path, *, everything: bool, json: bool) -> bool:
    """Check the laws of a capture and print which are broken; return whether none is.

    Raises:
        CaptureFormatError, InputError: it is no capture.
    """
    card = card_folder(capture)
    if card is not None:
        return bool(_show_card_laws(card, everything=everything, json=json))
    folder = opened(capture)
    checked = check_laws(CaptureView(folder))
    counts = dict.fromkeys(("holds", "broken", "not checkable"), 0)
    for result in checked:
        counts[result.state] += 1
    if json:
        emit_json(_document(checked, counts))
    else:
        print(_text(printable(folder_name(folder.path)), checked, counts, everything))
    return not counts["broken"]


def _document(checked: list[Checked], counts: dict[str, int]) -> dict[str, Any]:
    return {
        "counts": {state.replace(" ", "_"): count for state, count in counts.items()},
        "laws": [result.to_json() for result in checked],
    }


def _text(name: str, checked: list[Checked], counts: dict[str, int], everything: bool) -> str:
    lines = [
        f"{name}: {plural(counts['broken'], 'law')} broken, {counts['holds']:,} hold, "
        f"{counts['not checkable']:,} not checkable"
    ]
    for result in checked:
        if result.state == "broken":
            lines += ["", f"{result.subject.text}: {result.law.name}: broken"]
            lines += [f"  {result.law.text}", f"  {result.why}"]
    if everything:
        rows = [
            (result.law.name, result.subject.text, result.state, _sum(result))
            for result in checked
            if result.state != "not checkable"
        ]
        lines += ["", table(("law", "of", "state", "terms"), rows)]
    lines += _unchecked(checked)
    return "\n".join(lines)


def _sum(result: Checked) -> str:
    terms = ", ".join(f"{t.name} {t.value:,}" for t in result.terms if t.value is not None)
    return f"{result.balance:,}: {terms}"


def _unchecked(checked: list[Checked]) -> list[str]:
    """Say once for each reason which laws could not be checked; --json has the whole reason of each."""
    reasons: dict[str, list[str]] = {}
    for result in checked:
        if result.state == "not checkable":
            why = _FLOW.sub("frozen_flow", result.why.partition("; ")[0])
            of = reasons.setdefault(why, [])
            text = f"{result.law.name} of {result.subject.text.partition(' flow ')[0]}"
            if text not in of:
                of.append(text)
    if not reasons:
        return []
    lines = ["", "Not checkable:"]
    for why, laws in reasons.items():
        shown = "; ".join(laws[:4]) + (f" and {len(laws) - 4} more" if len(laws) > 4 else "")
        lines.append(f"  {why}: {shown}")
    return lines
