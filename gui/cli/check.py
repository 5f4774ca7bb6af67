"""``freezeframe check``: whether the numbers in a capture add up, for people and for a build."""

from __future__ import annotations

from typing import Annotated

import typer

from freezeframe.gui.cli.errors import EXIT_FINDINGS
from freezeframe.gui.cli.options import CaptureArgument, JsonOption, SalvageOption
from freezeframe.gui.cli.reading import salvaged

AllOption = Annotated[
    bool, typer.Option("--all", help="List every law with its terms, not only what is broken.")
]


def run(
    capture: CaptureArgument,
    everything: AllOption = False,
    salvage: SalvageOption = False,
    json: JsonOption = False,
) -> None:
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
    from freezeframe.gui.cli.work.check import show_laws

    if not show_laws(salvaged(capture, salvage), everything=everything, json=json):
        raise typer.Exit(EXIT_FINDINGS)
