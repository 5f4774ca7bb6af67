"""``freezeframe card``: the file that describes a card: begin one, check it, show what it means."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from freezeframe.capture.code import code
from freezeframe.gui.cli.options import ForceOption, JsonOption

_act = code("freezeframe.gui.cli.work.card:act")

ActionArgument = Annotated[
    Literal["new", "check", "show", "schema"],
    typer.Argument(metavar="new|check|show|schema", help="What to do.", show_default=False),
]
FileArgument = Annotated[
    Path | None, typer.Argument(metavar="CARD.toml", help="The card file.", show_default=False)
]
FromOption = Annotated[
    str, typer.Option("--from", metavar="NAME", help="new: the shipped card to begin from.")
]


def run(
    action: ActionArgument,
    file: FileArgument = None,
    begin_from: FromOption = "ethernet-axis-64",
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Begin, check and show a card file: taps, clocks, formats, paths, causes and counters of a card.

    'new' writes a file to begin from. 'check' names every problem with its line and what to do; it
    exits 2 when there is one. 'show' prints what the file means with every number given: memories,
    cause bits, laws that follow. 'schema' prints the JSON Schema by which editors complete the file.

    \b
    Examples:
      freezeframe card new mac.toml
      freezeframe card new wide.toml --from ethernet-axis-512
      freezeframe card check mac.toml
      freezeframe card show mac.toml
      freezeframe card schema > card.schema.json
    """
    _act(action, file, begin_from, force=force, json=json)
