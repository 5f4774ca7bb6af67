"""``freezeframe recover``: recordings and captures that a crash left unfinished."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from freezeframe.gui.cli.options import JsonOption, argument

PlacesArgument = Annotated[
    list[Path],
    argument("PLACE...", "Recordings (NAME.ffrec), or folders in which something was left."),
]


def run(places: PlacesArgument, json: JsonOption = False) -> None:
    """End recordings that a crash or a power cut left open, and finish captures that stand whole.

    Of a recording what is no whole frame is cut from its end; everything that was acknowledged is
    before it. A capture that a pull had written whole under its temporary name gets its name; what is
    only a part is named and left.

    \b
    Examples:
      freezeframe recover night.ffrec
      freezeframe recover night/
    """
    from freezeframe.gui.cli.work.recover import recover_places

    recover_places(places, json=json)
