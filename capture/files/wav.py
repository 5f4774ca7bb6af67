"""Read WAV files as edges: signals that were recorded with a sound card, or exported so, by thresholds.

A threshold is a share of full scale: ``--threshold CH1=0.2/-0.2``. Channels are CH1, CH2 and so on.

Source: Microsoft and IBM, Multimedia Programming Interface and Data Specifications 1.0 (RIFF, WAVE); RFC
2361 (format tags); WAVEFORMATEXTENSIBLE as Microsoft documents it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from freezeframe.capture.errors import CaptureFormatError
from freezeframe.capture.files.bytes_of import open_file
from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.levels import edges_of_levels, has_threshold, no_threshold
from freezeframe.capture.files.source import (
    MAX_SIGNAL_BITS,
    NO_SETTINGS,
    CaptureHeader,
    ReadSettings,
    check_probes,
)

_NUMBERS_AT_ONCE = 1 << 20
_MOST_CHUNKS = 1 << 12
_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
_UNKNOWN_B = (0, 0xFFFFFFFF)  # what a writer to a pipe leaves as the length of the data
_UNIT = "shares of full scale"


@dataclass(frozen=True, slots=True)
class _Sound:
    channels: int
    rate_hz: int
    sample_B: int
    is_float: bool
    at_B: int
    frames: int


def read_header(path: str | Path, settings: ReadSettings = NO_SETTINGS) -> CaptureHeader:
    """Return the channels and the sample rate; each channel needs a threshold.

    Raises:
        CaptureFormatError: it is no such file, is cut, or its sound is packed.
    """
    sound = _parsed(path)
    names = [f"CH{number + 1}" for number in range(sound.channels)]
    there = tuple(name for name in names if has_threshold(name, settings))
    return CaptureHeader(
        "wav",
        there,
        settings.samplerate_hz or sound.rate_hz,
        refused={name: no_threshold(name, _UNIT) for name in names if name not in there},
        analog=there,
    )


def read_edges(
    path: str | Path, probes: Sequence[str] | None = None, settings: ReadSettings = NO_SETTINGS
) -> Iterator[Edges]:
    """Yield the sound as edges, in pieces that follow each other; at least one.

    Raises:
        InputError: a channel has no threshold, or there are more than ``max_samples``.
        CaptureFormatError: as `read_header`.
    """
    settings.only("wav", ())
    header = read_header(path, settings)
    chosen = check_probes(path, header, probes)
    sound = _parsed(path)
    columns = [int(name.removeprefix("CH")) - 1 for name in chosen]
    pieces = _frames(path, sound, columns)
    rate_hz = header.samplerate_hz or sound.rate_hz
    yield from edges_of_levels(path, pieces, chosen, rate_hz, settings, settings.max_samples)


def _frames(
    path: str | Path, sound: _Sound, columns: Sequence[int]
) -> Iterator[npt.NDArray[np.float64]]:
    """Yield the numbers of these channels, ``(n, channels)``, full scale being 1."""
    frame_B = sound.channels * sound.sample_B
    at_once = _NUMBERS_AT_ONCE // sound.channels
    with open_file(path) as file:
        file.seek(sound.at_B)
        for first in range(0, sound.frames, at_once):
            count = min(at_once, sound.frames - first)
            data = file.read(count * frame_B)
            if len(data) < count * frame_B:
                raise CaptureFormatError(f"{path}: became shorter while it was read")
            yield _numbers(data, sound).reshape(-1, sound.channels)[:, columns]


def _numbers(data: bytes, sound: _Sound) -> npt.NDArray[np.float64]:
    if sound.is_float:
        return np.frombuffer(data, f"<f{sound.sample_B}").astype(np.float64)
    if sound.sample_B == 1:  # without a sign, as no other width
        return (np.frombuffer(data, np.uint8).astype(np.float64) - 128) / 128
    if sound.sample_B == 3:
        wide = np.zeros((len(data) // 3, 4), dtype=np.uint8)
        wide[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 3)
        return wide.reshape(-1).view("<i4") / float(1 << 31)
    return np.frombuffer(data, f"<i{sound.sample_B}") / float(1 << 8 * sound.sample_B - 1)


def _parsed(path: str | Path) -> _Sound:
    with open_file(path) as file:
        size_B = file.seek(0, 2)
        file.seek(0)
        start = file.read(12)
        if len(start) < 12 or start[:4] != b"RIFF" or start[8:] != b"WAVE":
            raise CaptureFormatError(f"{path}: no RIFF with WAVE in its first 12 B; no WAV file")
        form: tuple[int, int, int, int] | None = None
        at_B = 12
        for _ in range(_MOST_CHUNKS):
            file.seek(at_B)
            head = file.read(8)
            if len(head) < 8:
                break
            kind, length_B = struct.unpack("<4sI", head)
            if kind == b"data" and form is not None:
                return _sound(path, form, at_B + 8, length_B, size_B)
            if kind == b"fmt ":
                form = _form(path, at_B, file, length_B)
            at_B += 8 + length_B + (length_B & 1)
    raise CaptureFormatError(
        f"{path}: byte {min(at_B, size_B):#x}: the file ends before its sound; it is cut, or has no 'fmt '"
    )


def _form(path: str | Path, at_B: int, file: IO[bytes], length_B: int) -> tuple[int, int, int, int]:
    """Return tag, channels, rate and bits of a sample."""
    data = file.read(min(length_B, 40))
    if len(data) < 16:
        raise CaptureFormatError(f"{path}: byte {at_B:#x}: 'fmt ' has {len(data)} B; it is cut")
    tag, channels, rate_hz, _, _, bits = struct.unpack("<HHIIHH", data[:16])
    if tag == _EXTENSIBLE and len(data) >= 26:
        tag = int.from_bytes(data[24:26], "little")
    return tag, channels, rate_hz, bits


def _sound(
    path: str | Path, form: tuple[int, int, int, int], at_B: int, length_B: int, size_B: int
) -> _Sound:
    tag, channels, rate_hz, bits = form
    widths = {_PCM: (8, 16, 24, 32), _FLOAT: (32, 64)}.get(tag)
    if widths is None or bits not in widths:
        raise CaptureFormatError(
            f"{path}: sound of format {tag} with {bits} bits; plain numbers of 8, 16, 24, 32 bits and floats "
            "are read: save it as PCM"
        )
    if not 1 <= channels <= MAX_SIGNAL_BITS or not rate_hz:
        raise CaptureFormatError(
            f"{path}: {channels} channels at {rate_hz} Hz; 1 to {MAX_SIGNAL_BITS} channels at 1 Hz or more are read"
        )
    left_B = size_B - at_B
    if length_B in _UNKNOWN_B:
        length_B = left_B
    if length_B > left_B:
        raise CaptureFormatError(
            f"{path}: byte {at_B:#x}: {length_B} B of sound are promised and {left_B} B are left; it is cut"
        )
    frames = length_B // (channels * bits // 8)
    if not frames:
        raise CaptureFormatError(f"{path}: byte {at_B:#x}: there is no sound in it")
    return _Sound(channels, rate_hz, bits // 8, tag == _FLOAT, at_B, frames)
