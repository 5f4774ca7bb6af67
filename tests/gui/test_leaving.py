"""The quick end of the program: everything that would be done at a slow one is done."""

from __future__ import annotations

import subprocess
import sys

import pytest


def end(*lines: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run these lines and then the quick end."""
    program = "\n".join(
        [
            "from freezeframe.gui.cli.leaving import leave",
            *lines,
            f"leave({code})",
            "print('after')",
        ]
    )
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize("code", [0, 1, 2, 3, 130])
def test_the_exit_code_is_the_one_that_was_given(code: int) -> None:
    done = end(code=code)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


def test_what_is_registered_for_the_end_runs_and_standard_error_is_written() -> None:
    done = end(
        "import atexit, sys",
        "atexit.register(lambda: print('registered', file=sys.stderr, end=''))",
        "sys.stderr.reconfigure(line_buffering=False)",
        "sys.stderr.write('said, ')",
    )
    assert done.stderr == "said, registered"


def test_another_thread_is_waited_for() -> None:
    done = end(
        "import os, threading, time",
        "def work():",
        "    time.sleep(0.2)",
        "    os.write(1, b'worked')",
        "threading.Thread(target=work).start()",
        code=3,
    )
    assert (done.returncode, done.stdout) == (3, "worked")


def test_a_profiler_sees_the_end() -> None:
    done = end("import cProfile", "watch = cProfile.Profile()", "watch.enable()", code=2)
    assert done.returncode == 2


def test_objects_that_the_end_of_the_interpreter_would_look_at_are_left_alone() -> None:
    lines = (
        "class Late:",
        "    def __del__(self): print('looked at', flush=True)",
        "late = Late()",
    )
    assert end(*lines).stdout == ""
