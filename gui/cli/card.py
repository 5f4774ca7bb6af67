"""``freezeframe card``: the file that describes a card: begin one, check it, show what it means, build its device."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from freezeframe.capture.code import code
from freezeframe.gui.cli.options import ForceOption, JsonOption

_act = code("freezeframe.gui.cli.work.card:act")

ActionArgument = Annotated[
    Literal["new", "check", "show", "build", "diff", "schema"],
    typer.Argument(
        metavar="new|check|show|build|diff|schema", help="What to do.", show_default=False
    ),
]
FileArgument = Annotated[
    Path | None, typer.Argument(metavar="CARD.toml", help="The card file.", show_default=False)
]
OtherArgument = Annotated[
    Path | None,
    typer.Argument(metavar="OTHER.toml", help="diff: the other one.", show_default=False),
]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        help="build: the folder; NAME without -o.",
        show_default=False,
    ),
]
CheckOption = Annotated[
    bool, typer.Option("--check", help="build: write nothing; name what is stale, and exit 1.")
]
FromOption = Annotated[
    str, typer.Option("--from", metavar="NAME", help="new: the shipped card to begin from.")
]


def run(
    action: ActionArgument,
    file: FileArgument = None,
    other: OtherArgument = None,
    output: OutputOption = None,
    check: CheckOption = False,
    begin_from: FromOption = "ethernet-axis-64",
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Begin, check, show, build and compare card files: taps, clocks, formats, paths, causes and counters of a card.

    'new' writes a file to begin from. 'check' names every problem with its line and what to do; it
    exits 2 when there is one. 'show' prints what the file means with every number given: memories,
    cause bits, laws that follow. 'build' writes the device: its top in Verilog, the ROM with the card's
    text, the blocks below, and a list of the files. 'diff' says what two cards differ in, and exits 1
    when they do. 'schema' prints the JSON Schema by which editors complete the file.

    \b
    Examples:
      freezeframe card new mac.toml
      freezeframe card new wide.toml --from ethernet-axis-512
      freezeframe card check mac.toml
      freezeframe card show mac.toml
      freezeframe card build mac.toml -o mac
      freezeframe card build mac.toml -o mac --check
      freezeframe card diff mac.toml wide.toml
      freezeframe card schema > card.schema.json
    """
    _act(action, file, other, output, begin_from, check=check, force=force, json=json)
