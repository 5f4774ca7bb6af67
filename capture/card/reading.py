"""Reading of a card file: every problem in one go, each with its line and the nearest right word."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from msgspec import Struct, ValidationError, convert
from msgspec.structs import fields

from freezeframe.capture.card.extending import Layers, layers_of
from freezeframe.capture.card.references import problems_of
from freezeframe.capture.card.shipped import card_place, shipped_cards
from freezeframe.capture.card.tables import NAME_PATTERN, CardFile
from freezeframe.capture.card.toml_text import CardError
from freezeframe.capture.card.wording import shown, wanted
from freezeframe.capture.card.worked_out import worked_out
from freezeframe.capture.errors import InputError
from freezeframe.capture.nearest import meant

MOST_B = 1 << 20  # a card of 64 taps with everything declared has some 60 kB
_SHOWN = 20

_UNKNOWN = re.compile(r"Object contains unknown field `([^`]*)`(?: - at `([^`]*)`)?")
_MISSING = re.compile(r"Object missing required field `([^`]*)`(?: - at `([^`]*)`)?")
_AT = re.compile(r".* - at (`key` in )?`([^`]*)`$")
_STEP = re.compile(r"\.([A-Za-z0-9_]+)|\[(\d+|\.\.\.)\]")


Tables = TypeVar("Tables", bound=Struct)


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong at a key: ``path`` as in ``("tap", "rx_in", "clock")``, and what to do."""

    path: tuple[str | int, ...]
    text: str


def read_card(path: Path | str) -> CardFile:
    """Read a card file.

    Args:
        path: of the file, or the name of a card that ships.
    Raises:
        InputError: the file cannot be read, or is larger than a card can be.
        CardError: it is no TOML, or says what a card cannot be.
    """
    place = card_place(path)
    return parse_card(_text(place), str(place))


def _text(place: Path) -> str:
    try:
        with place.open("rb") as stream:
            data = stream.read(MOST_B + 1)
    except FileNotFoundError:
        raise InputError(
            f"{place}: there is no such file; give a card file, or the name of a card that ships: "
            f"{', '.join(shipped_cards())}"
        ) from None
    except OSError as error:
        raise InputError(f"{place}: could not be read: {error.strerror}") from error
    if len(data) > MOST_B:
        raise InputError(f"{place}: larger than {MOST_B:,} B; a card file is text written by hand")
    if data.startswith(codecs.BOM_UTF8):
        raise CardError(
            f"{place}:1: begins with a byte order mark (ef bb bf); save it as UTF-8 without one"
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise CardError(f"{place}:{line}: byte {data[error.start]:#04x} is no UTF-8 text") from None


def parse_card(text: str, name: str = "card") -> CardFile:
    """Return what a card file's text says.

    Args:
        name: what messages call the file; what it extends by a path is looked for beside it.
    Raises:
        InputError: a file that it extends cannot be read.
        CardError: as `read_card`.
    """
    layers = layers_of(name, text, "card", shipped_cards, _text)
    card, problems = checked(layers.said, CardFile, problems_of)
    if card is None:
        raise CardError(_told(problems, layers))
    return card


def checked(
    said: Mapping[str, Any],
    kind: type[Tables],
    problems_of: Callable[[Tables], Iterable[tuple[tuple[str | int, ...], str]]],
) -> tuple[Tables | None, list[Problem]]:
    """Return what was said as a structure, or None and all that is wrong with it.

    ``problems_of`` looks at what is right key by key, and gives what contradicts itself: path and text.
    """
    problems = list(_shape_problems(said, worked_out(kind)))
    if problems:
        return None, problems
    tables = convert(said, kind)
    problems = [Problem(path, what) for path, what in problems_of(tables)]
    return (None if problems else tables), problems


def _told(problems: Iterable[Problem], layers: Layers) -> str:
    """Return problems as lines ``name:line: text`` in the order of the files, the first 20 of them."""
    found = sorted({(layers.place(problem.path), problem.text) for problem in problems})
    more = [f"{layers.files[0][0]}: and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
    lines = [f"{layers.files[file][0]}:{line}: {what}" for (file, line), what in found[:_SHOWN]]
    return "\n".join(lines + more)


@cache
def _hints(whole: type[Struct]) -> dict[str, Any]:
    """Return the types of a structure's fields; worked out once, a sweep asks ten thousand times."""
    return get_type_hints(whole, include_extras=True)


_fields = cache(fields)  # of a structure; msgspec works them out at each call


def _shape_problems(said: Mapping[str, Any], whole: type[Struct]) -> Iterator[Problem]:
    """Check each table by itself, so that one wrong table does not hide the others."""
    kinds = _hints(whole)
    known = {field.encode_name: field for field in _fields(whole)}
    for name in said:
        if name not in known:
            yield _problem((), whole, f"Object contains unknown field `{name}`")
    for name, field in known.items():
        if field.required and name not in said:
            yield _problem((), whole, f"Object missing required field `{name}`")
    for field in _fields(whole):
        if field.encode_name not in said:
            continue
        table = said[field.encode_name]
        one = _named_kind(kinds[field.name])
        if one is None or not isinstance(table, dict):
            yield from _one((field.encode_name,), table, kinds[field.name])
            continue
        for name, part in table.items():
            if not re.fullmatch(NAME_PATTERN, name):
                yield Problem(
                    (field.encode_name, name),
                    f"{field.encode_name} {name!r}: a name is small letters, digits and _, a letter first, "
                    "at most 32",
                )
            yield from _one((field.encode_name, name), part, one)
        yield from _count(field.encode_name, table, kinds[field.name])


def _named_kind(kind: Any) -> Any:
    """Return the type of the tables in a ``dict[Name, Table]``; None for another type."""
    bare = get_args(kind)[0] if hasattr(kind, "__metadata__") else kind
    return get_args(bare)[1] if get_origin(bare) is dict else None


def _one(path: tuple[str | int, ...], table: Any, kind: Any) -> Iterator[Problem]:
    try:
        convert(table, kind, strict=True)
    except ValidationError as error:
        yield _problem(path, kind, str(error), table)


def _count(name: str, table: Mapping[str, Any], kind: Any) -> Iterator[Problem]:
    limits = getattr(kind, "__metadata__", ())
    for limit in limits:
        if limit.max_length is not None and len(table) > limit.max_length:
            yield Problem(
                (name,), f"{len(table):,} tables {name}.*: a card has at most {limit.max_length}"
            )
        if limit.min_length is not None and len(table) < limit.min_length:
            yield Problem((name,), f"no table {name}.*: a card has at least {limit.min_length}")


def _problem(path: tuple[str | int, ...], kind: Any, message: str, table: Any = None) -> Problem:
    """Put a message of msgspec about a table into words of a card file."""
    where = ".".join(str(part) for part in path)
    unknown, missing = _UNKNOWN.fullmatch(message), _MISSING.fullmatch(message)
    if unknown is not None:
        inner = _steps(unknown[2])
        holder = ".".join([*filter(None, [where]), *map(str, inner)])
        return Problem(
            (*path, *inner, unknown[1]),
            f"unknown key {unknown[1]!r}{holder and f' in {holder}'}; {meant(unknown[1], _keys(kind, inner))}",
        )
    if missing is not None:
        inner = _steps(missing[2])
        holder = ".".join([*filter(None, [where]), *map(str, inner)])
        if not holder:
            return Problem((missing[1],), f"{missing[1]} is missing; every card file has it")
        return Problem((*path, *inner), f"{holder}: {missing[1]} is missing")
    at = _AT.fullmatch(message)
    inner = _steps(at[2]) if at is not None else ()
    key = ".".join(map(str, (*path, *inner)))
    value = _value(table, inner)
    if at is not None and at[1] is not None:
        return Problem((*path, *inner), f"{key}: {_bad_name(value)}")
    found = kind
    for step in inner:
        found = _inner(found, step)
    if get_origin(_bare(found)) is dict and isinstance(value, dict):
        # The checker does not name which of the tables inside it is wrong.
        one = get_args(_bare(found))[1]
        for name, part in value.items():
            for problem in _one((*path, *inner, name), part, one):
                return problem
    words = _choices(kind, inner)
    if isinstance(value, str) and words:
        known = ", ".join(word or repr("") for word in words)
        near = meant(value, words, "")
        said = f"{key}: {value!r} is not one of {known}"
        return Problem((*path, *inner), f"{said}; {near}" if near else said)
    return Problem((*path, *inner), f"{key}: {shown(value)} is not {wanted(found)}")


def _value(table: Any, steps: tuple[str | int, ...]) -> Any:
    """Return what a file has at a place inside a table."""
    for step in steps:
        table = table[step]
    return table


def _bad_name(table: Any) -> str:
    names = [name for name in table if not re.fullmatch(NAME_PATTERN, name)]
    return (
        f"{shown(names[0]) if names else 'a name'}: a name is small letters, digits and _, a letter first, "
        "at most 32"
    )


def _steps(text: str | None) -> tuple[str | int, ...]:
    """Return the keys of a path such as ``$.user.bits`` or ``$.stretch[0]``."""
    steps: list[str | int] = []
    for name, index in _STEP.findall(text or ""):
        if index == "...":
            break
        steps.append(name or int(index))
    return tuple(steps)


def _struct_at(kind: Any, steps: tuple[str | int, ...]) -> Any:
    for step in steps:
        kind = _inner(kind, step)
    while not (isinstance(kind, type) and issubclass(kind, Struct)):
        parts = [part for part in get_args(kind) if part is not type(None)]
        if not parts:
            return None
        kind = next(
            (part for part in parts if isinstance(part, type) and issubclass(part, Struct)),
            parts[0],
        )
    return kind


def _inner(kind: Any, step: str | int) -> Any:
    if isinstance(step, int):
        return get_args(_bare(kind))[0] if get_args(_bare(kind)) else None
    struct = _struct_at(kind, ())
    hints = _hints(struct) if struct is not None else {}
    names = (
        {field.encode_name: field.name for field in _fields(struct)} if struct is not None else {}
    )
    return hints.get(names.get(step, ""))


def _bare(kind: Any) -> Any:
    return get_args(kind)[0] if hasattr(kind, "__metadata__") else kind


def _keys(kind: Any, steps: tuple[str | int, ...]) -> list[str]:
    struct = _struct_at(kind, steps)
    return [field.encode_name for field in _fields(struct)] if struct is not None else []


def _choices(kind: Any, steps: tuple[str | int, ...]) -> list[str]:
    """Return the words that a key may have."""
    if not steps:
        return []
    found = _inner(_struct_at(kind, steps[:-1]), steps[-1])
    words = [found]
    choices: list[str] = []
    while words:
        part = words.pop(0)
        if isinstance(part, str):
            choices.append(part)
        elif part is not None:
            words += [
                piece for piece in get_args(part) if isinstance(piece, str) or get_args(piece)
            ]
    return choices
