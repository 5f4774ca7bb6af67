"""The program keeps memory that it has freed, so that pages are not fetched anew for each piece."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

_PIECES = """
import resource, sys
from freezeframe.gui.cli.memory import keep_freed_memory

if sys.argv[1] == "keep":
    assert keep_freed_memory()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for size_B in range(4 << 20, 6 << 20, 1 << 16):
    a = bytearray(size_B)
    b = bytearray(size_B)
    del a, b
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(how: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", _PIECES, how], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="mallopt is of the GNU C library")
def test_pieces_that_follow_each_other_take_few_new_pages() -> None:
    assert faults("keep") < faults("plain") / 2
