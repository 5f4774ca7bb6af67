"""Files packed as a whole (``.gz``, ``.xz``, ``.zst``): unpacked to a temporary file, once a process.

What is packed may be larger than memory and is read several times, so it goes to the disk, beside
what the system keeps there; the temporary files go when the process ends.

Source: RFC 1952 (gzip), the .xz file format 1.2.1, RFC 8878 (Zstandard).
"""

from __future__ import annotations

import lzma
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import IO

from isal import isal_zlib

from freezeframe.capture.code import code
from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.files.bytes_of import first_bytes, open_file
from freezeframe.capture.unpack_limit import check_unpacked

_READ_B = 1 << 18
_PIECE_B = 1 << 22
_XZ_MEMORY_B = 1 << 28  # of a dictionary; xz -9 has 64 MiB
_LEFT_FREE_B = 1 << 28  # of the disk
_GZIP, _XZ, _ZSTD = b"\x1f\x8b\x08", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"
_SUFFIX = {_GZIP: ".gz", _XZ: ".xz", _ZSTD: ".zst"}
_zstd_stream = code("pyarrow:CompressedInputStream")  # 0.1 s, only where it is needed


def is_packed(path: str | Path, format: str | None = None) -> bool:
    """Return whether a file is packed; raw samples, whose bytes may be any, only if it is named so.

    Raises:
        InputError: it cannot be read.
    """
    suffix = _SUFFIX.get(_mark(first_bytes(path, 8)), "")
    return bool(suffix) and (format != "binary" or Path(path).suffix.lower() == suffix)


def unpacked(path: str | Path, progress: Callable[[int, int], None] | None = None) -> Path:
    """Return a file with what is packed in this one, under the name without ``.gz``, ``.xz`` or ``.zst``.

    Args:
        progress: called with packed bytes that are done, and packed bytes there are.
    Raises:
        InputError: it cannot be read, or the disk has no room for it.
        CaptureFormatError: it is damaged or cut.
    """
    stat = Path(path).stat()
    key = (Path(path), stat.st_mtime_ns, stat.st_size)
    if key not in _PLACES:
        _PLACES[key] = _unpacked(Path(path), stat.st_size, progress)
    return _PLACES[key]


def write_unpacked(
    path: Path, pieces: Iterator[bytes], name: str, promised_B: int | None = None
) -> Path:
    """Write the pieces of a packed file to a temporary one of this name.

    Raises:
        InputError: the disk has no room for it, or it is more than is unpacked (`unpack_limit`).
        CaptureFormatError: there are not the bytes that were promised, or a piece is damaged.
    """
    check_unpacked(path, promised_B or 0, says=True)
    place = Path(tempfile.mkdtemp(dir=temporary_folder().name)) / name
    total_B = free_B = 0
    with place.open("xb") as out:
        for piece in pieces:
            total_B += len(piece)
            if promised_B is not None and total_B > promised_B:
                raise CaptureFormatError(f"{path}: unpacks to more than the {promised_B} B it says")
            try:
                check_unpacked(path, total_B)
            except InputError:
                place.unlink()
                raise
            free_B -= len(piece)
            if free_B < 0:
                free_B = shutil.disk_usage(place.parent).free // 2 - _LEFT_FREE_B
            if free_B < 0:
                place.unlink()
                raise InputError(
                    f"{path}: unpacks to more than {total_B} B, for which {place.parents[1]} has no "
                    "room; unpack it elsewhere, or let TMPDIR name another folder"
                )
            out.write(piece)
    if promised_B is not None and total_B < promised_B:
        raise CaptureFormatError(f"{path}: unpacks to {total_B} B and says {promised_B} B")
    return place


def gzip_pieces(path: Path, file: IO[bytes]) -> Iterator[bytes]:
    """Yield what is packed from here on to the end of the file: one member or several.

    Raises:
        CaptureFormatError: it is damaged or cut.
    """
    data = file.read(_READ_B)
    while data:
        member, full = isal_zlib.decompressobj(31), False
        while not member.eof:
            data = data or (b"" if full else file.read(_READ_B))
            if not data and not full:
                raise _cut(path, file)
            try:
                piece = member.decompress(data, _PIECE_B)
            except isal_zlib.error as error:  # type: ignore[misc]  # its stubs say an instance
                raise _damaged(path, file, error) from None
            # A full piece may not be all that these bytes give, also where they are used up.
            data, full = member.unconsumed_tail, len(piece) == _PIECE_B
            if piece:
                yield piece
        data = (member.unused_data or file.read(_READ_B)).lstrip(b"\0")


def _xz(path: Path, file: IO[bytes]) -> Iterator[bytes]:
    data = file.read(_READ_B)
    while data:
        stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY_B)
        while not stream.eof:
            if not data and stream.needs_input:
                data = file.read(_READ_B)
                if not data:
                    raise _cut(path, file)
            try:
                piece = stream.decompress(data, _PIECE_B)
            except lzma.LZMAError as error:
                raise _damaged(path, file, error) from None
            data = b""
            if piece:
                yield piece
        data = (stream.unused_data or file.read(_READ_B)).lstrip(b"\0")


def _zstd(path: Path, file: IO[bytes]) -> Iterator[bytes]:
    try:
        stream = _zstd_stream(file, "zstd")
        while piece := stream.read(_PIECE_B):
            yield piece
    except OSError as error:
        raise _damaged(path, file, error) from None


_PIECES: dict[bytes, Callable[[Path, IO[bytes]], Iterator[bytes]]] = {
    _GZIP: gzip_pieces,
    _XZ: _xz,
    _ZSTD: _zstd,
}


def _mark(head: bytes) -> bytes:
    return next((mark for mark in _SUFFIX if head.startswith(mark)), b"")


_PLACES: dict[tuple[Path, int, int], Path] = {}  # a file, its time and size -> what was in it


def _unpacked(path: Path, size_B: int, progress: Callable[[int, int], None] | None) -> Path:
    mark = _mark(first_bytes(path, 8))
    name = path.stem if path.suffix.lower() == _SUFFIX[mark] else path.name

    def told(pieces: Iterator[bytes], file: IO[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            yield piece
            if progress is not None:
                progress(file.tell(), size_B)

    with open_file(path) as file:
        return write_unpacked(path, told(_PIECES[mark](path, file), file), name)


@lru_cache(maxsize=1)
def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Return the folder of what this process unpacks, which goes with it."""
    return tempfile.TemporaryDirectory(prefix="freezeframe-unpacked-")


def _cut(path: Path, file: IO[bytes]) -> CaptureFormatError:
    return CaptureFormatError(
        f"{path}: byte {file.tell():#x}: the packed data end in the middle; it was cut, copy it again"
    )


def _damaged(path: Path, file: IO[bytes], error: Exception) -> CaptureFormatError:
    why = " ".join(str(error).split())[:120]
    return CaptureFormatError(
        f"{path}: before byte {file.tell():#x}: cannot be unpacked ({why}); copy it again"
    )
