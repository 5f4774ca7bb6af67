"""``freezeframe qualify``: what holds on this one card of all that the diagnosis takes for granted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from freezeframe.gui.cli.completing import targets
from freezeframe.gui.cli.errors import EXIT_FINDINGS
from freezeframe.gui.cli.options import (
    DiscardOption,
    ForceOption,
    JsonOption,
    LogOption,
    TargetArgument,
    argument,
    option,
)

PeerArgument = Annotated[
    str | None,
    argument(
        "[TARGET2]",
        "URL of the card at the other end, in a target of its own.",
        autocompletion=targets,
    ),
]
OutOption = Annotated[
    Path | None,
    option("--output", "FILE", "Write the qualification to this file, too.", short="-o"),
]
SecondsOption = Annotated[
    float,
    typer.Option(
        "--seconds", metavar="S", min=0.1, max=86_400, help="Watch the clocks for so long."
    ),
]


def run(
    target: TargetArgument,
    peer: PeerArgument = None,
    output: OutOption = None,
    seconds: SecondsOption = 20.0,
    discard: DiscardOption = False,
    force: ForceOption = False,
    json: JsonOption = False,
    log_accesses: LogOption = None,
) -> None:
    """Measure what holds on this card of all that explain takes for granted.

    The card sends pattern packets, is frozen and recorded again and again, its receive DMA is
    stopped, and packets with one error each are sent on purpose: do the taps agree, does each bit of
    a trace memory move, do counters, pointers and FIFO levels fit, does each checker count and
    freeze, which laws hold, and how far is each clock off. A card alone hears itself meanwhile. All
    is put back, and the cards are armed at the end. A frozen recording that this host has not kept is
    given up only with --discard. This host remembers the qualification, and explain uses it for
    captures that it pulled from this card. The exit code is 1 when something does not hold.

    \b
    Examples:
      freezeframe qualify etherbone://192.0.2.7
      freezeframe qualify etherbone://192.0.2.7 etherbone://192.0.2.8 -o pair.json
    """
    from freezeframe.gui.cli.work.qualify import show_qualification

    given = [target] if peer is None else [target, peer]
    if not show_qualification(
        given, output, log_accesses, seconds=seconds, discard=discard, force=force, json=json
    ):
        raise typer.Exit(EXIT_FINDINGS)
