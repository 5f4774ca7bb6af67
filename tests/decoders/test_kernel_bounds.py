"""The kernels of all rooms with numba's check of every index: none reads or writes beyond its arrays.

Each room names those of its tests that feed kernels with anything at all.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.processes import run_program

ROOT = Path(__file__).parents[2]
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
ANY_LINES = "test_any_lines_at_all_give_rows_and_every_data_phase_belongs_to_one"
FORMS = "test_rows_do_not_depend_on_the_form_of_the_pieces_nor_on_how_they_are_gathered"
FULL = "than_can_be_remembered_are_told_and_not_lost"
ITEMS = "test_items_of_samples_do_not_depend_on_how_many_there_were_before"
LONG_PACKET = "test_a_packet_of_a_thousand_words_and_more_fails_its_checks_without_harm"
ROOMS = {
    "serial": ["serial/test_samples_form.py", f"bus/test_parallel.py::{ITEMS}", "../capture/files/test_samples.py"],
    "bus": [
        *(f"bus/test_bus_forms.py::{FORMS}[{bus}-{seed}]" for bus in ("pci", "pcix") for seed in range(4)),
        *(f"bus/test_{bus}.py::{ANY_LINES}[{seed}]" for bus in ("pci", "pcix") for seed in range(6)),
        f"bus/test_pci.py::test_more_retries_{FULL}",
        f"bus/test_pcix.py::test_more_open_splits_{FULL}",
    ],
    "net": ["net/test_mii.py", "net/test_rgmii.py"],
    "link": [
        "link/test_bonded.py::test_a_hundred_damaged_links_read_as_the_formats_say[0]",
        "link/test_symbols.py::test_hundreds_of_damaged_lines_read_as_the_standard_says[0]",
        f"link/test_link.py::{LONG_PACKET}",
    ],
    "trace": ["trace/test_kernels.py", "trace/test_framing.py"],
}  # fmt: skip


def run_checked(folder: Path, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run Python with the checks on, on a processor of no name, with kernels compiled for it alone."""
    environment = os.environ | {
        "NUMBA_BOUNDSCHECK": "1",
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CACHE_DIR": str(folder),
        "FREEZEFRAME_SEEDS": "30",
        "FREEZEFRAME_WIDTHS": "1",
    }
    return run_program([sys.executable, *arguments], env=environment, timeout=900, cwd=ROOT)


@pytest.mark.slow
def test_the_checks_are_on(tmp_path: Path) -> None:
    assert run_checked(tmp_path, ["-c", PROBE]).stdout.strip() == "checked"


@pytest.mark.slow
@pytest.mark.parametrize("room", ROOMS)
def test_no_kernel_reads_or_writes_beyond_its_arrays(room: str, tmp_path: Path) -> None:
    tests = [f"tests/decoders/{name}" for name in ROOMS[room]]
    chosen = ["-k", "noise"] if room == "net" else []
    done = run_checked(tmp_path, ["-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen, *tests])
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout
