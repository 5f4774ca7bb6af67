"""Files of profiles: found by name or path, and put together from what they extend. What is in them is others' affair.

A profile that has a table ``[stage.NAME]`` describes an adapter by its stages (`freezeframe.emulator.adapter`); any
other is a card down to its cycles (`freezeframe.emulator.profile`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from freezeframe.capture.card.lines import key_lines
from freezeframe.capture.card.reading import parse_toml
from freezeframe.capture.card.shipped import card_place, shipped_cards
from freezeframe.capture.errors import InputError

_MOST_BASES = 4
_FOLDER = Path(__file__).parent / "profiles"


@dataclass(frozen=True, slots=True)
class ProfileFile:
    """What a profile says with all that it extends.

    ``files`` has the file itself first, then what it extends; ``said`` are their tables, laid over each other.
    """

    name: str
    files: tuple[tuple[Path, str], ...]
    said: dict[str, Any]

    @property
    def folder(self) -> Path:
        """Where files that the profile names are looked for."""
        return self.files[0][0].parent

    @property
    def by_stages(self) -> bool:
        """Whether it describes an adapter by its stages."""
        return "stage" in self.said

    def place(self, path: tuple[str | int, ...]) -> str:
        """Return ``file:line`` of a key, else of the nearest table around it that one of the files has."""
        for length in range(len(path), 0, -1):
            for file, text in self.files:
                line = key_lines(text).get(path[:length])
                if line is not None:
                    return f"{file}:{line}"
        return f"{self.files[0][0]}:1"


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
    read = list(_chain(name))
    said: dict[str, Any] = {}
    for _, _, tables in reversed(read):
        said = _over(said, tables)
    path = read[0][0]
    return ProfileFile(path.stem, tuple((file, text) for file, text, _ in read), said)


def _chain(name: str) -> Iterator[tuple[Path, str, dict[str, Any]]]:
    first = name
    for _ in range(_MOST_BASES + 1):
        path = Path(name) if name.endswith(".toml") else _FOLDER / f"{name}.toml"
        text = _text(path, name)
        tables = parse_toml(text, str(path))
        base = tables.pop("extends", None)
        yield path, text, tables
        if base is None:
            return
        if not isinstance(base, str):
            break
        name = base if base.endswith(".toml") is False else str(path.parent / base)
    raise InputError(
        f"profile {Path(first).stem}: extends = {base!r}; it must name another profile, "
        f"at most {_MOST_BASES} one behind the other"
    )


def _text(path: Path, name: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        known = ", ".join(sorted(path.stem for path in _FOLDER.glob("*.toml")))
        raise InputError(
            f"profile {name!r} does not exist; there are {known}, or give the path of a .toml file"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"profile {name!r} cannot be read: {error}") from error


def _over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Lay tables over tables, however deep; an empty table takes what is below away."""
    both = dict(below)
    for key, value in above.items():
        if value == {} and key in both:
            del both[key]
        elif isinstance(value, dict) and isinstance(both.get(key), dict):
            both[key] = _over(both[key], value)
        else:
            both[key] = value
    return both
