"""``freezeframe emulate``: the emulated pair of cards behind a UDP Etherbone server."""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from freezeframe.gui.cli.compiling import compile_notice
from freezeframe.gui.cli.completing import faults
from freezeframe.gui.cli.options import option
from freezeframe.gui.text import printable


def ratio(text: str) -> float:
    """Return a ratio as an option gives it: a number from 0 on."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise typer.BadParameter(f"{text!r} is not a number from 0")
    return value


ListenOption = Annotated[
    str, typer.Option("--listen", metavar="HOST:PORT", help="Where to answer; port 0: any.")
]
ProfileOption = Annotated[
    str, typer.Option("--profile", metavar="NAME", help="The card: a name, or a TOML file.")
]
FaultOption = Annotated[
    str,
    typer.Option(
        "--fault", metavar="NAME", help="The fault to inject, or 'none'.", autocompletion=faults
    ),
]
FaultsOption = Annotated[
    list[str] | None,
    option(
        "--fault",
        "NAME",
        "The fault to inject, NAME or NAME:after=TIME; again for a second one in the same run. Default none.",
        autocompletion=faults,
    ),
]
LoadOption = Annotated[
    str | None,
    option(
        "--load",
        "NAME",
        "Traffic of both hosts: light, medium, saturating, or a mean gap of messages, as 100ms. Default: by the seed.",
    ),
]
WorkloadOption = Annotated[
    str | None,
    option("--workload", "NAME", "A workload to measure, in place of traffic by the seed."),
]
SeedOption = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Decides everything.")]
TruthOption = Annotated[
    Path | None,
    option(
        "--truth",
        "FILE",
        "Write here what was injected, where and when (no capture ever holds it).",
    ),
]
ApartOption = Annotated[
    bool,
    typer.Option(
        "--apart", help="Each card at a port of its own, as in a computer of its own: two URLs."
    ),
]
HostTraceOption = Annotated[
    list[str] | None,
    option(
        "--host-trace",
        "A=FILE",
        "Write what the computer of card A (or B) would trace, as trace-cmd prints it.",
    ),
]
CardOption = Annotated[
    Path | None,
    option(
        "--card",
        "FILE",
        "Serve the registers of this card in place of the pair, frozen: its file, or a capture of it.",
    ),
]
ThroughOption = Annotated[
    str | None,
    option(
        "--through",
        "NAME",
        "A switch between the cards: switch-pair, or a TOML file. Default: a cable.",
    ),
]
MonitorOption = Annotated[
    str | None,
    option(
        "--monitor",
        "FILE",
        "Serial console of the switch's monitor: a file, or pty for a port of its own.",
    ),
]
ParentOption = Annotated[
    bool,
    typer.Option(
        "--until-stdin-ends", help="End when standard input does: with a parent.", hidden=True
    ),
]
SpeedOption = Annotated[
    float | None,
    option(
        "--speed",
        "RATIO",
        "Simulated seconds a second; 0: as fast as one core goes. Default 0.0005.",
        parser=ratio,
    ),
]


def run(
    *,
    listen: ListenOption = "127.0.0.1:1234",
    card: CardOption = None,
    profile: ProfileOption = "forth",
    fault: FaultsOption = None,
    load: LoadOption = None,
    workload: WorkloadOption = None,
    seed: SeedOption = 0,
    truth: TruthOption = None,
    speed: SpeedOption = None,
    apart: ApartOption = False,
    host_trace: HostTraceOption = None,
    through: ThroughOption = None,
    monitor: MonitorOption = None,
    until_stdin_ends: ParentOption = False,
) -> None:
    """Run the emulated pair of cards as an Etherbone server until interrupted.

    Prints one line with the URL when it is ready. The card freezes by itself on what hardware could
    see of the fault. The same seed always gives the same run.

    Faults: none, word-omitted, word-duplicated, sync-fifo-empty, lane-misaligned, payload-bit-flip,
    header-corrupted, credit-corrupted, credit-lost, wrap-unhandled, credit-start-too-large,
    clock-drift, credit-too-optimistic, split-retry-mishandled, header-miscounted; and those that no
    check of the hardware finds, where you freeze: credit-too-coarse, interrupt-storm,
    interrupt-lost, short-transfers. docs/open-world-faults.md has 127 more, for which explain was not made.

    A fault begins when the seed says, in the first 250 us, or after a time: lane-misaligned:after=1h. Idle stretches
    are skipped, so an hour of sparse traffic (--load 100ms --speed 0) takes a minute or two.

    Profiles: forth, forth-uncombined, forth-combining, forth-coarse, forth-fine, forth-pci66; forth-x4 with four lanes;
    forth-regions with handles of memory regions, and the fault write-outside-region.
    With --through a switch stands between the cards, with faults switch-word-lost, switch-word-altered,
    switch-credit-held, switch-wrong-port; the line names the console of its monitor.
    Workloads: single-8B, single-4KiB, pair-8B, stream-4KiB, io-head-tail, io-pending-flags,
    one-way-SIZE, ping-pong-SIZE.
    Profile pci-sci is one card, with faults nwrite-response-confused, response-lost, packet-damaged,
    incoming-buffers-leak, page-not-exported, page-not-imported, and workloads mixed, single-4B,
    stream-64B, by-hand; pci-sci-pair is two of them with a ring between, and ping-pong-4B.
    Profiles livelock and livelock-backoff are an adapter that interrupts its host, with workloads rising, as-described.

    \b
    Examples:
      freezeframe emulate --fault clock-drift --fault payload-bit-flip --load light
      freezeframe emulate --fault lane-misaligned:after=1h --load 100ms --speed 0
      freezeframe emulate --card my-card.toml
      freezeframe emulate --profile forth-combining --workload pair-8B
      freezeframe emulate --fault word-omitted --seed 7
      freezeframe emulate --through switch-pair --monitor pty
      freezeframe emulate --profile pci-sci --fault nwrite-response-confused
      freezeframe emulate --listen 127.0.0.1:0 --profile forth --fault none --truth truth.json
    """
    from freezeframe.emulator.serve import DEFAULT_SPEED, emulate, serve_card

    stop = _stdin_ended() if until_stdin_ends else None
    if card is not None:
        if fault or load or workload or truth or apart or host_trace or through or monitor:
            raise typer.BadParameter(
                "--card serves a card's registers, without traffic and without a fault: give --listen alone with it"
            )
        serve_card(
            listen, card, lambda url: print(printable(f"ready {url} card {card}"), flush=True), stop
        )
        return
    faults = "+".join(fault or ["none"])

    def ready(url: str) -> None:
        urls, switch, console = url.partition(" switch ")
        words = f"ready {urls} profile {profile} fault {faults} seed {seed}{switch}{console}"
        print(printable(words), flush=True)

    pace = DEFAULT_SPEED if speed is None else speed or None
    with compile_notice() if through else nullcontext():  # a cable is not compiled
        emulate(
            listen,
            profile,
            faults,
            seed,
            truth,
            ready,
            speed=pace,
            load=load,
            workload=workload,
            apart=apart,
            host_traces=_host_traces(host_trace or []),
            through=through,
            monitor=monitor,
            stop=stop,
            remark=lambda text: print(printable(f"note: {text}"), file=sys.stderr, flush=True),
        )


def _host_traces(wanted: list[str]) -> dict[str, Path]:
    found = {}
    for text in wanted:
        name, equals, file = text.partition("=")
        if name not in ("A", "B") or not equals or not file or name in found:
            raise typer.BadParameter(
                f"{text!r}: write A=FILE or B=FILE, each once", param_hint="--host-trace"
            )
        found[name] = Path(file)
    return found


def _stdin_ended() -> Callable[[], bool]:
    """Return whether standard input has ended: a parent that was killed cannot end us itself."""
    ended = threading.Event()

    def watch() -> None:
        while os.read(0, 4096):
            pass
        ended.set()

    threading.Thread(target=watch, name="parent", daemon=True).start()
    return ended.is_set
