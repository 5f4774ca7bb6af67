"""A program run to its end in a process of its own, with what it printed."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def run_program(
    command: Sequence[str | Path], *, check: bool = False, timeout: float = 300.0, input: str | None = None,
    cwd: Path | None = None, env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """Return the exit code and the text of both outputs; after ``timeout`` seconds the program is killed."""
    return subprocess.run(
        command, capture_output=True, text=True, check=check, timeout=timeout, input=input, cwd=cwd, env=env
    )  # fmt: skip
