"""``freezeframe decode``: events out of a logic-analyzer capture or a capture folder."""

from __future__ import annotations

import json as json_text
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from freezeframe.capture.errors import InputError
from freezeframe.gui.cli.compiling import compile_notice
from freezeframe.gui.cli.options import ForceOption, JsonOption, PluginOption
from freezeframe.gui.cli.output import plural, printable, progress_bar
from freezeframe.gui.cli.proposals import print_proposals
from freezeframe.gui.places import is_capture
from freezeframe.gui.plots.axis import format_ps

if TYPE_CHECKING:
    from freezeframe.capture.files.choice import SourceChoice
    from freezeframe.capture.files.source import ReadSettings
    from freezeframe.decoders.registry import Registry
    from freezeframe.decoders.run import Decoded

__all__ = ["run"]

FileArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A capture (.sr, .vcd, .fst, .csv, .bin and others) or a capture folder (.ff).",
        show_default=False,
    ),
]
DecoderOption = Annotated[
    list[str] | None,
    typer.Option(
        "-d",
        "--decoder",
        metavar="SPEC",
        help="NAME[:option=value,channel=PROBE...][+NAME...]; + stacks; may be given again. "
        "Without one, decoders are proposed.",
        show_default=False,
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Write Parquet instead of printing; a file for each table where there are more.",
        show_default=False,
    ),
]
SamplesOption = Annotated[
    int | None,
    typer.Option(
        "--max-samples",
        metavar="N",
        min=1,
        help="Refuse a capture with more samples: real ones unpack a thousandfold.",
        show_default=False,
    ),
]
RateOption = Annotated[
    str | None,
    typer.Option(
        "--samplerate",
        metavar="RATE",
        help="Sample rate, for instance 12MHz, where the file has none or a wrong one.",
        show_default=False,
    ),
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME[:key=value,...]",
        help="Format of the file where it does not show; binary:channels=8,rate=1000000 for raw.",
        show_default=False,
    ),
]
ChannelOption = Annotated[
    list[str] | None,
    typer.Option(
        "--channel",
        metavar="NEW=NAME",
        help="Call a channel NEW, or the bits of a bus NEW0, NEW1...; may be given again.",
        show_default=False,
    ),
]
ThresholdOption = Annotated[
    list[str] | None,
    typer.Option(
        "--threshold",
        metavar="[NAME=]HIGH[/LOW]",
        help="Read analog channels as logic: high from HIGH volts up, low from LOW down.",
        show_default=False,
    ),
]
CutOption = Annotated[
    str | None,
    typer.Option(
        "--cut",
        metavar="BEGIN..END",
        help="Only this time of the capture, for instance 1.5ms..2ms; times then begin at 0.",
        show_default=False,
    ),
]


def run(
    file: FileArgument,
    *,
    decoder: DecoderOption = None,
    output: OutputOption = None,
    max_samples: SamplesOption = None,
    samplerate: RateOption = None,
    format: FormatOption = None,
    channel: ChannelOption = None,
    threshold: ThresholdOption = None,
    cut: CutOption = None,
    plugin: PluginOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Decode a logic-analyzer capture, or the recording in a capture folder.

    Prints one line for each event, or JSON, or writes the tables as Parquet. A channel takes the
    probe of the same name unless it is named. Without -d it looks at the names and the signals
    of the channels, proposes decoders, and says why.

    \b
    Examples:
      freezeframe decode phy.sr
      freezeframe decode phy.sr -d mdio
      freezeframe decode phy.sr -d mdio:clause=45,mdc=D0,mdio=D1 --json
      freezeframe decode phy.sr -d mdio -o events.parquet
      freezeframe decode fault.ff -d trace -o trace.parquet
      freezeframe decode sim.vcd -d mdio --channel mdc=top.phy.clk --cut 1ms..2ms
      freezeframe decode raw.bin -d uart:rx=0 --format binary:channels=8,rate=1000000
    """
    from freezeframe.capture.files.choice import SourceChoice
    from freezeframe.capture.files.cut import parse_span
    from freezeframe.capture.files.sigrok_sr import parse_samplerate
    from freezeframe.capture.files.source import ReadSettings
    from freezeframe.decoders.contract import EDGES
    from freezeframe.decoders.plugin import load_for, load_with_plugins
    from freezeframe.decoders.run import decode_file
    from freezeframe.gui.cli.memory import keep_freed_memory
    from freezeframe.gui.cli.save_tables import check_place, save_all

    keep_freed_memory()
    rate = None if samplerate is None else parse_samplerate(samplerate)
    notes: list[str] = []
    source = SourceChoice(
        format,
        tuple(channel or ()),
        tuple(threshold or ()),
        None if cut is None else parse_span(cut),
        notes.append,
    )
    if file.is_dir() and not is_capture(file):
        raise InputError(
            f"{file}: is a directory, but not a capture folder: it has no manifest.json; give the "
            "folder NAME.ff that a pull wrote, or a capture file"
        )
    if decoder and not file.is_dir():
        registry = load_for(decoder, EDGES, plugin or ())
    else:
        registry = load_with_plugins(plugin or ())
    if not decoder:
        if output is not None:
            raise InputError(f"-o {output}: without a decoder nothing is written; name one with -d")
        given = {
            "--plugin": map(str, plugin or ()),
            "--max-samples": [str(max_samples)] if max_samples is not None else [],
            "--samplerate": [samplerate] if samplerate is not None else [],
            "--format": [format] if format is not None else [],
            "--channel": channel or [],
            "--threshold": threshold or [],
            "--cut": [cut] if cut is not None else [],
        }
        options = [word for name, values in given.items() for v in values for word in (name, v)]
        _propose(file, source, ReadSettings(rate, max_samples), registry, options, json=json)
        return
    if output is not None:
        check_place(output, file, decoder, force=force, registry=registry)
    with compile_notice(), progress_bar("decode", "read") as update:
        decoded = decode_file(
            file,
            decoder,
            max_samples=max_samples,
            samplerate_hz=rate,
            progress=lambda done, total: update(done, total, ""),
            registry=registry,
            source=source,
        )
    _print_notes(notes)
    if output is not None:
        paths = save_all(decoded, output, file, force=force)
    if json:
        _print_json(file, decoded)
    elif output is not None:
        for path, (name, table) in zip(paths, decoded, strict=True):
            print(f"{printable(path)}: {printable(name)}, {plural(len(table), 'row')}")
    else:
        _print_text(decoded, registry)
    if not any(len(table) for _, table in decoded):
        still = _still(file, source, ReadSettings(rate, max_samples), decoder, registry)
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
    from freezeframe.capture.files.open import is_capture as is_samples
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
    from freezeframe.capture.files.open import is_capture as is_samples
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
        latest_ps = max(int(numbers(chunk).max()) for chunk in _chunks(table, "t_ps"))
        sources = len(_names(table, "source")) > 1
        for row in _rows(table):
            source = f"{row['source']:<12}  " if sources else ""
            mark = "! " if row["kind"] == "error" else ""
            text = printable(f"{source}{mark}{words(row)}")
            print(f"{format_ps(row['t_ps'], latest_ps):>20}  {text}")


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

    top = name.partition("#")[0].rpartition("+")[2].partition(".")[0]
    return texts_of(registry.find(top)) or (
        lambda row: "  ".join(f"{k}={v}" for k, v in row.items() if k != "t_ps")
    )


def _print_json(file: Path, decoded: Sequence[Decoded]) -> None:
    """Print row by row: a long capture has more rows than fit into memory as objects."""
    print(f'{{"file": {json_text.dumps(str(file))}, "tables": [', end="")
    for number, (name, table) in enumerate(decoded):
        print("," if number else "", f'{{"name": {json_text.dumps(name)}, "rows": [', sep="\n")
        for i, row in enumerate(_rows(table)):
            print("," if i else "", json_text.dumps(row), sep="\n " if i else " ", end="")
        print("\n]}", end="")
    print("\n]}")


def _rows(table: Any) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches(max_chunksize=4096):
        yield from batch.to_pylist()
