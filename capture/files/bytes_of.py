"""The bytes of a file, and what is said where there are none; every reader begins here, so it imports nothing heavy."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from freezeframe.capture.errors import CaptureFormatError, InputError


def refuse_empty(path: Path) -> None:
    """Raise CaptureFormatError where a file is empty: what was meant to be in it cannot be told."""
    if path.is_file() and not path.stat().st_size:
        raise CaptureFormatError(f"{path}: the file is empty")


def open_file(path: str | Path) -> IO[bytes]:
    """Open a file to read its bytes.

    Raises:
        InputError: it cannot be read.
    """
    try:
        return Path(path).open("rb")
    except OSError as error:
        raise _unreadable(path, error) from None


def first_bytes(path: str | Path, most_B: int) -> bytes:
    """Return the first bytes of a file, all where it has fewer.

    Raises:
        InputError: it cannot be read.
    """
    try:
        with open_file(path) as file:
            return file.read(most_B)
    except OSError as error:  # opened, and not read: a folder, a bad disk
        raise _unreadable(path, error) from None


def _unreadable(path: str | Path, error: OSError) -> InputError:
    return InputError(f"{path}: cannot be read: {error.strerror}")
