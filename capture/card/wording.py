"""What a key of a card file may be, in the words of a card file: ranges, letters of a name, lists, tables.

The type checker tells where a value does not fit; its own words are those of a programmer.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from msgspec import Meta, Struct
from msgspec.structs import fields

from freezeframe.capture.card.tables import CARD_NAME_PATTERN, NAME_PATTERN, WIRE, WIRE_OR_NONE

_SHOWN = 40
_LONG_BITS = 256
_PATTERNS = {
    NAME_PATTERN: "small letters, digits and _, a letter first, at most 32",
    CARD_NAME_PATTERN: "small letters, digits, _ and -, a letter first, at most 32",
    WIRE: "letters, digits and _, no digit first, at most 64",
    WIRE_OR_NONE: 'letters, digits and _, no digit first, at most 64, or ""',
}


def wanted(kind: Any) -> str:
    """Return what a value of this type is, as in ``a whole number from 8 to 1,024``."""
    return " or ".join(dict.fromkeys(_wanted(kind, ())))


def shown(value: Any) -> str:
    """Return a value as it stands in a file, in short."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, int) and value.bit_length() > _LONG_BITS:
        return (
            f"a number of {value.bit_length():,} bits"  # Python writes none of thousands of digits
        )
    text = repr(value) if isinstance(value, str) else str(value)
    text = text.lower() if isinstance(value, bool) else text
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _wanted(kind: Any, limits: tuple[Meta, ...]) -> Iterator[str]:
    if hasattr(kind, "__metadata__"):
        bare = get_args(kind)[0]
        yield from _wanted(bare, (*limits, *(m for m in kind.__metadata__ if isinstance(m, Meta))))
        return
    origin, parts = get_origin(kind), get_args(kind)
    if kind is NoneType:
        return
    if origin is Literal:
        yield from (repr(part) if isinstance(part, str) else str(part) for part in parts)
    elif kind is bool:
        yield "true or false"
    elif kind is int:
        yield _number(limits)
    elif kind is float:
        yield _number(limits).replace("whole number", "number")
    elif kind is str:
        yield _text(limits)
    elif origin is list:
        least = next((m.min_length for m in limits if m.min_length), 0)
        most = next((m.max_length for m in limits if m.max_length), 0)
        count = f" of {least or 1} to {most}" if most else f" of at least {least}" if least else ""
        yield f"a list [...]{count}, each {wanted(parts[0])}"
    elif origin is dict:
        yield "a table"
    elif isinstance(kind, type) and issubclass(kind, Struct):
        yield f"a table {{ {', '.join(field.encode_name for field in fields(kind))} }}"
    else:
        for part in parts:
            yield from _wanted(part, limits)


def _number(limits: tuple[Meta, ...]) -> str:
    least = next((m.ge for m in limits if m.ge is not None), None)
    most = next((m.le for m in limits if m.le is not None), None)
    # A limit of a number that is not whole may be written 1e12.
    least, most = (int(m) if isinstance(m, float) and m.is_integer() else m for m in (least, most))
    of = next((f", a multiple of {m.multiple_of}" for m in limits if m.multiple_of), "")
    if least is not None and least == most:
        return f"{least}, the only one there is"
    if least is not None and most is not None:
        return f"a whole number from {least:,} to {most:,}{of}"
    if least is not None:
        return f"a whole number from {least:,} on{of}"
    return "a whole number"


def _text(limits: tuple[Meta, ...]) -> str:
    for limit in limits:
        if limit.pattern is not None:
            return f'text "..." of {_PATTERNS[limit.pattern]}'
        if limit.max_length is not None:
            return f'text "..." of at most {limit.max_length} characters'
    return 'text "..."'
