"""Read sigrok session files (``.sr``) as samples or edges, in memory that does not depend on their length.

A zip archive with ``version``, an INI ``metadata`` and the samples as one ``logic-1`` (old) or
chunks ``logic-1-1`` .. ``logic-1-N`` (new): ``unitsize`` bytes a sample, little-endian, bit i =
``probe(i+1)``.

Source: sigrok wiki, File format:Sigrok/v2, and captures written since 0.1.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.files._zip_members import ZipMembers
from freezeframe.capture.files.edges import NO_RATE, EdgeReducer, Edges
from freezeframe.capture.files.samples import Samples, edges_of
from freezeframe.capture.files.sigrok_header import (
    SrHeader,
    header_of,
    parse_samplerate,
    read_header,
)
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
_PIECE_B = 1 << 22  # 64 MiB of edges when every byte is a sample and every sample an edge


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
    has 3, 5, 6 or 7 B all are samples. Decoding a billion samples of a bus that is mostly at rest
    takes a fifth less CPU so.
    """
    with ZipMembers(path) as members:
        header = header_of(members)
        rate_hz = samplerate_hz or header.samplerate_hz or NO_RATE
        _check_max(path, header.declared_samples, max_samples)
        channels = tuple(probes) if probes is not None else header.channels
        missing = [name for name in channels if name not in header.channels]
        if missing:
            raise ValueError(f"no channel {missing[0]}; there is {', '.join(header.channels)}")
        bits = tuple(header.bits[header.channels.index(name)] for name in channels)
        units = UnitReader(header.unitsize_B)
        # A unit of 3, 5, 6 or 7 B is no machine word, and may be cut anywhere.
        kind = np.dtype(f"<u{header.unitsize_B}") if header.unitsize_B in (1, 2, 4, 8) else None
        reducer = EdgeReducer(header.unitsize_B, bits) if bits and kind and few_changes else None

        def reduced(data: bytes) -> tuple[bytes, Edges | None]:
            """Return a piece as it is, and its edges if they are few."""
            if kind is None or reducer is None or len(data) % kind.itemsize:
                return data, None
            samples = np.frombuffer(data, dtype=kind)
            edges = reducer.few(samples, few_changes)
            if edges is None:
                return data, None
            # Of wider units it is known only later whether the piece begins with a whole one.
            kept = data if kind.itemsize > 1 else b""
            return kept, Edges(*edges, channels, rate_hz, 0, len(samples))

        done = 0
        for data, edges in members.stream_of(header.members, reduced):
            if edges is not None and not units.rest_B:
                parts: Iterable[Samples | Edges] = (_moved(edges, done),)
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


def _moved(edges: Edges, begin: int) -> Edges:
    """Return edges counted from sample 0 as the piece that begins at ``begin``."""
    return replace(
        edges,
        sample=edges.sample + begin,
        begin_sample=begin,
        end_sample=begin + edges.end_sample,
    )


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


def _check_max(path: str | Path, samples: int, max_samples: int) -> None:
    if samples > max_samples:
        raise InputError(
            f"{path}: holds at least {samples} samples, more than the {max_samples} allowed; "
            f"if that is right, say --max-samples {samples}"
        )
