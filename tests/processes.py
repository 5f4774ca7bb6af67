"""A program run to its end in a process of its own, with what it printed; what a process has used."""

from __future__ import annotations

import os
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


def cpu_used_s(pid: int) -> float:
    """Return the processor time a process has used, all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
