"""What the dashboard costs: its share of a core and its memory with 200 counters at 10 Hz, as a process on a terminal.

The counters are files of a recorded sysfs tree, and every one of them grows between two readings; then those of an
emulated pair of cards. Only what the dashboard itself uses is counted, not what else runs on the machine.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

from freezeframe.gui.cli.card_process import card_process
from tests.bench.common import BenchResult, main
from tests.processes import cpu_used_s

COUNTERS = 200
ROWS, COLUMNS = 40, 120
ASKED_CPU, ASKED_RSS_MB = 0.06, 60
WARM_S, MEASURED_S = 4.0, 6.0
CARD_SPEED = 1e-4  # simulated seconds a second: counters move, the emulator stays light
PORT = "sys/class/infiniband/made0/ports/1"


def run() -> list[BenchResult]:
    """Measure the files, then an emulated pair of cards; a ratio is what was asked over what is used."""
    with tempfile.TemporaryDirectory() as folder:
        files = made_tree(Path(folder))
        results = rows(f"{COUNTERS} counters", measure(files, "rdma:made0/1", "--root", folder))
        for file in files:
            os.close(file)
        truth = Path(folder) / "truth.json"
        with card_process("emulate", "none", 1, truth, CARD_SPEED) as (url, _):
            results += rows("a pair of emulated cards", measure([], url))
    return results


def rows(what: str, measured: tuple[float, float, float]) -> list[BenchResult]:
    """Return the share of a core and the memory as rows of the table."""
    cpu, rss_MB, sent_Bps = measured
    return [
        BenchResult(
            f"watch, {what} at 10 Hz, {COLUMNS} x {ROWS}: {100 * cpu:.1f} % of a core, "
            f"{sent_Bps / 1000:.0f} kB/s to the terminal",
            1 / cpu,
            "x real time",
            ASKED_CPU / cpu,
            f"{100 * ASKED_CPU:.0f} % of a core (limit)",
            1.0,
        ),
        BenchResult(
            f"watch, {what}: {rss_MB:.0f} MB resident",
            1000 / rss_MB,
            "1/GB",
            ASKED_RSS_MB / rss_MB,
            f"{ASKED_RSS_MB} MB (limit)",
            1.0,
        ),
    ]


def measure(files: list[int], *arguments: str) -> tuple[float, float, float]:
    """Return the share of a core, the resident memory in MB, and the bytes a second sent to the terminal."""
    process, terminal = started(*arguments)
    try:
        feed(files, terminal, WARM_S)
        before_s, begin_s = cpu_used_s(process.pid), time.monotonic()
        sent = feed(files, terminal, MEASURED_S)
        wall_s = time.monotonic() - begin_s
        used_s = cpu_used_s(process.pid) - before_s
        rss_MB = resident_MB(process.pid)
    finally:
        os.write(terminal, b"q")
        feed([], terminal, 0.5)
        process.send_signal(signal.SIGTERM)
        process.wait(10)
        os.close(terminal)
    return used_s / wall_s, rss_MB, sent / wall_s


def made_tree(root: Path) -> list[int]:
    """Make a port with counters; return their open files."""
    folder = root / PORT / "hw_counters"
    folder.mkdir(parents=True)
    (root / PORT / "state").write_text("4: ACTIVE\n")
    files = []
    for number in range(COUNTERS):
        path = folder / f"made_counter_{number:03d}"
        path.write_text("1\n")
        files.append(os.open(path, os.O_WRONLY))
    return files


def started(*arguments: str) -> tuple[subprocess.Popen[bytes], int]:
    """Start the dashboard on a terminal of its own."""
    terminal, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "freezeframe", "watch", *arguments, "--every", "0.1"],
        stdin=inner,
        stdout=inner,
        stderr=inner,
        start_new_session=True,
        env={**os.environ, "TERM": "xterm-256color"},
    )
    os.close(inner)
    return process, terminal


def feed(files: list[int], terminal: int, seconds: float) -> int:
    """Let all counters grow ten times a second and read what the terminal is sent; return its bytes."""
    sent = 0
    value = time.monotonic_ns()
    end_s = time.monotonic() + seconds
    while (now_s := time.monotonic()) < end_s:
        value += 1_000_003
        for number, file in enumerate(files):
            os.pwrite(file, b"%d\n" % (value + number), 0)
        while (left_s := now_s + 0.1 - time.monotonic()) > 0:
            if select.select([terminal], [], [], left_s)[0]:
                try:
                    sent += len(os.read(terminal, 1 << 16))
                except OSError:  # the dashboard has ended
                    return sent
    return sent


def resident_MB(pid: int) -> float:
    """Return the resident memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise ProcessLookupError(f"process {pid} has ended")


if __name__ == "__main__":
    main(run)
