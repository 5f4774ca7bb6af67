"""A capture as the user wants it read: format, thresholds, other channel names, and a cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.beside import beside
from freezeframe.capture.files.cut import cut
from freezeframe.capture.files.edges import PLANE_CHANNELS, Edges
from freezeframe.capture.files.open import read_edges, read_header, read_samples, renamed
from freezeframe.capture.files.samples import Samples
from freezeframe.capture.files.settings import parse_format
from freezeframe.capture.files.source import CaptureHeader, ReadSettings, listed
from freezeframe.capture.files.threshold import parse_threshold


@dataclass(frozen=True, slots=True)
class OpenSource:
    """A capture that can be read: ``header`` has the names as the user gave them."""

    header: CaptureHeader
    _path: Path
    _format: str | None
    _settings: ReadSettings
    _meant: Mapping[str, str]
    _cut_ps: tuple[int, int | None] | None

    def read(self, probes: Sequence[str]) -> Iterator[Edges]:
        """Yield these channels as edges, in pieces that follow each other; at least one.

        More than 64 channels are two readings of the file beside each other.

        Raises:
            InputError: as `open.read_edges`, or there are more than 128.
        """
        if len(probes) > PLANE_CHANNELS:
            if len(probes) > 2 * PLANE_CHANNELS:
                raise InputError(
                    f"{self._path}: {len(probes)} channels; at most {2 * PLANE_CHANNELS} at once, "
                    "name the ones that are needed"
                )
            low, high = probes[:PLANE_CHANNELS], probes[PLANE_CHANNELS:]
            yield from beside(self.read(low), self.read(high))
            return
        channels = [self._meant.get(name, name) for name in probes]
        pieces = read_edges(self._path, channels, self._settings, self._format)
        if self._cut_ps is not None:
            pieces = cut(pieces, *self._cut_ps)
        for piece in pieces:
            # The names that the user gave are of single channels, so a bus may lose its bits.
            buses = tuple(bus for bus in piece.buses if set(bus.channels) <= set(probes))
            yield replace(piece, channels=tuple(probes), buses=buses)

    def read_samples(self, probes: Sequence[str]) -> Iterator[Samples | Edges] | None:
        """Yield these channels as samples; None where the file, or what is wanted of it, has none.

        Pieces with fewer changes than the settings say may come as edges.

        Raises:
            InputError: as `open.read_samples`.
        """
        if self._cut_ps is not None or len(probes) > PLANE_CHANNELS:
            return None
        channels = [self._meant.get(name, name) for name in probes]
        pieces = read_samples(self._path, channels, self._settings, self._format)
        if pieces is None:
            return None
        return (replace(piece, channels=tuple(probes)) for piece in pieces)


@dataclass(frozen=True, slots=True)
class SourceChoice:
    """What the user says: ``--format``, ``--channel`` and ``--threshold`` as text; a cut in ps."""

    format: str | None = None
    channels: Sequence[str] = ()
    thresholds: Sequence[str] = ()
    cut_ps: tuple[int, int | None] | None = None
    note: Callable[[str], None] | None = field(default=None, compare=False)

    def say(self, line: str) -> None:
        if self.note is not None:
            self.note(line)

    def open(self, path: Path, settings: ReadSettings) -> OpenSource:
        """Read the header of the capture.

        Raises:
            InputError: it cannot be read, or a wish cannot be fulfilled.
        """
        format, layout = parse_format(self.format) if self.format is not None else (None, {})
        thresholds = {}
        for text in self.thresholds:
            name, threshold = parse_threshold(text)
            if name in thresholds:
                raise InputError(f"threshold {text!r}: a second one for {name or 'all channels'}")
            thresholds[name] = threshold
        # What stands in the settings already was said later than this choice was made.
        volts = {**thresholds, **settings.thresholds}
        settings = replace(settings, layout=layout, thresholds=volts, note=self.note)
        header = read_header(path, settings, format)
        for name in thresholds:
            own = header.channel_of(name)
            if name and own not in header.channels:
                raise InputError(
                    f"threshold for {name}: no such channel; there is {listed(header.channels)}"
                )
            if own not in header.analog if name else not header.analog:
                what = f"{name} is not analog" if name else "no channel in it is analog"
                raise InputError(
                    f"{path}: {what}, so there is nothing for --threshold to do; leave it out"
                )
        for line in header.understood:
            self.say(f"{path}: {line}")
        if header.samplerate_hz is None and header.format != "folder":  # its files say it
            self.say(
                f"{path}: there is no sample rate: times are numbers of samples; --samplerate gives "
                "them a unit"
            )
        header, meant = renamed(header, self.channels)
        return OpenSource(header, path, format, settings, meant, self.cut_ps)
