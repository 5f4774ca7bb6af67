"""``freezeframe explain``: what went wrong, where and when, in the terminal or as JSON."""

from __future__ import annotations

from typing import Annotated

import typer

from freezeframe.gui.cli.errors import EXIT_FINDINGS
from freezeframe.gui.cli.options import CaptureArgument, JsonOption
from freezeframe.gui.cli.output import emit_json, printable

__all__ = ["run"]

_NONE = "none"  # among the candidates: what was seen fits a card without a fault as well

DeviceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--device", metavar="NAME", help="Use this device's recording only.", show_default=False
    ),
]
FailOption = Annotated[
    bool, typer.Option("--fail-on-findings", help="Exit with 1 when something is certainly wrong.")
]


def run(
    capture: CaptureArgument,
    device: DeviceOption = None,
    fail_on_findings: FailOption = False,
    json: JsonOption = False,
) -> None:
    """Say what went wrong, where and when, with the evidence.

    Where the capture does not hold enough to decide, the answer is 'undetermined' with what fits.
    With --fail-on-findings the exit code is 1, unless every finding also fits a card without a
    fault ('none' is among its candidates).

    \b
    Examples:
      freezeframe explain fault.ff
      freezeframe explain fault.ff --json
      freezeframe explain fault.ff --device A
    """
    from freezeframe.capture.folder import CaptureFolder

    folder = CaptureFolder.open(capture)
    chosen = (
        _checked(device, [d.name for d in folder.devices], printable(capture)) if device else None
    )

    # These compile and load tables; a mistyped path should not wait for that.
    from freezeframe.analyzers.explain import explain
    from freezeframe.gui.cli.explanation_text import explanation_document, explanation_text

    explanation = explain(folder, chosen)
    if json:
        emit_json(explanation_document(folder, explanation))
    else:
        print(explanation_text(folder, explanation))
    if fail_on_findings and any(_NONE not in found.candidates for found in explanation.findings):
        raise typer.Exit(EXIT_FINDINGS)


def _checked(wanted: list[str], known: list[str], where: str) -> list[str]:
    from freezeframe.capture.errors import InputError

    for name in wanted:
        if name not in known:
            raise InputError(f"{where}: no device {name!r}; the capture holds {', '.join(known)}")
    return wanted
