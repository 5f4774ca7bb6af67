"""``freezeframe decode``: events out of a logic-analyzer capture or a capture folder."""

from __future__ import annotations

import json as json_text
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freezeframe.capture.errors import InputError
from freezeframe.capture.time_text import times_like
from freezeframe.gui.cli.compiling import compile_notice
from freezeframe.gui.cli.output import plural, printable, progress_bar
from freezeframe.gui.cli.proposals import print_proposals
from freezeframe.gui.places import is_capture

if TYPE_CHECKING:
    from freezeframe.capture.files.choice import SourceChoice
    from freezeframe.capture.files.source import ReadSettings
    from freezeframe.decoders.registry import Registry
    from freezeframe.decoders.run import Decoded
    from freezeframe.gui.cli.decode_options import DecodeOptions

__all__ = ["decode"]

_LINES_AT_ONCE = 256  # a call for each line takes a fifth of the time
_ROWS = json_text.JSONEncoder(default=bytes.hex)  # JSON has no bytes: hex, as in CSV


def decode(options: DecodeOptions) -> None:
    """Print or write the events, or say which decoders fit; `decode_options.begin_reading` went before.

    Raises:
        InputError: the file cannot be read, or an option does not fit it.
    """
    from freezeframe.gui.cli.memory import collect_seldom

    collect_seldom()
    _decode(options)


def _decode(options: DecodeOptions) -> None:
    from freezeframe.capture.files.choice import SourceChoice
    from freezeframe.capture.files.cut import parse_span
    from freezeframe.capture.files.sigrok_sr import parse_samplerate
    from freezeframe.capture.files.source import ReadSettings
    from freezeframe.decoders.plugin import load_with_plugins
    from freezeframe.decoders.run import decode_file

    file, decoder, output, most = options.file, options.decoder, options.output, options.max_samples
    rate = None if options.samplerate is None else parse_samplerate(options.samplerate)
    notes: list[str] = []
    source = SourceChoice(
        options.format,
        options.channel,
        options.threshold,
        None if options.cut is None else parse_span(options.cut),
        notes.append,
    )
    if file.is_dir() and not is_capture(file):
        from freezeframe.capture.files.open import is_samples

        if not is_samples(file):
            raise InputError(
                f"{file}: is a directory, but not a capture folder: it has no manifest.json; give the "
                "folder NAME.ff that a pull wrote, or a capture file"
            )
    registry = load_with_plugins(options.plugin)
    if not decoder:
        if output is not None:
            raise InputError(f"-o {output}: without a decoder nothing is written; name one with -d")
        given = {
            "--plugin": map(str, options.plugin),
            "--max-samples": [str(most)] if most is not None else [],
            "--samplerate": [options.samplerate] if options.samplerate is not None else [],
            "--format": [options.format] if options.format is not None else [],
            "--channel": options.channel,
            "--threshold": options.threshold,
            "--cut": [options.cut] if options.cut is not None else [],
        }
        words = [word for name, values in given.items() for v in values for word in (name, v)]
        _propose(file, source, ReadSettings(rate, most), registry, words, json=options.json)
        return
    if output is not None:
        from freezeframe.gui.cli.save_tables import check_place, save_all

        check_place(output, file, decoder, force=options.force, registry=registry)
    if not all(spec.startswith("srd-") for spec in decoder):
        from freezeframe.gui.cli.quick_kernels import load_without_tables

        load_without_tables()
    with compile_notice(), progress_bar("decode", "read") as update:
        decoded = decode_file(
            file,
            decoder,
            max_samples=most,
            samplerate_hz=rate,
            progress=lambda done, total: update(done, total, ""),
            registry=registry,
            source=source,
        )
    _print_notes(notes)
    if output is not None:
        paths = save_all(decoded, output, file, force=options.force)
    if options.json:
        _print_json(file, decoded)
    elif output is not None:
        for path, (name, table) in zip(paths, decoded, strict=True):
            print(f"{printable(path)}: {printable(name)}, {plural(len(table), 'row')}")
    else:
        _print_text(decoded, registry)
    _print_notes(_hints(decoded, registry))
    if not any(len(table) for _, table in decoded):
        still = _still(file, source, ReadSettings(rate, most), decoder, registry)
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
    """Return which channels in use never change, to stand behind the message that nothing came."""
    from freezeframe.capture.files.open import is_samples
    from freezeframe.decoders.guess.still import still_channels

    if file.is_dir() and not is_samples(file):
        return ""
    found = still_channels(replace(source, note=None).open(file, settings), specs, registry)
    return printable(f": {found}") if found else ""


def _propose(
    file: Path,
    source: SourceChoice,
    settings: ReadSettings,
    registry: Registry,
    options: Sequence[str],
    *,
    json: bool,
) -> None:
    """Print the decoders that fit a capture of samples.

    Raises:
        InputError: it cannot be read, is a recording of a card, or nothing fits.
    """
    from freezeframe.capture.files.open import is_samples
    from freezeframe.decoders.guess.propose import guess

    if file.is_dir() and not is_samples(file):
        raise InputError(
            f"{file}: is the recording of a card: freezeframe decode {file} -d trace, or "
            f"freezeframe explain {file}"
        )
    notes: list[str] = []
    with compile_notice(), progress_bar("look", "read") as update:
        settings = replace(settings, progress=lambda done, total: update(done, total, ""))
        found = guess(replace(source, note=notes.append).open(file, settings), registry)
    _print_notes(notes)
    print_proposals(file, options, found, json=json)


def _print_notes(notes: Sequence[str]) -> None:
    for note in notes:
        print(f"note: {printable(note)}", file=sys.stderr)


def _print_text(decoded: Sequence[Decoded], registry: Registry) -> None:
    from freezeframe.decoders.columns import numbers

    for name, table in decoded:
        if len(decoded) > 1:
            print(printable(f"# {name}, {plural(len(table), 'row')}"))
        if not len(table):
            continue
        words = _texts_of(name, registry)
        # The unit of the latest time for all, so that the column can be read downwards.
        time_of = times_like(max(int(numbers(chunk).max()) for chunk in _chunks(table, "t_ps")))
        sources = len(_names(table, "source")) > 1
        lines: list[str] = []
        for row in _rows(table):
            source = f"{row['source']:<12}  " if sources else ""
            mark = "! " if row["kind"] == "error" else ""
            text = printable(f"{source}{mark}{words(row)}")
            lines.append(f"{time_of(row['t_ps']):>20}  {text}")
            if len(lines) == _LINES_AT_ONCE:
                print("\n".join(lines))
                lines.clear()
        if lines:
            print("\n".join(lines))


def _chunks(table: Any, column: str) -> list[Any]:
    return [chunk for chunk in table.column(column).chunks if len(chunk)]


def _names(table: Any, column: str) -> set[str]:
    """Return the different texts of a column, which a user's own decoder may not have as names."""
    import numpy as np

    from freezeframe.decoders.columns import numbers

    found: set[str] = set()
    for chunk in _chunks(table, column):
        if hasattr(chunk, "indices") and not chunk.null_count:
            codes = np.unique(numbers(chunk.indices))
            found.update(chunk.dictionary[int(code)].as_py() for code in codes)
        else:
            found.update(chunk.to_pylist())
    return found


def _texts_of(name: str, registry: Registry) -> Callable[[dict[str, Any]], str]:
    """Return what puts a row of a table into words: its decoder's own text, else all columns."""
    from freezeframe.decoders.blame import texts_of

    return texts_of(registry.find(_top(name))) or (
        lambda row: "  ".join(f"{k}={v}" for k, v in row.items() if k != "t_ps")
    )


def _hints(decoded: Sequence[Decoded], registry: Registry) -> list[str]:
    """Return what decoders say of whole tables that look as if an option were wrong."""
    from freezeframe.decoders.blame import blamed

    hints = []
    for name, table in decoded:
        decoder = registry.get(_top(name))
        if decoder is not None and decoder.hint is not None and len(table):
            with blamed(decoder, decoder.hint):
                hints.append(decoder.hint(table))
    return [hint for hint in hints if hint]


def _top(name: str) -> str:
    """Return the decoder on top of the stack that a table is named by."""
    return name.partition("#")[0].rpartition("+")[2].partition(".")[0]


def _print_json(file: Path, decoded: Sequence[Decoded]) -> None:
    """Print row by row: a long capture has more rows than fit into memory as objects."""
    print(f'{{"file": {json_text.dumps(str(file))}, "tables": [', end="")
    for number, (name, table) in enumerate(decoded):
        print("," if number else "", f'{{"name": {json_text.dumps(name)}, "rows": [', sep="\n")
        for i, row in enumerate(_rows(table)):
            print("," if i else "", _ROWS.encode(row), sep="\n " if i else " ", end="")
        print("\n]}", end="")
    print("\n]}")


def _rows(table: Any) -> Iterator[dict[str, Any]]:
    names = table.column_names
    for batch in table.to_batches(max_chunksize=4096):
        for values in zip(*map(_values, batch.columns), strict=True):
            yield dict(zip(names, values, strict=True))


def _values(column: Any) -> list[Any]:
    """Return what `to_pylist` does; of numbers, lists of numbers and names in a tenth of the time."""
    import pyarrow.types as kinds

    from freezeframe.decoders.columns import numbers

    kind = column.type
    if not len(column) or column.null_count:
        return list(column.to_pylist())
    if kinds.is_integer(kind):
        return list(numbers(column).tolist())
    if kinds.is_dictionary(kind):
        texts = column.dictionary.to_pylist()
        return [texts[code] for code in numbers(column.indices).tolist()]
    if kinds.is_list(kind) and kinds.is_integer(kind.value_type):
        ends = numbers(column.offsets)
        inside = column.values.slice(int(ends[0]), int(ends[-1] - ends[0]))
        if len(inside) and not inside.null_count:
            flat, ends = numbers(inside).tolist(), (ends - ends[0]).tolist()
            return [flat[begin:end] for begin, end in pairwise(ends)]
    return list(column.to_pylist())
