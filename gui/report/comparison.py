"""The rows of a piece of evidence laid side by side, and which of their digits and bits differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from freezeframe.analyzers.contract import Row

__all__ = ["Cell", "Comparison", "compare", "difference_text", "differing_digits"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A row at its place in a comparison, and the value it is held against (None: nothing)."""

    row: Row
    against: int | None

    @property
    def differs(self) -> bool:
        return self.against is not None and self.row.value not in (None, self.against)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Columns are sources, lines are labels; a cell is None where a source has no such row."""

    sources: tuple[str, ...]
    lines: tuple[tuple[str, tuple[Cell | None, ...]], ...]


def compare(rows: Sequence[Row]) -> Comparison | None:
    """Return rows side by side, or None where that would show nothing.

    Rows stand side by side when at least two sources have a row of the same label and no source
    has two. Each value is held against what it should be, where that is known, else against the
    first source's.
    """
    sources = tuple(dict.fromkeys(row.source for row in rows))
    labels = tuple(dict.fromkeys(row.label for row in rows))
    at = {(row.label, row.source): row for row in rows}
    shared = any(sum((label, s) in at for s in sources) > 1 for label in labels)
    if len(at) != len(rows) or len(sources) < 2 or not shared:
        return None
    lines = []
    for label in labels:
        found = [at.get((label, source)) for source in sources]
        first = next((row for row in found if row is not None and row.value is not None), None)
        cells = tuple(None if row is None else Cell(row, _against(row, first)) for row in found)
        lines.append((label, cells))
    return Comparison(sources, tuple(lines))


def differing_digits(value: int, against: int, bits: int = 64) -> list[bool]:
    """Return for each hex digit, most significant first, whether it differs."""
    changed = (value ^ against) & ((1 << bits) - 1)
    return [bool(changed >> shift & 0xF) for shift in range(bits - 4, -4, -4)]


def difference_text(value: int, against: int, bits: int = 64) -> str:
    """Return how two words differ, in words: the bits when they are few, else their number."""
    changed = (value ^ against) & ((1 << bits) - 1)
    places = [bit for bit in range(bits) if changed >> bit & 1]
    if not places:
        return "equal"
    if len(places) == 1:
        return f"bit {places[0]} differs"
    if len(places) <= 8:
        return f"bits {', '.join(map(str, places))} differ"
    return f"{len(places)} of {bits} bits differ"


def _against(row: Row, first: Row | None) -> int | None:
    if row.expected is not None:
        return row.expected
    return None if first is None or first is row else first.value
