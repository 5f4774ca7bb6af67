"""Files of profiles: found by name or path, and put together from what they extend. What is in them is others' affair.

A profile that has a table ``[stage.NAME]`` describes an adapter by its stages (`freezeframe.emulator.adapter`); any
other is a card down to its cycles (`freezeframe.emulator.profile`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from freezeframe.capture.card.extending import Layers, layers_of
from freezeframe.capture.card.shipped import card_place, shipped_cards
from freezeframe.capture.errors import InputError

_FOLDER = Path(__file__).parent / "profiles"


@dataclass(frozen=True, slots=True)
class ProfileFile:
    """What a profile says with all that it extends."""

    name: str
    layers: Layers

    @property
    def said(self) -> dict[str, Any]:
        """Its tables over those of what it extends."""
        return self.layers.said

    @property
    def path(self) -> Path:
        """The file itself."""
        return Path(self.layers.files[0][0])

    @property
    def folder(self) -> Path:
        """Where files that the profile names are looked for."""
        return self.path.parent

    @property
    def by_stages(self) -> bool:
        """Whether it describes an adapter by its stages."""
        return "stage" in self.said

    def place(self, path: tuple[str | int, ...]) -> str:
        """Return ``file:line`` of a key, else of the nearest table around it that one of the files has."""
        return self.layers.shown_place(path)


def named_card(file: ProfileFile) -> str:
    """Return the card file that a profile names, by which its captures are read; empty where it names none.

    Raises:
        InputError: what it names is no text, no card that ships, and no file.
    """
    name = file.said.get("card", "")
    if not isinstance(name, str) or (name and not card_place(name).is_file()):
        cards = ", ".join(shipped_cards())
        raise InputError(
            f"{file.place(('card',))}: card = {name!r}: no such file, and none of the cards that ship: {cards}"
        )
    return name


def profile_names(*, by_stages: bool = False) -> list[str]:
    """Return the names of the profiles that ship: of cards down to their cycles, or of adapters by stages."""
    return sorted(
        path.stem
        for path in _FOLDER.glob("*.toml")
        if profile_file(path.stem).by_stages == by_stages
    )


def profile_file(name: str) -> ProfileFile:
    """Find a profile by its name, or by a path that ends in ``.toml``.

    Raises:
        InputError: there is none, it cannot be read, or is no TOML; the message names file and line.
    """
    path = Path(name) if name.endswith(".toml") else _FOLDER / f"{name}.toml"
    return ProfileFile(path.stem, layers_of(str(path), _text(path), "profile", _shipped, _text))


def _shipped() -> dict[str, Path]:
    return {path.stem: path for path in sorted(_FOLDER.glob("*.toml"))}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        name = path.stem if path.parent == _FOLDER else str(path)
        raise InputError(
            f"profile {name!r} does not exist; there are {', '.join(_shipped())}, or give the path of a .toml file"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"profile {path} cannot be read: {error}") from error
