"""Wrong options and arguments: one line on standard error and exit code 2, as any bad input."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from freezeframe.capture.nearest import meant
from freezeframe.gui.text import printable

MOST_S = 100_000_000
"""Three years: the system's clocks refuse to sleep much longer than that."""

_BAD_INPUT = 2
# What the library says of a value, and how that reads in our words.
_WORDS = (
    (r"(.+) is not a valid int", "{} is not a whole number"),
    (r"(.+) is not a valid float", "{} is not a number"),
    (r"(.+) is not in the range x>=(\d+)", "'{}' is below {}, the least"),
    (r"(.+) is not in the range (\d+)<=x<=(\d+)", "'{}' is not a number from {} to {}"),
)


def seconds(text: str) -> float:
    """Return a number of seconds as an option gives it.

    Raises:
        typer.BadParameter: not a number from 0 to `MOST_S`; also for nan and inf.
    """
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    # Written so that a nan, which is neither below nor above, is refused too.
    if not 0 <= value <= MOST_S:
        raise typer.BadParameter(f"{text!r} is not a number of seconds from 0 to {MOST_S:,}")
    return value


def size_B(text: str) -> int:
    """Return a number of bytes as an option gives it: ``500MB``, ``2GB``, ``4GiB``, ``1000000``.

    Raises:
        typer.BadParameter: it is none.
    """
    match = re.fullmatch(r"([0-9]{1,15})\s*([kMGT]?)(i?)B?", str(text))
    if not match:
        raise typer.BadParameter(f"{text!r} is not a size; write 500MB, 2GB or 4GiB")
    count, scale, binary = match.groups()
    scaled: int = int(count) * (1024 if binary else 1000) ** " kMGT".index(scale or " ")
    return scaled


class OneLineGroup(TyperGroup):
    """The group of all verbs; it words errors of usage itself."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a verb and exit with its code; see ``TyperGroup.main``."""
        run = functools.partial(
            super().main, args, prog_name, complete_var, False, windows_expand_args, **extra
        )
        if not standalone_mode:
            return run()
        try:
            code = run()
        except Exception as error:
            # The library keeps the class of its errors of usage private; they alone have this.
            if not hasattr(error, "format_message"):
                raise
            print(_line(error), file=sys.stderr)
            sys.exit(_BAD_INPUT)
        sys.exit(code if isinstance(code, int) else 0)


def _line(error: Any) -> str:
    context = getattr(error, "ctx", None)
    verb = context.command_path if context is not None else "freezeframe"
    return f"{verb}: {printable(_what(error).strip().rstrip('.'))}; see {verb} --help"


def _what(error: Any) -> str:
    message = str(error.message)
    param = getattr(error, "param", None)
    if param is not None:
        is_option = str(param.opts[0]).startswith("-")
        if not message:
            return f"{'/'.join(param.opts) if is_option else param.metavar} is missing"
        name = max(param.opts, key=len) if is_option else param.metavar
        return f"{name}: {_reworded(message)}"
    possible = getattr(error, "possibilities", None)
    hint = f"; {meant(error.option_name, possible)}" if possible else ""
    return f"{message[:1].lower()}{message[1:]}{hint}"


def _reworded(message: str) -> str:
    for pattern, words in _WORDS:
        found = re.match(pattern, message, re.DOTALL)
        if found:
            return words.format(*found.groups())
    return message
