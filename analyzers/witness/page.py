"""The tables of the fault files in the documentation: what speaks for and against each name, and the vocabulary.

``python -m freezeframe.analyzers.witness.page`` writes them anew between their marks in diagnosis.md and fault-file.md.
"""

from __future__ import annotations

from pathlib import Path

from freezeframe.analyzers.witness.declared import Declared, Values, shipped
from freezeframe.analyzers.witness.vocabulary import WITNESSES

_BEGIN, _END = "<!-- {}: made from the fault files -->", "<!-- end of {} -->"


def names_table() -> str:
    """Return what each name entails at each witness, what speaks against it, and what would show it wrong."""
    lines = [
        "| name | in general | each must be so, or be silent | against it | wrong if |",
        "|---|---|---|---|---|",
    ]
    for fault in shipped().values():
        entails = "; ".join(_said(name, values) for name, values in fault.entails.items())
        lines.append(
            f"| {fault.name} | {fault.is_a or '-'} | {entails or '-'} | {_against(fault)} | {fault.falsifier} |"
        )
    return "\n".join(lines)


def vocabulary_table() -> str:
    """Return the witnesses with their values."""
    lines = ["| witness | what it is | values |", "|---|---|---|"]
    for name, witness in WITNESSES.items():
        values = "; ".join(f"`{value}` {meaning}" for value, meaning in witness.values.items())
        lines.append(f"| `{name}` | {witness.doc} | {values} |")
    return "\n".join(lines)


def _said(name: str, values: Values) -> str:
    return f"`{name}` {' or '.join(values)}"


def _against(fault: Declared) -> str:
    seen = [_said(name, values) for name, values in fault.against.items()]
    if fault.seen_by:
        seen.append(f"not seen by {' or '.join(f'`{name}`' for name in fault.seen_by)}")
    return "; ".join(seen) or "any other value of these"


def renewed(text: str, name: str, table: str) -> str:
    """Return a page with the table between its marks.

    Raises:
        ValueError: the page has no such marks.
    """
    begin, end = _BEGIN.format(name), _END.format(name)
    before, mark, rest = text.partition(begin)
    _, closing, after = rest.partition(end)
    if not mark or not closing:
        raise ValueError(f"no {begin} ... {end} in the page")
    return f"{before}{begin}\n{table}\n{end}{after}"


def pages(docs: Path) -> dict[Path, str]:
    """Return the two pages as they have to be."""
    diagnosis, form = docs / "diagnosis.md", docs / "fault-file.md"
    return {
        diagnosis: renewed(diagnosis.read_text("utf-8"), "names", names_table()),
        form: renewed(form.read_text("utf-8"), "vocabulary", vocabulary_table()),
    }


if __name__ == "__main__":
    for path, text in pages(Path("docs")).items():
        path.write_text(text, "utf-8")
