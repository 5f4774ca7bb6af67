"""Walk over the sections of an FST file before its values are read.

A section says how long it is, and the next one follows it. A length that is too small, or a file
of nothing but zeros, keeps a reader that believes it busy for ever; so each is held against the file.

Source: GTKWave, fstapi.h, enum fstBlockType; a section is its type (1 B), its length (8 B, most
significant first, itself included) and what the length says.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import IO

from freezeframe.capture.errors import CaptureFormatError
from freezeframe.capture.files.bytes_of import open_file
from freezeframe.capture.files.packed import gzip_pieces, write_unpacked

_HEADER, _SKIP, _PACKED = 0, 255, 254
_HEADER_B = 329
_PACKED_HEAD_B = 17
HEADER_MARK = bytes([_HEADER]) + _HEADER_B.to_bytes(8, "big")
PACKED_MARK = bytes([_PACKED, 0, 0])  # of a length below 2^48
_KNOWN = {0, 1, 2, 3, 4, 5, 6, 7, 8, _PACKED, _SKIP}
_LENGTH_B = 8
_MOST = 1 << 18  # a section of values is written every 128 MB or so


def whole_fst(path: str | Path) -> Path:
    """Return the file itself, or, where it is packed as a whole, a temporary one with what is in it.

    Raises:
        InputError: the file cannot be read, or the disk has no room for it.
        CaptureFormatError: what is packed is damaged, or not as long as it says.
    """
    with open_file(path) as file:
        head = file.read(_PACKED_HEAD_B)
        if head[:1] != bytes([_PACKED]):
            return Path(path)
        packed_B, promised_B = (int.from_bytes(head[at : at + 8], "big") for at in (1, 9))
        size_B = file.seek(0, 2)
        if len(head) < _PACKED_HEAD_B or packed_B != size_B - 1:
            raise CaptureFormatError(
                f"{path}: an FST file packed as a whole, of {packed_B} B by its own word and "
                f"{size_B - 1} B by its length; it is cut, copy it again"
            )
        stat = Path(path).stat()
    return _unpacked(Path(path), promised_B, stat.st_mtime_ns, size_B)


@cache
def _unpacked(path: Path, promised_B: int, _changed_ns: int, _size_B: int) -> Path:
    with open_file(path) as file:
        file.seek(_PACKED_HEAD_B)
        return write_unpacked(path, gzip_pieces(path, file), path.name, promised_B)


def end_tick(path: str | Path, whole: Path) -> int:
    """Return the end time that the header says, in ticks, of a file whose sections fill it.

    Args:
        path: how messages call it.
        whole: what is read, as `whole_fst` gives it.
    Raises:
        InputError: the file cannot be read.
        CaptureFormatError: it is no FST file, is cut, or was never finished.
    """
    with open_file(whole) as file:
        head = file.read(1 + _HEADER_B)
        if len(head) <= _HEADER_B or not head.startswith(HEADER_MARK):
            raise CaptureFormatError(
                f"{path}: no FST header in its first {len(head)} B; no FST file, or cut"
            )
        _walk(path, file)
        return int.from_bytes(head[17:25], "big")


def _walk(path: str | Path, file: IO[bytes]) -> None:
    """Raise CaptureFormatError where the sections are not as long as the file."""
    size_B = file.seek(0, 2)
    at_B = 0
    for _ in range(_MOST):
        if at_B == size_B:
            return
        file.seek(at_B)
        head = file.read(1 + _LENGTH_B)
        where = f"{path}: byte {at_B:#x}"
        if len(head) <= _LENGTH_B:
            raise CaptureFormatError(f"{where}: {len(head)} B of a section; the file is cut")
        kind, length_B = head[0], int.from_bytes(head[1:], "big")
        if kind == _SKIP and not length_B:
            raise CaptureFormatError(
                f"{where}: a section that was never finished: the simulation still runs, or was "
                "killed; let it end, and read the file then"
            )
        if kind not in _KNOWN or length_B < _LENGTH_B:
            raise CaptureFormatError(
                f"{where}: no section begins with type {kind} and length {length_B} B; the file is "
                "damaged, write it again"
            )
        left_B = size_B - at_B - 1
        if length_B > left_B:
            raise CaptureFormatError(
                f"{where}: a section of {length_B} B, and {left_B} B are left; the file is cut"
            )
        at_B += 1 + length_B
    raise CaptureFormatError(
        f"{path}: byte {at_B:#x}: more than {_MOST} sections; the file is damaged, write it again"
    )
