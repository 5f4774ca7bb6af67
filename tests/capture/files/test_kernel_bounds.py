"""The kernels that read files under NUMBA_BOUNDSCHECK=1: no place outside of an array is touched."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.processes import run_program

ROOT = Path(__file__).parents[3]
PROBE = """
import numpy as np
from freezeframe.capture.files._change_kernels import CHANGE_STATE, apply_changes

one, none = np.ones(1, np.uint64), np.zeros(0, np.uint64)
try:
    # Two changes, and no room for the edge of the first.
    changes = np.array([0, 5]), np.array([1, 1], np.uint64), np.array([1, 0], np.uint64)
    apply_changes(changes, np.zeros(1, CHANGE_STATE), np.zeros(0, np.int64), none)
except IndexError:
    print("checked")
"""


@pytest.mark.slow
@pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1",
    reason="without compiling there are no bounds checks",
)
def test_no_file_makes_a_kernel_read_or_write_beyond_its_arrays(tmp_path: Path) -> None:
    environment = os.environ | {
        "NUMBA_BOUNDSCHECK": "1",
        "NUMBA_CACHE_DIR": str(tmp_path / "kernels"),
    }
    probed = run_program([sys.executable, "-c", PROBE], env=environment, check=True)
    assert probed.stdout.strip() == "checked", "the checks must really be on"
    files = "tests/capture/files"
    tests = [f"{files}/{name}" for name in ("test_vcd.py", "test_edges.py")]
    done = run_program(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests],
        env=environment,
        timeout=600,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout[-4000:]
