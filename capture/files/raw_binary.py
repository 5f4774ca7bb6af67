"""Read raw binary samples: any file, of a layout that the user states.

A sample is ``ceil(channels / 8)`` bytes, or ``unit`` of them; channel i is bit i. Nothing in such a
file can be checked but its length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.files.bytes_of import open_file
from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.samples import Samples, edges_of
from freezeframe.capture.files.settings import layout_number
from freezeframe.capture.files.sigrok_sr import DEFAULT_MAX_SAMPLES, parse_samplerate
from freezeframe.capture.files.source import (
    CaptureHeader,
    ReadSettings,
    check_probes,
    check_samples,
)
from freezeframe.capture.files.units import UnitReader

_PIECE_B = 1 << 22
_KEYS = ("channels", "rate", "names", "unit", "skip", "order")


def read_header(path: str | Path, settings: ReadSettings) -> CaptureHeader:
    """Return the channels as the layout states them.

    Settings of the layout: ``channels`` 1..64 (needed), ``rate`` or --samplerate, ``names``
    separated by ``;``, ``unit`` bytes a sample, ``skip`` bytes before the first, ``order`` little
    or big.

    Raises:
        InputError: the layout lacks something or contradicts itself.
    """
    settings.only("binary", _KEYS)
    count = layout_number(settings, "binary", "channels", 1, 64)
    names = tuple(str(bit) for bit in range(count))
    if "names" in settings.layout:
        names = tuple(name.strip() for name in settings.layout["names"].split(";"))
        if len(names) != count or len(set(names)) < count or "" in names:
            raise InputError(
                f"--format binary: names gives {len(names)} names, {len(set(names) - {''})} of them "
                f"different, for channels={count}"
            )
    if settings.layout.get("order", "little") not in ("little", "big"):
        raise InputError("--format binary: order is little or big")
    return CaptureHeader("binary", names, _rate_hz(settings))


def read_edges(
    path: str | Path, probes: Sequence[str] | None, settings: ReadSettings
) -> Iterator[Edges]:
    """Yield the file as edges, in pieces that follow each other; at least one.

    Raises what `read_samples` does.
    """
    return edges_of(read_samples(path, probes, settings))


def read_samples(
    path: str | Path, probes: Sequence[str] | None, settings: ReadSettings
) -> Iterator[Samples]:
    """Yield the file as samples, in pieces that follow each other; at least one.

    Raises:
        InputError: the file cannot be read, holds more than ``max_samples``, or the layout or a
            channel is wrong.
        CaptureFormatError: the file does not hold whole samples, or none.
    """
    header = read_header(path, settings)
    rate_hz = _rate_hz(settings)
    chosen = check_probes(path, header, probes)
    count = len(header.channels)
    unit_B = layout_number(settings, "binary", "unit", (count + 7) // 8, 8, (count + 7) // 8)
    skip_B = layout_number(settings, "binary", "skip", 0, 1 << 62, 0)
    with open_file(path) as file:
        length_B = file.seek(0, 2) - skip_B
        if length_B < unit_B:
            raise CaptureFormatError(
                f"{path}: {max(length_B, 0)} B after the first {skip_B}; a sample has {unit_B} B"
            )
        if length_B % unit_B:
            raise CaptureFormatError(
                f"{path}: {length_B} B are no whole number of samples of {unit_B} B; the layout is "
                "wrong, or the file is cut"
            )
        samples = length_B // unit_B
        limit = settings.max_samples or DEFAULT_MAX_SAMPLES
        check_samples(path, samples, limit)
        file.seek(skip_B)
        big = settings.layout.get("order") == "big"
        places = [header.channels.index(name) for name in chosen]
        # A big-endian sample is read as little-endian, with its bytes counted from the other end.
        swapped = [8 * (unit_B - 1 - bit // 8) + bit % 8 for bit in places]
        units = UnitReader(unit_B)
        done = 0
        while done < samples:
            data = file.read(min(_PIECE_B, (samples - done) * unit_B - units.rest_B))
            if not data:
                raise CaptureFormatError(f"{path}: became shorter while it was read")
            piece = units.units(data)
            if settings.progress is not None:
                settings.progress(done + len(piece), samples)
            if len(piece):
                bits = tuple(swapped if big else places)
                yield Samples(piece, tuple(chosen), bits, rate_hz, done)
            done += len(piece)


def _rate_hz(settings: ReadSettings) -> int:
    if settings.samplerate_hz is not None:
        return settings.samplerate_hz
    if "rate" not in settings.layout:
        raise InputError(
            "--format binary: give the sample rate too, in Hz, for instance rate=1000000"
        )
    return parse_samplerate(settings.layout["rate"])
