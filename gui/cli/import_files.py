"""``freezeframe import``: captures into a capture folder, laid over each other where there are more."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from freezeframe.capture.errors import InputError
from freezeframe.gui.cli.compiling import compile_notice
from freezeframe.gui.cli.decode import (
    ChannelOption,
    CutOption,
    FormatOption,
    RateOption,
    SamplesOption,
    ThresholdOption,
)
from freezeframe.gui.cli.options import ForceOption, JsonOption
from freezeframe.gui.cli.output import count_text, emit_json, plural, printable, progress_bar
from freezeframe.gui.places import refuse_evidence

if TYPE_CHECKING:
    from freezeframe.capture.files.importer import Imported, ImportFile
    from freezeframe.capture.files.merge import Alignment

__all__ = ["OutputOption", "folder_text", "run"]

FilesArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Captures; the first is the time base of the others.",
        show_default=False,
    ),
]
OutputOption = Annotated[
    Path,
    typer.Option(
        "-o", "--output", metavar="NAME.ff", help="The capture folder.", show_default=False
    ),
]
AlignOption = Annotated[
    list[str] | None,
    typer.Option(
        "--align",
        metavar="CHANNEL[=OTHER]",
        help="Find offset and drift from a signal that the first file and a further one have seen; "
        "once for all, or for each in order.",
        show_default=False,
    ),
]
OffsetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--offset",
        metavar="TIME",
        help="Where a further file begins on the time base of the first: 1.5ms, -20ns; for each.",
        show_default=False,
    ),
]
DriftOption = Annotated[
    list[str] | None,
    typer.Option(
        "--drift",
        metavar="PPM",
        help="By how much its time is longer, with --offset; for each in order.",
        show_default=False,
    ),
]


def run(
    files: FilesArgument,
    output: OutputOption,
    *,
    align: AlignOption = None,
    offset: OffsetOption = None,
    drift: DriftOption = None,
    cut: CutOption = None,
    format: FormatOption = None,
    channel: ChannelOption = None,
    threshold: ThresholdOption = None,
    samplerate: RateOption = None,
    max_samples: SamplesOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Store captures in a folder, unaltered, with how they are to be read; decode takes the folder.

    Names, thresholds, a cut and where a second file lies are kept as a recipe beside the files.
    With several files, these options are for all of them: import one alone first where it needs
    others, and then the folders.

    \b
    Examples:
      freezeframe import phy.sr -o phy.ff
      freezeframe import scope.csv --threshold D=1.4/0.8 --channel mdio=D -o phy.ff
      freezeframe import long.sr --cut 1.5s..1.6s -o part.ff
      freezeframe import left.sr right.vcd --align SYNC=top.sync -o both.ff
      freezeframe import left.sr right.sr --offset 1.25ms --drift -3.2 -o both.ff
    """
    from freezeframe.capture.files.cut import parse_span
    from freezeframe.capture.files.importer import ImportFile, import_captures
    from freezeframe.capture.files.sigrok_sr import parse_samplerate
    from freezeframe.capture.files.source import ReadSettings

    refuse_evidence(output.parent)
    for file in files:
        if output.resolve() in (file.resolve(), *file.resolve().parents):
            raise InputError(f"{output}: is what is imported, or holds it; choose another name")
    rate_hz = None if samplerate is None else parse_samplerate(samplerate)
    placed = _placed(files, align or (), offset or (), drift or ())
    given = [
        ImportFile(
            file, format, tuple(channel or ()), tuple(threshold or ()), rate_hz, placement, shared
        )
        for file, (placement, shared) in zip(files, placed, strict=True)
    ]
    notes: list[str] = []
    with compile_notice(), progress_bar("import", "read") as update:
        done = import_captures(
            given,
            output,
            cut_ps=None if cut is None else parse_span(cut),
            settings=ReadSettings(
                max_samples=max_samples,
                progress=lambda at, total: update(at, total, ""),
                note=notes.append,
            ),
            overwrite=force,
        )
    for note in dict.fromkeys(notes):
        print(f"note: {printable(note)}", file=sys.stderr)
    if json:
        emit_json(_document(output, given, done))
    else:
        print(printable(folder_text(output, done)))
        for line in _alignments(given, done):
            print(printable(line))


def _placed(
    files: Sequence[Path], align: Sequence[str], offset: Sequence[str], drift: Sequence[str]
) -> list[tuple[Alignment | None, str]]:
    """Return for each file where it lies, or the signal to find it by; nothing for the first.

    Raises:
        InputError: the options do not fit the files.
    """
    from freezeframe.capture.files.merge import Alignment

    further = len(files) - 1
    if align and (offset or drift):
        raise InputError("--align finds the offset and the drift; leave out --offset and --drift")
    if drift and len(drift) != len(offset):
        raise InputError(f"{len(drift)} --drift for {len(offset)} --offset; give one for each")
    if not further and (align or offset):
        raise InputError("--align and --offset are for a second file, and there is one")
    if align:
        if len(align) not in (1, further):
            raise InputError(
                f"{plural(further, 'further file')}, and {len(align)} --align; one, or one each"
            )
        found = list(align) * further if len(align) == 1 else list(align)
        return [(None, ""), *((None, text) for text in found)]
    if len(offset) != further:
        raise InputError(
            f"{plural(further, 'further file')}, and {len(offset)} --offset; give one for each in order, or "
            "--align CHANNEL for a signal that all have seen"
        )
    drifts = [_ppm(text) for text in drift] or [Fraction(0)] * further
    times = [_time_ps(text) for text in offset]
    return [(None, ""), *((Alignment(t, d), "") for t, d in zip(times, drifts, strict=True))]


def _time_ps(text: str) -> int:
    from freezeframe.capture.files.cut import parse_time

    sign = -1 if text.strip().startswith("-") else 1
    return sign * parse_time(f"--offset {text!r}", text.strip().lstrip("+-"))


def _ppm(text: str) -> Fraction:
    if not re.fullmatch(r"\s*[+-]?\d{1,5}(\.\d{1,9})?\s*", text):
        raise InputError(f"--drift {text!r}: not a number of parts per million, for instance -3.2")
    return Fraction(text.strip())


def folder_text(output: Path, done: Imported) -> str:
    """Return what stands in a capture folder, in one line."""
    rate_hz = done.header.samplerate_hz
    return (
        f"{output}: {plural(len(done.header.channels), 'channel')}, {plural(done.edges, 'edge')}, "
        f"{plural(done.end_sample, 'sample')}"
        + (f" of {count_text(rate_hz)} Hz" if rate_hz else "")
    )


def _alignments(files: Sequence[ImportFile], done: Imported) -> list[str]:
    from freezeframe.capture.files.cut import time_text

    lines = []
    for file, at in zip(files[1:], done.placements, strict=True):
        if not at.shared:
            lines.append(
                f"  {file.path}: at {time_text(at.offset_ps)}, drift "
                f"{float(at.drift_ppm):g} ppm, as given"
            )
            continue
        lines.append(
            f"  {file.path}: at {time_text(at.offset_ps)} ± {time_text(at.offset_unc_ps)}, "
            f"drift {float(at.drift_ppm):.6g} ppm ± {float(at.drift_unc_ppm):.2g} ppm, from "
            f"{at.shared} edges of {file.shared}, the worst {time_text(at.worst_ps)} off"
        )
    return lines


def _document(output: Path, files: Sequence[ImportFile], done: Imported) -> dict[str, object]:
    return {
        "folder": str(output),
        "channels": list(done.header.channels),
        "samplerate_hz": done.header.samplerate_hz,
        "samples": done.end_sample,
        "edges": done.edges,
        "placements": [
            {
                "file": str(file.path),
                "offset_ps": at.offset_ps,
                "offset_unc_ps": at.offset_unc_ps,
                "drift_ppm": float(at.drift_ppm),
                "drift_unc_ppm": float(at.drift_unc_ppm),
                "shared_edges": at.shared,
                "worst_ps": at.worst_ps,
            }
            for file, at in zip(files[1:], done.placements, strict=True)
        ],
    }
