"""Where results may not be written: a capture folder is evidence and is only read."""

from __future__ import annotations

from pathlib import Path

from freezeframe.capture.errors import InputError

__all__ = ["is_capture", "refuse_evidence"]

_MANIFEST = "manifest.json"  # of freezeframe.capture.folder, whose import costs that of numpy


def is_capture(path: Path) -> bool:
    """Return whether a directory is a capture folder, whole or not."""
    return (path / _MANIFEST).is_file() and (path.suffix == ".ff" or (path / "raw").is_dir())


def refuse_evidence(path: Path) -> None:
    """Refuse a place in a capture folder, any folder's, also through links.

    Raises:
        InputError: ``path`` is a capture folder or lies in one.
    """
    place = path.resolve()
    for folder in (place, *place.parents):
        if is_capture(folder):
            raise InputError(
                f"{path}: is in the capture folder {folder.name}, which is evidence and is only "
                "read; choose a place outside of it"
            )
