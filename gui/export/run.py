"""Export a file in a format: find what it holds, write it beside its place, move it there whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from freezeframe.capture.code import code
from freezeframe.capture.errors import InputError
from freezeframe.capture.files.choice import SourceChoice
from freezeframe.capture.files.open import is_samples
from freezeframe.capture.files.sigrok_sr import DEFAULT_MAX_SAMPLES
from freezeframe.capture.files.source import CaptureHeader, ReadSettings, listed
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.capture.folder.of_cards import is_card_folder
from freezeframe.capture.folder.one_file import place_of
from freezeframe.capture.packets.recognise import is_packets
from freezeframe.capture.targets.given_as_file import missing
from freezeframe.decoders.blame import texts_of
from freezeframe.decoders.registry import Registry, load_decoders
from freezeframe.decoders.run import Decoded, decode_file
from freezeframe.decoders.spec import parse_spec
from freezeframe.decoders.tap.tables import error_text, packet_tables, packet_text
from freezeframe.gui.export.commented_packets import write_commented
from freezeframe.gui.export.formats import FORMATS, Format
from freezeframe.gui.export.material import Material, Wrote
from freezeframe.gui.export.place import check_output, new_files
from freezeframe.gui.export.tables import file_names

_DECODED = code("freezeframe.decoders.trace.decode:decode_capture")
_EXPLAINED = code("freezeframe.gui.export.capture_tracks:explained_tracks")
_CARDS = code("freezeframe.gui.export.capture_tracks:explained_cards")
_RECORDED = code("freezeframe.gui.export.capture_tracks:capture_tracks")
_WITH_TABLES = code("freezeframe.gui.export.capture_tracks:with_tables")
_SELECTION = code("freezeframe.decoders.query.rows:Selection")  # pandas, only where rows are chosen
_OPAQUE = ("data", "value", "dest", "address")
_MOST_CHANNELS = 64  # bits of the value of an edge


@dataclass(frozen=True, slots=True)
class Exported:
    """The files that were written, in the order of the tables, and what went into them."""

    files: tuple[Path, ...]
    wrote: Wrote


def export_file(
    source: str | Path,
    form: str,
    output: str | Path,
    *,
    specs: Sequence[str] = (),
    force: bool = False,
    max_samples: int | None = None,
    samplerate_hz: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    registry: Registry | None = None,
    choice: SourceChoice | None = None,
    only: Sequence[str] = (),
    where: str | None = None,
    hexadecimal: bool = False,
) -> Exported:
    """Export a capture folder (``NAME.ff``) or a capture of any format that `capture.files` reads.

    Args:
        form: a name of `FORMATS`.
        output: the file; where a format writes several tables, ``STEM.NAME.SUFFIX`` for each.
        specs: decoders, as `decode_file` takes them. Without any, a capture folder gives the
            tables of ``trace``, and samples are exported as they are.
        force: whether files that are there may be replaced.
        max_samples, samplerate_hz, progress, registry: as for `decode_file`.
        choice: format, channel names, thresholds and cut, where the file does not say.
        only: of samples, these channels and buses.
        where: of tables, the rows that this expression matches.
        hexadecimal: opaque 64-bit words as hex text.
    Raises:
        InputError: the source, a spec or the place cannot be used, or there is nothing to export
            in that format. Nothing is written then.
    """
    path, place = Path(source), Path(output)
    several = _format(form).several
    if not path.exists():
        raise InputError(missing(path))
    if form == "pcapng" and is_packets(path):
        if where is not None:
            raise InputError(f"{path}: --where chooses among rows; packets are exported whole")
        check_output(place, path, force=force)
        with new_files([place], force=force) as temporary:
            return Exported((place,), write_commented(path, temporary[0], specs, progress))
    # Before the work; with several tables `place` itself may be no file of theirs.
    check_output(place, path, force=force or several)
    source_notes: list[str] = []
    given = replace(choice or SourceChoice(), note=source_notes.append)
    wish = _Wish(given, only, max_samples, samplerate_hz, progress)
    material = _material(path, form, specs, wish, registry)
    if where is not None:
        if material.edges is not None:
            raise InputError(f"{path}: --where chooses among rows of tables; name a decoder by -d")
        selection = _SELECTION(where, source_notes.append)
        material = replace(material, tables=selection.rows(material.tables))
        selection.note_never()
    if form == "perfetto" and not specs and (folder := place_of(path)).is_dir():
        material = _as_tracks(folder, material, chosen=where is not None)
    if hexadecimal:
        material = replace(material, tables=[Decoded(n, _in_hex(t)) for n, t in material.tables])
    exported = write_material(material, form, place, force=force)
    exported.wrote.notes[:0] = source_notes
    return exported


def _in_hex(table: pa.Table) -> pa.Table:
    """Return a table whose opaque 64-bit words (docs/formats.md, section 8) are hex text."""
    for name in _OPAQUE:
        at = table.schema.get_field_index(name)
        if at >= 0 and table.schema.field(at).type == pa.int64():
            words = [
                None if v is None else f"0x{v & (1 << 64) - 1:016x}"
                for v in table.column(at).to_pylist()
            ]
            table = table.set_column(at, name, pa.array(words, pa.string()))
    return table


def write_material(material: Material, form: str, place: Path, *, force: bool) -> Exported:
    """Write what there is to export: all files, or none.

    Raises:
        InputError: there is no such format, a file cannot be written, or the format does not take it.
    """
    known = _format(form)
    places = file_names(place, material) if known.several else [place]
    for path in places:
        check_output(path, material.source, force=force)
    with new_files(places, force=force) as temporary:
        wrote: Wrote = known.write(material, temporary if known.several else temporary[0])
    return Exported(tuple(places), wrote)


def _format(name: str) -> Format:
    if name not in FORMATS:
        raise InputError(f"there is no format {name!r}; there is: {', '.join(FORMATS)}")
    return FORMATS[name]


@dataclass(frozen=True, slots=True)
class _Wish:
    """What the user wants of the source."""

    source: SourceChoice
    only: Sequence[str]
    max_samples: int | None
    samplerate_hz: int | None
    progress: Callable[[int, int], None] | None


def _material(
    path: Path, form: str, specs: Sequence[str], wish: _Wish, registry: Registry | None
) -> Material:
    if not specs and is_samples(path):
        return _samples(path, wish)
    if not specs and is_card_folder(path):
        return card_packets(path, form)
    if wish.only:
        raise InputError(f"{path}: --only chooses among samples; leave out -d, or --only")
    known = registry or load_decoders()
    tops = [parse_spec(spec, known).steps[-1].decoder.id for spec in specs or ["trace"]]
    if FORMATS[form].decoded not in ("any", "one", *tops):
        way = "leave out -d" if specs else "and the recording of a card has none"
        raise InputError(
            f"{path}: nothing to export as {form}: it takes samples, {way}; of decoded tables "
            "--to perfetto, csv and parquet are made"
        )

    def texts(name: str) -> Callable[[dict[str, Any]], str]:
        # The name of a table is that of its stack, with a kind and a number: a+b.kind#2.
        top = name.partition("#")[0].rpartition("+")[2].partition(".")[0]
        return texts_of(known.find(top)) or (lambda row: str(row["kind"]))

    tables = decode_file(
        path,
        specs or ["trace"],
        max_samples=wish.max_samples,
        samplerate_hz=wish.samplerate_hz,
        progress=wish.progress,
        registry=known,
        source=wish.source,
    )

    return Material(path, tables=tables, texts=texts)


def _as_tracks(folder: Path, material: Material, *, chosen: bool) -> Material:
    """Return a recording with the tracks that its pictures have; of ``chosen`` rows those alone."""
    if is_card_folder(folder):
        if chosen:
            return material  # tables of packets, a track each
        tracks, tables = _CARDS(CardFolder.open(folder))
        return replace(material, tracks=tracks, tables=tables)
    of = CaptureFolder.open(folder)
    trace = _DECODED(of)
    if not chosen:
        return replace(material, tracks=_EXPLAINED(of, trace))
    rows = {name.removeprefix("trace."): table for name, table in material.tables}
    return replace(material, tracks=list(_RECORDED(of, _WITH_TABLES(trace, rows))))


def card_packets(path: Path, form: str) -> Material:
    """Return the packets at the taps of a card that is described by a file.

    Raises:
        InputError: the format takes samples, or the tables of the built-in card.
    """
    if FORMATS[form].decoded not in ("any", "one"):
        raise InputError(
            f"{path}: nothing to export as {form}: the packets of a card go to pcapng, csv and parquet"
        )
    # A comment in Wireshark is for what is wrong; elsewhere a row is put into words.
    words = error_text if form == "pcapng" else packet_text
    return Material(path, tables=packet_tables(CardFolder.open(path)), texts=lambda name: words)


def _samples(path: Path, wish: _Wish) -> Material:
    """Return the samples of a capture, its header read and its channels chosen."""
    settings = ReadSettings(
        samplerate_hz=wish.samplerate_hz, max_samples=wish.max_samples, progress=wish.progress
    )
    opened = wish.source.open(path, settings)
    channels = _chosen(path, opened.header, wish.only)
    if not wish.only:
        for name, why in opened.header.refused.items():
            wish.source.say(f"{path}: {name} is not exported: {why}")
    return Material(
        path,
        edges=lambda: opened.read(channels),
        max_samples=wish.max_samples or DEFAULT_MAX_SAMPLES,
    )


def _chosen(path: Path, header: CaptureHeader, only: Sequence[str]) -> tuple[str, ...]:
    """Return the channels to export: all, or those that are named, a bus by its own name."""
    there = header.channels
    if not there:
        why = "; ".join(f"{name}: {reason}" for name, reason in header.refused.items())
        raise InputError(f"{path}: there is no channel in it that can be read. {why}".rstrip())
    buses = {bus.name: bus.channels for bus in header.buses}
    found: list[str] = []
    for name in map(header.channel_of, only):
        if why := header.reason(name):
            raise InputError(f"{path}: channel {name} cannot be read: {why}")
        if name not in there and name not in buses:
            raise InputError(
                f"{path}: --only {name}: there is no such channel; there is "
                f"{listed((*there, *buses))}"
            )
        found += (name,) if name in there else buses[name]
    chosen = tuple(dict.fromkeys(found or there))
    if len(chosen) > _MOST_CHANNELS:
        raise InputError(
            f"{path}: {len(chosen)} channels; {_MOST_CHANNELS} at a time can be exported, choose "
            f"them with --only; there is {', '.join(there[:8])}, ..."
        )
    return chosen
