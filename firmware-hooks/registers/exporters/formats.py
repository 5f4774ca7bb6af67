"""formats.toml as checked plain data: fields fit and do not overlap, enums have no number twice."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

MAX_LAYOUT_BITS = 128


@dataclass(frozen=True)
class Layout:
    """A word of ``bits`` bits; ``fields`` maps a name to ``(lsb, width)``, ordered by lsb."""

    name: str
    bits: int
    doc: str
    fields: dict[str, tuple[int, int]]


@dataclass(frozen=True)
class Enum:
    """Named numbers, ordered by number; names as the file has them (``hdr-crc``)."""

    name: str
    doc: str
    members: dict[str, int]

    @property
    def dense(self) -> bool:
        """Whether the numbers are 0, 1, 2, ... so that a tuple can be indexed by them."""
        return list(self.members.values()) == list(range(len(self.members)))


@dataclass(frozen=True)
class Formats:
    """Everything formats.toml defines."""

    version: tuple[int, int]
    layouts: tuple[Layout, ...]
    enums: tuple[Enum, ...]


def load(path: Path) -> Formats:
    """Read and check the file.

    Raises:
        ValueError: a field is outside its layout or over another, or an enum has a number twice.
    """
    with path.open("rb") as file:
        tree = tomllib.load(file)
    unknown = set(tree) - {"format_version", "layout", "enum"}
    if unknown:
        raise ValueError(f"{path.name}: no meaning is known for {', '.join(sorted(unknown))}")
    major, minor = tree["format_version"]
    layouts = tuple(_layout(path.name, name, body) for name, body in tree["layout"].items())
    enums = tuple(_enum(path.name, name, body) for name, body in tree["enum"].items())
    return Formats((major, minor), layouts, enums)


def _layout(where: str, name: str, body: dict[str, object]) -> Layout:
    bits, doc = body["bits"], body["doc"]
    if not isinstance(bits, int) or not isinstance(doc, str) or not 1 <= bits <= MAX_LAYOUT_BITS:
        raise ValueError(f"{where}: layout.{name} needs doc (text) and bits (1..{MAX_LAYOUT_BITS})")
    fields: dict[str, tuple[int, int]] = {}
    for field, place in body.items():
        if field in ("bits", "doc"):
            continue
        if not (
            isinstance(place, list) and len(place) == 2 and all(isinstance(n, int) for n in place)
        ):
            raise ValueError(f"{where}: layout.{name}.{field} is {place!r}; write [lsb, width]")
        fields[field] = (place[0], place[1])
    ordered = dict(sorted(fields.items(), key=lambda item: item[1]))
    end, before = 0, "the start"
    for field, (lsb, width) in ordered.items():
        if width < 1 or lsb < end or lsb + width > bits:
            raise ValueError(
                f"{where}: layout.{name}.{field} [{lsb}, {width}] must lie in bits "
                f"{end}..{bits - 1}, after {before}"
            )
        end, before = lsb + width, field
    return Layout(name, bits, doc, ordered)


def _enum(where: str, name: str, body: dict[str, object]) -> Enum:
    doc = body["doc"]
    if not isinstance(doc, str):
        raise ValueError(f"{where}: enum.{name} needs a doc text")
    members: dict[str, int] = {}
    for member, number in body.items():
        if member == "doc":
            continue
        if not isinstance(number, int) or number < 0:
            raise ValueError(f"{where}: enum.{name}.{member} is {number!r}; write a number from 0")
        if number in members.values():
            raise ValueError(f"{where}: enum.{name}.{member}: number {number} is taken already")
        members[member] = number
    return Enum(name, doc, dict(sorted(members.items(), key=lambda item: item[1])))
