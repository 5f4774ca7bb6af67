"""How soon the command line answers: ``freezeframe --help`` as a process, beside Python doing nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.bench.common import BenchResult, main, median_s

HELP_LIMIT_S = 0.15


def run() -> list[BenchResult]:
    """Time whole processes: the installed command with --help, and a Python that only starts."""
    command = [str(Path(sys.executable).with_name("freezeframe")), "--help"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "explain" in text and "pull" in text, text
    help_s = median_s(lambda: _start(command), 15)
    python_s = median_s(lambda: _start([sys.executable, "-c", "pass"]), 15)
    return [
        BenchResult(
            f"freezeframe --help, whole process ({help_s * 1e3:.0f} ms)",
            1 / help_s,
            "starts/s",
            python_s / help_s,
            f"python -c pass ({python_s * 1e3:.0f} ms)",
            1 / HELP_LIMIT_S,
            asked_of="value",
        )
    ]


def _start(command: Sequence[str]) -> None:
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    main(run)
