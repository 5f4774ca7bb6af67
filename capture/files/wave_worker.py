"""FST and GHW files as pywellen sees them, read by a process of its own that may fail without harm."""

from __future__ import annotations

import marshal
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from freezeframe.capture.errors import CaptureFormatError, InputError

_MEMORY_B = 448 << 20
_QUIET_S = 120  # of the processor, without a change
_WARNS = "WARN: "  # how pywellen says that it skips something
_CHILD = Path(__file__).with_name("wave_child.py")


@dataclass(frozen=True, slots=True)
class WaveVariable:
    """A variable, with the names that pywellen gives its own."""

    full_name: str
    bitwidth: int | None
    var_type: str
    signal_id: str
    is_real: bool
    is_string: bool


@dataclass(frozen=True, slots=True)
class Changes:
    """Some changes, in the order of time: ``(n,)`` each, ticks, place of the signal, and value.

    ``texts`` are the values that are no numbers, by row: a letter for each bit, of which one at
    least is neither 0 nor 1.
    """

    time: npt.NDArray[np.uint64]
    signal: npt.NDArray[np.uint8]
    value: npt.NDArray[np.uint64]
    texts: dict[int, str]


class Wave:
    """The variables and changes of a file; ``timescale`` is (factor, exponent of a second) or None."""

    def __init__(self, path: str | Path, file: Path, kind: str) -> None:
        """Read the variables.

        Args:
            path: how messages call it.
            file: what is read.
            kind: fst or ghw.
        Raises:
            InputError: pywellen is not installed.
            CaptureFormatError: the file is damaged.
        """
        if find_spec("pywellen") is None:
            raise InputError(
                f"{path}: {kind.upper()} files are read with pywellen, which is not installed; "
                "pip install pywellen, or make a .vcd of it with fst2vcd"
            )
        self._path, self._file, self._kind = path, file, kind
        parts = self._run([])
        self.timescale, described = next(parts)
        self.variables = [WaveVariable(*each) for each in described]
        for _ in parts:
            pass

    def changes(self, keys: Sequence[str]) -> Iterator[Changes]:
        """Yield the changes of these signals, at most 64, in the order of time.

        Raises:
            CaptureFormatError: the file is damaged; when that is reached.
        """
        parts = self._run(keys)
        next(parts)
        for time, place, value, texts in parts:
            yield Changes(
                np.frombuffer(time, np.uint64),
                np.frombuffer(place, np.uint8),
                np.frombuffer(value, np.uint64),
                texts,
            )

    def _run(self, keys: Sequence[str]) -> Iterator[Any]:
        limits = [str(_MEMORY_B), str(_QUIET_S)]
        command = [sys.executable, str(_CHILD), *limits, str(self._file), self._kind, *keys]
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
                        break
                    yield part
                left_out = next((line for line in _said(stderr) if line.startswith(_WARNS)), "")
            except (EOFError, ValueError, TypeError):
                code = process.wait()
                raise CaptureFormatError(f"{self._path}: {_death(code, _said(stderr))}") from None
            finally:
                process.kill()
        if left_out:
            # It goes on without the change; what a file holds is not read in part without a word.
            raise CaptureFormatError(
                f"{self._path}: {left_out.removeprefix(_WARNS)[:200]}; the file is damaged, write it again"
            )


def _said(stderr: IO[bytes]) -> list[str]:
    """Return what a child has said so far, in lines."""
    stderr.seek(0)
    return stderr.read(1 << 16).decode("utf-8", "replace").splitlines()


def _death(code: int, said: Sequence[str]) -> str:
    """Return what is to be said of a child that ended with this code and these lines."""
    why = next((line.strip() for line in reversed(said) if _tells(line)), "")
    if code == -signal.SIGXCPU:
        return f"nothing came of it in {_QUIET_S} s of the processor; the file is damaged, write it again"
    if "memory allocation of" in why or why.startswith("MemoryError"):
        return (
            f"more than {_MEMORY_B >> 20} MiB of memory were asked for; the file is damaged, or has too "
            "many signals: dump fewer"
        )
    if not why and code < 0:
        why = f"its reader was ended by {signal.Signals(-code).name}"
    return f"{why[:200] or 'no reason is known'}; the file is damaged, write it again"


def _tells(line: str) -> bool:
    """Return whether a line of a panic says more than where it was."""
    return bool(line.strip()) and not line.lstrip().startswith(("note:", "at ", "File "))
