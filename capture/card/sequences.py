"""What a card file says of things that follow one another: states, transactions, the phases of a way.

``peer.EVENT`` is an event that the card at the other end of a path with ``far_end`` logs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from freezeframe.capture.card.tables import CardFile, Event, FormatField, Load, Transactions, Way
from freezeframe.capture.nearest import no_such

Where = tuple[str | int, ...]
_MOST_EVENTS = 16
PEER = "peer."
"""Stands before what the card at the far end logs or counts."""


def problems_of_sequences(card: CardFile) -> Iterator[tuple[Where, str]]:
    """Yield where and what: names of states, events, taps, fields and values that are not there."""
    for name, machine in card.states.items():
        for state, before in machine.after.items():
            for one in (state, *before):
                if one not in machine.names:
                    yield (
                        ("states", name, "after"),
                        f"states {name}: after: {no_such('state', one, machine.names)}",
                    )
    for name, said in card.transactions.items():
        yield from _transactions(card, ("transactions", name), said)
    for name, load in card.load.items():
        yield from _load(card, ("load", name), load)
    for name, way in card.way.items():
        yield from _way(card, ("way", name), way)


LOAD_EVENTS = ("came", "delivered", "dropped", "wasted", "called", "handler", "occupied")
"""The keys of ``[load.NAME]`` that name an event."""


def events_of_load(said: Load) -> list[str]:
    """Return the events that a load names."""
    return [event for key in LOAD_EVENTS if (event := getattr(said, key))]


def goes_on(card: CardFile) -> bool:
    """Tell whether packets go on to another card, whose name for this one's purposes is ``peer``."""
    return any(path.far_end for path in card.path.values())


def events_of(way: Way) -> tuple[str, ...]:
    """Return the events of a way in the order in which they are met.

    Raises:
        ValueError: its phases tell no order.
    """
    found: list[str] = []
    for phase in way.phase:
        if phase.begin not in found:
            if phase.end in found:
                raise ValueError(
                    f"phase {phase.name} ends with {phase.end}, which an earlier one has"
                )
            found.append(phase.begin)
        if phase.end in found and found.index(phase.end) <= found.index(phase.begin):
            raise ValueError(f"phase {phase.name} ends with {phase.end}, before it begins")
        if phase.end not in found:
            found.append(phase.end)
    return tuple(found)


def _transactions(card: CardFile, where: Where, said: Transactions) -> Iterator[tuple[Where, str]]:
    name = where[1]
    for key, tap in (("out", said.out), ("in", said.in_)):
        if tap not in card.tap:
            yield (*where, key), f"transactions {name}: {key}: {no_such('tap', tap, card.tap)}"
    formats = {card.tap[tap].format for tap in (said.out, said.in_) if tap in card.tap}
    shape = card.format.get(next(iter(formats), ""))
    if len(formats) == 1 and (shape is None or shape.is_ != "fields"):
        yield (
            where,
            f'transactions {name}: taps {said.out} and {said.in_} need a format with is = "fields"',
        )
    elif len(formats) > 1:
        yield where, f"transactions {name}: taps {said.out} and {said.in_} have different formats"
    elif shape is not None:
        yield from _fields(where, said, shape.field)
    logged = _logged(card)
    for key, events, known in (
        ("taken", [said.taken], card.event), ("returned", [said.returned], card.event),
        ("timed_out", [said.timed_out], card.event), ("busy", [said.busy], logged), ("refused", said.refused, logged),
    ):  # fmt: skip
        for event in events:
            if event and event not in known:
                yield (
                    (*where, key),
                    f"transactions {name}: {key}: {no_such('event', event, known)}",
                )
    named = [said.taken, said.returned, said.timed_out, said.busy, *said.refused]
    for event in dict.fromkeys(named):
        if event in logged and not logged[event].value:
            yield (
                where,
                f"transactions {name}: event {event} is logged without a value, so without an ID",
            )
    if bool(said.taken) != bool(said.returned):
        yield (*where, "taken"), f"transactions {name}: taken and returned belong together"
    if bool(said.status) != bool(said.good):
        yield (*where, "status"), f"transactions {name}: status and good belong together"


def _fields(
    where: Where, said: Transactions, fields: Mapping[str, FormatField]
) -> Iterator[tuple[Where, str]]:
    name = where[1]
    for key in ("id", "kind", "status"):
        field = getattr(said, key)
        if field and field not in fields:
            yield (*where, key), f"transactions {name}: {key}: {no_such('field', field, fields)}"
    if said.id in fields and said.ids > 1 << fields[said.id].bits:
        bits = fields[said.id].bits
        yield (
            (*where, "ids"),
            f"transactions {name}: {said.ids} IDs; field {said.id} of {bits} bits holds {1 << bits}",
        )
    named = [
        (said.kind, "requests", said.requests), (said.kind, "posted", said.posted),
        (said.kind, "answers", said.answers), (said.status, "good", said.good),
        *((field, "apart", names) for field, names in said.apart.items()),
    ]  # fmt: skip
    for field, key, names in named:
        if key == "apart" and field not in fields:
            yield (*where, key), f"transactions {name}: apart: {no_such('field', field, fields)}"
        known = fields[field].names if field in fields else {}
        for one in names if field in fields else []:
            if one not in known:
                yield (
                    (*where, key),
                    f"transactions {name}: {key}: {no_such(f'name of field {field}', one, known)}",
                )


def _load(card: CardFile, where: Where, said: Load) -> Iterator[tuple[Where, str]]:
    name = where[1]
    for key in LOAD_EVENTS:
        event = getattr(said, key)
        if event and event not in card.event:
            yield (*where, key), f"load {name}: {key}: {no_such('event', event, card.event)}"
        elif event and not card.event[event].value:
            yield (*where, key), f"load {name}: {key}: event {event} is logged without a value"
    if len({card.event[event].clock for event in events_of_load(said) if event in card.event}) > 1:
        yield where, f"load {name}: its events are of several clocks; they are logged together"


def _way(card: CardFile, where: Where, way: Way) -> Iterator[tuple[Where, str]]:
    name = where[1]
    logged = _logged(card)
    for number, phase in enumerate(way.phase):
        for key in ("begin", "end"):
            event = getattr(phase, key)
            if event not in logged:
                yield (
                    (*where, "phase", number),
                    f"way {name}: phase {phase.name}: {no_such('event', event, logged)}",
                )
            elif not logged[event].value:
                yield (
                    (*where, "phase", number),
                    f"way {name}: event {event} is logged without a value, by which its message would be known",
                )
    try:
        count = len(events_of(way))
    except ValueError as error:
        yield where, f"way {name}: {error}; give the phases in the order in which they are met"
        return
    if count > _MOST_EVENTS:
        yield where, f"way {name}: {count} events; at most {_MOST_EVENTS}"


def _logged(card: CardFile) -> dict[str, Event]:
    """Return the events of the card, and of the one at the other end where there is one: it is of the same sort."""
    far = {PEER + name: event for name, event in card.event.items()} if goes_on(card) else {}
    return card.event | far
