"""How a verb ends: every expected failure becomes one line on standard error and an exit code."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import ParamSpec

import typer

from freezeframe.capture.errors import FreezeframeError
from freezeframe.gui.cli.failures import failure
from freezeframe.gui.cli.output import EXIT_PIPE, forget_stdout

__all__ = ["EXIT_FINDINGS", "EXIT_INTERRUPTED", "reported"]

EXIT_FINDINGS = 1
EXIT_INTERRUPTED = 130

_Parameters = ParamSpec("_Parameters")


def reported(run: Callable[_Parameters, None]) -> Callable[_Parameters, None]:
    """Wrap a verb: FreezeframeError and file errors are one line, Ctrl-C and a closed pipe quiet.

    typer itself would make 1, the code of findings, of the last two. An error that is none of
    these is a mistake of the program and keeps its traceback.
    """

    @functools.wraps(run)
    def wrapped(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> None:
        try:
            run(*args, **kwargs)
        except KeyboardInterrupt:
            raise typer.Exit(EXIT_INTERRUPTED) from None
        except BrokenPipeError:
            forget_stdout()
            raise typer.Exit(EXIT_PIPE) from None
        except (FreezeframeError, OSError) as error:
            found = failure(error)
            if found is None:
                raise
            line, code = found
            print(line, file=sys.stderr)
            raise typer.Exit(code) from error

    return wrapped
