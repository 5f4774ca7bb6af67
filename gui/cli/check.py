"""``freezeframe check``: whether the numbers in a capture add up, for people and for a build."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freezeframe.gui.cli.errors import EXIT_FINDINGS
from freezeframe.gui.cli.options import CaptureArgument, JsonOption
from freezeframe.gui.cli.output import emit_json, plural, printable, table

if TYPE_CHECKING:
    from freezeframe.analyzers.conservation.analysis_code import Checked

__all__ = ["run"]

_FLOW = re.compile(r"frozen_flow\[\d+\]")

AllOption = Annotated[
    bool, typer.Option("--all", help="List every law with its terms, not only what is broken.")
]


def run(capture: CaptureArgument, everything: AllOption = False, json: JsonOption = False) -> None:
    """Check that counters, frozen registers and traces add up; exit 1 where a law is broken.

    What went into a FIFO came out or is still in it; what a flow was granted is consumed or free; a
    trace holds no more than its counter counted. A broken law is printed with its terms and their
    values. A law of which a term is not in the capture is 'not checkable', which is not broken.

    \b
    Examples:
      freezeframe check run.ff
      freezeframe check run.ff --all
      freezeframe check run.ff --json
    """
    from freezeframe.capture.folder import CaptureFolder

    folder = CaptureFolder.open(capture)

    # These compile and load tables; a mistyped path should not wait for that.
    from freezeframe.analyzers.conservation.analysis_code import check_laws
    from freezeframe.analyzers.view import CaptureView
    from freezeframe.gui.text import folder_name

    checked = check_laws(CaptureView(folder))
    counts = dict.fromkeys(("holds", "broken", "not checkable"), 0)
    for one in checked:
        counts[one.state] += 1
    if json:
        emit_json(_document(checked, counts))
    else:
        print(_text(printable(folder_name(folder.path)), checked, counts, everything))
    if counts["broken"]:
        raise typer.Exit(EXIT_FINDINGS)


def _document(checked: list[Checked], counts: dict[str, int]) -> dict[str, Any]:
    return {
        "counts": {state.replace(" ", "_"): count for state, count in counts.items()},
        "laws": [one.to_json() for one in checked],
    }


def _text(name: str, checked: list[Checked], counts: dict[str, int], everything: bool) -> str:
    lines = [
        f"{name}: {plural(counts['broken'], 'law')} broken, {counts['holds']:,} hold, "
        f"{counts['not checkable']:,} not checkable"
    ]
    for one in checked:
        if one.state == "broken":
            lines += ["", f"{one.subject.text}: {one.law.name}: broken"]
            lines += [f"  {one.law.text}", f"  {one.why}"]
    if everything:
        rows = [
            (one.law.name, one.subject.text, one.state, _sum(one))
            for one in checked
            if one.state != "not checkable"
        ]
        lines += ["", table(("law", "of", "state", "terms"), rows)]
    lines += _unchecked(checked)
    return "\n".join(lines)


def _sum(one: Checked) -> str:
    said = ", ".join(f"{t.name} {t.value:,}" for t in one.terms if t.value is not None)
    return f"{one.balance:,}: {said}"


def _unchecked(checked: list[Checked]) -> list[str]:
    """Say once for each reason which laws could not be checked; --json has the whole reason of each."""
    reasons: dict[str, list[str]] = {}
    for one in checked:
        if one.state == "not checkable":
            why = _FLOW.sub("frozen_flow", one.why.partition("; ")[0])
            of = reasons.setdefault(why, [])
            text = f"{one.law.name} of {one.subject.text.partition(' flow ')[0]}"
            if text not in of:
                of.append(text)
    if not reasons:
        return []
    lines = ["", "Not checkable:"]
    for why, laws in reasons.items():
        shown = "; ".join(laws[:4]) + (f" and {len(laws) - 4} more" if len(laws) > 4 else "")
        lines.append(f"  {why}: {shown}")
    return lines
