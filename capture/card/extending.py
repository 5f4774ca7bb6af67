"""Files of tables that extend another: found one behind the other, and their tables laid over each other.

Card files and the emulator's profiles are such files. ``extends = "forth"`` names a file that ships, ``extends =
"mine.toml"`` one beside the file itself. What is laid over: a table over a table of its name, key by key, however deep;
any other value in place of the one below. A table with nothing in it takes the one below away. A new name stands behind
the name before it in its own file, else at the end, because the order of a card's parts numbers them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from freezeframe.capture.card.lines import key_lines
from freezeframe.capture.card.toml_text import CardError, parse_toml
from freezeframe.capture.card.wording import shown
from freezeframe.capture.nearest import meant

EXTENDS = "extends"
_SUFFIX = ".toml"

Where = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Layers:
    """A file and what it extends.

    Attributes:
        files: name and text, the file itself first.
        said: their tables, laid over each other, without ``extends``.
    """

    files: tuple[tuple[str, str], ...]
    said: dict[str, Any]

    def place(self, path: Where) -> tuple[int, int]:
        """Return file (0 is the first) and line of a key, else of the nearest table around it that a file has."""
        lines = [key_lines(text) for _, text in self.files]
        for length in range(len(path), 0, -1):
            for number, known in enumerate(lines):
                if (line := known.get(path[:length])) is not None:
                    return number, line
        return 0, 1

    def shown_place(self, path: Where) -> str:
        """Return ``file:line`` of a key."""
        number, line = self.place(path)
        return f"{self.files[number][0]}:{line}"


def layers_of(
    name: str,
    text: str,
    kind: str,
    known: Callable[[], Mapping[str, Path]],
    read: Callable[[Path], str],
) -> Layers:
    """Return a file with all that it extends.

    Args:
        name: of the file: what messages call it; bases that are paths are looked for beside it.
        kind: what such a file is, for messages: ``card``.
        known: gives the files that ship, by name.
        read: gives the text of a file; what it raises names the file.
    Raises:
        CardError: a file is no TOML, extends what is not there or itself, or takes away what its base does not have;
            one line each, with file, line and key.
    """
    files = [(name, text)]
    tables = [parse_toml(text, name)]
    while EXTENDS in tables[-1]:
        said = tables[-1].pop(EXTENDS)
        name, text = files[-1]
        at = f"{name}:{key_lines(text).get((EXTENDS,), 1)}: {EXTENDS} = {shown(said)}"
        path = _base(said, Path(name).parent, kind, known, at)
        way = [Path(file).resolve() for file, _ in files]
        if path.resolve() in way:
            round_ = [*(file for file, _ in files[way.index(path.resolve()) :]), str(path)]
            raise CardError(f"{at}: goes round: {' extends '.join(round_)}")
        files.append((str(path), read(path)))
        tables.append(parse_toml(files[-1][1], files[-1][0]))
    try:
        return Layers(tuple(files), _stacked(files, tables))
    except RecursionError:
        raise CardError(f"{files[0][0]}: tables stand too deep in each other") from None


def _stacked(files: Sequence[tuple[str, str]], tables: Sequence[dict[str, Any]]) -> dict[str, Any]:
    said = tables[-1]
    problems: list[str] = []
    for number in range(len(tables) - 2, -1, -1):
        own = Layers((files[number],), {})
        problems += (
            f"{own.shown_place(where)}: {shown('.'.join(map(str, where)))} has nothing in it, which takes away what "
            f"is there of that name, and {files[number + 1][0]} has none; {meant(str(where[-1]), there)}"
            for where, there in _takes_nothing(said, tables[number], ())
        )
        said = laid_over(said, tables[number])
    if problems:
        raise CardError("\n".join(problems))
    return said


def laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of ``below`` with those of ``above`` over them, by the rules of this file."""
    both = dict(below)
    order = list(below)
    before: str | None = None
    for name, value in above.items():
        if name not in both:
            order.insert(len(order) if before is None else order.index(before) + 1, name)
        under = both.get(name)
        both[name] = (
            laid_over(under, value)
            if isinstance(under, dict) and isinstance(value, dict)
            else value
        )
        before = name
    gone = {name for name in below if above.get(name) == {}}
    return {name: both[name] for name in order if name not in gone}


def _takes_nothing(
    below: Mapping[str, Any], above: Mapping[str, Any], path: Where
) -> Iterator[tuple[Where, list[str]]]:
    """Yield the tables with nothing in them that have none below, and the names that are there."""
    for name, value in above.items():
        if value == {} and name not in below:
            yield (*path, name), list(below)
        elif isinstance(value, dict) and isinstance(below.get(name), dict):
            yield from _takes_nothing(below[name], value, (*path, name))


def _base(
    said: Any, folder: Path, kind: str, known: Callable[[], Mapping[str, Path]], at: str
) -> Path:
    if not isinstance(said, str):
        raise CardError(
            f"{at}: name a {kind} that ships, or the path of a file that ends in {_SUFFIX}"
        )
    if not said.endswith(_SUFFIX):
        ships = known()
        if said not in ships:
            raise CardError(
                f"{at}: no {kind} of that name ships; {meant(said, ships)} (a file's path ends in {_SUFFIX})"
            )
        return ships[said]
    path = folder / said
    try:
        there = path.is_file()
    except OSError:  # a name longer than the file system takes
        there = False
    if not there:
        raise CardError(f"{at}: there is no file {shown(str(path))}")
    return path
