"""``freezeframe demo``: a fault is injected, caught, pulled over UDP, explained, step by step."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

FaultOption = Annotated[
    str, typer.Option("--fault", metavar="NAME", help="The fault to inject, or 'none'.")
]
SeedOption = Annotated[
    int, typer.Option("--seed", metavar="N", min=0, help="Another seed, another run.")
]
OutputOption = Annotated[
    Path, typer.Option("-o", "--output", metavar="DIR", help="Directory for capture and report.")
]
KeepOption = Annotated[
    bool, typer.Option("--keep", help="Leave the frozen card running afterwards, until Ctrl-C.")
]
BoardOption = Annotated[
    bool, typer.Option("--board", help="On the simulated board: the cards in Verilog, verilated.")
]
SamplesOption = Annotated[
    Path | None,
    typer.Option(
        "--samples", metavar="DIR", help="Only write small captures to try the decoders on."
    ),
]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Replace the results of an earlier demo.")
]


def run(
    *,
    fault: FaultOption = "word-omitted",
    seed: SeedOption = 2,
    output: OutputOption = Path("freezeframe-demo"),
    board: BoardOption = False,
    keep: KeepOption = False,
    samples: SamplesOption = None,
    force: ForceOption = False,
) -> None:
    """Inject a fault into an emulated card, catch it, and explain it.

    The card runs in a process of its own and is reached over UDP Etherbone, as real hardware is.
    What was injected is read only at the very end, to check the explanation. Exits with 1 when
    the explanation was wrong.

    \b
    Examples:
      freezeframe demo
      freezeframe demo --fault lane-misaligned --seed 3 -o out
      freezeframe demo --fault none
      freezeframe demo --board
      freezeframe demo --samples .
    """
    if samples is not None:
        from freezeframe.gui.cli.work.sample_captures import write_sample_captures

        write_sample_captures(samples, force=force)
        return
    from freezeframe.gui.cli.work.demo import demonstrate

    if not demonstrate(fault, seed, output, board=board, keep=keep, force=force):
        raise typer.Exit(1)
