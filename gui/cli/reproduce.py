"""``freezeframe reproduce``: a paper's numbers beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from freezeframe.gui.cli.errors import EXIT_FINDINGS
from freezeframe.gui.cli.options import ForceOption, JsonOption, argument, option

PaperArgument = Annotated[
    str, argument("PAPER", "Whose numbers: forth, sci, end, acenic, iwarp, or all.")
]
OutputOption = Annotated[
    Path | None,
    option("--output", "DIR", "Keep the captures here; without it they are deleted.", short="-o"),
]
MarkdownOption = Annotated[
    bool, typer.Option("--markdown", help="Print a table of Markdown: sci, end, acenic.")
]
CurvesOption = Annotated[
    bool,
    typer.Option("--curves", help="The figures, not the numbers: forth, sci, end; -o DIR: as SVG."),
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
    markdown: MarkdownOption = False,
    curves: CurvesOption = False,
    json: JsonOption = False,
) -> None:
    """Measure a paper's numbers and print them beside the paper's.

    'forth': the emulated card runs in a process of its own, once for each experiment; each recording is frozen, pulled
    over UDP and measured by an analysis from the capture. What does not come out is said.

    'sci', 'end' and 'acenic' are simulated from profiles of stages (see 'freezeframe what-if list'); each
    row says whether the number emerges, is read back from a parameter, is a fit, or is a contradiction of
    the paper with itself.

    'iwarp' needs no card: our stack and bare TCP speak over loopback in turns, and the ratios of the two
    stand beside the paper's. Rows with a hardware peer say that there is none.

    With --curves the figures are drawn anew, as far as a paper's text says what is in them: FORTH 3 and 4, SCI 7
    and 8, END 8 and 9. Points that the text gives, and what it says of the curves, stand beside ours.

    \b
    Examples:
      freezeframe reproduce forth
      freezeframe reproduce forth -o captures
      freezeframe reproduce forth --json
      freezeframe reproduce end
      freezeframe reproduce sci --curves -o figures
      freezeframe reproduce all --json
    """
    from freezeframe.gui.cli.work.reproduce import reproduce, reproduce_curves

    if curves:
        all_come_out = reproduce_curves(paper, output, force=force, json=json)
    else:
        all_come_out = reproduce(paper, output, force=force, json=json, markdown=markdown)
    if fail_on_difference and not all_come_out:
        raise typer.Exit(EXIT_FINDINGS)
