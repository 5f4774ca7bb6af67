"""Sigrok's decoders in our workers against sigrok-cli, and two stacks beside each other.

The same decoder, the same file, the same annotations, compared before any time is quoted.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from freezeframe.decoders.run import decode_file
from tests.bench.bench_edges import write_mdio
from tests.bench.common import BenchResult, main
from tests.processes import run_program

_SPEC = "srd-mdio"
_REPEATS = 5  # in turn, the best of each
_TURNS = 30_000_000  # of a loop: about as long as a stack
# Name, frames, samples of a half bit: idle samples count, frames count, and 2.5 MHz between them.
_CAPTURES = (
    ("600 samples a half bit", 500, 600),
    ("20 samples a half bit", 3_000, 20),
    ("2 samples a half bit", 6_000, 2),
)


def run() -> list[BenchResult]:
    """Measure; nothing where sigrok-cli is not installed."""
    if shutil.which("sigrok-cli") is None:
        return []
    results = []
    with tempfile.TemporaryDirectory(prefix="ff-bench-") as folder:
        for name, frames, half_period in _CAPTURES:
            path = Path(folder) / f"{half_period}.sr"
            samples = _write(path, frames, half_period)
            results.append(_against_cli(path, name, samples))
        results += _two(path, samples)
    return results


def _write(path: Path, count: int, half_period_samples: int) -> int:
    edges, _ = write_mdio(path, 3, count, half_period_samples)
    return edges.total_samples


def _against_cli(path: Path, name: str, samples: int) -> BenchResult:
    assert _ours(path) == _theirs(path), "the annotations differ"
    ours, theirs = [], []
    # In turn, because the machine is not equally fast all the time.
    for _ in range(_REPEATS):
        ours.append(seconds(lambda: decode_file(path, [_SPEC])))
        theirs.append(seconds(lambda: _sigrok(path)))
    return BenchResult(
        f"sigrok's MDIO from .sr, {name}",
        samples / min(ours) / 1e6,
        "Msample/s",
        min(theirs) / min(ours),
        "sigrok-cli -P mdio",
        1.0,
    )


def _two(path: Path, samples: int) -> list[BenchResult]:
    """Two stacks beside one, their workers' start and all that the host does included; and what the
    machine allows at that moment, by loops that do nothing else."""
    together = decode_file(path, [_SPEC, _SPEC])
    assert together[0].table.equals(together[1].table), "the two stacks differ"
    one, two, loop, loops = [], [], [], []
    for _ in range(_REPEATS):
        one.append(seconds(lambda: decode_file(path, [_SPEC])))
        loop.append(seconds(lambda: _run_loops(1)))
        two.append(seconds(lambda: decode_file(path, [_SPEC, _SPEC])))
        loops.append(seconds(lambda: _run_loops(2)))
    limit = 2 * min(loop) / min(loops)
    ratio = 2 * min(one) / min(two)
    return [
        BenchResult(
            "two plain Python loops beside each other, what the machine allows",
            2 * _TURNS / min(loops) / 1e6,
            "Mturn/s",
            limit,
            "one loop alone",
        ),
        BenchResult(
            "two stacks of sigrok decoders",
            2 * samples / min(two) / 1e6,
            "Msample/s",
            ratio,
            f"one stack alone; {ratio / limit:.0%} of what the loops reach",
            1.8,
        ),
    ]


def _run_loops(count: int) -> None:
    """Run that many interpreters which only count, and wait for all."""
    program = f"for turn in range({_TURNS}): turn & 7"
    running = [subprocess.Popen([sys.executable, "-I", "-S", "-c", program]) for _ in range(count)]
    assert not any(process.wait() for process in running)


def _ours(path: Path) -> list[str]:
    ((_, table),) = decode_file(path, [_SPEC])
    return [
        f"{begin}-{end} {source}: {text}"
        for begin, end, source, text in zip(
            *(table[name].to_pylist() for name in ("sample", "end_sample", "source", "text")),
            strict=True,
        )
    ]


def _theirs(path: Path) -> list[str]:
    return _sigrok(path).splitlines()


def _sigrok(path: Path) -> str:
    return sigrok_cli(path, "-P", "mdio:mdc=MDC:mdio=MDIO")


def sigrok_cli(path: Path, *decoders: str) -> str:
    """Return the annotations that sigrok-cli prints of a capture, each with its samples."""
    done = run_program(["sigrok-cli", "-i", path, *decoders, "--protocol-decoder-samplenum"])
    # libsigrokdecode 0.5.3 can abort at its end, after complete output.
    assert done.returncode in (0, -signal.SIGABRT), done.stderr
    return done.stdout


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


if __name__ == "__main__":
    main(run)
