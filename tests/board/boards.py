"""The simulated board as a process, for the length of a ``with``."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from freezeframe.emulator.board import board_program


@dataclass(frozen=True)
class Board:
    """A board that answers at ``url``."""

    url: str
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])


@cache
def program(*, pcix: bool = False) -> Path:
    """Return the program, built now if its sources are new."""
    return board_program(lambda line: print(line, file=sys.stderr), pcix=pcix)


@contextmanager
def running(*arguments: str, pcix: bool = False) -> Iterator[Board]:
    """Run the board on a free port until the block is left."""
    command = [str(program(pcix=pcix)), "--listen", "127.0.0.1:0", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            ready = process.stdout.readline().split()
            assert ready[:1] == ["ready"], process.communicate(timeout=10)
            yield Board(ready[1], process)
        finally:
            if process.poll() is None:
                process.terminate()
