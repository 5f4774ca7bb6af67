"""Fault files: what a name claims, what every witness must then say, and what it needs of a card.

docs/fault-file.md is their form. Those that ship stand in ``faults/``, one for each name. A witness under ``for`` must
say what the file says or be silent; any other value of it is against the name. Of one under ``against`` alone, every
other value is for it. Which tap, counter or cause it is they take from the card; ``needs`` says that it must have them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from freezeframe.analyzers.witness.vocabulary import WITNESSES
from freezeframe.capture.card.elaborated import ElaboratedCard, ElaboratedStretch
from freezeframe.capture.card.roles import MEANINGS, Roles, Way, roles_of
from freezeframe.capture.errors import InputError

SHIPPED = Path(__file__).parent / "faults"
_MOST_B = 1 << 16
_TEXTS = ("name", "is_a", "doc", "falsifier", "next")
_TABLES = ("for", "against", "claim")
_LISTS = ("needs", "seen_by", "or", "breaks", "tests")

Values = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Declared:
    """One fault.

    Attributes:
        name, doc: what it is called, and what happened.
        is_a: its general parent; empty without one.
        needs: terms of the card's file without which it is not asked.
        claim: what of what unit happened where.
        entails: by witness, the values it must have where it is not silent.
        against: by witness, the values that speak against it.
        seen_by: witnesses of which at least one must be for it; by the others alone it is a candidate.
        others: names that fit as well where a witness is against it.
        breaks: titles of the laws that it may break.
        falsifier: what would show it wrong, in words.
        next: the command that would decide it.
        tests: captures that it must be found in, relative to its file.
    """

    name: str
    doc: str = ""
    is_a: str = ""
    needs: tuple[str, ...] = ()
    claim: Mapping[str, Any] = field(default_factory=dict)
    entails: Mapping[str, Values] = field(default_factory=dict)
    against: Mapping[str, Values] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()
    seen_by: tuple[str, ...] = ()
    falsifier: str = ""
    next: str = ""
    tests: tuple[str, ...] = ()

    @property
    def witnesses(self) -> tuple[str, ...]:
        """Those it asks, in the order of the file."""
        return tuple(dict.fromkeys((*self.entails, *self.against)))


@cache
def shipped() -> dict[str, Declared]:
    """Return the faults that ship, by name."""
    faults = [read_fault(path) for path in sorted(SHIPPED.glob("*.toml"))]
    return {fault.name: fault for fault in faults}


def read_fault(path: Path) -> Declared:
    """Return what a fault file declares.

    Raises:
        InputError: it cannot be read, or one line that says what is wrong in it.
    """
    try:
        raw = path.read_bytes()
        if len(raw) > _MOST_B:
            raise InputError(
                f"{path}: {len(raw):,} B; a fault file is text written by hand, {_MOST_B:,} B at most"
            )
        said = tomllib.loads(raw.decode("utf-8"))
    except OSError as error:
        raise InputError(f"{path}: could not be read: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise InputError(f"{path}: is no TOML: {error}") from None
    problem = next(_problems(said), "")
    if problem:
        raise InputError(f"{path}: {problem}")
    return Declared(
        said["name"],
        said.get("doc", ""),
        said.get("is_a", ""),
        tuple(said.get("needs", ())),
        said.get("claim", {}),
        {name: _values(value) for name, value in said.get("for", {}).items()},
        {name: _values(value) for name, value in said.get("against", {}).items()},
        tuple(said.get("or", ())),
        tuple(said.get("breaks", ())),
        tuple(said.get("seen_by", ())),
        said.get("falsifier", ""),
        said.get("next", ""),
        tuple(said.get("tests", ())),
    )


def _values(value: str | list[str]) -> Values:
    return (value,) if isinstance(value, str) else tuple(value)


def _problems(said: Mapping[str, Any]) -> Iterator[str]:
    known = (*_TEXTS, *_TABLES, *_LISTS)
    for key, value in said.items():
        if key not in known:
            yield f"{key!r} is no key of a fault file; there are {', '.join(known)}"
            return
        kind: type = str if key in _TEXTS else dict if key in _TABLES else list
        if type(value) is not kind:
            yield f"{key} is {type(value).__name__}; it must be a {kind.__name__}"
        elif isinstance(value, list) and not all(isinstance(each, str) for each in value):
            yield f"{key} holds what is no text"
    if not said.get("name"):
        yield "has no name"
    entails, against = said.get("for", {}), said.get("against", {})
    tables: tuple[tuple[str, Mapping[str, Any]], ...] = (("for", entails), ("against", against))
    for table, asked in tables:
        for name, value in asked.items():
            yield from _wrong_value(table, name, value)
    for name in entails.keys() & against.keys():
        both = set(_values(entails[name])) & set(_values(against[name]))
        if both:
            yield f"{name} = {sorted(both)[0]!r} stands under for and under against: it contradicts itself"
    for name in said.get("seen_by", ()):
        if name not in entails:
            yield f"seen_by: {name!r} does not stand under for"
    if not entails and not against:
        yield f"names no witness; there are {', '.join(WITNESSES)}"


def _wrong_value(table: str, name: str, value: object) -> Iterator[str]:
    if name not in WITNESSES:
        yield f"{table}: {name!r} is no witness; there are {', '.join(WITNESSES)}"
        return
    known = WITNESSES[name].values
    listed: list[object] = value if isinstance(value, list) else [value]
    for each in listed:
        if each not in known:
            yield f"{table}: {name} = {each!r}: it has the values {', '.join(known)}"
    if not listed:
        yield f"{table}: {name} has no value"


Need = Callable[[Roles], str]
"""Returns what is missing, in words; empty where it is there."""


def _links(roles: Roles) -> str:
    other = [tap.name for tap in roles.card.taps if tap.format != "link"]
    return f'format "link" at {", ".join(other)}' if other else ""


def _fifos(roles: Roles) -> str:
    """Each FIFO gives out what it took in; a stretch that may drop or change words has no word missing."""
    kept = [way for way in roles.ways if _stretch(roles, way).identity]
    return "" if kept else "a FIFO between two taps that neither drops nor changes words"


def _stretch(roles: Roles, way: Way) -> ElaboratedStretch:
    return next(stretch for stretch in roles.card.stretches if stretch.path == way.name)


def _credits(roles: Roles) -> str:
    scheme = roles.card.said.flow_control.scheme
    wanted = "cumulative-credits"
    return "" if scheme == wanted else f'flow_control "{wanted}" (it is "{scheme}")'


def _counters(*means: str) -> Need:
    def need(roles: Roles) -> str:
        missing = [name for name in means if not roles.counter(name)]
        return f"a counter that means {' and '.join(missing)}" if missing else ""

    return need


def _words(roles: Roles) -> str:
    missing = [t for t in (roles.tx.exit, roles.rx.entry) if not roles.counter("words", t)]
    return f"a counter of words at {' and '.join(missing)}" if missing else ""


def _events(*kinds: str) -> Need:
    def need(roles: Roles) -> str:
        held = {name.partition("_")[0] for name in roles.card.said.event}
        missing = [kind for kind in kinds if kind not in held]
        return f"events {' and '.join(missing)} in its log" if missing else ""

    return need


_NEEDS: dict[str, Need] = {"link": _links, "fifo": _fifos, "credits": _credits, "words": _words}


def _need(text: str) -> Need:
    """Return a need of a fault file: one by name, ``counter.MEANING`` or ``event.KIND``."""
    kind, _, name = text.partition(".")
    return {"counter": _counters, "event": _events}[kind](name) if name else _NEEDS[text]


def known_need(text: str) -> bool:
    """Tell whether a fault file may need this."""
    kind, _, name = text.partition(".")
    return (
        text in _NEEDS
        or (kind == "counter" and name in MEANINGS)
        or (kind == "event" and bool(name))
    )


@cache
def not_asked(card: ElaboratedCard) -> dict[str, str]:
    """Return the diagnoses that a card of map 1 gives no ground for, each with what is missing."""
    return dict(_missing(roles_of(card)))


def _missing(roles: Roles) -> Iterator[tuple[str, str]]:
    for name in shipped():
        lacks = list(lacking(roles, shipped()[name]))
        if lacks:
            yield name, f"{name}: the card has not {'; '.join(lacks)}"


def lacking(roles: Roles, fault: Declared) -> Iterator[str]:
    """Yield what a fault's file needs and a card has not, in words."""
    for text in fault.needs:
        what = _need(text)(roles)
        if what:
            yield what
