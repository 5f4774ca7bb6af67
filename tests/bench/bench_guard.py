"""How long a guard is blind: from the last word on the disk to armed, and from what the host sees to frozen.

``make bench-guard``. Real UDP on the loopback, the real disk, an emulated pair of cards.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

_ARMED = re.compile(r"armed (\d+) ms after its last word")
_FROZEN = re.compile(r"\(within (\d+) ms\): A frozen after ([\d.]+) ms")
_EVERY_S = 0.1


def main(captures: int = 10, rings: int = 5) -> None:
    """Print both distributions, in milliseconds."""
    with tempfile.TemporaryDirectory(prefix="freezeframe-bench-") as place:
        armed = [int(found) for found in _ARMED.findall(_caught(Path(place), captures))]
        print(f"last word on the disk to armed, {len(armed)} captures: {_spread(armed)} ms")
        frozen = [float(b) for _, b in _FROZEN.findall(_rung(Path(place), rings))]
        print(
            f"a line in a log to the first card frozen, {len(frozen)} lines: {_spread(frozen)} ms "
            "after it was seen"
        )


def _caught(place: Path, captures: int) -> str:
    with _Emulated("--fault", "payload-bit-flip", "--seed", "4", "--speed", "0.00005") as url:
        return _guarded(url, place / "caught", "--count", str(captures))


def _rung(place: Path, rings: int) -> str:
    log = place / "kern.log"
    log.touch()
    with _Emulated("--seed", "4") as url:
        command = [sys.executable, "-m", "freezeframe", "guard", url, "-o", str(place / "rung")]
        more = ["--freeze-on", f"log:{log}~AER", "--every", str(_EVERY_S), "--count", str(rings)]
        guard = subprocess.Popen(
            [*command, *more], stdout=subprocess.PIPE, text=True, errors="replace"
        )
        armed = 0
        assert guard.stdout is not None
        lines = []
        for line in guard.stdout:
            lines.append(line)
            if "watching" in line or "armed" in line:
                armed += 1
                time.sleep(0.25)
                with log.open("a") as file:
                    file.write(f"pcieport 0000:00:01.0: AER: {armed}\n")
        guard.wait(60)
        return "".join(lines)


def _guarded(url: str, directory: Path, *more: str) -> str:
    command = [sys.executable, "-m", "freezeframe", "guard", url, "-o", str(directory), *more]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class _Emulated:
    def __init__(self, *more: str) -> None:
        self._command = [sys.executable, "-m", "freezeframe", "emulate", "--listen", "127.0.0.1:0"]
        self._command += more

    def __enter__(self) -> str:
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        return self._process.stdout.readline().split()[1]

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(30)


def _spread(values: Sequence[float]) -> str:
    if not values:
        return "none were seen"
    ordered = sorted(values)
    ninth = ordered[int(0.9 * (len(ordered) - 1))]
    return f"median {statistics.median(ordered):.1f}, 9 of 10 up to {ninth:.1f}, most {ordered[-1]:.1f}"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
