"""``freezeframe decode`` with decoders: events out of a logic-analyzer capture or a capture folder."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from freezeframe.capture.code import code
from freezeframe.capture.count_text import plural
from freezeframe.capture.files.choice import SourceChoice
from freezeframe.capture.files.open import is_samples
from freezeframe.capture.files.source import ReadSettings
from freezeframe.capture.folder.one_file import place_of
from freezeframe.decoders.blame import blamed
from freezeframe.decoders.plugin import load_with_plugins
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import Decoded, decode_file
from freezeframe.gui.cli.compiling import compile_notice
from freezeframe.gui.cli.lean import decode_lean
from freezeframe.gui.cli.output import progress_bar
from freezeframe.gui.cli.reading import Reading
from freezeframe.gui.cli.stdout_file import one_to_stdout
from freezeframe.gui.cli.work.events import print_json, print_text, top_of
from freezeframe.gui.cli.work.reading import (
    print_notes,
    refuse_on_recording,
    refuse_other_folder,
    samplerate_hz,
    source_choice,
)
from freezeframe.gui.cli.work.save_tables import check_place, save_all
from freezeframe.gui.text import printable

_STILL_CHANNELS = code("freezeframe.decoders.guess.still:still_channels")  # only where nothing came

_SELECTION = code("freezeframe.decoders.query.rows:Selection")  # pandas, only where rows are chosen


def decode(
    file: Path,
    specs: Sequence[str],
    reading: Reading,
    output: Path | None,
    plugins: Sequence[Path],
    where: str | None = None,
    *,
    force: bool,
    json: bool,
) -> None:
    """Print or write the events, of which ``where`` chooses the rows.

    Raises:
        InputError: the file cannot be read, or an option does not fit it.
    """
    rate_hz = samplerate_hz(reading)
    notes: list[str] = []
    source = source_choice(reading, notes.append)
    refuse_other_folder(file)
    refuse_on_recording(file, reading)
    registry = load_with_plugins(plugins)
    to_stdout = str(output) == "-"
    if output is not None and not to_stdout:
        check_place(output, file, specs, force=force, registry=registry)
    decode_lean()
    selection = None if where is None else _SELECTION(where, notes.append)
    with compile_notice(), progress_bar("decode", "read") as update:
        decoded = decode_file(
            file,
            specs,
            max_samples=reading.max_samples,
            samplerate_hz=rate_hz,
            progress=lambda done, total: update(done, total, ""),
            registry=registry,
            source=source,
        )
    hints = _hints(decoded, registry)
    if selection is not None:
        decoded = selection.rows(decoded)
        selection.note_never()
    print_notes(notes)
    if to_stdout:
        one = f"freezeframe export {file} --to parquet -o - --table NAME gives one"
        with one_to_stdout("decode.parquet", None, one) as place:
            save_all(decoded, place, file, force=False)
        return
    if output is not None:
        paths = save_all(decoded, output, file, force=force)
    if json:
        print_json(file, decoded)
    elif output is not None:
        for path, (name, table) in zip(paths, decoded, strict=True):
            print(f"{printable(path)}: {printable(name)}, {plural(len(table), 'row')}")
    else:
        print_text(decoded, registry)
    print_notes(hints)
    if not any(len(table) for _, table in decoded):
        if selection is not None:
            print(f"0 rows match {printable(str(where))}", file=sys.stderr)
            return
        settings = ReadSettings(rate_hz, reading.max_samples)
        still = _still(file, source, settings, specs, registry)
        print(
            f"0 events: nothing that these decoders know is in the capture{still}", file=sys.stderr
        )


def _still(
    file: Path,
    source: SourceChoice,
    settings: ReadSettings,
    specs: Sequence[str],
    registry: Registry,
) -> str:
    """Return which channels in use never change, for the end of the message that nothing came."""
    if place_of(file).is_dir() and not is_samples(file):
        return ""
    still = _STILL_CHANNELS(replace(source, note=None).open(file, settings), specs, registry)
    return printable(f": {still}") if still else ""


def _hints(decoded: Sequence[Decoded], registry: Registry) -> list[str]:
    """Return what decoders say of whole tables that look as if an option were wrong."""
    hints = []
    for name, table in decoded:
        decoder = registry.get(top_of(name))
        if decoder is not None and decoder.hint is not None and len(table):
            with blamed(decoder, decoder.hint):
                hints.append(decoder.hint(table))
    return [hint for hint in hints if hint]
