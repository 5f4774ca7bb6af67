"""``freezeframe reproduce``: a paper's numbers, measured from captures of the emulated card."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from freezeframe.gui.cli.errors import EXIT_FINDINGS
from freezeframe.gui.cli.options import ForceOption, JsonOption, argument, option

PaperArgument = Annotated[str, argument("PAPER", "Whose numbers: forth, or iwarp.")]
OutputOption = Annotated[
    Path | None,
    option("--output", "DIR", "Keep the captures here; without it they are deleted.", short="-o"),
]
FailOption = Annotated[
    bool, typer.Option("--fail-on-difference", help="Exit with 1 when a number does not come out.")
]


def run(
    paper: PaperArgument,
    *,
    output: OutputOption = None,
    force: ForceOption = False,
    fail_on_difference: FailOption = False,
    json: JsonOption = False,
) -> None:
    """Measure a paper's numbers on the emulated card and print them beside the paper's.

    The card runs in a process of its own, once for each experiment; each recording is frozen, pulled
    over UDP and measured by an analysis from the capture. What does not come out is said.

    'iwarp' needs no card: our stack and bare TCP speak over loopback in turns, and the ratios of the two
    stand beside the paper's. Rows with a hardware peer say that there is none.

    \b
    Examples:
      freezeframe reproduce forth
      freezeframe reproduce forth -o captures
      freezeframe reproduce forth --json
      freezeframe reproduce iwarp
    """
    from freezeframe.gui.cli.work.reproduce import reproduce

    all_come_out = reproduce(paper, output, force=force, json=json)
    if fail_on_difference and not all_come_out:
        raise typer.Exit(EXIT_FINDINGS)
