"""The rows of a piece of evidence laid side by side, and which of their digits and bits differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from freezeframe.analyzers.contract import Row


@dataclass(frozen=True, slots=True)
class Cell:
    """A row at its place in a comparison, and the value it is held against (None: nothing)."""

    row: Row
    against: int | None

    @property
    def difference(self) -> str:
        """How the value differs from what it is held against; empty where it does not."""
        if self.against is None or self.row.value in (None, self.against):
            return ""
        return difference_text(self.row.value or 0, self.against)


@dataclass(frozen=True, slots=True)
class Line:
    """Rows that belong together: a cell for each source, None where that has none."""

    label: str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Columns are sources, in the order in which the evidence names them first."""

    sources: tuple[str, ...]
    lines: tuple[Line, ...]

    def note(self, line: Line) -> str:
        """Return what is odd about a line: how its values differ, each said once, or where it is missing."""
        notes = list(dict.fromkeys(c.difference for c in line.cells if c and c.difference))
        pairs = zip(self.sources, line.cells, strict=True)
        return "; ".join(notes + [f"not at {source}" for source, cell in pairs if cell is None])


def compare(rows: Sequence[Row]) -> Comparison | None:
    """Return rows side by side, or None where no two of them belong together.

    A row belongs beside the one before it when it is of another source and has the same label, or
    when its expected value is that row's value: then it is the same word, found later. What is
    left alone belongs beside the first that was left alone with the same label.
    """
    groups: list[list[Row]] = []
    for row in rows:
        if groups and _belongs(row, groups[-1]):
            groups[-1].append(row)
        else:
            groups.append([row])
    groups = _gathered(groups)
    if not any(len(group) > 1 for group in groups):
        return None
    sources = tuple(dict.fromkeys(row.source for row in rows))
    return Comparison(sources, tuple(_line(group, sources) for group in groups))


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


def register_text(row: Row, value: int) -> str:
    """Return the value of a register: a mask in hex with what it says, else a count."""
    return f"{value:#010x} ({row.text})" if row.text else f"{value:,}"


def _belongs(row: Row, group: Sequence[Row]) -> bool:
    first = group[0]
    if row.table != first.table or row.source in {other.source for other in group}:
        return False
    found_later = row.expected is not None and row.expected == first.value
    return found_later or row.label == first.label


def _gathered(groups: Sequence[list[Row]]) -> list[list[Row]]:
    """Return the groups with those of one row put together where label and table are the same."""
    gathered: list[list[Row]] = []
    alone: dict[tuple[str, str], list[Row]] = {}
    for group in groups:
        row = group[0]
        found = alone.get((row.table, row.label), [])
        if len(group) == 1 and found and _belongs(row, found):
            found.append(row)
            continue
        gathered.append(group)
        if len(group) == 1:
            alone.setdefault((row.table, row.label), group)
    return gathered


def _line(group: Sequence[Row], sources: Sequence[str]) -> Line:
    at = {row.source: row for row in group}
    cells: list[Cell | None] = []
    for source in sources:
        row = at.get(source)
        if row is None:
            cells.append(None)
            continue
        against = row.expected
        if against is None and row is not group[0]:
            against = group[0].value
        cells.append(Cell(row, against))
    return Line(_joint_label([row.label for row in group]), tuple(cells))


def _joint_label(labels: Sequence[str]) -> str:
    """Return one label for all: ``payload word 4 / 3`` where only the last word is another."""
    different = list(dict.fromkeys(labels))
    heads = {label.rpartition(" ")[0] for label in different}
    if len(different) > 1 and len(heads) == 1:
        return f"{different[0]} / {' / '.join(x.rpartition(' ')[2] for x in different[1:])}"
    return " / ".join(different)
