"""``freezeframe emulate``: the emulated pair of cards behind a UDP Etherbone server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["run"]

ListenOption = Annotated[
    str,
    typer.Option("--listen", metavar="HOST:PORT", help="Where to answer; port 0: any."),
]
ProfileOption = Annotated[
    str,
    typer.Option("--profile", metavar="NAME", help="The card: a name, or a TOML file."),
]
FaultOption = Annotated[
    str, typer.Option("--fault", metavar="NAME", help="The fault to inject, or 'none'.")
]
SeedOption = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Decides everything.")]
TruthOption = Annotated[
    Path | None,
    typer.Option(
        "--truth",
        metavar="FILE",
        help="Write here what was injected, where and when (no capture ever holds it).",
        show_default=False,
    ),
]
SpeedOption = Annotated[
    float | None,
    typer.Option(
        "--speed",
        metavar="RATIO",
        min=0,
        help="Simulated seconds a second; 0: as fast as one core goes. Default 0.0005.",
        show_default=False,
    ),
]


def run(
    *,
    listen: ListenOption = "127.0.0.1:1234",
    profile: ProfileOption = "forth",
    fault: FaultOption = "none",
    seed: SeedOption = 0,
    truth: TruthOption = None,
    speed: SpeedOption = None,
) -> None:
    """Run the emulated pair of cards as an Etherbone server until interrupted.

    Prints one line with the URL when it is ready. The card freezes by itself on what hardware could
    see of the fault. The same seed always gives the same run.

    Faults: none, word-omitted, word-duplicated, sync-fifo-empty, lane-misaligned, payload-bit-flip,
    header-corrupted, credit-corrupted, credit-lost, wrap-unhandled, credit-start-too-large.

    \b
    Examples:
      freezeframe emulate --fault word-omitted --seed 7
      freezeframe emulate --listen 127.0.0.1:0 --profile forth --fault none --truth truth.json
    """
    from freezeframe.emulator.serve import DEFAULT_SPEED, emulate

    def ready(url: str) -> None:
        print(f"ready {url} profile {profile} fault {fault} seed {seed}", flush=True)

    pace = DEFAULT_SPEED if speed is None else speed or None
    emulate(listen, profile, fault, seed, truth, ready, speed=pace)
