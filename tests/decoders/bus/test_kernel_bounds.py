"""The kernels of PCI and PCI-X under NUMBA_BOUNDSCHECK=1; those of `parallel` are tested in serial/."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PROBE = """
import numpy as np
from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.bus import clock_kernels

edges = Edges(np.arange(9), np.arange(9, dtype=np.uint64) & np.uint64(1), ("clk",), 1, 0, 9)
clocking = np.zeros(1, clock_kernels.CLOCKING)
clocking["watch"] = 1
try:
    clock_kernels.clocks_of(edges, clocking, clock_kernels.new_state()[:0])
except IndexError:
    print("checked")
"""
ANY = "test_any_lines_at_all_give_rows_and_every_data_phase_belongs_to_one"
FORMS = "test_rows_do_not_depend_on_the_form_of_the_pieces_nor_on_how_they_are_gathered"
FULL = "than_can_be_remembered_are_told_and_not_lost"
TESTS = [
    *(f"test_bus_forms.py::{FORMS}[{bus}-{seed}]" for bus in ("pci", "pcix") for seed in range(4)),
    *(f"test_pci.py::{ANY}[{seed}]" for seed in range(6)),
    *(f"test_pcix.py::{ANY}[{seed}]" for seed in range(6)),
    f"test_pci.py::test_more_retries_{FULL}",
    f"test_pcix.py::test_more_open_splits_{FULL}",
]


@pytest.mark.slow
def test_no_traffic_makes_a_kernel_read_or_write_beyond_its_arrays(tmp_path: Path) -> None:
    environment = os.environ | {
        "NUMBA_BOUNDSCHECK": "1",
        "NUMBA_CACHE_DIR": str(tmp_path / "kernels"),
    }
    probed = subprocess.run(
        [sys.executable, "-c", PROBE],
        env=environment, capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    assert probed.stdout.strip() == "checked", "the checks must really be on"
    tests = [f"tests/decoders/bus/{name}" for name in TESTS]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests],
        env=environment, capture_output=True, text=True, check=False, timeout=600, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]
