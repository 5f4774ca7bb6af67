"""``freezeframe open``: the desktop."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from freezeframe.gui.cli.options import JsonOption, PluginOption, argument, option
from freezeframe.gui.cli.reading import (
    ChannelOption,
    CutOption,
    DecoderOption,
    FormatOption,
    Reading,
    ThresholdOption,
)
from freezeframe.gui.cli.usage import seconds

SourcesArgument = Annotated[
    list[str] | None,
    argument(
        "[X.ff | FILE | TARGET]...",
        "Capture folders, logic-analyzer captures, packets, live cards or counters; several share a time line.",
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
AtOption = Annotated[
    str | None,
    option("--at", "TIME", "Begin at this time of the first source, as 229.9524us."),
]
IntoOption = Annotated[Path, option("--into", "FOLDER", "Where pulled captures go.")]
CheckOption = Annotated[
    bool,
    typer.Option(
        "--check", help="Only say whether the desktop can be shown here, and what is missing."
    ),
]


def run(
    sources: SourcesArgument = None,
    *,
    decoder: DecoderOption = None,
    allow_write: WriteOption = False,
    every: EveryOption = 0.5,
    into: IntoOption = Path(),
    at: AtOption = None,
    light: LightOption = False,
    format: FormatOption = None,
    channel: ChannelOption = None,
    threshold: ThresholdOption = None,
    cut: CutOption = None,
    plugin: PluginOption = None,
    check: CheckOption = False,
    json: JsonOption = False,
) -> None:
    """Open the desktop: captures, logic-analyzer files, packets and live cards on one time line.

    Reads only, unless --allow-write is given; notes go to notes.json beside what they are about. Needs the
    extra 'desktop' and a display. F1 shows the keys. With --check (and --json) no window is opened.

    \b
    Examples:
      freezeframe open fault.ff
      freezeframe open fault.ff --at 229.9524us
      freezeframe open good.ff bad.ff
      freezeframe open phy.sr -d mdio
      freezeframe open lab.pcapng
      freezeframe open etherbone://192.0.2.7 --allow-write --into captures
      freezeframe open --check
    """
    from freezeframe.gui.cli.work.open import check_desktop_for, open_desktop

    named = sources or []
    if check or json:
        check_desktop_for(named, every, into, json=json)
        return
    reading = Reading(format=format, channel=channel, threshold=threshold, cut=cut)
    code = open_desktop(
        named,
        decoder or (),
        every,
        into,
        reading,
        plugin or (),
        allow_write=allow_write,
        light=light,
        at=at,
    )
    if code:
        raise typer.Exit(code)
