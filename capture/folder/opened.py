"""What the two forms of capture folder share: their devices by name, and how what does not fit is told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.folder.content import Gap, MemoryImage
from freezeframe.capture.folder.manifest import MANIFEST
from freezeframe.capture.folder.raw_files import KEEP
from freezeframe.capture.folder.records import RECORD_B
from freezeframe.capture.notebook import ShownInNotebooks


class _Named(Protocol):
    @property
    def name(self) -> str: ...


D = TypeVar("D", bound=_Named)


class OpenedFolder(ShownInNotebooks, Generic[D]):
    """A capture folder whose manifest and raw files were found whole and unaltered.

    Attributes:
        path: the folder.
        manifest: the content of ``manifest.json``.
        devices: in the order of their index.
    """

    def __init__(self, path: Path, manifest: dict[str, Any], devices: list[D]) -> None:
        """Hold what ``open`` has checked; use that."""
        self.path = path
        self.manifest = manifest
        self.devices = devices

    def device(self, name: str) -> D:
        """Return the device of that name.

        Raises:
            InputError: the capture has no such device; the message lists those it has.
        """
        for device in self.devices:
            if device.name == name:
                return device
        known = ", ".join(device.name for device in self.devices)
        raise InputError(f"{self.path}: no device {name!r}; the capture holds {known}")

    @property
    def lost(self) -> list[str]:
        """One line for each thing that is missing from the capture."""
        return [str(line) for line in self.manifest.get("lost", [])]


@contextmanager
def opening(
    folder: Path, says: str = "describe what is in raw/", keep: str = KEEP
) -> Iterator[None]:
    """Tell in one line what a folder cannot be opened for.

    Args:
        says: what its manifest is to do; ``keep``: what there is to do.
    Raises:
        CaptureFormatError: a file could not be read, or the manifest is not of the form of formats.md.
    """
    try:
        yield
    except OSError as error:
        raise CaptureFormatError(
            f"{error.filename or folder}: could not be read: {error.strerror}"
        ) from error
    except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise CaptureFormatError(f"{folder / MANIFEST}: does not {says}: {what}; {keep}") from error


def refuse_left(folder: Path, raw: Iterable[str]) -> None:
    """Refuse raw files that no device has taken.

    Raises:
        CaptureFormatError: there are some; the first is named.
    """
    if left := [name for name in raw if not name.startswith("cards/")]:
        raise CaptureFormatError(f"{folder / MANIFEST}: {min(left)} belongs to no device; {KEEP}")


def count_of(value: Any, name: str) -> int:
    """Return a count that a manifest states.

    Raises:
        ValueError: it is none.
    """
    if type(value) is not int or value < 0:
        raise ValueError(f"{name} is {value!r}, not a count")
    return value


def gaps_of(said: Sequence[Any]) -> list[Gap]:
    """Return the gaps that a manifest states; raises as `count_of`."""
    return [
        Gap(
            count_of(g["first_slot"], "first_slot"), count_of(g["slots"], "slots"), str(g["reason"])
        )
        for g in said
    ]


def memory_of(name: str, data: bytes, end: Any, gaps: Sequence[Any]) -> MemoryImage:
    """Return a memory of its file; ``end`` states the write pointer, and whether it wrapped. Raises as `count_of`."""
    records = np.frombuffer(data, np.uint8).reshape(-1, RECORD_B)
    write_ptr = count_of(end["write_ptr"], "write_ptr")
    return MemoryImage(name, records, write_ptr, bool(end["wrapped"]), gaps_of(gaps))
