"""``freezeframe night``: what a guard has caught, in one table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from freezeframe.gui.cli.options import JsonOption, argument
from freezeframe.gui.cli.output import emit_json
from freezeframe.gui.text import printable

NightArgument = Annotated[Path, argument("DIR", "Directory of a guard.")]


def run(directory: NightArgument, json: JsonOption = False) -> None:
    """Sum up what a guard has caught: how many freezes of each kind, how often, since when.

    Also says what became of every generation of the card: kept, given up by whom, never frozen,
    lost with the power, or unknown.

    \b
    Example:
      freezeframe night captures
    """
    from freezeframe.capture.custody.night import night, night_lines

    found = night(directory)
    if json:
        emit_json(found.to_json())
        return
    for line in night_lines(found):
        print(printable(line))
