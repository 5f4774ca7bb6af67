"""How a verb ends: every expected failure becomes one line on standard error and an exit code."""

from __future__ import annotations

import errno
import functools
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TextIO

import typer

from freezeframe.capture.errors import FreezeframeError, FreezeframeWarning
from freezeframe.capture.stand_ins import in_given_names
from freezeframe.gui.cli.output import EXIT_PIPE, STANDARD_OUTPUT, forget_stdout
from freezeframe.gui.text import printable

EXIT_FINDINGS = 1
EXIT_INTERRUPTED = 130
_LONGEST = 1200

_Parameters = ParamSpec("_Parameters")


def reported(run: Callable[_Parameters, None]) -> Callable[_Parameters, None]:
    """Wrap a verb: FreezeframeError and file errors are one line, Ctrl-C and a closed pipe quiet.

    typer itself would make 1, the code of findings, of the last two. Any other error is a mistake
    of the program and keeps its traceback.
    """

    @functools.wraps(run)
    def wrapped(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> None:
        try:
            with _warned():
                run(*args, **kwargs)
        except KeyboardInterrupt:
            raise typer.Exit(EXIT_INTERRUPTED) from None
        except BrokenPipeError:
            forget_stdout()
            raise typer.Exit(EXIT_PIPE) from None
        except FreezeframeError as error:
            raise _exit(error.lines, error.exit_code) from error
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            if error.filename == STANDARD_OUTPUT or (error.filename is None and not full):
                raise  # `main` says of standard output what is wrong with it
            raise _exit((_file_error(error),), FreezeframeError.exit_code) from error

    return wrapped


@contextmanager
def _warned() -> Iterator[None]:
    """Print each warning of ours once, as a line of the command line, while a verb runs."""
    others = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if issubclass(category, FreezeframeWarning):
            print(f"freezeframe: {_shortened(printable(str(message)))}", file=sys.stderr)
        else:
            others(message, category, filename, lineno, file, line)

    warnings.filterwarnings("once", category=FreezeframeWarning)
    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = others


def _exit(lines: Iterable[str], code: int) -> typer.Exit:
    for line in lines:
        shown = printable(in_given_names(line.strip()))
        print(f"freezeframe: {_shortened(shown)}", file=sys.stderr)
    return typer.Exit(code)


def _shortened(line: str) -> str:
    """Return a line of bounded length: a hostile file may make one repeat kilobytes of it."""
    if len(line) <= _LONGEST:
        return line
    half = _LONGEST // 2
    return f"{line[:half]} ... ({len(line) - 2 * half:,} characters more) ... {line[-half:]}"


def _file_error(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename is not None else ""
    what = {
        errno.ENOENT: "there is no such file or folder",
        errno.EACCES: "permission denied; choose a place you may read and write",
        errno.ENOSPC: "the disk is full; nothing was kept, free some space and run this again",
        errno.EDQUOT: "the quota is used up; nothing was kept, free some space and run this again",
        errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
        errno.EISDIR: "is a folder, a file is needed",
        errno.ENOTDIR: "a part of the path is a file, not a folder",
        errno.EEXIST: "exists already",
    }.get(error.errno or 0, error.strerror or str(error))
    return f"{where}{what}"
