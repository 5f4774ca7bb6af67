"""The entry point ``freezeframe``: prints the help, or hands the arguments on to the verb."""

from __future__ import annotations

import atexit
import errno
import gc
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from freezeframe.gui.cli.output import (
    EXIT_PIPE,
    STANDARD_OUTPUT,
    forget_stdout,
    name_stdout,
    print_anything,
)
from freezeframe.gui.cli.verbs import help_text, version_text


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code (docs/command-line.md, "Exit codes")."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if argv is None:
        spare_process()
        open_standard_streams()
        name_stdout()
    print_anything()
    code = 0
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        forget_stdout()
        code = EXIT_PIPE
    except OSError as error:
        if error.filename not in (None, STANDARD_OUTPUT):
            raise
        forget_stdout()
        if code in (0, 1):  # else the verb has already printed what is wrong
            why = "is closed" if error.errno == errno.EBADF else error.strerror
            print(f"freezeframe: standard output: {why}; not all was printed", file=sys.stderr)
            code = 2
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


def _dispatch(arguments: list[str]) -> int:
    completing = any(name.endswith("_COMPLETE") and "FREEZEFRAME" in name for name in os.environ)
    first = arguments[0] if arguments else ""
    if not completing:
        if first in ("", "--help", "-h"):
            print(help_text())
            return 0 if first else 2
        if first == "--version":
            print(version_text())
            return 0
    from freezeframe.gui.cli.app import run_verb  # typer is 0.1 s

    return run_verb(arguments, completing=completing)


def open_standard_streams() -> None:
    """Open on nothing what the shell has closed of the descriptors 0 to 2.

    Else the next file that is opened, evidence maybe, gets their number, and what a library prints goes into it.
    Who prints results to a closed standard output fails all the same: it is opened for reading alone.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            access = os.O_RDONLY if number == 1 else os.O_RDWR
            nothing = os.open(os.devnull, access)  # the lowest number that is free: this one
            os.set_inheritable(nothing, True)
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", closefd=False)


def spare_process() -> None:
    """Keep the process from work that is for nothing; before numpy is loaded.

    numpy's library for matrices starts a thread on each core, and each looks for work without rest for 0.1 s: on a core
    that something else could have. Nothing here has such work; the user may ask for more. Modules are never garbage:
    the collector looks seldom, and not at the end. Of a small decode that saves 0.4 of 1.0 s of processor time, of
    `explain` 0.4 of 1.5 s: the last collection visits all that numba has made.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(70_000, 10, 10)
    atexit.register(gc.freeze)
