"""Folders that stand in for what a user named: what was unpacked from one file, or a copy without its damage."""

from __future__ import annotations

from pathlib import Path

_GIVEN: dict[Path, Path] = {}  # folder -> what the user named


def stands_for(place: Path, path: Path) -> None:
    """Keep that a folder was made of what ``path`` names."""
    _GIVEN[place] = given(path)


def given(place: Path) -> Path:
    """Return what a user named, of a folder that stands in for it; else the folder."""
    return _GIVEN.get(place, place)


def in_given_names(text: str) -> str:
    """Return a message that names what the user named, in place of folders that stand in for it."""
    for place, path in _GIVEN.items():
        text = text.replace(str(place), str(path))
    return text
