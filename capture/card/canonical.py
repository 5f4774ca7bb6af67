"""The one text of a card: what is hashed, what stands in a device's ROM and in a capture.

A key at its default is left out, so that a key that a later release adds changes the hash of no card that does not
use it. So a default never changes within a schema: the text would mean another card.

Source: docs/card-map.md, section 4.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from msgspec import NODEFAULT, Struct, json
from msgspec.structs import fields

from freezeframe.capture.card.tables import CardFile


def canonical_text(said: CardFile) -> str:
    """Return a card as JSON, keys in the order of the tables, without those at their default."""
    return json.encode(_spared(said)).decode()


@cache
def defaults_of(table: type[Struct]) -> tuple[tuple[str, str, Any], ...]:
    """Return the keys of a table: attribute, name in the file, and default; NODEFAULT where a file has to say it."""
    return tuple(
        (
            field.name,
            field.encode_name,
            field.default if field.default_factory is NODEFAULT else field.default_factory(),
        )
        for field in fields(table)
    )


def _spared(value: Any) -> Any:
    if isinstance(value, Struct):
        return {
            name: _spared(part)
            for attribute, name, default in defaults_of(type(value))
            if (part := getattr(value, attribute)) != default
        }
    if isinstance(value, dict):
        return {name: _spared(part) for name, part in value.items()}
    return [_spared(part) for part in value] if isinstance(value, list) else value
