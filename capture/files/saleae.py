"""Read the binary export of Saleae Logic 2 as edges: one file, or a folder with one a channel.

Digital files hold the times of the changes in seconds, analog files voltages at a fixed rate.
Version 0 has no sample rate: times are then rounded to picoseconds, unless a rate is given.

Source: Saleae support, Binary Export Format version 0, and Binary and CSV Export Formats (2025).
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from freezeframe.capture.errors import CaptureFormatError, CaptureVersionError, InputError
from freezeframe.capture.files.changes import BlockChanges, ChangeMerger, merge_blocks
from freezeframe.capture.files.edges import MAX_SAMPLERATE_HZ, PS_PER_S, Edges
from freezeframe.capture.files.levels import has_threshold, no_threshold, thresholder
from freezeframe.capture.files.marks import SALEAE_MARK
from freezeframe.capture.files.source import (
    NO_SETTINGS,
    CaptureHeader,
    ReadSettings,
    check_probes,
    check_samples,
)
from freezeframe.capture.files.threshold import Thresholder

_FILE = re.compile(r"(digital|analog)_(\d{1,4})\.bin")
_AT_ONCE = 1 << 16  # times or voltages of a file
_LAST_S = 9_000_000.0  # int64 picoseconds hold 106 days
_MAX_CHUNKS = 1 << 16
# By version and type: level, [rate,] begin, end, count; begin, [trigger,] rate, downsample, count.
_LAYOUTS = {(0, 0): "<IddQ", (1, 0): "<IdddQ", (0, 1): "<dQQQ", (1, 1): "<dddQQ"}


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A stretch without gap: where its numbers begin in the file, and what they mean."""

    at_B: int
    count: int
    begin_s: float
    end_s: float
    level: int  # before the first change; of digital files
    rate_hz: float  # 0 where the file has none
    spacing_s: float  # from voltage to voltage; of analog files


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    analog: bool
    chunks: tuple[_Chunk, ...]


def channel_files(path: str | Path) -> dict[str, Path]:
    """Return the files of an export by channel name, ``D0`` or ``A0``; empty if it is none.

    A file of another name than Logic gives it is the channel of its own name.
    """
    place = Path(path)
    if not place.is_dir():
        match = _FILE.fullmatch(place.name)
        return {f"{match[1][0].upper()}{int(match[2])}" if match else place.stem: place}
    files = {
        (match[1] == "analog", int(match[2])): file
        for file in place.iterdir()
        if (match := _FILE.fullmatch(file.name))
    }
    return {f"{'DA'[analog]}{number}": files[analog, number] for analog, number in sorted(files)}


def read_header(path: str | Path, settings: ReadSettings = NO_SETTINGS) -> CaptureHeader:
    """Return the channels and the sample rate; an analog channel needs a threshold.

    Raises:
        InputError: a file cannot be read.
        CaptureFormatError: a file is not of this format, or lies about its length.
        CaptureVersionError: it is of another version than 0 and 1.
    """
    return _header(_files(path), settings)


def read_edges(
    path: str | Path, probes: Sequence[str] | None = None, settings: ReadSettings = NO_SETTINGS
) -> Iterator[Edges]:
    """Yield the export as edges, in pieces that follow each other; at least one.

    Raises:
        InputError: a file cannot be read, holds more than ``max_samples``, or a channel cannot be
            read.
        CaptureFormatError: a file is damaged; where times are wrong this comes when they are
            reached, so take no result before the last piece.
    """
    settings.only("saleae", ())
    files = _files(path)
    header = _header(files, settings)
    chosen = check_probes(path, header, probes)
    rate_hz = header.samplerate_hz or PS_PER_S
    begin_s = min(files[name].chunks[0].begin_s for name in chosen)
    end = max(_sample(files[name].chunks[-1].end_s, begin_s, rate_hz) for name in chosen)
    check_samples(path, end, settings.max_samples)
    merger = ChangeMerger(chosen, rate_hz)
    sources = [
        _Changes(
            files[name],
            bit,
            begin_s,
            rate_hz,
            thresholder(name, settings) if files[name].analog else None,
            settings,
        )
        for bit, name in enumerate(chosen)
    ]
    yield from merge_blocks(sources, merger, end, settings.progress)


class _Changes(BlockChanges):
    """The changes of one channel, read in blocks."""

    def __init__(
        self,
        file: _File,
        bit: int,
        begin_s: float,
        rate_hz: int,
        thresholder: Thresholder | None,
        settings: ReadSettings,
    ) -> None:
        super().__init__(1 << bit)
        self._file = file
        self._bit = np.uint64(bit)
        self._begin_s = begin_s
        self._rate_hz = rate_hz
        self._thresholder = thresholder
        self._settings = settings
        self._chunk = 0
        self._done = -1  # numbers read of the chunk; -1 before its first value
        self._level = 0
        self._previous_s = 0.0

    @property
    def unread(self) -> bool:
        return self._chunk < len(self._file.chunks)

    def read_block(self) -> None:
        chunk = self._file.chunks[self._chunk]
        if self._done < 0:
            self._begin_chunk(chunk)
            return
        count = min(_AT_ONCE, chunk.count - self._done)
        if count:
            kind = "<f4" if self._file.analog else "<f8"
            at_B = chunk.at_B + self._done * np.dtype(kind).itemsize
            numbers = np.fromfile(self._file.path, kind, count, offset=at_B)
            if len(numbers) < count:
                raise CaptureFormatError(f"{self._file.path}: became shorter while it was read")
            if self._thresholder is not None:
                self._voltages(self._thresholder, chunk, numbers)
            else:
                self._times(chunk, numbers, at_B)
            self._done += count
        if self._done == chunk.count:
            self._chunk += 1
            self._done = -1

    def take(
        self, horizon: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        sample, mask, level = super().take(horizon)
        return sample, mask, level << self._bit

    def _begin_chunk(self, chunk: _Chunk) -> None:
        at = 0
        if self._chunk:
            at = _sample(chunk.begin_s, self._begin_s, self._rate_hz)
            gap_s = chunk.begin_s - self._file.chunks[self._chunk - 1].end_s
            self._settings.say(
                f"{self._file.path}: no data for {gap_s:.9f} s before {chunk.begin_s:.9f} s; the "
                "level before the gap is taken to last"
            )
        if self._thresholder is None:
            self._level = chunk.level
            self.sample = np.array([at], dtype=np.int64)
            self.value = np.array([chunk.level], dtype=np.uint64)
        self.newest = max(self.newest, at)
        self._done = 0

    def _times(self, chunk: _Chunk, time_s: npt.NDArray[np.float64], at_B: int) -> None:
        first = self._done == 0
        previous_s = chunk.begin_s if first else self._previous_s
        wrong = ~(np.diff(time_s, prepend=previous_s) >= 0) | ~(time_s <= chunk.end_s)
        if wrong.any():
            at = int(np.argmax(wrong))
            raise CaptureFormatError(
                f"{self._file.path}: byte {at_B + 8 * at:#x}: change at {time_s[at]} s, after one "
                f"at {time_s[at - 1] if at else previous_s} s and with the end at {chunk.end_s} s; "
                "the file is damaged, export it again"
            )
        self._previous_s = float(time_s[-1])
        self.sample = _samples(time_s - self._begin_s, self._rate_hz)
        flips = np.arange(1, len(time_s) + 1, dtype=np.uint64) & np.uint64(1)
        self.value = flips ^ np.uint64(self._level)
        self._level = int(self.value[-1])
        self.newest = int(self.sample[-1])

    def _voltages(
        self, thresholder: Thresholder, chunk: _Chunk, volts: npt.NDArray[np.float32]
    ) -> None:
        level = thresholder.feed(volts)
        index = np.arange(self._done, self._done + len(volts), dtype=np.float64)
        sample = _samples(chunk.begin_s - self._begin_s + index * chunk.spacing_s, self._rate_hz)
        keep = np.ones(len(level), dtype=np.bool_)
        keep[1:] = level[1:] != level[:-1]
        self.sample, self.value = sample[keep], level[keep]
        self.newest = int(sample[-1])


def _sample(time_s: float, begin_s: float, rate_hz: int) -> int:
    return int(_samples(np.array([time_s - begin_s]), rate_hz)[0])


def _samples(time_s: npt.NDArray[np.float64], rate_hz: int) -> npt.NDArray[np.int64]:
    return np.asarray(np.rint(time_s * rate_hz), dtype=np.int64)


def _files(path: str | Path) -> dict[str, _File]:
    names = channel_files(path)
    if not names:
        raise InputError(f"{path}: there is no digital_N.bin or analog_N.bin in the folder")
    return {name: _parsed(file) for name, file in names.items()}


def _header(files: dict[str, _File], settings: ReadSettings) -> CaptureHeader:
    channels = []
    refused = {}
    for name, file in files.items():
        if file.analog and not has_threshold(name, settings):
            refused[name] = no_threshold(name)
        else:
            channels.append(name)
    rates = {chunk.rate_hz for file in files.values() for chunk in file.chunks if not file.analog}
    rate = rates.pop() if len(rates) == 1 else 0.0
    known = rate.is_integer() and 1 <= rate <= MAX_SAMPLERATE_HZ
    return CaptureHeader(
        "saleae",
        tuple(channels),
        settings.samplerate_hz or (int(rate) if known else PS_PER_S),
        refused=refused,
        spans_time=True,
        analog=tuple(name for name in channels if files[name].analog),
    )


def _parsed(path: Path) -> _File:
    """Read all but the changes and voltages of a file, and check that these are there."""
    try:
        with path.open("rb") as file:
            length_B = file.seek(0, 2)
            file.seek(0)
            magic, version, kind = struct.unpack("<8sii", file.read(16).ljust(16, b"\0"))
            if magic != SALEAE_MARK:
                raise CaptureFormatError(
                    f"{path}: not a Saleae export (it begins with {magic.hex(' ')})"
                )
            if version not in (0, 1):
                raise CaptureVersionError(f"{path}: export version {version}; 0 and 1 are read")
            if kind not in (0, 1):
                raise CaptureFormatError(
                    f"{path}: type {kind}; 0 (digital) and 1 (analog) are read"
                )
            chunks = 1
            at_B = 16
            if version:
                (chunks,) = struct.unpack("<Q", file.read(8).ljust(8, b"\xff"))
                at_B = 24
                if not 1 <= chunks <= _MAX_CHUNKS:
                    raise CaptureFormatError(
                        f"{path}: byte 0x10: {chunks} chunks; 1 to {_MAX_CHUNKS} are read"
                    )
            found: list[_Chunk] = []
            for _ in range(chunks):
                file.seek(at_B)
                chunk = _chunk(path, at_B, file.read(48), (version, kind))
                size_B = 4 if kind else 8
                if chunk.count > (length_B - chunk.at_B) // size_B:
                    raise CaptureFormatError(
                        f"{path}: byte {at_B:#x}: {chunk.count} values of {size_B} B are promised "
                        f"and {max(0, length_B - chunk.at_B)} B are left; the file is cut, export "
                        "it again"
                    )
                if found and chunk.begin_s < found[-1].end_s:
                    raise CaptureFormatError(
                        f"{path}: byte {at_B:#x}: begins at {chunk.begin_s} s, before the end of "
                        f"the chunk before at {found[-1].end_s} s"
                    )
                found.append(chunk)
                at_B = chunk.at_B + chunk.count * size_B
            if at_B < length_B:
                raise CaptureFormatError(
                    f"{path}: byte {at_B:#x}: {length_B - at_B} B follow the last value"
                )
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    return _File(path, bool(kind), tuple(found))


def _chunk(path: Path, at_B: int, head: bytes, form: tuple[int, int]) -> _Chunk:
    where = f"{path}: byte {at_B:#x}"
    layout = _LAYOUTS[form]
    size_B = struct.calcsize(layout)
    if len(head) < size_B:
        raise CaptureFormatError(f"{where}: {len(head)} B of a header of {size_B} B; it is cut")
    fields = struct.unpack(layout, head[:size_B])
    level, spacing_s, rate_hz = 0, 0.0, 0.0
    match form:
        case (0, 0):
            level, begin_s, end_s, count = fields
        case (1, 0):
            level, rate_hz, begin_s, end_s, count = fields
        case _:
            (begin_s, *_, per_s, downsample, count) = fields
            rate_hz = float(per_s)
            if not 1 <= rate_hz <= MAX_SAMPLERATE_HZ or not 1 <= downsample < 1 << 32:
                raise CaptureFormatError(
                    f"{where}: sample rate {per_s} Hz, of which each {downsample}th; this is "
                    "no analog export"
                )
            spacing_s = downsample / rate_hz
            end_s = begin_s + count * spacing_s
    times = (begin_s, end_s, end_s - begin_s)
    if not all(math.isfinite(time) and abs(time) < _LAST_S for time in times) or times[2] < 0:
        raise CaptureFormatError(f"{where}: lasts from {begin_s} s to {end_s} s; damaged")
    if level not in (0, 1) or not math.isfinite(rate_hz):
        raise CaptureFormatError(f"{where}: level {level} at {rate_hz} Hz; 0 or 1 can be")
    return _Chunk(at_B + size_B, count, begin_s, end_s, level, rate_hz, spacing_s)
