"""Read a capture folder of samples as edges: its files, with the recipe of its manifest applied."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from freezeframe.capture.files.choice import OpenSource, SourceChoice
from freezeframe.capture.files.cut import cut
from freezeframe.capture.files.edge_table import read_edge_table
from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.merge import Alignment, merge, merged_names
from freezeframe.capture.files.source import (
    NO_SETTINGS,
    CaptureHeader,
    ReadSettings,
    check_probes,
    check_samples,
)
from freezeframe.capture.folder.samples import EDGES_TABLE, SampleFolder, SampleSource


class Recipe:
    """The sources of a folder, opened, the first being the time base.

    ``say`` is called with what of the others lies outside the first.
    """

    def __init__(
        self,
        sources: Sequence[tuple[OpenSource, Alignment | None]],
        say: Callable[[str], None] | None = None,
    ) -> None:
        self._sources = sources
        self._say = say
        headers = [opened.header for opened, _ in sources]
        names: list[str] = []
        self._names: list[dict[str, str]] = []  # of each source: name in the merged -> its own
        for number, header in enumerate(headers, start=1):
            mine = merged_names(names, header.channels, f"{number}.")
            self._names.append(dict(zip(mine, header.channels, strict=True)))
            names += mine
        self.header = CaptureHeader(
            "folder",
            tuple(names),
            headers[0].samplerate_hz,
            headers[0].buses,
            {name: why for header in headers for name, why in header.refused.items()},
            all(header.spans_time for header in headers),
            tuple(
                name
                for header, own in zip(headers, self._names, strict=True)
                for name in own
                if own[name] in header.analog
            ),
        )

    def read(self, probes: Sequence[str]) -> Iterator[Edges]:
        """Yield these channels as edges, in pieces that follow each other; at least one.

        Raises:
            InputError: as `open.read_edges` and `merge.merge`.
        """
        merged: Iterator[Edges] | None = None
        for (opened, placement), names in zip(self._sources, self._names, strict=True):
            mine = {name: own for name, own in names.items() if name in probes}
            if merged is None or placement is None:
                # The time base is needed even where none of its channels is.
                merged = opened.read(list(mine.values()) or opened.header.channels[:1])
            elif mine:
                merged = merge(
                    merged, _named(opened.read(list(mine.values())), mine), placement, self._say
                )
        if merged is None:
            raise ValueError("a recipe without a source")
        for piece in merged:
            yield piece.select(list(probes))


def recipe_of(
    folder: Path, sources: Sequence[SampleSource], settings: ReadSettings = NO_SETTINGS
) -> Recipe:
    """Open the sources of a folder.

    Args:
        settings: what the user says now; thresholds and rate are used instead of the recipe's.
    Raises:
        InputError: as `SourceChoice.open`.
    """
    opened = []
    for source in sources:
        choice = SourceChoice(
            source.format, source.channels, source.thresholds, None, settings.note
        )
        rate_hz = settings.samplerate_hz or source.samplerate_hz
        # Only one bar can be drawn, and the first file is the time base.
        progress = settings.progress if source.placement is None else None
        wished = replace(settings, samplerate_hz=rate_hz, layout={}, progress=progress)
        opened.append((choice.open(folder / source.path, wished), source.placement))
    return Recipe(opened, settings.say)


def read_header(path: str | Path, settings: ReadSettings = NO_SETTINGS) -> CaptureHeader:
    """Return the channels, buses and sample rate that reading the folder gives.

    Raises:
        InputError: a source cannot be read.
        CaptureFormatError: the folder was altered, or a file in it is missing or damaged.
    """
    folder = SampleFolder.open(path)
    return recipe_of(folder.path, folder.sources, settings).header


def read_edges(
    path: str | Path, probes: Sequence[str] | None = None, settings: ReadSettings = NO_SETTINGS
) -> Iterator[Edges]:
    """Yield the folder as edges, in pieces that follow each other; at least one.

    The evidence is checked first, every byte; where the table of edges is of this evidence, it is
    read instead.

    Raises:
        InputError: a source cannot be read, or holds more than ``max_samples``.
        CaptureFormatError: the folder was altered, or a file in it is damaged; the latter when the
            damage is reached, so take no result before the last piece.
    """
    settings.only("folder", ())
    folder = SampleFolder.open(path)
    folder.verify()
    recipe = recipe_of(folder.path, folder.sources, settings)
    chosen = check_probes(path, recipe.header, probes)
    if settings.samplerate_hz is None and not settings.thresholds:
        table = read_edge_table(folder.path / EDGES_TABLE, folder.digest, chosen)
        if table is not None:
            end_sample, made = table
            check_samples(path, end_sample, settings.max_samples)
            yield from made
            return
    pieces = recipe.read(chosen)
    yield from pieces if folder.cut_ps is None else cut(pieces, *folder.cut_ps)


def _named(pieces: Iterable[Edges], names: Iterable[str]) -> Iterator[Edges]:
    """Give the channels the names that they have in the folder, whichever others are read."""
    channels = tuple(names)
    for piece in pieces:
        yield replace(piece, channels=channels, buses=())
