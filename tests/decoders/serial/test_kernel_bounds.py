"""The kernels of all native decoders with numba's checks of every index, on a processor of no name.

The portable forms of the bit operations (capture/files/plane_kernels.py) are what runs there.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROBE = """
import numba, numpy as np
from freezeframe.capture.files import plane_kernels

@numba.njit
def beyond(values, at):
    return values[at]

@numba.njit
def portable(plane, mask):
    return plane_kernels.bits_of(plane, mask), plane_kernels.nth_one(mask, 1)

try:
    beyond(np.zeros(2, np.int64), 2)
except IndexError:
    print("checked")
print(*map(int, portable(np.uint64(0b1010), np.uint64(0b1110))), plane_kernels.has_feature("bmi2"))
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
    assert probed.stdout.split("\n")[:2] == ["checked", "5 2 False"], "checked and portable"
    bus = here.parent / "bus/test_parallel.py"
    items = "test_items_of_samples_do_not_depend_on_how_many_there_were_before"
    places = here.parents[1] / "capture/files/test_place_kernels.py"
    tests = [str(here / "test_samples_form.py"), f"{bus}::{items}", str(places)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests],
        env=environment, capture_output=True, text=True, check=False, timeout=900,
        cwd=here.parents[2],
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]
