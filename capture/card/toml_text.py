"""A text of TOML as tables; one that is none is refused with its line, in the words of a card file."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from freezeframe.capture.errors import InputError


class CardError(InputError):
    """A card file that cannot be used; each problem is a line of its own."""

    def __str__(self) -> str:
        """Return all lines."""
        return Exception.__str__(self)

    @property
    def lines(self) -> tuple[str, ...]:
        """The problems, in the order of the file."""
        return tuple(str(self).splitlines())


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """Return what a text of TOML says.

    Raises:
        CardError: it is no TOML; the message begins with ``name:line``.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CardError(
            f"{name}:{_toml_line(str(error), text)}: {_toml_words(str(error))}"
        ) from None
    except ValueError:  # of int()
        raise CardError(
            f"{name}: a number in it has thousands of digits; no key takes one"
        ) from None
    except RecursionError:
        raise CardError(f"{name}: arrays or tables stand too deep in each other") from None


def _toml_words(message: str) -> str:
    """Return what Python's reader says, with what to do where something stands twice."""
    if (table := re.match(r"Cannot declare \((.*)\) twice", message)) is not None:
        dotted = ".".join(re.findall(r"'([^']*)'", table[1]))
        return f"table [{dotted}] stands twice; join the two, or give one another name"
    if message.startswith("Cannot overwrite a value"):
        return "a key of this table stands twice; keep one"
    what, _, place = message.partition(" (at ")
    column = re.search(r"column (\d+)", place)
    return f"no TOML: {what[:1].lower()}{what[1:]}" + (f", at column {column[1]}" if column else "")


def _toml_line(message: str, text: str) -> int:
    at = re.search(r"at line (\d+)", message)
    return int(at[1]) if at is not None else text.count("\n") + 1
