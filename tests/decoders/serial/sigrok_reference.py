"""What sigrok-cli makes of a capture: the other reader of the same file."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.processes import run_program


class Annotation(NamedTuple):
    """A text that stands over samples ``[begin, end)``."""

    begin: int
    end: int
    text: str


def sigrok_annotations(path: Path, decoder: str, rows: str) -> list[Annotation]:
    """Run ``sigrok-cli -P decoder -A rows`` and return what it prints; skip where it is missing."""
    if shutil.which("sigrok-cli") is None:
        pytest.skip("sigrok-cli is not installed (apt-get install sigrok-cli)")
    done = run_program(
        ["sigrok-cli", "-i", path, "-P", decoder, "-A", rows, "--protocol-decoder-samplenum"]
    )
    found = []
    for line in done.stdout.splitlines():
        match = re.fullmatch(r"(\d+)-(\d+) \w+-\d+: (.*)", line)
        assert match, f"sigrok-cli printed {line!r}"
        found.append(Annotation(int(match[1]), int(match[2]), match[3]))
    # SIGABRT, or 134 of a shell: libsigrokdecode 0.5.3 can abort at its end, after complete output.
    assert done.returncode in (0, 134, -6), done.stderr
    return found
