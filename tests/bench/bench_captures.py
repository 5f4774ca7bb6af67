"""A real capture of a billion samples, from the file to SPI transfers, against sigrok-cli.

Left out where the captures or sigrok-cli are not there.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from freezeframe.capture.files.samples import Samples
from freezeframe.capture.files.sigrok_sr import read_header, read_samples
from freezeframe.decoders.run import decode_file
from freezeframe.decoders.serial.spi import SPI
from tests.bench.common import BenchResult, main
from tests.processes import run_program

_CAPTURE = Path(__file__).parents[3] / "shared/captures/enc28j60-init-and-ping.sr"
_REPEATS = 3
_TURNS = 7  # of one core and of all, the best of each
_PEAK_MB = 300.0
_STACKED_PEAK_MB = 500.0
_MEMORY_SAMPLES = 1 << 28  # the part that is decoded from memory


def run() -> list[BenchResult]:
    """Measure; nothing where the capture or sigrok-cli is missing."""
    if shutil.which("sigrok-cli") is None or not _CAPTURE.exists():
        return []
    samples = read_header(_CAPTURE).declared_samples
    said = _sigrok()
    assert _transfers() == _said_transfers(said.stdout), "the transfers differ"
    sigrok_s = statistics.median(_used_s(_sigrok) for _ in range(_REPEATS))
    cpu_s = statistics.median(_used_s(_ours) for _ in range(_REPEATS))
    peak_MB = _peak_MB()
    _ours("spi+enc28j60")
    stacked_MB = _peak_MB()
    first = next(iter(os.sched_getaffinity(0)))
    one_s, two_s = [], []
    assert _ours(cores={first}).stdout == _ours().stdout, "one core and all print different things"
    # In turn, because the machine is not equally fast all the time.
    for _ in range(_TURNS):
        one_s.append(_wall_s({first}))
        two_s.append(_wall_s(os.sched_getaffinity(0)))
    name = "SPI transfers from a real .sr of 1,017 M samples"
    against = "sigrok-cli -P spi, CPU seconds"
    return [
        _sparse(samples / sigrok_s),
        BenchResult(
            f"{name}, whole process",
            samples / cpu_s / 1e6,
            "Msample/s",
            sigrok_s / cpu_s,
            against,
            3.5,
        ),
        BenchResult(f"{name}, peak memory", peak_MB, "MB", _PEAK_MB / peak_MB, "300 MB", 1.0),
        BenchResult(
            "SPI and ENC28J60 stacked, the same .sr, peak memory",
            stacked_MB,
            "MB",
            _STACKED_PEAK_MB / stacked_MB,
            "500 MB",
            1.0,
        ),
        BenchResult(
            f"{name}, all cores",
            samples / min(two_s) / 1e6,
            "Msample/s",
            min(one_s) / min(two_s),
            "one core",
            1.6,
        ),
    ]


def _sparse(sigrok_rate: float) -> BenchResult:
    """The first part of the capture, from memory: cost follows the changes, for both."""
    data: list[Any] = []
    for piece in read_samples(_CAPTURE):
        data.append(piece.data)
        if piece.end_sample >= _MEMORY_SAMPLES:
            break
    names = [piece.channels.index(name) for name in ("CLK", "MISO", "MOSI", "CS")]
    bits = (*(piece.bits[at] for at in names), -1, -1, -1)
    channels = ("CLK", "MISO", "MOSI", "CS", "", "", "")
    whole = Samples(np.concatenate(data), channels, bits, piece.samplerate_hz, 0)
    options = SPI.option_values()

    def decode() -> int:
        state = SPI.new_state(options)
        words = 0
        for begin in range(0, len(whole), 1 << 22):
            part = whole.cut(begin, begin + (1 << 22))
            assert SPI.decode_samples is not None
            made = SPI.decode_samples(part, options, state, part.end_sample == len(whole))
            words += len(made["spi.words"])
        return words

    assert decode(), "no word in that part"
    times = []
    for _ in range(_REPEATS):
        begin_s = time.process_time()
        decode()
        times.append(time.process_time() - begin_s)
    rate = len(whole) / statistics.median(times)
    return BenchResult(
        "SPI, sparse real capture, samples to tables",
        rate / 1e6,
        "Msample/s",
        rate / sigrok_rate,
        f"sigrok-cli from the file, {sigrok_rate / 1e6:.0f} Msample/s of CPU",
        10.0,
    )


def _transfers() -> list[list[int]]:
    tables = {decoded.name: decoded.table for decoded in decode_file(_CAPTURE, ["spi"])}
    return list(tables["spi.transfers"]["mosi"].to_pylist())


def _said_transfers(text: str) -> list[list[int]]:
    lines = [line.partition(": ")[2] for line in text.splitlines()]
    return [[int(word, 16) for word in re.findall(r"[0-9A-F]+", line)] for line in lines]


def _ours(spec: str = "spi", cores: set[int] | None = None) -> subprocess.CompletedProcess[str]:
    program = str(Path(sys.executable).with_name("freezeframe"))
    command = [program, "decode", str(_CAPTURE), "-d", spec]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=None if cores is None else lambda: os.sched_setaffinity(0, cores),
    )


def _sigrok() -> subprocess.CompletedProcess[str]:
    decoder = "spi:clk=CLK:miso=MISO:mosi=MOSI:cs=CS"
    done = run_program(["sigrok-cli", "-i", _CAPTURE, "-P", decoder, "-A", "spi=mosi-transfer"])
    # libsigrokdecode 0.5.3 can abort at its end, after complete output.
    assert done.returncode in (0, -signal.SIGABRT), done.stderr
    return done


def _peak_MB() -> float:
    """Return the most memory that any process had so far that this one started."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6


def _used_s(call: Any) -> float:
    """Return the CPU seconds of the processes that a call starts."""
    before = os.times()
    call()
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def _wall_s(cores: set[int]) -> float:
    start = time.perf_counter()
    _ours(cores=cores)
    return time.perf_counter() - start


if __name__ == "__main__":
    main(run)
