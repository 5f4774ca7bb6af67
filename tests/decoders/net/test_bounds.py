"""The kernels of MII and RGMII stay inside their arrays, whatever is on the lines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_no_kernel_reads_or_writes_beyond_its_arrays(tmp_path: Path) -> None:
    """Run the tests that feed noise in pieces with numba's bounds checks on; a wrong index raises."""
    here = Path(__file__).parent
    environment = {
        "PATH": "/usr/bin:/bin",
        "NUMBA_BOUNDSCHECK": "1",
        "NUMBA_CACHE_DIR": str(tmp_path / "numba"),
    }
    probe = (
        "import numpy as np\nfrom freezeframe.decoders.net.phy_kernels import new_clock, pairs\n"
        "try:\n    pairs(np.zeros((2, 1), np.int64), new_clock())\n"
        "except IndexError:\n    print('checked')\n"
    )
    probed = subprocess.run(
        [sys.executable, "-c", probe],
        env=environment, capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    assert probed.stdout.strip() == "checked", "the checks must really be on"
    tests = [str(here / "test_mii.py"), str(here / "test_rgmii.py")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "noise", *tests],
        env=environment, capture_output=True, text=True, check=False, timeout=600,
        cwd=here.parents[2],
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]
