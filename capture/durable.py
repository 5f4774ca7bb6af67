"""A folder that stands at its place whole, or not at all: temporary name, sync, rename."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from freezeframe.capture.errors import InputError, NoRoomError
from freezeframe.capture.output_place import refuse_dash

Content = bytes | Callable[[Path], None]
"""What a file holds, or what writes it to the path that it is given."""

PARTIAL = re.compile(r"\.(?P<name>.+)\.(?:partial|replaced|removed)-(?P<pid>\d+)-[0-9a-f]{8}")
"""Names of folders that are being written, replaced or removed."""

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def check_place(path: Path, overwrite: bool, mark: str) -> None:
    """Check that a folder may be written at ``path``, before any work is done for it.

    Args:
        overwrite: whether a folder that holds a file ``mark`` (or nothing) may be replaced.
    Raises:
        InputError: no name or ``-``, one that is too long, no such parent directory, or something stands there already.
    """
    refuse_dash(path)
    if not path.name:
        raise InputError(f"{path}: the capture needs a name; give one that ends in .ff")
    if not path.parent.is_dir():
        raise InputError(
            f"{path}: the directory {path.parent} does not exist; create it or choose another place"
        )
    longest_B = os.pathconf(path.parent, "PC_NAME_MAX")
    if len(os.fsencode(_beside(path, "replaced").name)) > longest_B:
        raise InputError(f"{path}: the name is too long; choose a shorter one")
    if not os.path.lexists(path):
        return
    if not overwrite:
        raise InputError(
            f"{path}: exists already; choose another name, or ask for it to be replaced (--force)"
        )
    replaceable = path.is_dir() and not path.is_symlink()
    if not replaceable or not ((path / mark).is_file() or not any(path.iterdir())):
        raise InputError(
            f"{path}: is not a folder with a {mark}, so it is not replaced; choose another name"
        )


def write_folder(path: Path, files: Mapping[str, Content], *, overwrite: bool, mark: str) -> None:
    """Write a folder so that after a crash it stands at ``path`` complete, or nothing does.

    A folder that is replaced is set aside first and deleted last, so that one of the two always
    exists under some name.

    Args:
        files: content by path inside the folder, ``/`` between its parts; written in this order,
            so that one that writes itself can read those before it.
    Raises:
        InputError: ``check_place`` refuses, the disk is full, or the system refuses; nothing is
            left behind then.
    """
    check_place(path, overwrite, mark)
    temporary = _beside(path, "partial")
    known = [len(content) for content in files.values() if isinstance(content, bytes)]
    needed_B = sum(known) if len(known) == len(files) else None
    try:
        try:
            _write_tree(temporary, files)
            _move_into_place(temporary, path, overwrite)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)  # the first error is the one to report
            raise
        sync_directory(path.parent)
    except OSError as error:
        raise _refused(path, error, needed_B) from error


def remove_folder(path: Path) -> None:
    """Remove a folder so that its name never shows half of it.

    Raises:
        InputError: the system refuses.
    """
    aside = _beside(path, "removed")
    try:
        path.rename(aside)
        shutil.rmtree(aside)
    except OSError as error:
        raise InputError(f"{path}: could not be removed: {error.strerror}") from error


def _beside(path: Path, what: str) -> Path:
    return path.with_name(f".{path.name}.{what}-{os.getpid()}-{secrets.token_hex(4)}")


def _write_tree(root: Path, files: Mapping[str, Content]) -> None:
    root.mkdir()
    directories = {root}
    for name, content in files.items():
        file = root / name
        for directory in reversed(file.relative_to(root).parents[:-1]):
            (root / directory).mkdir(exist_ok=True)
            directories.add(root / directory)
        if isinstance(content, bytes):
            _write_file(file, content)
        else:
            content(file)
            _sync_file(file)
    for directory in directories:
        sync_directory(directory)


def _write_file(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        write_whole(descriptor, content)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(descriptor: int, data: bytes) -> None:
    """Write all of it, however little each call takes."""
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def _sync_file(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_directory(path: Path) -> None:
    """Let the names in a directory reach the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _move_into_place(temporary: Path, path: Path, overwrite: bool) -> None:
    if not (overwrite and os.path.lexists(path)):
        # Fails when another program has put something there meanwhile, which is what is wanted.
        temporary.rename(path)
        return
    aside = _beside(path, "replaced")
    path.rename(aside)
    try:
        temporary.rename(path)
    except OSError:
        aside.rename(path)
        raise
    shutil.rmtree(aside)


def _refused(path: Path, error: OSError, needed_B: int | None) -> InputError:
    """Return what to tell; ``needed_B`` is None where files are copied, not pulled from a device."""
    if error.errno not in _NO_SPACE:
        return InputError(
            f"{path}: could not be written: {error.strerror}; nothing was left behind"
        )
    try:
        status = os.statvfs(path.parent)
        free = f"{status.f_bavail * status.f_frsize} B are free"
    except OSError:
        free = "how much is free is not known"
    if needed_B is None:
        return NoRoomError(
            f"{path}: no space left: {free}; nothing was left behind. Make room or choose another "
            "place"
        )
    return NoRoomError(
        f"{path}: no space left: the capture needs {needed_B} B or more and {free}; nothing was left "
        "behind. Make room or choose another place; the recording stays in the device until it is "
        "armed"
    )
