"""``freezeframe plot``: the drawings of analyses as one picture, PNG or SVG."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from freezeframe.capture.errors import InputError
from freezeframe.gui.cli.options import (
    CaptureArgument,
    DevicesOption,
    ForceOption,
    JsonOption,
    SalvageOption,
    option,
)
from freezeframe.gui.cli.reading import salvaged
from freezeframe.gui.places import refuse_evidence, refuse_taken

_SUFFIXES = (".png", ".svg")

WhatOption = Annotated[
    str,
    typer.Option(
        "--what",
        metavar="NAME[,NAME...]",
        help="Analyses, as 'freezeframe analyze' lists them; 'finding'; 'time-line'; 'all'.",
    ),
]
OutputOption = Annotated[
    Path, option("--output", "FILE", "Picture to write: .png or .svg.", short="-o")
]
ThemeOption = Annotated[Literal["light", "dark"], typer.Option("--theme", help="Background.")]
ScaleOption = Annotated[
    float, typer.Option("--scale", metavar="N", help="Size of a PNG: 2 doubles both sides.")
]


def run(
    capture: CaptureArgument,
    output: OutputOption,
    *,
    what: WhatOption = "throughput",
    device: DevicesOption = None,
    theme: ThemeOption = "light",
    scale: ScaleOption = 1.0,
    force: ForceOption = False,
    salvage: SalvageOption = False,
    json: JsonOption = False,
) -> None:
    """Draw what analyses measured: the pictures of the report, for a paper or a script.

    The drawings stand below each other, those of analyses on one range of time; the time line shows
    the part around the first finding, and 'finding' draws what proves each sentence of explain. An
    analysis that finds nothing to draw is named on standard error with its reason; when none draws
    anything, the exit code is 2.

    \b
    Examples:
      freezeframe plot fault.ff --what throughput,pressure -o p.png
      freezeframe plot fault.ff --what finding -o proof.png
      freezeframe plot fault.ff --what time-line -o line.svg
      freezeframe plot fault.ff --what all --theme dark --scale 2 -o all.png
    """
    _check_place(output, force)
    capture = salvaged(capture, salvage)
    from freezeframe.gui.cli.work.plot import save_picture

    save_picture(capture, output, what, device, theme, scale, json=json)


def _check_place(path: Path, force: bool) -> None:
    """Refuse a place where no picture can be written, before any work is done."""
    refuse_evidence(path)
    if path.suffix.lower() not in _SUFFIXES:
        raise InputError(f"{path}: a picture is written as {' or '.join(_SUFFIXES)}")
    refuse_taken(path, force, "plot.png")
