"""Kernels out of numba's cache are loaded without the tables of what it can compile, and are right all the same."""

from __future__ import annotations

import sys

import pytest

from tests.processes import run_program

DECODE = """
import sys
import numpy as np
from freezeframe.decoders.serial.uart import UART
from freezeframe.decoders.serial.uart_encode import encode_characters
from freezeframe.gui.cli.lean import decode_lean

if sys.argv[1] == "lean":
    decode_lean()
edges = encode_characters(b"quick", samplerate_hz=1_000_000, baud=10_000, idle_bits=0)
options = UART.option_values({"baud": 10_000})
rows = UART.decode(edges, options, UART.new_state(options), True)
print("rows", bytes(rows["data"].to_pylist()))

import numba
from numba.core.registry import cpu_target

print("tables", len(cpu_target.target_context._defns) > 100)

@numba.njit
def compiled_now(values, sums):
    sums.append(values.sum() + np.searchsorted(values, 3))
    return str(len(sums))

sums = numba.typed.List.empty_list(numba.int64)
print("compiled", compiled_now(np.arange(5), sums), sums[0])
"""


GIVE_BACK = """
import numba
from freezeframe.gui.cli.lean import give_back_code

def of_files_kB():
    return int(open("/proc/self/status").read().split("RssFile:")[1].split()[0])

@numba.njit
def before():
    return 1

@numba.njit
def behind():
    return 2

sums, most_kB = before(), of_files_kB()
give_back_code()
print(most_kB - of_files_kB() > 40_000, sums + behind())
"""


def run(how: str) -> list[str]:
    done = run_program([sys.executable, "-c", DECODE, how], check=True)
    return done.stdout.splitlines()


def test_a_kernel_of_the_cache_needs_no_tables_and_one_that_is_compiled_later_gets_them() -> None:
    plain = run("plain")  # and now the kernels are in the cache
    assert plain == ["rows b'quick'", "tables True", "compiled 1 13"]
    assert run("lean") == ["rows b'quick'", "tables False", "compiled 1 13"]


@pytest.mark.skipif(sys.platform != "linux", reason="what it stands on is Linux's")
def test_the_code_of_the_compiler_is_given_back_and_comes_again_when_it_is_needed() -> None:
    done = run_program([sys.executable, "-c", GIVE_BACK], check=True)
    assert done.stdout == "True 3\n"
