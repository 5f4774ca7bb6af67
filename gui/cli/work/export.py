"""``freezeframe export``: a capture written in another tool's format, and what went into it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from freezeframe.decoders.plugin import load_with_plugins
from freezeframe.gui.cli.compiling import compile_notice
from freezeframe.gui.cli.output import count_text, emit_json, progress_bar
from freezeframe.gui.cli.reading import Reading
from freezeframe.gui.cli.stdout_file import one_to_stdout
from freezeframe.gui.cli.work.reading import (
    print_notes,
    refuse_on_recording,
    samplerate_hz,
    source_choice,
)
from freezeframe.gui.export.run import export_file
from freezeframe.gui.text import printable


def export(
    file: Path,
    to: str,
    output: Path,
    specs: Sequence[str],
    only: Sequence[str],
    reading: Reading,
    plugins: Sequence[Path],
    where: str | None = None,
    table: str | None = None,
    *,
    hexadecimal: bool = False,
    force: bool,
    json: bool,
) -> None:
    """Export a capture, and print the files that were written.

    Raises:
        InputError: as `export_file`.
    """
    rate_hz = samplerate_hz(reading)
    choice = source_choice(reading)
    refuse_on_recording(file, reading)
    registry = load_with_plugins(plugins) if plugins else None
    if str(output) == "-":
        with one_to_stdout(f"export.{to}", table) as place:
            export_file(
                file, to, place, specs=specs, only=only, where=where, choice=choice, max_samples=reading.max_samples,
                samplerate_hz=rate_hz, registry=registry, hexadecimal=hexadecimal,
            )  # fmt: skip
        return
    with compile_notice(), progress_bar("export", "read") as update:
        done = export_file(
            file,
            to,
            output,
            specs=specs,
            only=only,
            where=where,
            choice=choice,
            force=force,
            max_samples=reading.max_samples,
            samplerate_hz=rate_hz,
            registry=registry,
            hexadecimal=hexadecimal,
            progress=lambda at, total: update(at, total, ""),
        )
    if json:
        emit_json(
            {
                "file": str(file),
                "format": to,
                "written": [
                    {"path": str(path), "bytes": path.stat().st_size} for path in done.files
                ],
                "counts": done.wrote.counts,
                "notes": done.wrote.notes,
            }
        )
        return
    for path in done.files:
        print(printable(f"{path}: {count_text(path.stat().st_size)} B"))
    for what, count in done.wrote.counts.items():
        print(printable(f"  {what}: {count_text(count)}"))
    print_notes(done.wrote.notes)
