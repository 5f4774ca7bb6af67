"""``freezeframe counters``: every counter of every device, named, with its unit and meaning."""

from __future__ import annotations

from typing import Annotated

import typer

from freezeframe.gui.cli.options import JsonOption, LogOption, TargetArgument, option
from freezeframe.gui.cli.usage import seconds

OverOption = Annotated[
    float | None,
    option(
        "--over",
        "SECONDS",
        "Take two snapshots this far apart and show the growth.",
        parser=seconds,
    ),
]
AllOption = Annotated[bool, typer.Option("--all", help="Show counters that are 0 everywhere, too.")]


def run(
    target: TargetArgument,
    over: OverOption = None,
    all_counters: AllOption = False,
    json: JsonOption = False,
    log_accesses: LogOption = None,
) -> None:
    """Show every counter of a card, named, from one snapshot.

    The card snapshots all counters at once by itself; nothing is written to it.

    \b
    Examples:
      freezeframe counters etherbone://192.0.2.7
      freezeframe counters etherbone://192.0.2.7 --over 2
      freezeframe counters etherbone://192.0.2.7 --json
    """
    from freezeframe.gui.cli.work.counters import show_counters

    show_counters(target, over, log_accesses, all_counters=all_counters, json=json)
