"""Walk over the sections of an FST file before its values are read.

A section says how long it is, and the next one follows it. A length that is too small, or a file
of nothing but zeros, keeps a reader that believes it busy for ever; so each is held against the file.

Source: GTKWave, fstapi.h, enum fstBlockType; a section is its type (1 B), its length (8 B, most
significant first, itself included) and what the length says.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO

from freezeframe.capture.errors import CaptureFormatError, InputError

_HEADER, _SKIP, _PACKED = 0, 255, 254
_HEADER_B = 329
HEADER_MARK = bytes([_HEADER]) + _HEADER_B.to_bytes(8, "big")
_KNOWN = {0, 1, 2, 3, 4, 5, 6, 7, 8, _PACKED, _SKIP}
_LENGTH_B = 8
_MOST = 1 << 20  # a section of values is written every 128 MB or so


def end_tick(path: str | Path) -> int:
    """Return the end time that the header says, in ticks, of a file whose sections fill it.

    Raises:
        InputError: the file cannot be read.
        CaptureFormatError: it is no FST file, is cut, or was never finished.
    """
    try:
        with Path(path).open("rb") as file:
            head = file.read(1 + _HEADER_B)
            if head[:1] == bytes([_PACKED]):
                raise CaptureFormatError(
                    f"{path}: an FST file that is packed as a whole; make a .vcd of it with fst2vcd"
                )
            if len(head) <= _HEADER_B or not head.startswith(HEADER_MARK):
                raise CaptureFormatError(
                    f"{path}: no FST header in its first {len(head)} B; no FST file, or cut"
                )
            _walk(path, file)
            return int.from_bytes(head[17:25], "big")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


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
