"""Arguments and options that several verbs share, declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

__all__ = [
    "CaptureArgument",
    "DeviceOption",
    "DevicesOption",
    "ForceOption",
    "JsonOption",
    "LogOption",
    "PluginOption",
    "SwitchArgument",
    "TargetArgument",
]

TargetArgument = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        help="URL of the card: etherbone://192.0.2.7 and others, see 'freezeframe targets'.",
        show_default=False,
    ),
]
CaptureArgument = Annotated[
    Path, typer.Argument(metavar="CAPTURE.ff", help="Capture folder.", show_default=False)
]
DeviceOption = Annotated[
    str, typer.Option("--device", metavar="NAME", help="Device of the target.")
]
DevicesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--device", metavar="NAME", help="Use this device's recording only.", show_default=False
    ),
]
SwitchArgument = Annotated[
    Literal["on", "off"],
    typer.Argument(metavar="on|off", help="Which of the two.", show_default=False),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace what is there already.")]
LogOption = Annotated[
    Path | None,
    typer.Option(
        "--log-accesses",
        metavar="FILE",
        help="Append a line for every register access to FILE.",
        show_default=False,
    ),
]
PluginOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin",
        metavar="FILE",
        help="Python file with decoders of your own; may be given again.",
        show_default=False,
    ),
]
