"""The kernels of the link under NUMBA_BOUNDSCHECK=1: no place outside of an array is touched."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
def test_damaged_lanes_stay_inside_all_arrays(tmp_path: Path) -> None:
    tests = "tests/decoders/link"
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
            f"{tests}/test_bonded.py::test_a_hundred_damaged_links_read_as_the_formats_say[0]",
            f"{tests}/test_symbols.py::test_hundreds_of_damaged_lines_read_as_the_standard_says[0]",
            f"{tests}/test_link.py::test_a_packet_of_a_thousand_words_and_more_fails_its_checks_without_harm",
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path / "kernels")},
        check=False,
    )  # fmt: skip
    assert "3 passed" in done.stdout, done.stdout + done.stderr
