"""A GHW file as pywellen sees it, read by a process of its own that may fail without harm."""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.files.marks import GHW_MARK

_LIMIT_B = 1 << 25  # pywellen holds it whole, ten times as large
_CHILD = Path(__file__).with_name("ghw_child.py")


@dataclass(frozen=True, slots=True)
class GhwVariable:
    """A variable, with the names that pywellen gives its own."""

    full_name: str
    bitwidth: int | None
    var_type: str
    signal_id: str
    is_real: bool
    is_string: bool


class GhwWave:
    """The variables and changes of a file; ``timescale`` is (factor, exponent of a second)."""

    def __init__(self, path: str | Path) -> None:
        """Read the variables.

        Raises:
            CaptureFormatError: the file is damaged.
        """
        self._path = Path(path)
        parts = self._run([])
        self.timescale, described = next(parts)
        self.variables = [GhwVariable(*each) for each in described]
        for _ in parts:
            pass

    def changes(self, keys: Sequence[str]) -> Iterator[list[tuple[int, Any, Any]]]:
        """Yield (time, key, value) of these signals in lists, in the order of time.

        Raises:
            CaptureFormatError: the file is damaged; when that is reached.
        """
        parts = self._run(keys)
        next(parts)
        yield from parts

    def _run(self, keys: Sequence[str]) -> Iterator[Any]:
        command = [sys.executable, str(_CHILD), str(self._path), *keys]
        with (
            tempfile.TemporaryFile() as stderr,
            subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env={**os.environ, "RUST_BACKTRACE": "0"},  # the panic itself is what is said
            ) as process,
        ):
            try:
                while process.stdout is not None:
                    # Only our own child writes here: lists of numbers and texts.
                    part = marshal.load(process.stdout)
                    if part is None:
                        return
                    yield part
            except (EOFError, ValueError, TypeError):
                process.wait()
                stderr.seek(0)
                lines = stderr.read(1 << 16).decode("utf-8", "replace").splitlines()
                why = next((each for each in reversed(lines) if _tells(each)), "no reason is known")
                raise CaptureFormatError(
                    f"{self._path}: {why.strip()[:200]}; the file is damaged, write it again"
                ) from None
            finally:
                process.kill()


def is_ghw(path: str | Path) -> bool:
    """Return whether it is a GHW file, of a size that can be read.

    Raises:
        InputError: it is larger, or cannot be read.
    """
    try:
        with Path(path).open("rb") as file:
            if file.read(len(GHW_MARK)) != GHW_MARK:
                return False
            size_B = file.seek(0, 2)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    if size_B > _LIMIT_B:
        raise InputError(
            f"{path}: {size_B} B; GHW files of up to {_LIMIT_B} B are read, because they are held in "
            "memory; let ghdl write --fst=FILE"
        )
    return True


def _tells(line: str) -> bool:
    """Return whether a line of a panic says more than where it was."""
    return bool(line.strip()) and not line.lstrip().startswith(("note:", "at ", "File "))
