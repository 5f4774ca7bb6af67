"""``freezeframe learn``: a fault file from a good and a bad capture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from freezeframe.gui.cli.options import argument

GoodArgument = Annotated[Path, argument("GOOD.ff", "Capture of a run without the fault.")]
BadArgument = Annotated[Path, argument("BAD.ff", "Capture of a run with it.")]
NameOption = Annotated[str, typer.Option("--name", metavar="NAME", help="What to call the fault.")]
IntoOption = Annotated[
    Path,
    typer.Option("--into", metavar="DIR", help="Folder for NAME.toml; made if it is not there."),
]


def run(
    good: GoodArgument, bad: BadArgument, name: NameOption, into: IntoOption = Path("faults")
) -> None:
    """Write a fault file: what stands in the bad capture and not in the good one.

    The file has the claim (what, of what unit, at which stretch) and what each witness said, and no value of a word.
    'freezeframe explain --faults DIR' finds it again in later captures.

    \b
    Example:
      freezeframe learn good.ff bad.ff --name slow-arbiter
    """
    from freezeframe.gui.cli.work.learn import write_learned

    write_learned(good, bad, name, into)
