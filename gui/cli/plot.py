"""``freezeframe plot``: the drawings of analyses as one picture, PNG or SVG."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from freezeframe.capture.errors import InputError
from freezeframe.gui.cli.options import CaptureArgument, ForceOption, JsonOption
from freezeframe.gui.cli.output import emit_json, plural, printable
from freezeframe.gui.places import refuse_evidence, write_whole

if TYPE_CHECKING:
    from freezeframe.capture.folder import CaptureFolder
    from freezeframe.gui.plots.figures import Drawing

__all__ = ["run"]

_TIME_LINE = "time-line"
_ALL = "all"
_SUFFIXES = (".png", ".svg")

WhatOption = Annotated[
    str,
    typer.Option(
        "--what",
        metavar="NAME[,NAME...]",
        help="Analyses, as 'freezeframe analyze' lists them; 'time-line'; 'all'.",
    ),
]
OutputOption = Annotated[
    Path,
    typer.Option(
        "-o", "--output", metavar="FILE", help="Picture to write: .png or .svg.", show_default=False
    ),
]
DeviceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--device", metavar="NAME", help="Use this device's recording only.", show_default=False
    ),
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
    device: DeviceOption = None,
    theme: ThemeOption = "light",
    scale: ScaleOption = 1.0,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Draw what analyses measured: the pictures of the report, for a paper or a script.

    The drawings stand below each other, those of analyses on one range of time; the time line shows
    the part around the first finding. An analysis that finds nothing to draw is named on standard
    error with its reason; when none draws anything, the exit code is 2.

    \b
    Examples:
      freezeframe plot fault.ff --what throughput,pressure -o p.png
      freezeframe plot fault.ff --what time-line -o line.svg
      freezeframe plot fault.ff --what all --theme dark --scale 2 -o all.png
    """
    from freezeframe.capture.folder import CaptureFolder

    _check_place(output, force)
    folder = CaptureFolder.open(capture)
    known = [one.name for one in folder.devices]
    for name in device or []:
        if name not in known:
            raise InputError(f"{capture}: no device {name!r}; the capture holds {', '.join(known)}")
    made, reasons = _drawings(folder, what, device)
    if not made:
        raise InputError(f"{capture}: nothing to draw: {'; '.join(reasons)}")
    from freezeframe.gui.plots.picture import picture_png, picture_svg
    from freezeframe.gui.text import folder_title

    svg = picture_svg(made, printable(folder_title(folder.path)), theme=theme)
    data = svg.encode() if output.suffix.lower() == ".svg" else picture_png(svg, scale=scale)
    write_whole(output, data)
    if json:
        titles = [one.title for one in made]
        emit_json(
            {"plot": str(output), "bytes": len(data), "drawings": titles, "not_drawn": reasons}
        )
        return
    for reason in reasons:
        print(f"freezeframe: {printable(reason)}", file=sys.stderr)
    print(f"{printable(output)}: {plural(len(made), 'drawing')}, {len(data):,} B")


def _drawings(
    folder: CaptureFolder, what: str, device: list[str] | None
) -> tuple[list[Drawing], list[str]]:
    """Return the drawings in the order asked, and why others are not there."""
    from freezeframe.analyzers.registry import load_analyses
    from freezeframe.analyzers.view import CaptureView
    from freezeframe.gui.plots.figures import drawings, extent

    registry = load_analyses()
    asked = [name.strip() for name in what.split(",") if name.strip()]
    if not asked:
        raise InputError("--what: names no analysis; 'freezeframe analyze' lists them")
    names = list(
        dict.fromkeys(
            each
            for name in asked
            for each in ([_TIME_LINE, *sorted(registry.analyses)] if name == _ALL else [name])
        )
    )
    analyses = {name: registry.find(name) for name in names if name != _TIME_LINE}
    view = CaptureView(folder, device or None)
    results = {name: analysis.run(view) for name, analysis in analyses.items()}
    span = extent(results.values())
    made: list[Drawing] = []
    reasons: list[str] = []
    for name in names:
        found = _time_lines(folder, device) if name == _TIME_LINE else drawings(results[name], span)
        made += found
        if not found:
            result = results[name]
            why = "it gives figures and tables, and nothing over time to draw"
            if not (result.figures or result.tables):
                why = " ".join(result.notes) or "it found nothing in this capture"
            reasons.append(f"{name}: {why}")
    return made, reasons


def _time_lines(folder: CaptureFolder, device: list[str] | None) -> list[Drawing]:
    from freezeframe.analyzers.explain import explain
    from freezeframe.gui.report.lanes import LEGEND
    from freezeframe.gui.report.moments import freezes
    from freezeframe.gui.report.trace_sections import timeline_drawings

    explanation = explain(folder, device or None)
    trace = explanation.trace
    made = timeline_drawings(trace, explanation.findings, freezes(folder, trace))
    looks = tuple((key.split()[1], text) for key, text in LEGEND if key.startswith("rect "))
    return [replace(one, legend=looks) for one in made]


def _check_place(path: Path, force: bool) -> None:
    """Refuse a place where no picture can be written, before any work is done."""
    refuse_evidence(path)
    if path.suffix.lower() not in _SUFFIXES:
        raise InputError(f"{path}: a picture is written as {' or '.join(_SUFFIXES)}")
    if path.is_dir():
        raise InputError(f"{path}: is a folder; give the name of a file, for instance plot.png")
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is there and is not a file, so it is not replaced")
    if path.exists() and not force:
        raise InputError(f"{path}: exists already; --force replaces it")
    if not path.parent.is_dir():
        raise InputError(f"{path.parent}: there is no such folder; make it first")
