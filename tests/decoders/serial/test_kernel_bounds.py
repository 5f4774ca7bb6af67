"""The kernels of all native decoders with numba's checks of every index, on a processor of no name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROBE = """
import numba, numpy as np

@numba.njit
def beyond(values, at):
    return values[at]

try:
    beyond(np.zeros(2, np.int64), 2)
except IndexError:
    print("checked")
"""


@pytest.mark.slow
def test_no_kernel_reads_or_writes_beyond_its_arrays(tmp_path: Path) -> None:
    here = Path(__file__).parent
    environment = {
        "PATH": "/usr/bin:/bin",
        "NUMBA_BOUNDSCHECK": "1",
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CACHE_DIR": str(tmp_path / "numba"),
        "FREEZEFRAME_SEEDS": "30",
        "FREEZEFRAME_WIDTHS": "1",
    }
    probed = subprocess.run(
        [sys.executable, "-c", PROBE],
        env=environment, capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    assert probed.stdout.strip() == "checked", "the checks must really be on"
    bus = here.parent / "bus/test_parallel.py"
    items = "test_items_of_samples_do_not_depend_on_how_many_there_were_before"
    planes = here.parents[1] / "capture/files/test_samples.py"
    tests = [str(here / "test_samples_form.py"), f"{bus}::{items}", str(planes)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests],
        env=environment, capture_output=True, text=True, check=False, timeout=900,
        cwd=here.parents[2],
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]
