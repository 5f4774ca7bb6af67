"""``-o -``: one file of results, whole, to standard output."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

from freezeframe.capture.errors import InputError


@contextmanager
def one_to_stdout(
    name: str, table: str | None, choose: str = "--table NAME chooses one"
) -> Iterator[Path]:
    """Let a block write files beside a place, and hand one of them on; nothing where the block fails.

    Args:
        table: which, where there are several, by the end of its name.
        choose: how the user may name one, for the message.
    Raises:
        InputError: there are several, and none or more than one is named.
    """
    with tempfile.TemporaryDirectory() as made:
        place = Path(made) / name
        with redirect_stdout(sys.stderr):
            yield place
        files = sorted(Path(made).iterdir())
        if table is not None:
            files = [file for file in files if f".{file.name}".endswith(f".{table}{place.suffix}")]
        if len(files) != 1:
            names = ", ".join(
                f.name.removeprefix(f"{place.stem}.").removesuffix(place.suffix)
                for f in sorted(Path(made).iterdir())
            )
            raise InputError(f"-o -: takes one table, and there are: {names}; {choose}")
        with files[0].open("rb") as file:
            sys.stdout.flush()
            shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
