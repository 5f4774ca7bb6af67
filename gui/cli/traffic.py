"""``freezeframe traffic``: pattern packets that the card makes itself, every word known beforehand."""

from __future__ import annotations

from typing import Annotated

import typer

from freezeframe.gui.cli.options import DeviceOption, LogOption, SwitchArgument, TargetArgument

FlowOption = Annotated[int, typer.Option("--flow", metavar="N", min=0, help="Flow.")]
LengthOption = Annotated[
    int, typer.Option("--length", metavar="WORDS", min=0, max=512, help="Payload of each packet.")
]
GapOption = Annotated[
    int, typer.Option("--gap", metavar="CYCLES", min=0, help="Bus cycles between two packets.")
]
SeedOption = Annotated[
    int, typer.Option("--seed", metavar="N", min=0, help="Decides the words (docs/formats.md, 3).")
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
    from freezeframe.gui.cli.work.recorder import switch_traffic

    traffic = (flow, length, gap, seed) if switch == "on" else None
    switch_traffic(target, device, log_accesses, traffic)
    doing = f"pattern packets of {length} words on flow {flow}, seed {seed:#x}"
    print(f"{device}: {doing if traffic else 'no pattern traffic'}")
