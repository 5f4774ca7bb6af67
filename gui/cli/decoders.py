"""``freezeframe decoders``: what can be decoded, with channels, options and outputs."""

from __future__ import annotations

from typing import Annotated

import typer

from freezeframe.gui.cli.options import JsonOption, PluginOption, argument

NameArgument = Annotated[str | None, argument("NAME", "Tell all of this decoder.")]
LongOption = Annotated[
    bool, typer.Option("--long", help="Tell all of every decoder, also the columns of its tables.")
]


def run(
    name: NameArgument = None,
    *,
    long: LongOption = False,
    plugin: PluginOption = None,
    json: JsonOption = False,
) -> None:
    """List the decoders with their channels and options; with a name, tell all of that one.

    A decoder of another package that does not load is listed with its error.

    \b
    Examples:
      freezeframe decoders
      freezeframe decoders mdio --json
      freezeframe decoders --long
      freezeframe decoders --plugin mine.py
    """
    from freezeframe.gui.cli.work.decoders import list_decoders

    list_decoders(name, plugin or (), long=long, json=json)
