"""``freezeframe sim-board``: the example pair in Verilog, verilated, behind a UDP Etherbone server."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from freezeframe.gui.cli.emulate import (
    FaultOption,
    ListenOption,
    ParentOption,
    SeedOption,
    TruthOption,
    ratio,
)
from freezeframe.gui.cli.options import option

SpeedOption = Annotated[
    float | None,
    option(
        "--speed",
        "RATIO",
        "Simulated seconds a second; 0, the default: as fast as one core goes.",
        parser=ratio,
    ),
]
EvidentOption = Annotated[
    bool,
    typer.Option(
        "--freeze-when-evident",
        help="Freeze by the card's own host once a fault that no check finds has shown itself.",
    ),
]
PcixOption = Annotated[
    Path | None,
    option(
        "--pcix",
        "DIR",
        "Give each card a PCI-X bus, and write its waveform from power-up: DIR/card_a.vcd, DIR/card_b.vcd.",
        parser=Path,
    ),
]
PcixTimeOption = Annotated[
    int,
    typer.Option(
        "--pcix-us",
        metavar="N",
        min=1,
        max=1_000_000,
        help="Microseconds of the waveforms; 1000 by default.",
        show_default=False,
    ),
]
BridgeOption = Annotated[
    str | None,
    option(
        "--bridge",
        "NAME=VALUE,...",
        "How the bridge behaves, with --pcix: retries, disconnects, singles, at-once, pieces, narrow, "
        "aborts, parity (shares of 1), waits (clocks), decode (any, A, B, C, subtractive).",
    ),
]
BuildOption = Annotated[
    bool, typer.Option("--build-only", help="Build the program, print its path, and end.")
]


def run(
    *,
    listen: ListenOption = "127.0.0.1:1234",
    fault: FaultOption = "none",
    seed: SeedOption = 0,
    truth: TruthOption = None,
    speed: SpeedOption = None,
    freeze_when_evident: EvidentOption = False,
    pcix: PcixOption = None,
    pcix_us: PcixTimeOption = 1000,
    bridge: BridgeOption = None,
    build_only: BuildOption = False,
    until_stdin_ends: ParentOption = False,
) -> None:
    """Run two example cards in Verilog as an Etherbone server until interrupted.

    The Verilog is the one of firmware-hooks/rtl; Verilator makes a program of it, once, which then
    runs freely. Prints one line with the URL when it is ready; everything else works on it as on
    the emulated pair.

    \b
    Examples:
      freezeframe sim-board --fault word-omitted --seed 7
      freezeframe sim-board --listen 127.0.0.1:0 --truth truth.json
      freezeframe sim-board --fault interrupt-lost --freeze-when-evident
      freezeframe sim-board --pcix waves --bridge decode=C,retries=0.2
    """
    from freezeframe.capture.errors import InputError
    from freezeframe.emulator.board import board_program, check_address

    if not build_only:
        check_address(listen)  # a build takes a minute or two: what is wrong is reported before it
    if bridge is not None and pcix is None:
        raise InputError("--bridge is of a board with a PCI-X bus: add --pcix DIR")
    program = board_program(
        lambda line: print(line, file=sys.stderr, flush=True), pcix=pcix is not None
    )
    if build_only:
        print(program)
        return
    arguments = [str(program), "--listen", listen, "--fault", fault, "--seed", str(seed)]
    if truth is not None:
        arguments += ["--truth", str(Path(truth).absolute())]
    if speed:
        arguments += ["--speed", repr(speed)]
    if freeze_when_evident:
        arguments.append("--freeze-when-evident")
    if pcix is not None:
        waves = pcix.absolute()
        try:
            waves.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"{pcix}: {error.strerror}; name a folder that can be written"
            ) from None
        arguments += ["--pcix", str(waves), "--pcix-us", str(pcix_us)]
    if bridge is not None:
        arguments += ["--bridge", bridge]
    if until_stdin_ends:
        arguments.append("--until-stdin-ends")
    sys.stdout.flush()
    os.execv(program, arguments)  # signals reach it directly, and nothing of ours is left beside it
