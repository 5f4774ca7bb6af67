"""Read sigrok session files (``.sr``) as samples or edges, in memory that does not depend on their length.

A zip archive with ``version``, an INI ``metadata`` and the samples as one ``logic-1`` (old) or
chunks ``logic-1-1`` .. ``logic-1-N`` (new): ``unitsize`` bytes a sample, little-endian, bit i =
``probe(i+1)``.

Source: sigrok wiki, File format:Sigrok/v2, and captures written since 0.1.0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
from freezeframe.capture.errors import CaptureFormatError, CaptureVersionError, InputError
from freezeframe.capture.files._zip_members import ZipMembers
from freezeframe.capture.files.edges import MAX_SAMPLERATE_HZ, EdgeReducer, Edges
from freezeframe.capture.files.head_start import FEW_CHANGES, begun
from freezeframe.capture.files.samples import Samples, edges_of
from freezeframe.capture.files.units import UnitReader

__all__ = [
    "DEFAULT_MAX_SAMPLES",
    "SrHeader",
    "parse_samplerate",
    "read_edges",
    "read_header",
    "read_pieces",
    "read_samples",
]

DEFAULT_MAX_SAMPLES = 1 << 32
_VERSIONS = ("1", "2")
_METADATA_LIMIT_B = 1 << 20
_MAX_UNITSIZE_B = 8
_PIECE_B = 1 << 22  # 64 MiB of edges when every byte is a sample and every sample an edge
_FewEdges = tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64], int]
_PREFIXES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


@dataclass(frozen=True, slots=True)
class SrHeader:
    """What a session file says of itself.

    ``channels[i]`` is bit ``bits[i]`` of a sample; probes without a name were not captured and are
    left out. ``samplerate_hz`` is None where the file has none. ``members`` hold the samples, in
    order; ``declared_samples`` is what their sizes promise. ``analog`` are the channels that are
    voltages, with the members that hold them.
    """

    version: str
    samplerate_hz: int | None
    unitsize_B: int
    channels: tuple[str, ...]
    bits: tuple[int, ...]
    members: tuple[str, ...]
    declared_samples: int
    analog: Mapping[str, tuple[str, ...]]


def read_header(path: str | Path) -> SrHeader:
    """Return what the session file says of itself, without reading a sample.

    Raises:
        InputError: the file cannot be read.
        CaptureFormatError: it is not a session file, or contradicts itself; the message says where.
        CaptureVersionError: its version is not 1 or 2.
    """
    with ZipMembers(path) as members:
        return _header(members)


def read_edges(
    path: str | Path,
    *,
    probes: Sequence[str] | None = None,
    samplerate_hz: int | None = None,
    max_samples: int = DEFAULT_MAX_SAMPLES,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Edges]:
    """Yield the capture as edges, in pieces that follow each other; at least one.

    Fewer probes give fewer edges. Takes and raises what `read_samples` does.
    """
    return edges_of(
        read_samples(
            path,
            probes=probes,
            samplerate_hz=samplerate_hz,
            max_samples=max_samples,
            progress=progress,
        )
    )


def read_samples(
    path: str | Path,
    *,
    probes: Sequence[str] | None = None,
    samplerate_hz: int | None = None,
    max_samples: int = DEFAULT_MAX_SAMPLES,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Samples]:
    """Yield the capture as samples, in pieces that follow each other; at least one.

    Args:
        probes: the channels to keep, by name; by default all.
        samplerate_hz: used instead of the file's.
        max_samples: more samples than this are refused, before and while they are unpacked.
        progress: called with samples done and samples promised.
    Raises:
        InputError: the file cannot be read, or holds more than ``max_samples``.
        CaptureFormatError: it is damaged, contradicts itself or has no sample; for the samples
            this comes when they are reached, so take no result before the last piece.
        ValueError: a probe is not in the file.
    """
    pieces = read_pieces(
        path,
        probes=probes,
        samplerate_hz=samplerate_hz,
        max_samples=max_samples,
        progress=progress,
        few_changes=0,
    )
    return (piece for piece in pieces if isinstance(piece, Samples))


def read_pieces(
    path: str | Path,
    *,
    probes: Sequence[str] | None,
    samplerate_hz: int | None,
    max_samples: int,
    progress: Callable[[int, int], None] | None,
    few_changes: int,
) -> Iterator[Samples | Edges]:
    """Yield the capture as `read_samples` does, but pieces with fewer changes as edges.

    They are made on the threads that unpack, the first sample of a piece being one. Where a unit
    has 3, 5, 6 or 7 B all are samples.
    """
    with ZipMembers(path) as members:
        header = _header(members)
        rate_hz = samplerate_hz or header.samplerate_hz
        if rate_hz is None:
            raise CaptureFormatError(
                f"{path}: metadata: there is no sample rate; give it with --samplerate, "
                "for example --samplerate 12MHz"
            )
        _check_max(path, header.declared_samples, max_samples)
        channels = tuple(probes) if probes is not None else header.channels
        missing = [name for name in channels if name not in header.channels]
        if missing:
            raise ValueError(f"no channel {missing[0]}; there is {', '.join(header.channels)}")
        bits = tuple(header.bits[header.channels.index(name)] for name in channels)
        units = UnitReader(header.unitsize_B)
        reduced = _Reduced(header.unitsize_B, bits, few_changes)
        done = 0
        for data, edges in _stream(members, header.members, reduced, few_changes):
            if edges is not None and not units.rest_B:
                parts: Iterable[Samples | Edges] = (
                    Edges(edges[0] + done, edges[1], channels, rate_hz, done, done + edges[2]),
                )
            else:
                parts = _samples(units, data, channels, bits, rate_hz, done)
            for part in parts:
                done = part.end_sample
                _check_max(path, done, max_samples)
                if progress is not None:
                    progress(done, header.declared_samples)
                yield part
        if units.rest_B:
            raise CaptureFormatError(
                f"{path}: the samples end with {units.rest_B} B of a sample of "
                f"{header.unitsize_B} B: unitsize is wrong, or the last chunk is cut"
            )
        if not done:
            raise CaptureFormatError(f"{path}: there is no sample in it; capture again")


def _stream(
    members: ZipMembers, names: Sequence[str], reduced: _Reduced, few_changes: int
) -> Iterator[tuple[bytes, _FewEdges | None]]:
    """Yield what is made of each piece; a process may have begun with the first ones, and helps."""
    done = 0
    ahead = begun(members.path) if few_changes >= FEW_CHANGES else None
    if ahead is not None:
        for pieces in ahead.members(
            len(names),
            lambda number: list(map(reduced, members.stream_whole(names[number]))),
            lambda pieces: [reduced.changed(*piece) for piece in pieces],
        ):
            yield from pieces
            done += 1
    yield from members.stream_of(names[done:], reduced)


class _Reduced:
    """What the threads that unpack make of a piece: it as it is, and its edges if they are few."""

    def __init__(self, unitsize_B: int, bits: Sequence[int], few_changes: int) -> None:
        # A unit of 3, 5, 6 or 7 B is no machine word, and may be cut anywhere.
        self._kind = np.dtype(f"<u{unitsize_B}") if unitsize_B in (1, 2, 4, 8) else None
        self._reducer = EdgeReducer(unitsize_B, bits) if bits else None
        self._few_changes = few_changes

    def __call__(self, data: bytes) -> tuple[bytes, _FewEdges | None]:
        """Return the bytes; and indices, values and number of samples where their edges are few."""
        if self._kind is None or self._reducer is None or not self._few_changes:
            return data, None
        if len(data) % self._kind.itemsize:
            return data, None
        samples = np.frombuffer(data, dtype=self._kind)
        edges = self._reducer.few(samples, self._few_changes)
        if edges is None:
            return data, None
        # Of wider units it is known only later whether the piece begins with a whole one.
        return data if self._kind.itemsize > 1 else b"", (*edges, len(samples))

    def changed(
        self, at: npt.NDArray[np.int64], value: npt.NDArray[np.unsignedinteger], samples: int
    ) -> tuple[bytes, _FewEdges | None]:
        """Return the same of a piece whose changes in any bit are known: those of the chosen bits."""
        if self._reducer is None:
            raise ValueError("no channel is chosen")
        return b"", (*self._reducer.chosen(at, value), samples)


def _samples(
    units: UnitReader,
    data: bytes,
    channels: tuple[str, ...],
    bits: tuple[int, ...],
    rate_hz: int,
    begin: int,
) -> Iterator[Samples]:
    whole = memoryview(data)
    for at in range(0, len(whole), _PIECE_B):
        samples = units.units(whole[at : at + _PIECE_B])
        if len(samples):
            yield Samples(samples, channels, bits, rate_hz, begin)
            begin += len(samples)


def parse_samplerate(text: str) -> int:
    """Return a sample rate in Hz from text such as ``12 MHz``, ``500kHz``, ``2.5 GHz``, ``1000``.

    Raises:
        InputError: it is not a number with such a unit, not a whole number of Hz, or not 1 Hz..1
            THz.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kKmMgGtT]?)\s*(?:[hH][zZ])?\s*", text)
    if not match:
        raise InputError(
            f"sample rate {text!r}: not a number with Hz, kHz, MHz or GHz; without one it is Hz"
        )
    rate_hz = Fraction(match[1]) * _PREFIXES[match[2].lower()]
    if rate_hz.denominator != 1:
        raise InputError(f"sample rate {text!r}: not a whole number of Hz")
    if not 1 <= rate_hz <= MAX_SAMPLERATE_HZ:
        raise InputError(f"sample rate {text!r}: 1 Hz to 1 THz are possible")
    return int(rate_hz)


def _header(members: ZipMembers) -> SrHeader:
    path = members.path
    for needed in ("version", "metadata"):
        if needed not in members.names:
            raise CaptureFormatError(
                f"{path}: a zip archive without {needed}; not a sigrok session file (.sr)"
            )
    version = members.read_small("version", 64).decode("utf-8", "replace").strip()
    if version not in _VERSIONS:
        raise CaptureVersionError(
            f"{path}: session file version {version!r}; {' and '.join(_VERSIONS)} are read"
        )
    metadata = members.read_small("metadata", _METADATA_LIMIT_B)
    values = _device(path, metadata.decode("utf-8-sig", "replace"))
    logic = "capturefile" in values
    unitsize_B = _number(path, values, "unitsize") if logic else 1
    if not 1 <= unitsize_B <= _MAX_UNITSIZE_B:
        raise CaptureFormatError(
            f"{path}: metadata: unitsize {unitsize_B}; 1 to {_MAX_UNITSIZE_B} B a sample are read"
        )
    channels, bits = _probes(path, values, unitsize_B) if logic else ((), ())
    rate = values.get("samplerate", "")
    chunks = _chunks(members, values["capturefile"]) if logic else ()
    declared_B = sum(members.declared_B(name) for name in chunks)
    try:
        # sigrok writes 0 for a device that does not know its rate.
        samplerate_hz = parse_samplerate(rate) if rate.strip(" 0Hz") else None
    except InputError as error:
        raise CaptureFormatError(f"{path}: metadata: {error}; give --samplerate") from None
    analog = _analog(members, values)
    twice = sorted(set(analog) & set(channels))
    if twice:
        raise CaptureFormatError(
            f"{path}: metadata: a logic and an analog channel are named {twice[0]!r}; "
            "give each its own name"
        )
    return SrHeader(
        version=version,
        samplerate_hz=samplerate_hz,
        unitsize_B=unitsize_B,
        channels=channels,
        bits=bits,
        members=chunks,
        declared_samples=declared_B // unitsize_B,
        analog=analog,
    )


def _device(path: Path, text: str) -> dict[str, str]:
    """Return the keys of the one device with a capture file.

    Not configparser: the indented lines that old files have would become part of the line before.
    """
    devices: list[dict[str, str]] = []
    current: dict[str, str] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        plain = line.strip()
        if not plain or plain[0] in "#;":
            continue
        if plain[0] == "[":
            current = None
            if plain.lower().startswith("[device"):
                current = {}
                devices.append(current)
            continue
        key, equals, value = plain.partition("=")
        if not equals:
            raise CaptureFormatError(
                f"{path}: metadata line {number}: {plain[:60]!r} is neither key=value nor [section]"
            )
        if current is not None:
            name = key.strip().lower()
            if name in current:
                raise CaptureFormatError(f"{path}: metadata line {number}: {name} stands twice")
            current[name] = value.strip()
    logic = [device for device in devices if "capturefile" in device]
    if len(logic) > 1:
        raise CaptureFormatError(
            f"{path}: metadata: {len(logic)} devices with logic samples; files with one are read"
        )
    # A device with analog channels only has no capturefile.
    sampled = logic or [d for d in devices if any(re.fullmatch(r"analog\d+", key) for key in d)]
    if not sampled:
        raise CaptureFormatError(
            f"{path}: metadata: no device with a capturefile or an analog channel; there are no "
            "samples in it"
        )
    return sampled[0]


def _number(path: Path, values: dict[str, str], key: str) -> int:
    text = values.get(key, "")
    if not re.fullmatch(r"\d{1,9}", text):
        raise CaptureFormatError(f"{path}: metadata: {key} is {text!r}, not a number")
    return int(text)


def _probes(
    path: Path, values: dict[str, str], unitsize_B: int
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    room = 8 * unitsize_B
    keys = sorted((key for key in values if re.fullmatch(r"probe\d+", key)), key=_index)
    total = _number(path, values, "total probes") if "total probes" in values else len(keys)
    numbers = [_index(key) for key in keys]
    highest = max(numbers, default=0)
    if max(total, highest) > room:
        raise CaptureFormatError(
            f"{path}: metadata: {max(total, highest)} probes do not fit the {room} bits of "
            f"unitsize {unitsize_B}"
        )
    if 0 in numbers or len(set(numbers)) < len(numbers):
        raise CaptureFormatError(f"{path}: metadata: probes are numbered from 1, each once")
    if not keys:
        if not total:
            raise CaptureFormatError(f"{path}: metadata: there is no probe")
        # Nothing is named: sigrok shows such probes under their numbers from 0.
        return tuple(str(bit) for bit in range(total)), tuple(range(total))
    names = [values[key] for key in keys]
    for key, name in zip(keys, names, strict=True):
        if not name:
            raise CaptureFormatError(f"{path}: metadata: {key} has no name")
        if names.count(name) > 1:
            raise CaptureFormatError(
                f"{path}: metadata: {names.count(name)} probes are named {name!r}; "
                "give each its own name"
            )
    return tuple(names), tuple(number - 1 for number in numbers)


def _analog(members: ZipMembers, values: dict[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the analog channels with their chunks in order; none where it was not captured."""
    found: dict[str, tuple[str, ...]] = {}
    for key in sorted((k for k in values if re.fullmatch(r"analog\d{1,9}", k)), key=_index):
        name = values[key]
        if not name or name in found:
            raise CaptureFormatError(
                f"{members.path}: metadata: {key} is named {name!r}; give each channel its own name"
            )
        device = values.get("capturefile", "logic-1").rpartition("-")[2]
        stem = f"analog-{device}-{_index(key)}"
        there = any(each.startswith(f"{stem}-") for each in members.names)
        found[name] = _chunks(members, stem) if there else ()
    return found


def _chunks(members: ZipMembers, capturefile: str) -> tuple[str, ...]:
    chunk = re.compile(re.escape(capturefile) + r"-(\d{1,9})")
    numbered = {int(match[1]): name for name in members.names if (match := chunk.fullmatch(name))}
    found = sum(1 for name in members.names if chunk.fullmatch(name))
    if capturefile in members.names:
        if numbered:
            raise CaptureFormatError(
                f"{members.path}: holds both {capturefile} and {capturefile}-{min(numbered)}; "
                "which of them has the samples cannot be known"
            )
        return (capturefile,)
    if not numbered:
        raise CaptureFormatError(
            f"{members.path}: neither {capturefile} nor {capturefile}-1 is in it; "
            "the samples are missing"
        )
    for number in range(1, len(numbered) + 1):
        if number not in numbered:
            raise CaptureFormatError(
                f"{members.path}: {capturefile}-{number} is missing, but "
                f"{capturefile}-{max(numbered)} is there; samples would be lost"
            )
    if found > len(numbered):
        raise CaptureFormatError(f"{members.path}: two chunks of {capturefile} have one number")
    return tuple(numbered[number] for number in sorted(numbered))


def _index(key: str) -> int:
    return int(re.sub(r"\D", "", key))


def _check_max(path: str | Path, samples: int, max_samples: int) -> None:
    if samples > max_samples:
        raise InputError(
            f"{path}: holds at least {samples} samples, more than the {max_samples} allowed; "
            f"if that is right, say --max-samples {samples}"
        )
