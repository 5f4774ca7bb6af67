"""Read the members of a zip archive in pieces, believing nothing that the archive says of itself.

Memory is bounded by what a member declares only where that is small; a stream that is longer or
shorter than declared, cut, or of another checksum is an error, never a short read.

Source: PKWARE APPNOTE 6.3.10, 4.3.7 (local header), 4.3.16 (end record), 4.4.5 (methods);
RFC 1951 (deflate).
"""

from __future__ import annotations

import os
import zipfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Self, TypeVar

from isal import isal_zlib

from freezeframe.capture.errors import CaptureFormatError
from freezeframe.capture.files.bytes_of import open_file
from freezeframe.capture.unpack_limit import check_unpacked

_T = TypeVar("_T")

_LOCAL_HEADER_B = 30
_END_SEARCH_B = 22 + 0xFFFF  # the end record and the longest comment after it
_ZIP64_COUNT = 0xFFFF
_ZIP64_SIZE = 0xFFFFFFFF  # the size stands in the zip64 field
_SIZES_LATER = 0x8  # flag: the sizes stand behind the member, and 0 before it
_READ_B = 1 << 18
_PIECE_B = 1 << 22  # unpacked bytes handed on at a time
_AHEAD_B = 1 << 24  # a member declared no larger than this is unpacked whole, on another thread
_THREADS = 2  # isal lets go of the interpreter while it unpacks


class ZipMembers:
    """An open archive. Use it in a ``with`` statement."""

    def __init__(self, path: str | Path) -> None:
        """Open ``path`` and read its directory.

        Raises:
            CaptureFormatError: it is not a zip archive, its end is missing, a name stands twice, members overlap
                or contradict the directory.
            InputError: the file cannot be read, or its members say that they unpack to more than is unpacked.
        """
        self.path = Path(path)
        self._file = open_file(path)
        try:
            self._length_B = self._file.seek(0, 2)
            self._infos = self._directory()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._infos)

    def declared_B(self, name: str) -> int:
        """The unpacked size of a member as the directory says it, which may be a lie."""
        return self._infos[name].file_size

    def why_unread(self, name: str) -> str:
        """Return why nothing can be unpacked of a member that may be whole; empty where it can."""
        info = self._infos[name]
        if info.flag_bits & 0x1:
            return "is encrypted; unpack and pack it again"
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            return f"is packed by method {info.compress_type}; 0 (stored) and 8 (deflate) are read"
        return ""

    def read_small(self, name: str, limit_B: int) -> bytes:
        """Return a whole member of at most ``limit_B`` bytes.

        Raises:
            CaptureFormatError: it is larger, or damaged.
        """
        info = self._infos[name]
        if info.file_size > limit_B:
            raise CaptureFormatError(
                f"{self.path}: {name} declares {info.file_size} B; at most {limit_B} B make sense"
            )
        return b"".join(self._whole(info, self._packed(info), _unchanged))

    def stream(self, names: Sequence[str]) -> Iterator[bytes]:
        """Yield the bytes of these members, one after the other, in pieces of at most 4 MiB.

        Raises what `stream_of` does.
        """
        return self.stream_of(names, _unchanged)

    def stream_of(self, names: Sequence[str], made: Callable[[bytes], _T]) -> Iterator[_T]:
        """Yield what ``made`` makes of each piece; mostly on the threads that unpack.

        Raises:
            CaptureFormatError: a member is cut, has a wrong checksum, is not of its declared size,
                is encrypted, or is packed by another method than deflate. What was yielded of the
                member before that is not to be believed.
        """
        if not names:
            return
        waiting: deque[tuple[str, Future[list[_T]] | None]] = deque()
        todo = deque(names)
        with ThreadPoolExecutor(_THREADS) as pool:
            try:
                while todo or waiting:
                    while todo and len(waiting) <= _THREADS:
                        name = todo.popleft()
                        info = self._infos[name]
                        small = info.file_size <= _AHEAD_B
                        # The file is read here, in order; only unpacking is given away.
                        waiting.append(
                            (
                                name,
                                pool.submit(self._whole, info, self._packed(info), made)
                                if small
                                else None,
                            )
                        )
                    name, unpacked = waiting.popleft()
                    if unpacked is None:
                        info = self._infos[name]
                        yield from map(made, self._unpacked(info, self._read(info)))
                    else:
                        yield from unpacked.result()
            finally:
                for _, unpacked in waiting:
                    if unpacked is not None:
                        unpacked.cancel()

    def _directory(self) -> dict[str, zipfile.ZipInfo]:
        try:
            with zipfile.ZipFile(self._file) as archive:
                infos = archive.infolist()
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
            self._file.seek(0)
            start = self._file.read(4)
            if not start:
                reason = "the file is empty"
            elif start == b"PK\x03\x04":
                reason = (
                    f"a zip archive without a readable directory at its end ({error}); "
                    "it was cut short, copy it again"
                )
            else:
                reason = f"not a zip archive (it begins with {start.hex(' ')})"
            raise CaptureFormatError(f"{self.path}: {reason}") from None
        promised = self._promised_members()
        if promised not in (None, len(infos)):
            raise CaptureFormatError(
                f"{self.path}: the directory promises {promised} members and has {len(infos)}; "
                "the archive is damaged"
            )
        by_name: dict[str, zipfile.ZipInfo] = {}
        for info in infos:
            if info.filename in by_name:
                raise CaptureFormatError(
                    f"{self.path}: {info.filename} stands twice in the archive; "
                    "which of them is meant cannot be known"
                )
            by_name[info.filename] = info
        end_B, last = 0, ""
        for name, info in sorted(by_name.items(), key=lambda item: item[1].header_offset):
            header = self._check_local(name, info)
            if info.header_offset < end_B:
                raise CaptureFormatError(
                    f"{self.path}: byte {info.header_offset:#x}: {name!r} begins inside of {last!r}; an archive "
                    "whose members overlap is not unpacked"
                )
            skip_B = _LOCAL_HEADER_B + sum(_short(header, at) for at in (26, 28))
            end_B, last = info.header_offset + skip_B + info.compress_size, name
        check_unpacked(self.path, sum(info.file_size for info in infos), says=True)
        return by_name

    def _check_local(self, name: str, info: zipfile.ZipInfo) -> bytes:
        """Return the header before a member; raise where it says something else than the directory does."""
        header = self._local_header(info)
        # Not by the buffered file, which would read 8 KB around each of 60,000 members.
        text = os.pread(
            self._file.fileno(), _short(header, 26), info.header_offset + _LOCAL_HEADER_B
        )
        # A damaged name in the directory would make a member vanish without a word.
        if text.decode("utf-8" if info.flag_bits & 0x800 else "cp437", "replace") != name:
            raise CaptureFormatError(
                f"{self.path}: byte {info.header_offset:#x}: the member that the directory "
                f"calls {name!r} has another name there; the archive is damaged"
            )
        sizes = [int.from_bytes(header[at : at + 4], "little") for at in (18, 22)]
        told_later = info.flag_bits & _SIZES_LATER or _ZIP64_SIZE in sizes
        if not told_later and sizes != [info.compress_size, info.file_size]:
            raise CaptureFormatError(
                f"{self.path}: byte {info.header_offset:#x}: {name!r} has {sizes[0]} B that unpack to {sizes[1]} B "
                f"there, and {info.compress_size} B that unpack to {info.file_size} B in the directory; an archive "
                "that contradicts itself is not unpacked"
            )
        return header

    def _promised_members(self) -> int | None:
        """The count in the end record, which zipfile does not compare; None where zip64 has it."""
        self._file.seek(max(0, self._length_B - _END_SEARCH_B))
        tail = self._file.read()
        at = tail.rfind(b"PK\x05\x06")
        count = int.from_bytes(tail[at + 10 : at + 12], "little")
        return None if count == _ZIP64_COUNT else count

    def _local_header(self, info: zipfile.ZipInfo) -> bytes:
        header = b""
        # A damaged directory can point before the file, or further than a file can be.
        if 0 <= info.header_offset < self._length_B:
            header = os.pread(self._file.fileno(), _LOCAL_HEADER_B, info.header_offset)
        if len(header) < _LOCAL_HEADER_B or header[:4] != b"PK\x03\x04":
            raise CaptureFormatError(
                f"{self.path}: byte {info.header_offset:#x}: no local header of {info.filename}; "
                "the archive is damaged"
            )
        return header

    def _seek_data(self, info: zipfile.ZipInfo) -> None:
        name = info.filename
        if why := self.why_unread(name):
            raise CaptureFormatError(f"{self.path}: {name} {why}")
        header = self._local_header(info)
        self._file.seek(
            info.header_offset + _LOCAL_HEADER_B + _short(header, 26) + _short(header, 28)
        )

    def _packed(self, info: zipfile.ZipInfo) -> bytes:
        """Read all packed bytes of a member whose declared size is small."""
        # deflate never makes data much longer: more than this is not the member it says it is.
        if info.compress_size > 2 * info.file_size + 1024:
            raise self._wrong(info, f"{info.compress_size} B packed for {info.file_size} B")
        self._seek_data(info)
        packed = self._file.read(info.compress_size)
        if len(packed) < info.compress_size:
            raise self._cut(info, len(packed))
        return packed

    def _whole(self, info: zipfile.ZipInfo, packed: bytes, made: Callable[[bytes], _T]) -> list[_T]:
        # Not as one: memory of that size is fetched from the system each time, which costs as much as to unpack.
        return [made(piece) for piece in self._unpacked(info, iter((packed,)))]

    def _read(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        """Yield the packed bytes of a member."""
        self._seek_data(info)
        at = self._file.tell()
        end = at + info.compress_size
        while at < end:
            # Others read this file between two pieces.
            self._file.seek(at)
            packed = self._file.read(min(_READ_B, end - at))
            if not packed:
                raise self._cut(info, info.compress_size - (end - at))
            at += len(packed)
            yield packed

    def _unpacked(self, info: zipfile.ZipInfo, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the bytes of a member, of which ``blocks`` are the packed ones; check them at the end."""
        inflate = isal_zlib.decompressobj(-isal_zlib.MAX_WBITS)
        stored = info.compress_type == zipfile.ZIP_STORED
        total_B = crc = unused_B = 0
        for block in blocks:
            packed, full = block, False
            # A full piece may not be all that these bytes give, also where they are used up.
            while packed or full:
                if stored:
                    data, packed = packed[:_PIECE_B], packed[_PIECE_B:]
                elif inflate.eof:
                    unused_B += len(packed)
                    break
                else:
                    try:
                        data = inflate.decompress(packed, _PIECE_B)
                    except isal_zlib.error as error:  # type: ignore[misc]  # its stubs say an instance
                        raise self._wrong(info, str(error)) from None
                    unused_B += len(inflate.unused_data)
                    packed = inflate.unconsumed_tail
                    full = len(data) == _PIECE_B
                total_B += len(data)
                crc = isal_zlib.crc32(data, crc)
                if total_B > info.file_size:
                    self._check(info, total_B, crc)
                if data:
                    yield data
        if not stored:
            self._check_end(info, inflate.eof, unused_B)
        self._check(info, total_B, crc)

    def _check_end(self, info: zipfile.ZipInfo, ended: bool, unused_B: int) -> None:
        if not ended:
            raise self._wrong(info, "the packed data end in the middle")
        if unused_B:
            raise self._wrong(info, f"{unused_B} B follow the end of the packed data")

    def _check(self, info: zipfile.ZipInfo, total_B: int, crc: int) -> None:
        if total_B > info.file_size:
            raise self._wrong(info, f"unpacks to more than the {info.file_size} B it declares")
        if total_B < info.file_size:
            raise self._wrong(info, f"unpacks to {total_B} B, but declares {info.file_size} B")
        if crc != info.CRC:
            raise self._wrong(
                info, f"checksum {crc:#010x} of its {total_B} B, but declares {info.CRC:#010x}"
            )

    def _wrong(self, info: zipfile.ZipInfo, what: str) -> CaptureFormatError:
        return CaptureFormatError(
            f"{self.path}: {info.filename}: {what}; the file is damaged, copy it again"
        )

    def _cut(self, info: zipfile.ZipInfo, got_B: int) -> CaptureFormatError:
        return self._wrong(info, f"{got_B} B are there of {info.compress_size} B packed")


def _short(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 2], "little")


def _unchanged(piece: bytes) -> bytes:
    return piece
