"""``freezeframe guard``: unattended: wait for a freeze, pull, explain, arm again, go on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from freezeframe.gui.cli.options import TargetArgument, option

KeepOption = Annotated[
    int, typer.Option("--keep", metavar="N", min=1, help="Keep the newest N captures.")
]
DirectoryOption = Annotated[
    Path, option("--output", "DIR", "Directory for the captures.", short="-o")
]
CountOption = Annotated[int | None, option("--count", "N", "End after N captures.", min=1)]
JsonLinesOption = Annotated[
    bool, typer.Option("--json", help="Print one line of JSON for each capture.")
]


def run(
    target: TargetArgument,
    output: DirectoryOption,
    *,
    keep: KeepOption = 50,
    count: CountOption = None,
    json: JsonLinesOption = False,
) -> None:
    """Wait for freezes unattended: pull, explain, arm again, and go on until interrupted.

    Survives a card that vanishes or restarts, and its own restart. Each capture is a folder
    NNNN-NONCE-GENERATION-CAUSE.ff; explanations.jsonl and guard.log in the same directory say what
    was found in each, and what happened when.

    \b
    Example:
      freezeframe guard etherbone://192.0.2.7 --keep 50 -o captures
    """
    from freezeframe.gui.cli.work.guard import guard_target

    guard_target(target, output, keep, count, json=json)
