"""``freezeframe selftest``: up the ladder of a card's bring-up, to the first stage that fails."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from freezeframe.gui.cli.errors import EXIT_FINDINGS
from freezeframe.gui.cli.options import (
    DiscardOption,
    JsonOption,
    LogOption,
    TargetArgument,
    option,
)

SwitchOption = Annotated[
    str | None,
    option(
        "--switch",
        "PORT[@BAUD]",
        "Serial console of the monitor of the switch between the cards; or a file.",
    ),
]
PortsOption = Annotated[
    str | None,
    option("--ports", "A,B", "At which ports of the switch the cards are. Default 0,1."),
]


KeepOption = Annotated[
    Path | None,
    option("-o", "DIR", "Keep the recording that a stage failed by in this folder, as STAGE.ff."),
]


def run(
    target: TargetArgument,
    output: KeepOption = None,
    discard: DiscardOption = False,
    switch: SwitchOption = None,
    ports: PortsOption = None,
    json: JsonOption = False,
    log_accesses: LogOption = None,
) -> None:
    """Test a card from its registers up to the link, and stop at the first stage that fails.

    For the built-in card, which has registers by map 1 (docs/formats.md), with one or two devices; a card that is
    described by a file is refused: status, arm, freeze, counters, watch and pull are for those.

    Five stages: the target interface; host DMA with a pattern compare; loop-back; the pair; and, with
    --switch in place of the pair, both cards through the switch between them, held against what its
    monitor counts (the C hooks, on a serial port). The
    cards go on with their own traffic meanwhile, send pattern packets beside it, and are looped
    back for one stage; all that is put back, and they are armed at the end. Of a stage that fails the recording is kept
    with -o DIR; without it the recording stands in the cards as it was made, looped back where it was, and is told with
    the command that keeps it. A frozen recording that this host has not kept is given up only with --discard. The exit
    code is 1 when a stage failed.

    \b
    Examples:
      freezeframe selftest etherbone://192.0.2.7
      freezeframe selftest emu:?fault=word-omitted --discard -o failed
      freezeframe selftest etherbone://192.0.2.7 --switch /dev/ttyUSB0@115200 --ports 2,5
    """
    from freezeframe.gui.cli.work.selftest import selftest

    if not selftest(target, log_accesses, switch, ports, output, discard=discard, json=json):
        raise typer.Exit(EXIT_FINDINGS)
