"""A file of expectations: which decoders, and what their tables are to hold (docs/expectations.md)."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from freezeframe.capture.errors import InputError
from freezeframe.capture.time_text import parse_time
from freezeframe.decoders.query.parse import parse
from freezeframe.decoders.query.words import ExpressionError

_SEQUENCE_MIN = 2
_LONGEST_B = 1 << 20  # of a file of rules
_ALWAYS = ("name", "table", "where", "within")


@dataclass(frozen=True, slots=True)
class Count:
    """How many rows are to be there: ``least`` to ``most``, None for no limit."""

    least: int = 1
    most: int | None = None

    def __contains__(self, count: int) -> bool:
        return self.least <= count and (self.most is None or count <= self.most)

    def __str__(self) -> str:
        if self.most is None:
            return f"at least {self.least:,}"
        return f"{self.least:,}" if self.most == self.least else f"{self.least:,} to {self.most:,}"


@dataclass(frozen=True, slots=True)
class Rule:
    """One expectation. Texts are expressions of the language of Find (decoders/query); empty where not given.

    ``where`` chooses the rows it is about. ``rows`` is how many there are; ``every``, ``first``, ``last`` what they
    match; ``sequence`` what comes in this order; ``answered_by`` what follows each of them. ``within_ps`` limits the
    time from one step of a sequence to the next, or to the answer.
    """

    name: str
    table: str = ""
    where: str = ""
    rows: Count | None = None
    every: str = ""
    first: str = ""
    last: str = ""
    sequence: tuple[str, ...] = ()
    answered_by: str = ""
    within_ps: int | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """The decoders that a file names, as for ``decode -d``, and its rules."""

    decode: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = field(default=())


def read_rules(path: Path) -> Rules:
    """Return the rules of a TOML file.

    Raises:
        InputError: it cannot be read, or a key is unknown or of another kind; it says which rule.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(_LONGEST_B + 1)
        if len(raw) > _LONGEST_B:
            raise InputError(f"{path}: longer than {_LONGEST_B:,} B; is it a file of rules?")
        said = tomllib.loads(raw.decode("utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # no TOML, no UTF-8, a number of 5,000 digits
        raise InputError(f"{path}: {error}") from None
    _refuse_unknown(f"{path}", said, ("decode", "expect"))
    blocks = said.get("expect", [])
    if not isinstance(blocks, list) or not blocks or not all(isinstance(b, dict) for b in blocks):
        raise InputError(f"{path}: no [[expect]] in it; each is one rule")
    rules = tuple(
        _rule(f"{path}: expect {number}", block) for number, block in enumerate(blocks, 1)
    )
    return Rules(_texts(f"{path}: decode", said.get("decode", [])), rules)


def _rule(where: str, block: dict[str, Any]) -> Rule:
    names = [f.name.removesuffix("_ps") for f in fields(Rule)]
    _refuse_unknown(where, block, names)
    values: dict[str, Any] = {}
    for key, value in block.items():
        place = f"{where}: {key}"
        if key == "rows":
            values[key] = _count(place, value)
        elif key == "within":
            values["within_ps"] = parse_time(place, _text(place, value))
        elif key == "sequence":
            values[key] = _texts(place, value)
            if len(values[key]) < _SEQUENCE_MIN:
                raise InputError(f"{place}: takes {_SEQUENCE_MIN} expressions or more")
        else:
            values[key] = _text(place, value)
        if key not in ("name", "table", "rows", "within"):
            _check(place, [values[key]] if isinstance(values[key], str) else values[key])
    if "within_ps" in values and not (values.get("sequence") or values.get("answered_by")):
        raise InputError(f"{where}: within: limits sequence or answered_by, and neither is there")
    if not set(block) - set(_ALWAYS):
        values["rows"] = Count()
    values.setdefault("name", _name(block))
    return Rule(**values)


def _name(block: dict[str, Any]) -> str:
    said = [
        f"{key} {', '.join(map(str, value)) if isinstance(value, list) else value}"
        for key, value in block.items()
        if key != "table"
    ]
    return ", ".join(said) or "a row"


def _refuse_unknown(where: str, said: dict[str, Any], known: Any) -> None:
    for key in said:
        if key not in known:
            raise InputError(f"{where}: there is no key {key!r}; there is {', '.join(known)}")


def _text(where: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where}: {value!r} is no text")
    return value


def _texts(where: str, value: object) -> tuple[str, ...]:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list):
        raise InputError(f"{where}: {value!r} is no list of texts")
    return tuple(_text(where, one) for one in listed)


def _check(where: str, expressions: Any) -> None:
    for expression in expressions:
        try:
            parse(expression)
        except ExpressionError as error:
            raise InputError(f"{where}: {expression!r}: {error}") from None


def _count(where: str, value: object) -> Count:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return Count(value, value)
    match = re.fullmatch(r"(\d{1,18})?\s*+\.\.\s*+(\d{1,18})?", str(value).strip())
    if not match or not any(match.groups()):
        raise InputError(f"{where}: {value!r} is no count; write 4, '4..', '..4' or '1..4'")
    least, most = match.groups()
    count = Count(int(least or 0), None if most is None else int(most))
    if count.most is not None and count.most < count.least:
        raise InputError(f"{where}: {value!r} begins after its end")
    return count
