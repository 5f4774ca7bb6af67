"""Edges as a table beside the evidence of a capture folder: read a hundred times faster than it.

Only a cache: it holds the digest of the manifest that it was made of, and without that digest, or
with a page that is damaged, it is not used. It can be deleted and is made again byte for byte.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from freezeframe.capture.errors import CaptureFormatError
from freezeframe.capture.files.edges import PLANE_CHANNELS, Bus, Edges, join, samples_to_ps
from freezeframe.capture.parquet import write_batches

_EDGES_AT_ONCE = 1 << 20
_KEY = "freezeframe"


def edge_schema() -> pa.Schema:
    """Return the columns: a row an edge; bit i of ``value`` is channel i as the metadata has them."""
    name = pa.dictionary(pa.int32(), pa.string())
    return pa.schema(
        [
            pa.field("t_ps", pa.int64(), nullable=False),
            pa.field("source", name, nullable=False),
            pa.field("kind", name, nullable=False),
            pa.field("sample", pa.int64(), nullable=False),
            pa.field("value", pa.int64(), nullable=False),
        ]
    )


def write_edge_table(pieces: Iterable[Edges], path: Path, *, source: str, digest: str) -> None:
    """Write pieces that follow each other, in the memory of one.

    Args:
        source: what stands in the column ``source``.
        digest: of the manifest that this is made of.
    Raises:
        ValueError: there are more than 64 channels.
        InputError: the file cannot be written, or a piece cannot be read.
    """
    last: Edges | None = None

    def tables() -> Iterator[pa.Table]:
        nonlocal last
        for last in _gathered(pieces):
            yield _table(last, source)

    def about() -> dict[str, str]:
        if last is None:
            raise ValueError("there is no sample")
        about_capture = {
            "digest": digest,
            "channels": last.channels,
            "samplerate_hz": last.samplerate_hz,
            "buses": [[bus.name, bus.channels] for bus in last.buses],
            "end_sample": last.end_sample,
        }
        return {_KEY: json.dumps(about_capture)}

    write_batches(tables(), path, edge_schema(), about=about)


def read_edge_table(
    path: Path, digest: str, probes: Sequence[str]
) -> tuple[int, Iterator[Edges]] | None:
    """Return the end of the capture, and these channels in pieces.

    Returns:
        None where the table is not there, is not of this digest, or lacks a channel.

    Raises:
        CaptureFormatError: a page is damaged; when it is reached.
    """
    try:
        file = pq.ParquetFile(path, page_checksum_verification=True, memory_map=False)
        about = _about(json.loads(file.metadata.metadata[_KEY.encode()]))
        fits = file.schema_arrow.equals(edge_schema())
    # Whatever is wrong with it: it is a cache, and the evidence is there.
    except (OSError, pa.ArrowException, KeyError, ValueError, TypeError, RecursionError):
        return None
    if not fits or about.digest != digest or not set(probes) <= set(about.channels):
        file.close()
        return None
    return about.end_sample, _pieces(path, file, about, probes)


@dataclass(frozen=True, slots=True)
class _About:
    """What a table says of the capture that it is of."""

    digest: str
    channels: tuple[str, ...]
    samplerate_hz: int
    buses: tuple[Bus, ...]
    end_sample: int


def _about(said: Any) -> _About:
    """Return what a table says, when it can be: a capture has channels, and a rate.

    Raises:
        KeyError, TypeError, ValueError: it cannot.
    """
    if not isinstance(said, dict):
        raise TypeError("no object")
    buses = tuple(Bus(_text(name), tuple(map(_text, members))) for name, members in said["buses"])
    channels = tuple(map(_text, said["channels"]))
    rate_hz, end = said["samplerate_hz"], said["end_sample"]
    if type(rate_hz) is not int or type(end) is not int or not 0 <= end < 1 << 63:
        raise TypeError("no numbers")
    empty = np.empty(0, dtype=np.int64)
    # Edges know what there may be of channels and rates.
    Edges(empty, empty.view(np.uint64), channels, rate_hz, 0, end, buses)
    if len(set(channels)) < len(channels) or len(channels) > PLANE_CHANNELS:
        raise ValueError("two channels of one name, or too many")
    if not {name for bus in buses for name in bus.channels} <= set(channels):
        raise ValueError("a bus of channels that are not there")
    return _About(_text(said["digest"]), channels, rate_hz, buses, end)


def _text(said: Any) -> str:
    if not isinstance(said, str):
        raise TypeError("no text")
    return said


def _pieces(path: Path, file: Any, about: _About, probes: Sequence[str]) -> Iterator[Edges]:
    begin = 0
    empty = np.empty(0, dtype=np.int64)

    def piece(sample: Any, value: Any, end: int) -> Edges:
        bits = value.view(np.uint64)
        whole = Edges(sample, bits, about.channels, about.samplerate_hz, begin, end, about.buses)
        return whole.select(probes)

    try:
        for batch in file.iter_batches(_EDGES_AT_ONCE, columns=["sample", "value"]):
            if not len(batch):
                continue
            sample, value = (batch.column(name).to_numpy() for name in ("sample", "value"))
            if sample[0] < begin or sample[-1] >= about.end_sample or (np.diff(sample) <= 0).any():
                raise CaptureFormatError(
                    f"{path}: its samples are not in their order; delete it, it is not needed"
                )
            yield piece(sample, value, int(sample[-1]) + 1)
            begin = int(sample[-1]) + 1
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise CaptureFormatError(
            f"{path}: {' '.join(str(error).split())}; delete it, it is not needed"
        ) from None
    finally:
        file.close()
    if about.end_sample > begin:
        yield piece(empty, empty, about.end_sample)


def _gathered(pieces: Iterable[Edges]) -> Iterator[Edges]:
    held: list[Edges] = []
    for piece in pieces:
        held.append(piece)
        if sum(map(len, held)) >= _EDGES_AT_ONCE:
            yield join(held)
            held = []
    if held:
        yield join(held)


def _table(piece: Edges, source: str) -> pa.Table:
    def name(text: str) -> pa.Array:
        codes = pa.array(np.zeros(len(piece), dtype=np.int32))
        return pa.DictionaryArray.from_arrays(codes, pa.array([text], pa.string()))

    if piece.high is not None:
        raise ValueError(f"{len(piece.channels)} channels; a table of edges has at most 64")
    columns = [
        samples_to_ps(piece.sample, piece.samplerate_hz),
        name(source),
        name("edge"),
        piece.sample,
        piece.value.view(np.int64),
    ]
    return pa.Table.from_arrays(
        [c if isinstance(c, pa.Array) else pa.array(c) for c in columns], schema=edge_schema()
    )
