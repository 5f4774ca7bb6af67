"""Output files that appear at their place whole, or not at all: temporary name, sync, rename."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from freezeframe.capture.errors import InputError
from freezeframe.gui.places import refuse_evidence

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)


def check_output(path: Path, source: Path, *, force: bool) -> None:
    """Check that a file may be written at ``path``, before any work is done for it.

    Args:
        source: what is exported; it is never replaced, and nothing is put into a capture folder.
        force: whether a file that is there may be replaced.
    Raises:
        InputError: no such folder, it cannot be written, something is there already, or it is
            the source.
    """
    if not path.name:
        raise InputError(f"{path}: is not the name of a file; give one with -o")
    if not path.parent.is_dir():
        raise InputError(
            f"{path}: the directory {path.parent} does not exist; create it or choose another place"
        )
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise InputError(
            f"{path}: the directory {path.parent} cannot be written; choose another place"
        )
    refuse_evidence(path)
    inside = path.resolve()
    if source.resolve() in (inside, *inside.parents):
        raise InputError(
            f"{path}: is the capture, or inside it, and that is only read; choose another place"
        )
    if not os.path.lexists(path):
        return
    if not path.is_file():
        raise InputError(f"{path}: is there and is not a file, so it is not replaced")
    if not force:
        raise InputError(
            f"{path}: exists already; choose another name, or ask for it to be replaced (--force)"
        )


@contextmanager
def new_files(places: Sequence[Path], *, force: bool) -> Iterator[list[Path]]:
    """Yield a temporary path beside each place; they are moved there when the block ends well.

    The caller writes every one of them. When the block fails, none is left and what stood at the
    places is as it was. Each file appears whole; several appear one after the other.

    Raises:
        InputError: the disk is full, the system refuses, or a place was taken meanwhile.
    """
    temporary = [place.with_name(f".{place.name}.{secrets.token_hex(4)}.tmp") for place in places]
    try:
        yield temporary
        for path in temporary:
            _sync(path, os.O_RDWR)
        for path, place in zip(temporary, places, strict=True):
            _move(path, place, force)
        for folder in {place.parent for place in places}:
            _sync(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise _refused(places, error) from error
    except InputError as error:
        # A writer of our own has put it into words, but with the temporary name.
        cause = error.__context__
        if isinstance(cause, OSError) and any(path.name in str(error) for path in temporary):
            raise _refused(places, cause) from error
        raise
    finally:
        for path in temporary:
            path.unlink(missing_ok=True)


def _move(path: Path, place: Path, force: bool) -> None:
    if force:
        path.replace(place)
        return
    try:
        # Unlike rename, this fails when another program has put something there meanwhile.
        os.link(path, place)
    except OSError as error:
        if error.errno not in _NO_LINKS or os.path.lexists(place):
            raise
        path.rename(place)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _refused(places: Sequence[Path], error: OSError) -> InputError:
    where = places[0] if len(places) == 1 else places[0].parent
    if error.errno == errno.EEXIST:
        return InputError(f"{where}: was made by another program meanwhile; it is not replaced")
    if error.errno in _NO_SPACE:
        return InputError(
            f"{where}: the disk is full; nothing was left behind, free some space or choose "
            "another place"
        )
    return InputError(
        f"{where}: cannot be written: {error.strerror or error}; nothing was left behind"
    )
