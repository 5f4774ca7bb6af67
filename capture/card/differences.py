"""What two cards differ in: every value of their elaborated text, and where their windows stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import json, to_builtins

from freezeframe.capture.card.elaborated import ElaboratedCard
from freezeframe.capture.card.registers import memories_of_card

_NONE = "-"


def differences(first: ElaboratedCard, second: ElaboratedCard) -> list[tuple[str, str, str]]:
    """Return (what, in the first, in the second), in the order of the first card's text; ``-`` where one has none."""
    return _unlike(_values(first), _values(second))


def _unlike(first: dict[str, str], second: dict[str, str]) -> list[tuple[str, str, str]]:
    return [
        (what, first.get(what, _NONE), second.get(what, _NONE))
        for what in {**first, **second}
        if first.get(what) != second.get(what)
    ]


def _values(card: ElaboratedCard) -> dict[str, str]:
    values = dict(_leaves("", to_builtins(card.said)))
    values |= {f"bit of cause {cause.name}": str(cause.bit) for cause in card.causes}
    values |= {
        f"window of {memory.name}": f"{memory.address:#010x}" for memory in memories_of_card(card)
    }
    return values


def _leaves(place: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(f"{place}.{key}" if place else key, inner)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for number, inner in enumerate(value):
            yield from _leaves(f"{place}[{number}]", inner)
    else:
        yield place, value if isinstance(value, str) else json.encode(value).decode()
