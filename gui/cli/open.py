"""``freezeframe open``: the desktop."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from freezeframe.capture.errors import InputError
from freezeframe.gui.cli.decode import (
    ChannelOption,
    CutOption,
    DecoderOption,
    FormatOption,
    ThresholdOption,
)
from freezeframe.gui.cli.options import JsonOption, PluginOption
from freezeframe.gui.cli.output import emit_json
from freezeframe.gui.cli.usage import seconds

__all__ = ["run"]

SourcesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[X.ff | FILE | TARGET]...",
        help="Capture folders, logic-analyzer captures, live cards or counters; several share a time line.",
        show_default=False,
    ),
]
WriteOption = Annotated[
    bool, typer.Option("--allow-write", help="Let buttons arm, freeze and pull a card.")
]
LightOption = Annotated[bool, typer.Option("--light", help="Begin with the light colours.")]
EveryOption = Annotated[
    float,
    typer.Option(
        "--every",
        metavar="SECONDS",
        parser=seconds,
        help="Time between two readings of a live source.",
    ),
]
IntoOption = Annotated[
    Path,
    typer.Option("--into", metavar="FOLDER", help="Where pulled captures go.", show_default=False),
]
CheckOption = Annotated[
    bool,
    typer.Option(
        "--check", help="Only say whether the desktop can be shown here, and what is missing."
    ),
]
_LEAST_PERIOD_S = 0.02


def run(
    sources: SourcesArgument = None,
    *,
    decoder: DecoderOption = None,
    allow_write: WriteOption = False,
    every: EveryOption = 0.5,
    into: IntoOption = Path(),
    light: LightOption = False,
    format: FormatOption = None,
    channel: ChannelOption = None,
    threshold: ThresholdOption = None,
    cut: CutOption = None,
    plugin: PluginOption = None,
    check: CheckOption = False,
    json: JsonOption = False,
) -> None:
    """Open the desktop: captures, logic-analyzer files and live cards on one time line.

    Reads only, unless --allow-write is given; notes go to notes.json beside what they are about. Needs the
    extra 'desktop' and a display. F1 shows the keys. With --check (and --json) no window is opened.

    \b
    Examples:
      freezeframe open fault.ff
      freezeframe open good.ff bad.ff
      freezeframe open phy.sr -d mdio
      freezeframe open etherbone://192.0.2.7 --allow-write --into captures
      freezeframe open --check
    """
    from freezeframe.capture.files.choice import SourceChoice
    from freezeframe.capture.files.cut import parse_span
    from freezeframe.gui.desktop.sources.choice import kind_of
    from freezeframe.gui.desktop.start import DesktopOptions, check_desktop, start

    if every < _LEAST_PERIOD_S:
        raise InputError(f"--every {every:g}: at least {_LEAST_PERIOD_S:g} seconds")
    if not into.is_dir():
        raise InputError(f"{into}: is not a folder")
    named = list(sources or ())
    kinds = [kind_of(what) for what in named]
    if check or json:
        check_desktop()
        if json:
            opened = [
                {"source": what, "kind": kind} for what, kind in zip(named, kinds, strict=True)
            ]
            emit_json({"desktop": "can be shown", "sources": opened})
        else:
            print("the desktop can be shown here")
        return
    registry = None
    if plugin:
        from freezeframe.decoders.plugin import load_with_plugins

        registry = load_with_plugins(plugin)
    choice = SourceChoice(
        format,
        tuple(channel or ()),
        tuple(threshold or ()),
        None if cut is None else parse_span(cut),
    )
    options = DesktopOptions(
        named, tuple(decoder or ()), allow_write, light, every, into, choice, registry
    )
    code = start(options)
    if code:
        raise typer.Exit(code)
