"""The verilated pair of example cards as a target: built once in a session, run by a bench that obeys lines of text.

The bench (tests/rtl/board/pair_bench.cpp) prints what happened as one JSON object and then reads and writes registers.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np

from freezeframe.capture.targets.base import Words
from tests.processes import run_program
from tests.rtl.simulation import GENERATED, REPOSITORY, tool

BOARD = REPOSITORY / "firmware-hooks" / "board"
BENCH = REPOSITORY / "tests" / "rtl" / "board" / "pair_bench.cpp"
ERROR_WORD = 0xFFFFFFFF
MOST_WORDS = 4096
ACCESS_US = 5
"""Time that passes with each access, as it would over any transport."""


def build(folder: Path) -> Path:
    """Verilate the pair with its bench into a folder; return the program. About a minute on one core.

    The same files in the same order with the same options as for the simulated board: what a test of that has compiled
    stands in ccache.
    """
    program, hooks = folder / "pair_bench", BOARD.parent
    verilog = sorted([*(hooks / "rtl").rglob("ff_*.v"), *GENERATED.rglob("ff_*.v")])
    names = ("pair", "direct_ports", "driver", "host_model", "fault_plan")
    sources = [BOARD / f"{name}.cpp" for name in names]
    told = run_program([tool("verilator"), "--cc", "--exe", "--build", "-O3", "--x-assign", "fast",
         "--x-initial", "fast", "--noassert", "-Wno-fatal", "--top-module", "ff_example_pair", "--Mdir",
         str(folder / "obj"), "-o", str(program), "-CFLAGS", f"-std=c++17 -O3 -march=native -I{BOARD}",
         "-MAKEFLAGS", "OPT_FAST=-O3 OPT_SLOW=-O0", str(BOARD / "cells.vlt"), *map(str, verilog), *map(str, sources),
         str(BENCH)],
         timeout=900)  # fmt: skip
    assert told.returncode == 0, told.stderr[-4000:]
    return program


class VerilatedPair:
    """One run of the bench; a `freezeframe.capture.targets.base.Target`."""

    def __init__(
        self, program: Path, fault: str = "none", seed: int = 0, limit_us: int = 4000,
        messages: int = 0,
    ) -> None:  # fmt: skip
        """Run until both cards are frozen, ``limit_us`` are over, or ``messages`` of each host (0: no end)."""
        self.url = f"bench:{fault}/{seed}"
        self._process = subprocess.Popen(
            [str(program), fault, str(seed), str(limit_us), str(messages)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.result: dict[str, Any] = json.loads(self._line())

    def __enter__(self) -> VerilatedPair:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()

    def read(self, addresses: Words | Sequence[int]) -> Words:
        self.advance(ACCESS_US)
        words: list[int] = []
        for first, count in _runs([int(address) for address in addresses]):
            texts = self._ask(f"R {first:x} {count:x}").split()
            words += [ERROR_WORD if text == "error" else int(text, 16) for text in texts]
        return np.array(words, dtype=np.uint32)

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        self.advance(ACCESS_US)
        for place, word in enumerate(words):
            self._ask(f"W {address + 4 * place:x} {int(word):x}")

    def advance(self, us: int) -> None:
        """Let simulated time pass."""
        self._ask(f"T {us:x}")

    def close(self) -> None:
        """End the simulation; twice is harmless."""
        if self._process.poll() is None:
            self._pipe(self._process.stdin).close()
            self._process.wait(timeout=60)
        self._pipe(self._process.stdout).close()

    def _ask(self, line: str) -> str:
        pipe = self._pipe(self._process.stdin)
        pipe.write(line + "\n")
        pipe.flush()
        return self._line()

    def _line(self) -> str:
        line = self._pipe(self._process.stdout).readline()
        assert line, f"{self.url}: the bench ended with {self._process.poll()}"
        return line

    @staticmethod
    def _pipe(pipe: IO[str] | None) -> IO[str]:
        assert pipe is not None
        return pipe


def _runs(addresses: list[int]) -> Iterator[tuple[int, int]]:
    """Yield (first address, words) for each run of neighbours, in order."""
    first, count = 0, 0
    for address in addresses:
        if count and address == first + 4 * count and count < MOST_WORDS:
            count += 1
            continue
        if count:
            yield first, count
        first, count = address, 1
    if count:
        yield first, count
