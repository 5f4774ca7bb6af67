"""Open a capture of any format: recognised by what is in the file, then by its name, or as the user says.

Raw binary has no mark of its own and is read only when the format is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Protocol, runtime_checkable

from freezeframe.capture.code import code
from freezeframe.capture.errors import InputError
from freezeframe.capture.files.as_given import named_as_given
from freezeframe.capture.files.bytes_of import first_bytes, refuse_empty
from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.foreign import foreign
from freezeframe.capture.files.fst_sections import HEADER_MARK, PACKED_MARK
from freezeframe.capture.files.marks import GHW_MARK, SALEAE_MARK, WAV_MARK, ZIP_MARK
from freezeframe.capture.files.packed import is_packed, unpacked
from freezeframe.capture.files.samples import Samples
from freezeframe.capture.files.source import NO_SETTINGS, CaptureHeader, ReadSettings, listed
from freezeframe.capture.packets.recognise import is_packets

FORMATS: Mapping[str, str] = {
    "sr": "sigrok session (.sr)",
    "vcd": "value change dump (.vcd)",
    "fst": "fast signal trace (.fst)",
    "ghw": "GHDL waveform (.ghw)",
    "csv": "table of samples, or of times and values (.csv)",
    "dsl": "capture of DSView (.dsl)",
    "isf": "Tektronix waveform (.isf)",
    "wav": "sound, or signals recorded as such (.wav)",
    "saleae": "Saleae Logic 2 binary export, a file or a folder (.bin)",
    "litescope": "LiteScope dump (.csv, .json)",
    "binary": "raw samples; needs channels=N,rate=HZ",
    "waveform": "waveforms as an instrument handed them over",
    "folder": "capture folder of samples (.ff), made by import or capture",
}
_place_of = code("freezeframe.capture.folder.one_file:place_of")
_HEAD_B = 1 << 12
_MODULES = {  # of the formats that are not read by the module of their name
    "sr": "sigrok_session",
    "ghw": "fst",
    "csv": "csv_table",
    "binary": "raw_binary",
    "folder": "sample_folder",
}
_FOLDERS: Mapping[str, Callable[[Path], object]] = {  # and what says whether a folder is of it
    "folder": code("freezeframe.capture.folder.samples:is_sample_folder"),
    "waveform": code("freezeframe.capture.files.waveform:is_waveform"),
    "saleae": code("freezeframe.capture.files.saleae:channel_files"),
}
_MARKS = {
    WAV_MARK: "wav",
    SALEAE_MARK: "saleae",
    GHW_MARK: "ghw",
    HEADER_MARK: "fst",
    PACKED_MARK: "fst",
}
_is_litescope: Callable[[Path], bool] = code("freezeframe.capture.files.litescope:is_dump")
_is_isf: Callable[[bytes], bool] = code("freezeframe.capture.files.isf:is_isf")
_is_dsl: Callable[[Path], bool] = code("freezeframe.capture.files.dsl:is_dsl")
_BY_NAME = {".sr": "sr", ".vcd": "vcd", ".fst": "fst", ".csv": "csv", ".tsv": "csv", ".isf": "isf"}


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


def _capture_place(path: str | Path) -> Path:
    """Return what is to be looked at: of the archive of a capture the folder in it."""
    return _place_of(path) if Path(path).suffix.lower() == ".zip" else Path(path)


def is_samples(path: str | Path) -> bool:
    """Return whether this is a file, or a folder that holds samples; not the recording of a card."""
    place = _capture_place(path)
    if not place.is_dir():
        return place.is_file()
    return any(recognises(place) for recognises in _FOLDERS.values())


def find_format(path: str | Path) -> str:
    """Return the name of the format of a file or folder.

    Raises:
        InputError: it cannot be read, or is of no format that is known.
    """
    place = _capture_place(path)
    if not place.is_dir() and is_packed(path):
        place = unpacked(path)
        with named_as_given({str(place): str(path)}, NO_SETTINGS):
            return find_format(place)
    if place.is_dir():
        for name, recognises in _FOLDERS.items():
            if recognises(place):
                return name
        raise InputError(f"{path}: a folder without digital_N.bin or analog_N.bin; no capture")
    head = first_bytes(path, _HEAD_B)
    if is_packets(path):
        raise InputError(
            f"{path}: holds packets, not samples; freezeframe decode {path} says what is in them"
        )
    by_name = _BY_NAME.get(place.suffix.lower())
    if head.startswith(ZIP_MARK):
        unread = foreign(path) if by_name is None else ""
        if not unread:
            return "dsl" if _is_dsl(place) else "sr"
        raise InputError(f"{path}: {unread}")
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            return name
    if head.lstrip().startswith(b"$"):
        return "vcd"
    if b"BYT_N" in head.upper() and _is_isf(head):
        return "isf"
    if b"\0" not in head and by_name in (None, "csv") and _is_litescope(place):
        return "litescope"
    if by_name is not None:
        return by_name
    if unread := foreign(path):
        raise InputError(f"{path}: {unread}")
    refuse_empty(place)
    begins = f"it begins with {head[:8].hex(' ')}" if head else "nothing can be read from it"
    raise InputError(
        f"{path}: no format is recognised ({begins}), of samples or of packets "
        f"(pcap, pcapng); say --format {', '.join(FORMATS)}, raw samples as --format binary:channels=8,rate=1000000"
    )


def read_header(
    path: str | Path, settings: ReadSettings = NO_SETTINGS, format: str | None = None
) -> CaptureHeader:
    """Return what a capture says of itself, without reading its values.

    Raises:
        InputError: it cannot be read, or the format is not known; also its subclasses
            CaptureFormatError and CaptureVersionError, where it is damaged.
    """
    with _plain(path, format, settings) as (place, told):
        return _reader(place, format).read_header(place, told)


def read_edges(
    path: str | Path,
    probes: Sequence[str] | None = None,
    settings: ReadSettings = NO_SETTINGS,
    format: str | None = None,
) -> Iterator[Edges]:
    """Yield a capture as edges, in pieces that follow each other; at least one.

    Raises:
        InputError: as `read_header`, or a channel cannot be read. Damage in the values is found
            when they are reached, so take no result before the last piece.
    """
    with _plain(path, format, settings) as (place, told):
        yield from _reader(place, format).read_edges(place, probes, told)


def read_samples(
    path: str | Path,
    probes: Sequence[str] | None = None,
    settings: ReadSettings = NO_SETTINGS,
    format: str | None = None,
) -> Iterator[Samples | Edges] | None:
    """Yield a capture as samples, as `read_edges` does; None where its format has none.

    Pieces with fewer changes than the settings say may come as edges.

    Raises:
        InputError: as `read_edges`.
    """
    with _plain(path, format, settings) as (place, told):
        reader = _reader(place, format)
        if not isinstance(reader, _SampledFormat):
            return None
        pieces = reader.read_samples(place, probes, told)
    return pieces if pieces is None or place == Path(path) else _named(pieces, path, place)


@contextmanager
def _plain(
    path: str | Path, format: str | None, settings: ReadSettings
) -> Iterator[tuple[str | Path, ReadSettings]]:
    """Give the file that is read, unpacked where it is packed; errors name the one that was given."""
    if Path(path).is_dir() or not is_packed(path, format):
        yield path, settings
        return
    place = unpacked(path, settings.progress)
    with named_as_given({str(place): str(path)}, settings) as told:
        yield place, told


def _named(
    pieces: Iterator[Samples | Edges], path: str | Path, place: str | Path
) -> Iterator[Samples | Edges]:
    with named_as_given({str(place): str(path)}, NO_SETTINGS):
        yield from pieces


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
        old = header.channel_of(old)
        if old in header.channels:
            channel_of = {new: old}
        elif old in buses:
            channel_of = {f"{new}{bit}": channel for bit, channel in enumerate(buses[old])}
        else:
            there = listed((*header.channels, *buses))
            raise InputError(f"--channel {text!r}: no channel or bus {old}; there is {there}")
        for name, channel in channel_of.items():
            if name in meant or (name in header.channels and name != channel):
                raise InputError(f"--channel {text!r}: {name} is the name of another channel")
            meant[name] = channel
    kept = [name for name in header.channels if name not in set(meant.values())]
    channels = (*meant, *kept)
    analog = tuple(name for name in channels if meant.get(name, name) in header.analog)
    aliases = {**header.aliases, **{old: new for new, old in meant.items()}}
    return replace(header, channels=channels, analog=analog, aliases=aliases), meant


def _reader(path: str | Path, format: str | None) -> _Format:
    name = find_format(path) if format is None else format
    if name not in FORMATS:
        raise InputError(f"--format {name}: not known; there is {', '.join(FORMATS)}")
    # Only the one: not every reader's library is needed.
    reader: _Format = import_module(f"freezeframe.capture.files.{_MODULES.get(name, name)}")
    return reader
