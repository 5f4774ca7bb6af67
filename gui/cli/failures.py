"""How an expected failure reads, and its exit code, without the library of the command line.

A program that runs for days in little memory (``watch``) reports the same way without loading typer.
"""

from __future__ import annotations

import errno

from freezeframe.capture.errors import FreezeframeError
from freezeframe.gui.text import printable

__all__ = ["failure"]


def failure(error: BaseException) -> tuple[str, int] | None:
    """Return the line for standard error and the exit code; None for a mistake of the program."""
    if isinstance(error, FreezeframeError):
        return _line(str(error)), error.exit_code
    if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
        if error.filename is None and error.errno not in (errno.ENOSPC, errno.EDQUOT):
            return None
        return _line(_file_error(error)), FreezeframeError.exit_code
    return None


def _line(message: str) -> str:
    return f"freezeframe: {printable(message.strip())}"


def _file_error(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename is not None else ""
    what = {
        errno.ENOENT: "there is no such file or folder",
        errno.EACCES: "permission denied; choose a place you may read and write",
        errno.ENOSPC: "the disk is full; nothing was kept, free some space and run this again",
        errno.EDQUOT: "the quota is used up; nothing was kept, free some space and run this again",
        errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
        errno.EISDIR: "is a folder, a file is needed",
        errno.ENOTDIR: "a part of the path is a file, not a folder",
        errno.EEXIST: "exists already",
    }.get(error.errno or 0, error.strerror or str(error))
    return f"{where}{what}"
