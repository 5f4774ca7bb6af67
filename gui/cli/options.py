"""Arguments and options that several verbs share, declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from freezeframe.gui.cli.completing import targets
from freezeframe.gui.cli.usage import seconds


def argument(metavar: str, help: str, **more: Any) -> Any:
    """Declare an argument; ``more`` as for typer."""
    return typer.Argument(metavar=metavar, help=help, show_default=False, **more)


def option(name: str, metavar: str, help: str, *, short: str = "", **more: Any) -> Any:
    """Declare an option with a value whose default the help does not show; ``more`` as for typer."""
    names = (short, name) if short else (name,)
    return typer.Option(*names, metavar=metavar, help=help, show_default=False, **more)


TargetArgument = Annotated[
    str,
    argument(
        "TARGET",
        "URL of the card: etherbone://192.0.2.7 and others, see 'freezeframe targets'.",
        autocompletion=targets,
    ),
]
CaptureArgument = Annotated[Path, argument("CAPTURE.ff", "Capture folder.")]
DeviceOption = Annotated[
    str, typer.Option("--device", metavar="NAME", help="Device of the target.")
]
DevicesOption = Annotated[
    list[str] | None, option("--device", "NAME", "Use this device's recording only.")
]
SwitchArgument = Annotated[Literal["on", "off"], argument("on|off", "Which of the two.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
OutageOption = Annotated[
    float,
    typer.Option(
        "--outage",
        metavar="SECONDS",
        parser=seconds,
        help="How long the card may vanish during a pull.",
    ),
]
RuleEveryOption = Annotated[
    float,
    typer.Option(
        "--every",
        metavar="SECONDS",
        parser=seconds,
        help="Time between two readings of what rules ask.",
    ),
]
RuleBesideOption = Annotated[
    list[str] | None,
    option(
        "--beside",
        "SOURCE",
        "Counters that rules ask, and that guard keeps beside each capture: a card, netdev:eth0, rdma:mlx5_0/1.",
    ),
]
DiscardOption = Annotated[
    bool,
    typer.Option("--discard", help="Give up a frozen recording that this host has not kept."),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace what is there already.")]
LogOption = Annotated[
    Path | None,
    option("--log-accesses", "FILE", "Append a line for every register access to FILE."),
]
SalvageOption = Annotated[
    bool,
    typer.Option(
        "--salvage", help="Read a damaged capture all the same; what is damaged is a stated gap."
    ),
]
PluginOption = Annotated[
    list[Path] | None,
    option("--plugin", "FILE", "Python file with decoders of your own; may be given again."),
]
