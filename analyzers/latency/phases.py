"""Phase tables: the events a message meets on its way, in order, and the phases between them.

Two are declared in ``phases.toml``: ``nic`` (this toolkit's cards) and ``bridge`` (a pair of
bus bridges). A user's own file of the same form is read as well.

Source: FORTH paper, section 2.6; SCI paper, section IV.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from freezeframe.capture.errors import InputError

MAX_EVENTS = 16
"""Events a table may have: the matcher keeps a bit for each."""

_SHIPPED = Path(__file__).parent / "phases.toml"


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of a message's way: from one named event to a later one."""

    name: str
    begin: str
    end: str


@dataclass(frozen=True, slots=True)
class PhaseTable:
    """The way of a message.

    Attributes:
        events: in the order in which a message meets them, each once.
        phases: pairs of them.
        meaning: what an event is, in words.
    """

    name: str
    title: str
    events: tuple[str, ...]
    phases: tuple[Phase, ...]
    meaning: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what cannot be measured.

        Raises:
            InputError: fewer than two events or too many, one twice, or a phase between events that
                are not there or in the wrong order.
        """
        where = f"phase table {self.name}"
        if not 2 <= len(self.events) <= MAX_EVENTS:
            raise InputError(f"{where}: {len(self.events)} events; 2..{MAX_EVENTS} can be matched")
        for event in self.events:
            if self.events.count(event) > 1:
                raise InputError(f"{where}: event {event!r} stands there more than once")
        if not self.phases:
            raise InputError(f"{where}: has no phase")
        for phase in self.phases:
            for event in (phase.begin, phase.end):
                if event not in self.events:
                    raise InputError(
                        f"{where}: phase {phase.name}: there is no event {event!r}; there are "
                        + ", ".join(self.events)
                    )
            if self.events.index(phase.begin) >= self.events.index(phase.end):
                raise InputError(
                    f"{where}: phase {phase.name} ends with {phase.end!r}, which does not come "
                    f"after {phase.begin!r}"
                )

    def called(self, names: Mapping[str, str]) -> PhaseTable:
        """Return the table with some events under other names: taps as a card calls them."""

        def name(event: str) -> str:
            return names.get(event, event)

        return PhaseTable(
            self.name,
            self.title,
            tuple(map(name, self.events)),
            tuple(Phase(p.name, name(p.begin), name(p.end)) for p in self.phases),
            {name(event): text for event, text in self.meaning.items()},
        )

    def only(self, recorded: Collection[str]) -> PhaseTable | None:
        """Return the table of the events that were recorded; None when no phase is left.

        A phase of which an end is missing is dropped, never stretched to a neighbour.
        """
        events = tuple(event for event in self.events if event in recorded)
        phases = tuple(p for p in self.phases if p.begin in events and p.end in events)
        if not phases:
            return None
        used = {event for phase in phases for event in (phase.begin, phase.end)}
        events = tuple(event for event in events if event in used)
        return PhaseTable(self.name, self.title, events, phases, self.meaning)

    def dropped(self, recorded: Collection[str]) -> tuple[Phase, ...]:
        """Return the phases that cannot be determined when only ``recorded`` events are there."""
        return tuple(p for p in self.phases if not {p.begin, p.end} <= set(recorded))


@cache
def load_phase_tables(path: Path = _SHIPPED) -> Mapping[str, PhaseTable]:
    """Read every table of a TOML file, by name.

    Raises:
        InputError: the file cannot be read, or a table is not one; the message names file, table
            and key.
    """
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    except (ValueError, RecursionError) as error:  # also a number of 5,000 digits
        raise InputError(f"{path}: is not valid TOML: {error}") from None
    return {name: _table(path, name, table) for name, table in raw.items()}


def phase_table(name: str) -> PhaseTable:
    """Return a table that comes with the toolkit: ``nic`` or ``bridge``.

    Raises:
        InputError: there is none of that name.
    """
    tables = load_phase_tables()
    if name not in tables:
        raise InputError(f"there is no phase table {name!r}; there is {', '.join(sorted(tables))}")
    return tables[name]


def _table(path: Path, name: str, raw: Any) -> PhaseTable:
    where = f"{path}: table {name}"
    if not isinstance(raw, dict):
        raise InputError(f"{where}: is not a table")
    events, phases = raw.get("events"), raw.get("phases")
    if not isinstance(events, list) or not all(isinstance(event, str) for event in events):
        raise InputError(f"{where}: events must be a list of names")
    if not isinstance(phases, list):
        raise InputError(f"{where}: phases must be a list of tables with name, begin, end")
    declared = []
    for phase in phases:
        if not isinstance(phase, dict) or {"name", "begin", "end"} - phase.keys():
            raise InputError(f"{where}: a phase is {phase!r}; it needs name, begin and end")
        declared.append(Phase(str(phase["name"]), str(phase["begin"]), str(phase["end"])))
    meaning = raw.get("meaning", {})
    if not isinstance(meaning, dict):
        raise InputError(f"{where}: meaning must be a table of event and text")
    try:
        return PhaseTable(
            name, str(raw.get("title", name)), tuple(events), tuple(declared), meaning
        )
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
