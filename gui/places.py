"""Where results may be written, for a capture folder is evidence and is only read; and how one file is written."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from freezeframe.capture.errors import InputError
from freezeframe.capture.output_place import refuse_dash

# Of freezeframe.capture.folder, whose import costs that of numpy. The copy alone is a capture that --salvage reads.
MANIFESTS = ("manifest.json", "manifest.copy.json")


def is_capture(path: Path) -> bool:
    """Return whether a directory is a capture folder, whole or not."""
    stated = any((path / name).is_file() for name in MANIFESTS)
    return stated and (path.suffix == ".ff" or (path / "raw").is_dir())


def refuse_evidence(path: Path) -> None:
    """Refuse a place in a capture folder, any folder's, also through links, and standard output.

    Raises:
        InputError: ``path`` is a capture folder or inside of one, or is ``-``.
        OSError: its name is too long, or the system refuses to look.
    """
    refuse_dash(path)
    place = path.resolve()
    try:
        inside = next((one for one in (place, *place.parents) if is_capture(one)), None)
    except OSError as error:  # it names the manifest that was looked for
        raise OSError(error.errno, error.strerror, str(path)) from None
    if inside is not None:
        raise InputError(
            f"{path}: is in the capture folder {inside.name}, which is evidence and is only "
            "read; choose a place outside of it"
        )


def refuse_taken(path: Path, force: bool, example: str) -> None:
    """Refuse a place where no file can be written, before any work is done.

    Args:
        example: the name of such a file.
    Raises:
        InputError: something is there and ``force`` is not given, it is a folder or a device, or
            the folder for it is missing.
    """
    if path.is_dir():
        raise InputError(f"{path}: is a folder; give the name of a file, for instance {example}")
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is there and is not a file, so it is not replaced")
    if path.exists() and not force:
        raise InputError(f"{path}: exists already; --force replaces it")
    if not path.parent.is_dir():
        raise InputError(f"{path.parent}: there is no such folder; make it first")


def free_name(folder: Path, stem: str, suffix: str) -> Path:
    """Return the first ``STEM-0001SUFFIX`` in a folder that is not there yet."""
    number = 1
    while (path := folder / f"{stem}-{number:04d}{suffix}").exists():
        number += 1
    return path


def write_whole(path: Path, data: bytes) -> None:
    """Write a file under a temporary name and rename it, so that a part of it never stays.

    Raises:
        OSError: the disk is full or may not be written.
    """
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:  # it names the temporary file
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)  # mkstemp gives 0600; results are made to be shared
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
