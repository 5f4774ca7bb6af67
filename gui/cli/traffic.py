"""``freezeframe traffic``: pattern packets that the card makes itself, every word known beforehand."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from freezeframe.gui.cli.options import LogOption, TargetArgument
from freezeframe.gui.cli.provoked import DeviceOption, chosen, doing
from freezeframe.gui.cli.session import open_session

__all__ = ["run"]


class _Switch(StrEnum):
    ON = "on"
    OFF = "off"


SwitchArgument = Annotated[
    _Switch, typer.Argument(metavar="on|off", help="Which of the two.", show_default=False)
]
FlowOption = Annotated[int, typer.Option("--flow", metavar="N", min=0, help="Flow.")]
LengthOption = Annotated[
    int, typer.Option("--length", metavar="WORDS", min=0, max=512, help="Payload of each packet.")
]
GapOption = Annotated[
    int, typer.Option("--gap", metavar="CYCLES", min=0, help="Bus cycles between two packets.")
]
SeedOption = Annotated[
    int,
    typer.Option("--seed", metavar="N", min=0, help="Decides the words (docs/formats.md, 3)."),
]


def run(
    switch: SwitchArgument,
    target: TargetArgument,
    device: DeviceOption = "A",
    flow: FlowOption = 0,
    length: LengthOption = 64,
    gap: GapOption = 1000,
    seed: SeedOption = 0,
    log_accesses: LogOption = None,
) -> None:
    """Switch pattern traffic of a card on or off; packets are numbered from 0 at each switching on.

    \b
    Examples:
      freezeframe traffic on etherbone://192.0.2.7 --length 512 --gap 0
      freezeframe traffic off etherbone://192.0.2.7
    """
    from freezeframe.capture.recorder.provoke import Traffic, set_traffic

    on = switch is _Switch.ON
    with open_session(target, log_accesses) as devices:
        card = chosen(devices, device)
        set_traffic(card, Traffic(flow, length, gap, seed) if on else None)
    doing(
        card,
        f"pattern packets of {length} words on flow {flow}, seed {seed:#x}"
        if on
        else "no pattern traffic",
    )
