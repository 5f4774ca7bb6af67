"""Workers of pytest that need one kernel at one time compile it once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.environments import ROOT

KERNEL = """
from numba import njit


@njit(cache=True)
def inner(words):
    return words.sum()


@njit(cache=True)
def outer(words):
    return inner(words) + inner(words[::2])
"""
WORKER = """
import sys
from pathlib import Path
import numpy as np
from kernel import inner, outer
from tests.kernel_locks import lock_kernels

lock_kernels(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
assert outer(np.arange(10)) == 65
compiled = [sum(kernel.stats.cache_misses.values()) for kernel in (inner, outer)]
print(*compiled, flush=True)
"""


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_what_two_workers_need_at_once_is_compiled_by_one_of_them(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(KERNEL)
    (tmp_path / "worker.py").write_text(WORKER)
    paths = {"PYTHONPATH": f"{tmp_path}:{ROOT}", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, str(tmp_path / "worker.py"), str(tmp_path / "locks")]
    workers = [
        subprocess.Popen(command, env=os.environ | paths, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]  # fmt: skip
    for worker in workers:
        assert worker.stdout is not None and worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    answers = [worker.communicate()[0].split() for worker in workers]
    # inner for two types, of a whole array and of every second word; outer for one
    assert sorted(answers) == [["0", "0"], ["2", "1"]]
