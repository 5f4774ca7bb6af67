"""Foreign native code is shut in: no network, no other program, and memory that ends."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

_JAIL = Path(__file__).parents[2] / "capture" / "jail.py"
_BEGIN = f"""
import importlib.util
spec = importlib.util.spec_from_file_location("jail", {str(_JAIL)!r})
jail = importlib.util.module_from_spec(spec)
spec.loader.exec_module(jail)
shut = jail.enter(1 << 28)
"""
pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"),
    reason="the kernel's filter is of Linux",
)


def inside(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _BEGIN + code],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


def test_there_is_no_network() -> None:
    assert (
        inside("import socket; socket.socket()")
        == "PermissionError: [Errno 1] Operation not permitted"
    )


def test_no_other_program_starts() -> None:
    assert (
        inside("import os; os.execv('/bin/true', ['true'])")
        == "PermissionError: [Errno 1] Operation not permitted"
    )


def test_memory_ends() -> None:
    assert inside("bytearray(1 << 30)") == "MemoryError"


def test_files_are_read_and_threads_run() -> None:
    code = (
        "import threading; open('/proc/self/status').read()\n"
        "t = threading.Thread(target=lambda: print(shut)); t.start(); t.join()"
    )
    assert inside(code) == "True"
