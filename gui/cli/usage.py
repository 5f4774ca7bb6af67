"""Wrong options and arguments: one line on standard error and exit code 2, as any bad input."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from freezeframe.gui.text import printable

MOST_S = 100_000_000
"""Three years: the system's clocks refuse to sleep much longer than that."""

_BAD_INPUT = 2
# What the library says of a value, and how that reads in our words.
_WORDS = (
    (r"valid integer", "{value} is not a whole number"),
    (r"valid number", "{value} is not a number"),
    (r"greater than or equal to (\S+)", "{value} is below {0}, the least"),
    (r"less than or equal to (\S+)", "{value} is above {0}, the most"),
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
        given = list(sys.argv[1:] if args is None else args)
        run = functools.partial(
            super().main, given, prog_name, complete_var, False, windows_expand_args, **extra
        )
        if not standalone_mode:
            return run()
        try:
            code = run()
        except Exception as error:
            # The library keeps the class of its errors of usage private; they alone have this.
            if not hasattr(error, "format_message"):
                raise
            print(_line(error, given), file=sys.stderr)
            sys.exit(_BAD_INPUT)
        sys.exit(code if isinstance(code, int) else 0)


def _line(error: Any, given: Sequence[str]) -> str:
    context = getattr(error, "ctx", None)
    verb = context.command_path if context is not None else "freezeframe"
    what = printable(_what(error, given).strip().rstrip("."))
    return f"{verb}: {what}; see {verb} --help"


def _what(error: Any, given: Sequence[str]) -> str:
    message = str(error.message)
    param = getattr(error, "param", None)
    if param is not None:
        is_option = str(param.opts[0]).startswith("-")
        if not message:
            return f"{'/'.join(param.opts) if is_option else param.metavar} is missing"
        name = max(param.opts, key=len) if is_option else param.metavar
        return f"{name}: {_reworded(message, _value(param.opts, given) if is_option else '')}"
    possible = getattr(error, "possibilities", None)
    hint = f"; did you mean {' or '.join(sorted(possible))}?" if possible else ""
    return f"{message[:1].lower()}{message[1:]}{hint}"


def _reworded(message: str, value: str) -> str:
    for pattern, words in _WORDS:
        found = re.search(pattern, message)
        if found:
            return words.format(*found.groups(), value=repr(value) if value else "the value")
    return message.removeprefix("Value error, ")


def _value(options: Sequence[str], given: Sequence[str]) -> str:
    """Return the value of an option on the command line, empty where the option is not there."""
    for at, word in enumerate(given):
        name, equals, value = word.partition("=")
        if name in options:
            return value if equals else next(iter(given[at + 1 :]), "")
        short = [option for option in options if len(option) == 2 and word.startswith(option)]
        if short and not word.startswith("--"):
            return word[2:]
    return ""
