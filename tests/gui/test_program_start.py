"""What the program sets up for itself before it loads anything."""

from __future__ import annotations

import os
import sys

import pytest

from tests.processes import run_program

PROGRAM = """
import os, sys
sys.argv = ["freezeframe", "--version"]
from freezeframe.gui.cli.main import main
try:
    main()
finally:
    print(os.environ["OPENBLAS_NUM_THREADS"])
"""


@pytest.mark.parametrize(("given", "used"), [(None, "1"), ("4", "4")])
def test_no_threads_are_started_for_matrices_unless_the_user_says_how_many(
    given: str | None, used: str
) -> None:
    env = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    if given is not None:
        env["OPENBLAS_NUM_THREADS"] = given
    said = run_program([sys.executable, "-c", PROGRAM], env=env, check=True).stdout
    assert said.splitlines()[-1] == used
