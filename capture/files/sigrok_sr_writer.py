"""Write sigrok session files (``.sr``, version 2) from edges, for sigrok, PulseView, round trips.

Source: sigrok wiki, File format:Sigrok/v2.
"""

from __future__ import annotations

import os
import secrets
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges

_CHUNK_B = 10 * (1 << 20)  # as sigrok cuts them
_DATE = (1980, 1, 1, 0, 0, 0)  # the same capture gives the same bytes


def write_sr(pieces: Edges | Iterable[Edges], path: str | Path) -> None:
    """Write a capture, given whole or in pieces, as a session file; whole or not at all.

    Args:
        pieces: edges that follow each other from sample 0.
        path: the file; one that is there is replaced.
    Raises:
        ValueError: there is no sample, pieces do not follow each other, or a channel's name cannot
            stand in the file.
        InputError: the file cannot be written.
    """
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    whole = [pieces] if isinstance(pieces, Edges) else pieces
    try:
        with temporary.open("xb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
                _write(archive, whole)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)


def _write(archive: zipfile.ZipFile, pieces: Iterable[Edges]) -> None:
    first: Edges | None = None
    _add(archive, "version", b"2")
    for number, (data, piece) in enumerate(_chunks(pieces), start=1):
        if first is None:
            first = piece
            _add(archive, "metadata", _metadata(piece).encode())
        _add(archive, f"logic-1-{number}", data)
    if first is None:
        raise ValueError("there is no sample to write")


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    info = zipfile.ZipInfo(name, _DATE)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    archive.writestr(info, data)


def _metadata(edges: Edges) -> str:
    for name in edges.channels:
        if not name or name != name.strip() or not name.isprintable():
            raise ValueError(f"channel name {name!r} cannot stand in a session file")
    if len(set(edges.channels)) < len(edges.channels):
        raise ValueError(f"channel names are not different: {', '.join(edges.channels)}")
    probes = "".join(f"probe{bit}={name}\n" for bit, name in enumerate(edges.channels, start=1))
    rate = f"samplerate={edges.samplerate_hz} Hz\n" if edges.samplerate_hz else ""
    return (
        "[global]\nsigrok version=0.5.2\n\n[device 1]\ncapturefile=logic-1\n"
        f"total probes={len(edges.channels)}\n{rate}"
        f"total analog=0\n{probes}unitsize={_unitsize_B(edges)}\n"
    )


def _unitsize_B(edges: Edges) -> int:
    return (len(edges.channels) + 7) // 8


def _chunks(pieces: Iterable[Edges]) -> Iterator[tuple[bytes, Edges]]:
    """Yield the samples in chunks, each with a piece for its channels and rate."""
    held = np.uint64(0)
    at = 0
    buffer = bytearray()
    piece: Edges | None = None
    for piece in pieces:
        if piece.begin_sample != at or (at == 0 and (not len(piece) or piece.sample[0] != 0)):
            raise ValueError(f"a piece begins at sample {piece.begin_sample}; {at} is next")
        unit_B = _unitsize_B(piece)
        most = _CHUNK_B // unit_B
        while at < piece.end_sample:
            end = min(piece.end_sample, at + most)
            low, high = np.searchsorted(piece.sample, [at, end])
            stops = np.concatenate(([at], piece.sample[low:high], [end]))
            values = np.concatenate(([held], piece.value[low:high]))
            samples = np.repeat(values, np.diff(stops))
            held = values[-1]
            raw = samples.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :unit_B]
            buffer += raw.tobytes()
            at = end
            while len(buffer) >= most * unit_B:
                yield bytes(buffer[: most * unit_B]), piece
                del buffer[: most * unit_B]
    if buffer and piece is not None:
        yield bytes(buffer), piece
