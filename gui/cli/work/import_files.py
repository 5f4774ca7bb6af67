"""``freezeframe import``: files placed on one time base and stored in a capture folder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from freezeframe.capture.count_text import plural
from freezeframe.capture.errors import InputError
from freezeframe.capture.files.importer import Imported, import_captures
from freezeframe.capture.files.merge import Alignment
from freezeframe.capture.files.source import ReadSettings
from freezeframe.capture.folder.samples import SampleSource
from freezeframe.capture.time_text import parse_time, plain_time
from freezeframe.gui.cli.compiling import compile_notice
from freezeframe.gui.cli.output import count_text, emit_json, progress_bar
from freezeframe.gui.cli.reading import Reading
from freezeframe.gui.cli.work.reading import print_notes, samplerate_hz, source_choice
from freezeframe.gui.places import refuse_evidence
from freezeframe.gui.text import printable


def import_files(
    files: Sequence[Path],
    output: Path,
    align: Sequence[str],
    offset: Sequence[str],
    drift: Sequence[str],
    reading: Reading,
    *,
    force: bool,
    json: bool,
) -> None:
    """Store captures in a folder and print what is in it.

    Raises:
        InputError: a file cannot be read, the options do not fit it, or the folder cannot be written.
    """
    refuse_evidence(output.parent)
    for file in files:
        if output.resolve() in (file.resolve(), *file.resolve().parents):
            raise InputError(f"{output}: is what is imported, or holds it; choose another name")
    rate_hz = samplerate_hz(reading)
    placed = _placed(files, align, offset, drift)
    choice = source_choice(reading)
    given = [
        SampleSource(
            str(file),
            choice.format,
            tuple(choice.channels),
            tuple(choice.thresholds),
            rate_hz,
            placement,
            shared,
        )
        for file, (placement, shared) in zip(files, placed, strict=True)
    ]
    notes: list[str] = []
    with compile_notice(), progress_bar("import", "read") as update:
        done = import_captures(
            given,
            output,
            cut_ps=choice.cut_ps,
            settings=ReadSettings(
                max_samples=reading.max_samples,
                progress=lambda at, total: update(at, total, ""),
                note=notes.append,
            ),
            overwrite=force,
        )
    print_notes(dict.fromkeys(notes))
    if json:
        emit_json(_document(output, given, done))
    else:
        print(printable(folder_text(output, done)))
        for line in _alignments(given, done):
            print(printable(line))


def _placed(
    files: Sequence[Path], align: Sequence[str], offset: Sequence[str], drift: Sequence[str]
) -> list[tuple[Alignment | None, str]]:
    """Return for each file its alignment, or the signal to find it by; nothing for the first.

    Raises:
        InputError: the options do not fit the files.
    """
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
        signals = list(align) * further if len(align) == 1 else list(align)
        return [(None, ""), *((None, text) for text in signals)]
    if len(offset) != further:
        raise InputError(
            f"{plural(further, 'further file')}, and {len(offset)} --offset; give one for each in order, or "
            "--align CHANNEL for a signal that all have seen"
        )
    drifts = [_ppm(text) for text in drift] or [Fraction(0)] * further
    times = [_time_ps(text) for text in offset]
    return [(None, ""), *((Alignment(t, d), "") for t, d in zip(times, drifts, strict=True))]


def _time_ps(text: str) -> int:
    sign = -1 if text.strip().startswith("-") else 1
    return sign * parse_time(f"--offset {text!r}", text.strip().lstrip("+-"))


def _ppm(text: str) -> Fraction:
    if not re.fullmatch(r"\s*[+-]?\d{1,5}(\.\d{1,9})?\s*", text):
        raise InputError(f"--drift {text!r}: not a number of parts per million, for instance -3.2")
    return Fraction(text.strip())


def folder_text(output: Path, done: Imported) -> str:
    """Return what a capture folder holds, in one line."""
    rate_hz = done.header.samplerate_hz
    return (
        f"{output}: {plural(len(done.header.channels), 'channel')}, {plural(done.edges, 'edge')}, "
        f"{plural(done.end_sample, 'sample')}"
        + (f" of {count_text(rate_hz)} Hz" if rate_hz else "")
    )


def _alignments(files: Sequence[SampleSource], done: Imported) -> list[str]:
    lines = []
    for file, at in zip(files[1:], done.placements, strict=True):
        if not at.shared:
            lines.append(
                f"  {file.path}: at {plain_time(at.offset_ps)}, drift "
                f"{float(at.drift_ppm):g} ppm, as given"
            )
            continue
        lines.append(
            f"  {file.path}: at {plain_time(at.offset_ps)} ± {plain_time(at.offset_unc_ps)}, "
            f"drift {float(at.drift_ppm):.6g} ppm ± {float(at.drift_unc_ppm):.2g} ppm, from "
            f"{at.shared} edges of {file.shared}, the worst {plain_time(at.worst_ps)} off"
        )
    return lines


def _document(output: Path, files: Sequence[SampleSource], done: Imported) -> dict[str, object]:
    return {
        "folder": str(output),
        "channels": list(done.header.channels),
        "samplerate_hz": done.header.samplerate_hz,
        "samples": done.end_sample,
        "edges": done.edges,
        "placements": [
            {
                "file": file.path,
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
