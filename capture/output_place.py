"""What is no place for a result: ``-``, which elsewhere means standard output."""

from __future__ import annotations

from pathlib import Path

from freezeframe.capture.errors import InputError


def refuse_dash(path: Path) -> None:
    """Refuse ``-``: results are files and folders that are whole or not there, which a pipe cannot be.

    Raises:
        InputError: ``path`` is ``-``.
    """
    if str(path) == "-":
        raise InputError("-: results are not written to standard output; name a file or a folder")
