"""``freezeframe diff``: a good and a bad run side by side, as text or JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from freezeframe.gui.cli.errors import EXIT_FINDINGS
from freezeframe.gui.cli.options import JsonOption, SalvageOption, argument
from freezeframe.gui.cli.reading import salvaged

FirstArgument = Annotated[Path, argument("A.ff", "Capture of run A, the good one.")]
SecondArgument = Annotated[Path, argument("B.ff", "Capture of run B, the bad one.")]
AllOption = Annotated[
    bool, typer.Option("--all", help="List every quantity, not only what changed most.")
]
FailOption = Annotated[
    bool,
    typer.Option("--fail-on-difference", help="Exit with 1 when the runs differ beyond chance."),
]


def run(
    first: FirstArgument,
    second: SecondArgument,
    everything: AllOption = False,
    fail_on_difference: FailOption = False,
    salvage: SalvageOption = False,
    json: JsonOption = False,
) -> None:
    """Compare two captures: the first packet that differs, and what changed in the numbers.

    Packets are aligned tap by tap and flow by flow by what they carry and by their sequence numbers. Lengths, gaps
    and delays are compared as distributions, counters and events as rates. Runs with other traffic have no
    packet in common; then the numbers alone are compared.

    \b
    Examples:
      freezeframe diff good.ff bad.ff
      freezeframe diff good.ff bad.ff --all
      freezeframe diff good.ff bad.ff --json --fail-on-difference
    """
    from freezeframe.gui.cli.work.diff import show_difference

    runs = salvaged(first, salvage), salvaged(second, salvage)
    different = show_difference(*runs, everything=everything, json=json)
    if fail_on_difference and different:
        raise typer.Exit(EXIT_FINDINGS)
