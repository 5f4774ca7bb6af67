"""Import captures: copied as they are into a capture folder, with the recipe of how they are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from freezeframe.capture.durable import check_place
from freezeframe.capture.errors import InputError
from freezeframe.capture.files.as_given import named_as_given
from freezeframe.capture.files.cut import cut
from freezeframe.capture.files.edge_table import write_edge_table
from freezeframe.capture.files.edges import PLANE_CHANNELS, Edges, join
from freezeframe.capture.files.merge import MOST_EDGES, Alignment, estimate
from freezeframe.capture.files.saleae import channel_files
from freezeframe.capture.files.sample_folder import recipe_of
from freezeframe.capture.files.source import CaptureHeader, ReadSettings, listed
from freezeframe.capture.files.waveform import is_waveform
from freezeframe.capture.folder.manifest import MANIFEST
from freezeframe.capture.folder.samples import (
    SampleFolder,
    SampleSource,
    is_sample_folder,
    write_samples,
)
from freezeframe.capture.targets.given_as_file import missing


@dataclass(frozen=True, slots=True)
class Imported:
    """What stands in the folder: header, end, edges, and where the further files lie."""

    header: CaptureHeader
    end_sample: int
    edges: int
    placements: tuple[Alignment, ...]


def import_captures(
    files: Sequence[SampleSource],
    place: Path,
    *,
    cut_ps: tuple[int, int | None] | None = None,
    origin: Mapping[str, Any] | None = None,
    settings: ReadSettings | None = None,
    overwrite: bool = False,
) -> Imported:
    """Write a capture folder of samples; every file is read once to its end, so it is whole.

    Args:
        files: where they are now; a further one is laid over the first: ``placement`` as given, or found from the
            signal ``shared``, ``NAME`` in both or ``NAME=OTHER``.
        cut_ps: the stretch that reading the folder gives, in picoseconds of the first file.
        origin: where the samples come from, if not only from files; for the manifest.
        settings: limit of samples, progress and notes.
    Raises:
        InputError: the place is taken, a file cannot be read, or the files do not fit together;
            nothing is left there then.
    """
    settings = settings or ReadSettings()
    check_place(place, overwrite, MANIFEST)
    stored = [_stored(Path(file.path), number) for number, file in enumerate(files, start=1)]
    sources: list[SampleSource] = []
    for number, file in enumerate(files):
        placement = _placement(files[0], file, settings) if number else None
        shared = file.shared if placement is not None and placement.shared else ""
        sources.append(replace(file, placement=placement, shared=shared))
    header = recipe_of(Path(), sources, settings).header
    counted = _Counted()

    def write_table(folder: Path, table: Path) -> None:
        # From the copy, so that what is checked is what stands there afterwards.
        copy = SampleFolder.open(folder)
        given = {str(folder / inside): f.path for f, (inside, _) in zip(files, stored, strict=True)}
        with named_as_given(given, settings) as named:
            pieces = recipe_of(folder, copy.sources, named).read(header.channels)
            pieces = pieces if cut_ps is None else cut(pieces, *cut_ps)
            write_edge_table(counted.passing(pieces), table, source=place.stem, digest=copy.digest)

    tabled = 1 <= len(header.channels) <= PLANE_CHANNELS
    if not tabled:
        settings.say(_no_table(place, header))
    write_samples(
        place,
        [
            (replace(source, path=inside), parts)
            for source, (inside, parts) in zip(sources, stored, strict=True)
        ],
        origin={
            "kind": "import",
            "files": [Path(file.path).name for file in files],
            **(origin or {}),
        },
        about={
            "channels": list(header.channels),
            "buses": {bus.name: list(bus.channels) for bus in header.buses},
            "samplerate_hz": header.samplerate_hz,
        },
        cut_ps=cut_ps,
        tables=write_table if tabled else None,
        overwrite=overwrite,
    )
    placements = tuple(source.placement for source in sources if source.placement is not None)
    return Imported(header, counted.end_sample, counted.edges, placements)


class _Counted:
    """How much has passed on its way into the table."""

    def __init__(self) -> None:
        self.edges = 0
        self.end_sample = 0

    def passing(self, pieces: Iterable[Edges]) -> Iterator[Edges]:
        for piece in pieces:
            self.edges += len(piece)
            self.end_sample = piece.end_sample
            yield piece


def _placement(first: SampleSource, file: SampleSource, settings: ReadSettings) -> Alignment:
    """Return where a further file lies, as given or as estimated.

    Raises:
        InputError: neither is said, or the estimate is refused.
    """
    if file.placement is not None:
        return file.placement
    if not file.shared:
        raise InputError(
            f"{file.path}: where does it lie on the time base of {first.path}? Say --align CHANNEL "
            "for a signal that both have seen, or --offset TIME"
        )
    one, _, other = file.shared.partition("=")
    quiet = replace(settings, progress=None, note=None)
    return estimate(
        _first_changes(first, one, quiet), _first_changes(file, other or one, quiet), one, other
    )


def _first_changes(file: SampleSource, channel: str, settings: ReadSettings) -> Edges:
    """Return as much of one channel as an estimate looks at."""
    recipe = recipe_of(Path(), [replace(file, placement=None, shared="")], settings)
    if channel not in recipe.header.channels:
        raise InputError(
            f"{file.path}: no channel {channel} to align by; there is "
            f"{listed(recipe.header.channels)}"
        )
    held: list[Edges] = []
    for piece in recipe.read([channel]):
        held.append(piece)
        if sum(map(len, held)) > MOST_EDGES:
            break
    return join(held)


def _stored(path: Path, number: int) -> tuple[str, dict[str, Path]]:
    """Return the place of a file inside the folder, and its files there with their origins.

    Raises:
        InputError: it is not there, or is a folder that is no capture.
    """
    if not path.exists():
        raise InputError(missing(path))
    inside = f"raw/{number}/{path.name}"
    if not path.is_dir():
        return inside, {inside: path}
    if is_sample_folder(path):
        # Tables are made again from what is copied; of a folder inside it they are in raw/ too.
        inner = (file for file in path.rglob("*") if file.is_file())
        files = [file for file in inner if "tables" not in file.relative_to(path).parts]
    elif is_waveform(path):
        files = [file for file in path.iterdir() if file.is_file()]
    else:
        files = list(channel_files(path).values())
    if not files:
        raise InputError(f"{path}: is a folder, but no capture of samples")
    return inside, {f"{inside}/{file.relative_to(path).as_posix()}": file for file in sorted(files)}


def _no_table(place: Path, header: CaptureHeader) -> str:
    if header.channels:
        return (
            f"{place}: {len(header.channels)} channels; a table of edges has at most "
            f"{PLANE_CHANNELS}, so there is none and the samples were not gone through"
        )
    why = "; ".join(f"{name}: {reason}" for name, reason in list(header.refused.items())[:3])
    return f"{place}: stored, but no channel can be read yet. {why}"
