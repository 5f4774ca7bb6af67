"""Open a capture of any format: found by what is in the file, then by its name, or as told.

Raw binary has no mark of its own and is read only when the format is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.source import CaptureHeader, ReadSettings, check_probes, listed

if TYPE_CHECKING:
    from freezeframe.capture.files.samples import Samples

__all__ = [
    "FORMATS",
    "find_format",
    "is_samples",
    "read_edges",
    "read_header",
    "read_samples",
    "renamed",
]

FORMATS: Mapping[str, str] = {
    "sr": "sigrok session (.sr)",
    "vcd": "value change dump (.vcd)",
    "fst": "fast signal trace (.fst)",
    "ghw": "GHDL waveform (.ghw)",
    "csv": "table of samples, or of times and values (.csv)",
    "saleae": "Saleae Logic 2 binary export, a file or a folder (.bin)",
    "litescope": "LiteScope dump (.csv, .json)",
    "binary": "raw samples; needs channels=N,rate=HZ",
    "waveform": "waveforms as an instrument handed them over",
    "folder": "capture folder of samples (.ff), made by import or capture",
}
_HEAD_B = 1 << 12
_MODULES = {  # of the formats that are not read by the module of their name
    "ghw": "fst",
    "csv": "csv_table",
    "binary": "raw_binary",
    "folder": "sample_folder",
}
_BY_NAME = {".sr": "sr", ".vcd": "vcd", ".fst": "fst", ".csv": "csv", ".tsv": "csv"}


class _Format(Protocol):
    def read_header(self, path: str | Path, settings: ReadSettings) -> CaptureHeader: ...

    def read_edges(
        self, path: str | Path, probes: Sequence[str] | None, settings: ReadSettings
    ) -> Iterator[Edges]: ...


@runtime_checkable
class _SampledFormat(_Format, Protocol):
    """A format that holds samples, not changes."""

    def read_samples(
        self, path: str | Path, probes: Sequence[str] | None, settings: ReadSettings
    ) -> Iterator[Samples | Edges] | None: ...


def is_samples(path: str | Path) -> bool:
    """Return whether this is a file, or a folder that holds samples; not the recording of a card."""
    place = Path(path)
    if not place.is_dir():
        return place.is_file()
    from freezeframe.capture.files.saleae import channel_files
    from freezeframe.capture.files.waveform import is_waveform
    from freezeframe.capture.folder.samples import is_sample_folder

    return is_sample_folder(place) or is_waveform(place) or bool(channel_files(place))


def find_format(path: str | Path) -> str:
    """Return the name of the format of a file or folder.

    Raises:
        InputError: it cannot be read, or is of no format that is known.
    """
    place = Path(path)
    if place.is_dir():
        from freezeframe.capture.files import saleae
        from freezeframe.capture.files.waveform import is_waveform
        from freezeframe.capture.folder.samples import is_sample_folder

        if is_sample_folder(place):
            return "folder"
        if is_waveform(place):
            return "waveform"
        if saleae.channel_files(place):
            return "saleae"
        raise InputError(f"{path}: a folder without digital_N.bin or analog_N.bin; no capture")
    try:
        with place.open("rb") as file:
            head = file.read(_HEAD_B)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    by_name = _BY_NAME.get(place.suffix.lower())
    if head.startswith(b"PK\x03\x04"):
        return "sr"
    from freezeframe.capture.files import (
        fst_sections,
        ghw,
        litescope,
        saleae,
    )  # 20 ms that a session file need not wait

    if head.startswith(saleae.MAGIC):
        return "saleae"
    if head.startswith(ghw.MAGIC):
        return "ghw"
    if head.startswith(fst_sections.HEADER_MARK):
        return "fst"
    if head.lstrip().startswith(b"$"):
        return "vcd"
    if b"\0" not in head and by_name in (None, "csv") and litescope.is_dump(place):
        return "litescope"
    if by_name is not None:
        return by_name
    what = f"it begins with {head[:8].hex(' ')}" if head else "it is empty"
    raise InputError(
        f"{path}: no format is recognised ({what}); say --format {', '.join(FORMATS)}, raw samples "
        "as --format binary:channels=8,rate=1000000"
    )


def read_header(
    path: str | Path, settings: ReadSettings | None = None, format: str | None = None
) -> CaptureHeader:
    """Return what a capture says of itself, without reading its values.

    Raises:
        InputError: it cannot be read, or the format is not known; also its subclasses
            CaptureFormatError and CaptureVersionError, where it is damaged.
    """
    return _reader(path, format).read_header(path, settings or ReadSettings())


def read_edges(
    path: str | Path,
    probes: Sequence[str] | None = None,
    settings: ReadSettings | None = None,
    format: str | None = None,
) -> Iterator[Edges]:
    """Yield a capture as edges, in pieces that follow each other; at least one.

    Raises:
        InputError: as `read_header`, or a channel cannot be read. Damage in the values is found
            when they are reached, so take no result before the last piece.
    """
    return _reader(path, format).read_edges(path, probes, settings or ReadSettings())


def read_samples(
    path: str | Path,
    probes: Sequence[str] | None = None,
    settings: ReadSettings | None = None,
    format: str | None = None,
) -> Iterator[Samples | Edges] | None:
    """Yield a capture as samples, as `read_edges` does; None where its format has none.

    Pieces with fewer changes than the settings say may come as edges.

    Raises:
        InputError: as `read_edges`.
    """
    reader = _reader(path, format)
    if not isinstance(reader, _SampledFormat):
        return None
    return reader.read_samples(path, probes, settings or ReadSettings())


def renamed(header: CaptureHeader, names: Sequence[str]) -> tuple[CaptureHeader, dict[str, str]]:
    """Give channels other names, each ``NEW=CHANNEL`` or ``NEW=BUS`` for ``NEW0``, ``NEW1``...

    Returns:
        The header with the new names in front, and for each new name the channel that it is.
    Raises:
        InputError: one is not of that form, the channel is not there, or a name stands for two.
    """
    buses = {bus.name: bus.channels for bus in header.buses}
    meant: dict[str, str] = {}
    for text in names:
        new, equals, old = (part.strip() for part in text.partition("="))
        if not equals or not new or not old:
            raise InputError(f"--channel {text!r}: not NEW=CHANNEL")
        if old in header.channels:
            found = {new: old}
        elif old in buses:
            found = {f"{new}{bit}": channel for bit, channel in enumerate(buses[old])}
        else:
            there = listed((*header.channels, *buses))
            raise InputError(f"--channel {text!r}: no channel or bus {old}; there is {there}")
        for name, channel in found.items():
            if name in meant or (name in header.channels and name != channel):
                raise InputError(f"--channel {text!r}: {name} is the name of another channel")
            meant[name] = channel
    kept = [name for name in header.channels if name not in set(meant.values())]
    channels = (*meant, *kept)
    analog = tuple(name for name in channels if meant.get(name, name) in header.analog)
    return replace(header, channels=channels, analog=analog), meant


def _reader(path: str | Path, format: str | None) -> _Format:
    name = find_format(path) if format is None else format
    if name not in FORMATS:
        raise InputError(f"--format {name}: not known; there is {', '.join(FORMATS)}")
    if name == "sr":
        return _Session()
    # Only the one: all of them are a third of the start of a verb.
    reader: _Format = import_module(f"freezeframe.capture.files.{_MODULES.get(name, name)}")
    return reader


class _Session:
    """The reader of sigrok sessions, in the form of the others."""

    def read_header(self, path: str | Path, settings: ReadSettings) -> CaptureHeader:
        from freezeframe.capture.files import sigrok_sr

        header = sigrok_sr.read_header(path)
        volts = settings.thresholds
        analog = [n for n, parts in header.analog.items() if parts and (n in volts or "" in volts)]
        return CaptureHeader(
            "sr",
            (*header.channels, *analog),
            settings.samplerate_hz or header.samplerate_hz,
            refused={
                name: f"it is analog; give --threshold {name}=HIGH/LOW in volts"
                if parts
                else "it is analog, and there is no voltage of it"
                for name, parts in header.analog.items()
                if name not in analog
            },
            analog=tuple(analog),
        )

    def read_edges(
        self, path: str | Path, probes: Sequence[str] | None, settings: ReadSettings
    ) -> Iterator[Edges]:
        from freezeframe.capture.files.samples import Samples, edges_of

        pieces = self.read_samples(path, probes, replace(settings, few_changes=0))
        if pieces is None:
            return self._with_analog(path, probes, settings)
        return edges_of(piece for piece in pieces if isinstance(piece, Samples))

    def _with_analog(
        self, path: str | Path, probes: Sequence[str] | None, settings: ReadSettings
    ) -> Iterator[Edges]:
        """Yield logic and thresholded channels, each read for itself and laid over the others."""
        from freezeframe.capture.files import sigrok_analog, sigrok_sr
        from freezeframe.capture.files.merge import Alignment, merge

        whole = self.read_header(path, settings)
        chosen = check_probes(path, whole, probes)
        if whole.samplerate_hz is None:
            raise CaptureFormatError(
                f"{path}: metadata: there is no sample rate; give it with --samplerate, for "
                "example --samplerate 12MHz"
            )
        header = sigrok_sr.read_header(path)
        most = settings.max_samples or sigrok_sr.DEFAULT_MAX_SAMPLES
        logic = [name for name in chosen if name in header.channels]
        streams = [
            sigrok_analog.read_analog(path, header, name, whole.samplerate_hz, settings, most)
            for name in chosen
            if name in header.analog
        ]
        if logic:
            streams.insert(0, self.read_edges(path, logic, settings))
        merged = streams[0]
        for stream in streams[1:]:
            merged = merge(merged, stream, Alignment(0))
        for piece in merged:
            yield piece.select(chosen)

    def read_samples(
        self, path: str | Path, probes: Sequence[str] | None, settings: ReadSettings
    ) -> Iterator[Samples | Edges] | None:
        """Yield the logic samples; None where an analog channel is asked for."""
        from freezeframe.capture.files import sigrok_sr

        settings.only("sr", ())
        chosen = check_probes(path, self.read_header(path, settings), probes)
        if set(chosen) - set(sigrok_sr.read_header(path).channels):
            return None
        return sigrok_sr.read_pieces(
            path,
            probes=chosen,
            samplerate_hz=settings.samplerate_hz,
            max_samples=settings.max_samples or sigrok_sr.DEFAULT_MAX_SAMPLES,
            progress=settings.progress,
            few_changes=settings.few_changes,
        )
