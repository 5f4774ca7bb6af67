"""Running the command line: in this process for speed, as a process where that is the point."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass

from typer.testing import CliRunner

from freezeframe.gui.cli.app import build_app
from freezeframe.gui.cli.verbs import VERBS
from tests.processes import run_program


@dataclass(frozen=True)
class Outcome:
    """What a run printed and its exit code."""

    code: int
    out: str
    err: str


def run_inside(*arguments: str) -> Outcome:
    """Run a verb in this process; an exception that the command line does not expect is raised."""
    named = [
        verb for verb in VERBS if verb.name in arguments[:1]
    ]  # as the program does it: all cost 0.03 s
    app = build_app(named or VERBS)
    result = CliRunner().invoke(app, list(arguments), prog_name="freezeframe")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Outcome(result.exit_code, result.stdout, result.stderr)


def refusal(*arguments: str, code: int = 2) -> str:
    """Run a verb in this process that must not do what it is asked; return the one line in which it says why."""
    done = run_inside(*arguments)
    assert (done.code, done.out, done.err.count("\n")) == (code, "", 1), done
    return done.err


def run_process(*arguments: str, timeout_s: float = 120.0) -> Outcome:
    """Run ``python -m freezeframe`` as a user would."""
    done = run_program(
        [sys.executable, "-m", "freezeframe", *arguments],
        timeout=timeout_s,
        env=process_environment(),
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def started(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    """Begin ``python -m freezeframe`` as a user would, and go on; both its outputs are pipes."""
    return subprocess.Popen(
        [sys.executable, "-m", "freezeframe", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**process_environment(), **environment},
    )


def process_environment() -> dict[str, str]:
    """Return the environment without what shells set for completion."""
    return {key: value for key, value in os.environ.items() if "COMPLETE" not in key}
