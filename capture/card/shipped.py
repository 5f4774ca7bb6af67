"""The cards that ship, by name, and the JSON Schema by which an editor completes a card file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec.json import schema

from freezeframe.capture.card.extending import EXTENDS
from freezeframe.capture.card.tables import CardFile
from freezeframe.capture.device_side import hooks_folder

_PLACE = "#/$defs/"
_OVER = "{}.extending"


def shipped_cards() -> dict[str, Path]:
    """Return the files of the cards that ship, by the name of the card.

    Raises:
        InputError: the installation lacks the device side.
    """
    return {path.stem: path for path in sorted((hooks_folder() / "cards").glob("*.toml"))}


def card_place(said: Path | str) -> Path:
    """Return the file that is meant where a card file is asked for: a path, or the name of a card that ships."""
    path = Path(said)
    if path.is_file() or path.name != str(path) or path.suffix:
        return path
    return shipped_cards().get(path.name, path)


def card_schema() -> dict[str, Any]:
    """Return the JSON Schema of a card file (JSON Schema 2020-12); one that extends another has to say nothing."""
    whole = schema(CardFile)["$defs"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "if": {"required": [EXTENDS]},
        "then": {"$ref": _PLACE + _OVER.format("CardFile")},
        "else": {"$ref": _PLACE + "CardFile"},
        "$defs": {
            **whole,
            **{_OVER.format(name): _laid_over(part) for name, part in whole.items()},
        },
    }


def _laid_over(part: Any) -> Any:
    """Return a part of the schema for a file that extends another: no key has to be there."""
    if isinstance(part, list):
        return [_laid_over(one) for one in part]
    if not isinstance(part, dict):
        return part
    return {
        key: _PLACE + _OVER.format(value.removeprefix(_PLACE))
        if key == "$ref"
        else _laid_over(value)
        for key, value in part.items()
        if key not in ("required", "minProperties")
    }
