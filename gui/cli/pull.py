"""``freezeframe pull``: a frozen recording into a capture folder, every word verified."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from freezeframe.gui.cli.completing import targets
from freezeframe.gui.cli.options import (
    ForceOption,
    JsonOption,
    LogOption,
    OutageOption,
    argument,
    option,
)
from freezeframe.gui.cli.usage import seconds

OutputOption = Annotated[
    Path, option("--output", "NAME.ff", "Capture folder to write.", short="-o")
]
FreezeOption = Annotated[
    bool, typer.Option("--freeze", help="Freeze a recorder that still runs instead of refusing it.")
]
WaitOption = Annotated[
    float | None,
    option(
        "--wait",
        "SECONDS",
        "Wait this long for a freeze, if the card is not frozen yet.",
        parser=seconds,
    ),
]


SameTimeOption = Annotated[
    list[str] | None,
    option(
        "--same-time",
        "A.bus:N=B.bus:M",
        "Two cycles that are one instant, of cards of different targets; +-NS behind it.",
    ),
]
HostOption = Annotated[
    list[str] | None,
    option(
        "--host-trace",
        "FILE",
        "A trace of the card's computer to keep: trace-cmd report, ftrace or dmesg; B=FILE: of "
        "card B.",
    ),
]
TargetsArgument = Annotated[
    list[str],
    argument(
        "TARGET...",
        "URL of the card: etherbone://192.0.2.7 and others, see 'freezeframe targets'; several "
        "go into one capture.",
        autocompletion=targets,
    ),
]


def run(
    target: TargetsArgument,
    output: OutputOption,
    *,
    same_time: SameTimeOption = None,
    host_trace: HostOption = None,
    freeze: FreezeOption = False,
    wait: WaitOption = None,
    outage: OutageOption = 30.0,
    force: ForceOption = False,
    json: JsonOption = False,
    log_accesses: LogOption = None,
) -> None:
    """Copy a frozen recording into a capture folder, verified against the card's own checksums.

    Writes nothing to the card unless --freeze is given. A card that vanishes meanwhile is waited
    for, and the pull goes on where it stopped; what could not be read is stated in the capture, and
    the exit code is 3 then. With --wait and --freeze, a card that has not frozen by then is frozen.

    Cards in computers of their own, given as several targets, become devices A, B, ... of one capture.
    Their time lines are related by the packets that crossed the link, or by --same-time. A trace of
    the computer goes onto the same time line by what both saw: registers written, interrupts raised.

    \b
    Examples:
      freezeframe pull etherbone://192.0.2.7 -o fault.ff
      freezeframe pull etherbone://192.0.2.7 -o fault.ff --wait 600
      freezeframe pull etherbone://192.0.2.7 -o now.ff --freeze
      freezeframe pull etherbone://192.0.2.7 etherbone://192.0.2.8 -o case.ff
      freezeframe pull pci:0000:03:00.0 -o case.ff --host-trace trace.txt
    """
    from freezeframe.gui.cli.work.pull import pull_targets

    pull_targets(
        target, output, same_time or (), host_trace or (), wait, outage, log_accesses,
        freeze=freeze, force=force, json=json,
    )  # fmt: skip
