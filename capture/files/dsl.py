"""Read logic captures of DSView (``.dsl``) as samples: a bit stream for each channel, in blocks.

A zip archive with ``header`` (INI: total samples, total probes, total blocks, samplerate, probeN = name)
and members ``L-<probe>/<block>``: 8 samples a byte, the first in the lowest bit, every channel's block
of one length.

Source: DSView, libsigrok4DSL/session_driver.c; the converter dsl2sr of dsview-to-sigrok.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.files._zip_members import ZipMembers
from freezeframe.capture.files.edges import NO_RATE, Edges
from freezeframe.capture.files.samples import Samples, edges_of
from freezeframe.capture.files.sigrok_sr import DEFAULT_MAX_SAMPLES, parse_samplerate
from freezeframe.capture.files.source import (
    NO_SETTINGS,
    CaptureHeader,
    ReadSettings,
    check_probes,
    check_samples,
)

HEADER = "header"
_HEADER_LIMIT_B = 1 << 20
_BLOCK_LIMIT_B = 1 << 24  # of a channel; DSView cuts them after 2**24 samples, which are 2 MiB
_BLOCKS_LIMIT_B = 1 << 27  # of all channels that are read
_AT_ONCE_B = 1 << 17  # of a channel, 2**20 samples
_MOST_BLOCKS = 1 << 20
# Steps that turn a square of 8 by 8 bits in a word: single bits, then twos, then fours.
_TURNS = tuple(
    (np.uint64(shift), np.uint64(mask))
    for shift, mask in (
        (7, 0x00AA00AA00AA00AA),
        (14, 0x0000CCCC0000CCCC),
        (28, 0x00000000F0F0F0F0),
    )
)
_MODES = {"1": "its oscilloscope", "2": "its data acquisition"}


@dataclass(frozen=True, slots=True)
class _Capture:
    channels: dict[str, int]  # name: number in the names of the members
    samples: int
    blocks: int
    rate_hz: int | None


def is_dsl(path: Path) -> bool:
    """Return whether a zip archive is such a capture; of a damaged one the reader of sessions says so."""
    try:
        with ZipMembers(path) as members:
            return HEADER in members.names and "metadata" not in members.names
    except CaptureFormatError:
        return False


def read_header(path: str | Path, settings: ReadSettings = NO_SETTINGS) -> CaptureHeader:
    """Return the channels and the sample rate.

    Raises:
        CaptureFormatError: it is no such file, is damaged, or holds no logic.
    """
    with ZipMembers(path) as members:
        capture = _parsed(members)
    return CaptureHeader("dsl", tuple(capture.channels), settings.samplerate_hz or capture.rate_hz)


def read_edges(
    path: str | Path, probes: Sequence[str] | None = None, settings: ReadSettings = NO_SETTINGS
) -> Iterator[Edges]:
    """Yield the capture as edges, in pieces that follow each other; at least one.

    Raises what `read_samples` does.
    """
    return edges_of(read_samples(path, probes, settings))


def read_samples(
    path: str | Path, probes: Sequence[str] | None = None, settings: ReadSettings = NO_SETTINGS
) -> Iterator[Samples]:
    """Yield the capture as samples, in pieces that follow each other; at least one.

    Raises:
        InputError: it cannot be read, holds more than ``max_samples``, or a channel cannot be read.
        CaptureFormatError: it is damaged; for the samples this comes when they are reached, so take no
            result before the last piece.
    """
    settings.only("dsl", ())
    header = read_header(path, settings)
    chosen = check_probes(path, header, probes)
    rate_hz = header.samplerate_hz or NO_RATE
    kind = next(np.dtype(f"<u{width}") for width in (1, 2, 4, 8) if 8 * width >= len(chosen))
    with ZipMembers(path) as members:
        capture = _parsed(members)
        check_samples(path, capture.samples, settings.max_samples or DEFAULT_MAX_SAMPLES)
        done = 0
        limit_B = min(_BLOCK_LIMIT_B, _BLOCKS_LIMIT_B // len(chosen))
        for block in range(capture.blocks):
            bits = [
                members.read_small(f"L-{capture.channels[name]}/{block}", limit_B)
                for name in chosen
            ]
            lengths = {len(each) for each in bits}
            if len(lengths) > 1:
                raise CaptureFormatError(
                    f"{path}: block {block} has {min(lengths)} to {max(lengths)} B, where all channels have "
                    "the same; the file is damaged, save it again"
                )
            for at in range(0, lengths.pop(), _AT_ONCE_B):
                units = _units([data[at : at + _AT_ONCE_B] for data in bits], kind)
                units = units[: capture.samples - done]
                if len(units):
                    yield Samples(units, tuple(chosen), tuple(range(len(chosen))), rate_hz, done)
                done += len(units)
                if settings.progress is not None:
                    settings.progress(done, capture.samples)
        if done < capture.samples:
            raise CaptureFormatError(
                f"{path}: {capture.samples} samples are promised and {done} are there; samples were lost"
            )


def _units(streams: Sequence[bytes], kind: np.dtype[Any]) -> npt.NDArray[np.unsignedinteger[Any]]:
    """Return samples of channels that each are a stream of bits; channel i is bit i."""
    units = np.zeros((8 * len(streams[0]), kind.itemsize), dtype=np.uint8)
    for first in range(0, len(streams), 8):
        rows = np.zeros((len(streams[0]), 8), dtype=np.uint8)
        for bit, data in enumerate(streams[first : first + 8]):
            rows[:, bit] = np.frombuffer(data, dtype=np.uint8)
        # 8 channels of 8 samples are a square of bits: turned, it is 8 samples of 8 channels.
        square = rows.reshape(-1).view("<u8")
        for shift, mask in _TURNS:
            moved = (square ^ square >> shift) & mask
            square = square ^ moved ^ moved << shift
        units[:, first // 8] = square.view(np.uint8)
    return units.reshape(-1).view(kind)


def _parsed(members: ZipMembers) -> _Capture:
    path = members.path
    text = members.read_small(HEADER, _HEADER_LIMIT_B).decode("utf-8-sig", "replace")
    said: dict[str, str] = {}
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals:
            said.setdefault(key.strip().lower(), value.strip())
    mode = said.get("device mode", "0")
    if mode != "0":
        raise InputError(
            f"{path}: a capture of DSView of {_MODES.get(mode, f'device mode {mode[:20]}')}, whose voltages "
            "are not documented; export it as CSV in DSView, and give that"
        )
    blocks, samples = (_number(path, said, f"total {what}") for what in ("blocks", "samples"))
    if blocks > _MOST_BLOCKS or not samples or not blocks:
        raise CaptureFormatError(
            f"{path}: {HEADER}: {samples} samples in {blocks} blocks; up to {_MOST_BLOCKS} blocks are read"
        )
    probes = sorted(
        (int(key[5:]), name) for key, name in said.items() if re.fullmatch(r"probe\d{1,4}", key)
    )
    there = sorted(
        int(match[1]) for name in members.names if (match := re.fullmatch(r"L-(\d{1,4})/0", name))
    )
    numbers = [number for number, _ in probes]
    if not set(numbers) <= set(there):
        # DSView takes the folders that are there in their order.
        numbers = there
    if not probes or len(numbers) != len(probes):
        raise CaptureFormatError(
            f"{path}: {len(probes)} probes and blocks of {len(there)} of them; open it in DSView and "
            "save it again, or export it as CSV"
        )
    names = [name or str(number) for number, name in probes]
    shown = [
        f"{name}#{number}" if names.count(name) > 1 else name
        for name, (number, _) in zip(names, probes, strict=True)
    ]
    for number in numbers:
        for block in range(blocks):
            if f"L-{number}/{block}" not in members.names:
                raise CaptureFormatError(
                    f"{path}: L-{number}/{block} is missing, and {HEADER} says {blocks} blocks; samples "
                    "would be lost"
                )
    rate = said.get("samplerate", "")
    return _Capture(
        dict(zip(shown, numbers, strict=True)),
        samples,
        blocks,
        parse_samplerate(rate) if rate else None,
    )


def _number(path: Path, said: dict[str, str], key: str) -> int:
    text = said.get(key, "")
    if not re.fullmatch(r"\d{1,18}", text):
        raise CaptureFormatError(
            f"{path}: {HEADER}: {key} is {text[:40] or 'missing'}, not a number"
        )
    return int(text)
