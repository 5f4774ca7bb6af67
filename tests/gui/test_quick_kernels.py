"""Kernels out of numba's cache: loaded without the tables of what it can compile, and right all the same."""

from __future__ import annotations

import subprocess
import sys

import pytest

from freezeframe.gui.cli.quick_kernels import load_without_tables

DECODE = """
import sys
import numpy as np
from freezeframe.decoders.serial.uart import UART
from freezeframe.decoders.serial.uart_encode import encode_characters
from freezeframe.gui.cli.quick_kernels import load_without_tables

if sys.argv[1] == "quick":
    print("can", load_without_tables(), load_without_tables())
edges = encode_characters(b"quick", samplerate_hz=1_000_000, baud=10_000, idle_bits=0)
options = UART.option_values({"baud": 10_000})
rows = UART.decode(edges, options, UART.new_state(options), True)
print("rows", bytes(rows["data"].to_pylist()))

import numba
from numba.core.registry import cpu_target

print("tables", len(cpu_target.target_context._defns) > 100)

@numba.njit
def compiled_now(values, found):
    found.append(values.sum() + np.searchsorted(values, 3))
    return str(len(found))

found = numba.typed.List.empty_list(numba.int64)
print("compiled", compiled_now(np.arange(5), found), found[0])
"""


def run(how: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", DECODE, how], capture_output=True, text=True, check=True, timeout=300
    )
    return done.stdout.splitlines()


def test_a_kernel_of_the_cache_needs_no_tables_and_one_that_is_compiled_later_gets_them() -> None:
    plain = run("plain")  # and now the kernels are in the cache
    assert plain == ["rows b'quick'", "tables True", "compiled 1 13"]
    assert run("quick") == ["can True True", "rows b'quick'", "tables False", "compiled 1 13"]


def test_another_numba_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba.core.caching import Cache, FunctionCache

    def load_overload(self: object, sig: object, target_context: object) -> None:
        print("more is done here")

    monkeypatch.setattr(Cache, "load_overload", load_overload)
    before = FunctionCache.load_overload
    assert not load_without_tables()
    assert FunctionCache.load_overload is before
