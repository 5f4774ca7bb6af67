"""Export a file in a format: find what it holds, write it beside its place, move it there whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freezeframe.capture.errors import InputError
from freezeframe.gui.export.material import Material, Wrote
from freezeframe.gui.export.place import check_output, new_files

if TYPE_CHECKING:
    from freezeframe.capture.files.edges import Edges
    from freezeframe.decoders.contract import Decoder
    from freezeframe.decoders.registry import Registry

__all__ = ["FORMATS", "Exported", "Format", "export_file"]


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its name on the command line, what it is good for, and the function that writes.

    ``writer`` is ``MODULE:FUNCTION``; imported when it is used. ``several``: it writes a file for
    each table, so it takes a list of paths.
    """

    name: str
    doc: str
    writer: str
    several: bool = False


FORMATS: dict[str, Format] = {
    known.name: known
    for known in (
        Format("vcd", "samples or a recording, for GTKWave and Surfer", "vcd:write_vcd"),
        Format("sr", "samples, for PulseView and sigrok-cli", "sr:write_session"),
        Format("pcapng", "packets, for Wireshark", "pcapng:write_pcapng"),
        Format("csv", "tables or edges, for spreadsheets", "tables:write_csv", several=True),
        Format("parquet", "tables or edges, with types", "tables:write_parquet", several=True),
        Format("perfetto", "slices and counters, for ui.perfetto.dev", "perfetto:write_perfetto"),
    )
}


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
) -> Exported:
    """Export a capture folder (``NAME.ff``) or a logic-analyzer capture (``.sr``).

    Args:
        form: a name of `FORMATS`.
        output: the file; where a format writes several tables, ``STEM.NAME.SUFFIX`` for each.
        specs: decoders, as `decode_file` takes them. Without any, a capture folder gives the
            tables of ``trace``, and samples are exported as they are.
        force: whether files that are there may be replaced.
        max_samples, samplerate_hz, progress, registry: as for `decode_file`.
    Raises:
        InputError: the source, a spec or the place cannot be used, or there is nothing to export
            in that format. Nothing is left behind then.
    """
    path, place = Path(source), Path(output)
    if form not in FORMATS:
        raise InputError(f"there is no format {form!r}; there is: {', '.join(FORMATS)}")
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder")
    several = FORMATS[form].several
    # Before the work; with several tables `place` itself may be no file of theirs.
    check_output(place, path, force=force or several)
    material = _material(path, specs, max_samples, samplerate_hz, progress, registry)
    module, _, function = FORMATS[form].writer.partition(":")
    write = getattr(import_module(f"freezeframe.gui.export.{module}"), function)
    places = [place]
    if several:
        from freezeframe.gui.export.tables import file_names

        places = file_names(place, material)
        for each in places:
            check_output(each, path, force=force)
    with new_files(places, force=force) as temporary:
        wrote = write(material, temporary if several else temporary[0])
    return Exported(tuple(places), wrote)


def _material(
    path: Path,
    specs: Sequence[str],
    max_samples: int | None,
    samplerate_hz: int | None,
    progress: Callable[[int, int], None] | None,
    registry: Registry | None,
) -> Material:
    from freezeframe.decoders.registry import load_decoders
    from freezeframe.decoders.run import decode_file

    if not specs and not path.is_dir():
        return Material(path, edges=lambda: _edges(path, max_samples, samplerate_hz, progress))
    known = registry or load_decoders()
    tables = decode_file(
        path,
        specs or ["trace"],
        max_samples=max_samples,
        samplerate_hz=samplerate_hz,
        progress=progress,
        registry=known,
    )

    def texts(name: str) -> Callable[[dict[str, Any]], str]:
        # The name of a table is that of its stack, with a kind and a number: a+b.kind#2.
        top = name.partition("#")[0].rpartition("+")[2].partition(".")[0]
        return _texts(known.find(top))

    return Material(path, tables=tables, texts=texts)


def _texts(decoder: Decoder) -> Callable[[dict[str, Any]], str]:
    own = decoder.texts
    if own is None:
        return lambda row: str(row["kind"])
    return lambda row: own(row).normal


def _edges(
    path: Path,
    max_samples: int | None,
    samplerate_hz: int | None,
    progress: Callable[[int, int], None] | None,
) -> Iterator[Edges]:
    from freezeframe.capture.files.sigrok_sr import DEFAULT_MAX_SAMPLES, read_edges

    return read_edges(
        path,
        samplerate_hz=samplerate_hz,
        max_samples=max_samples or DEFAULT_MAX_SAMPLES,
        progress=progress,
    )
