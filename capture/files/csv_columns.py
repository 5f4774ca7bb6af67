"""What a column of a table is: the times of the rows, a channel, a bus, or a voltage, by its name, its unit
and its first cells."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.csv_cells import LONGEST_CELL, has_unit, is_iso
from freezeframe.capture.files.levels import no_threshold
from freezeframe.capture.files.source import MAX_SIGNAL_BITS, ReadSettings

PER_S = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1),
    **dict.fromkeys(("ms", "milliseconds"), 10**3),
    **dict.fromkeys(("us", "µs", "μs", "microseconds"), 10**6),
    **dict.fromkeys(("ns", "nanoseconds"), 10**9),
    **dict.fromkeys(("ps", "picoseconds"), 10**12),
}
VOLTS = {
    **dict.fromkeys(("v", "volt", "volts", "v dc"), 1.0),
    **dict.fromkeys(("mv", "mvolt", "mvolts"), 1e-3),
    **dict.fromkeys(("uv", "uvolt", "uvolts"), 1e-6),
    **dict.fromkeys(("kv", "kvolt", "kvolts"), 1e3),
}
BASES = {"HEX": 16, "BINARY": 2, "OCTAL": 8, "UNSIGNED": 10, "SIGNED": -10}
_NUMBER = re.compile(
    r"[+-]?(?:0[xX][0-9a-fA-F]+|\d+[.,]?\d*(?:[eE][+-]?\d+)?|[.,]\d+(?:[eE][+-]?\d+)?)"
)
_NO_UNIT = ("sequence", "value", "values", "", "ampere", "a")
_UNIT = "|".join(sorted(PER_S, key=len, reverse=True))
_TIME = re.compile(
    rf"(?:time|times|t)(?:stamp| stamp)? ?(?:unit:)? ?(?:[\[(_]? ?({_UNIT}) ?[\])]?)?", re.I
)
_RANGE = re.compile(r"\[(\d{1,3})(?::|\.\.)(\d{1,3})\]$")
_IN_VOLTS = re.compile(r"[\[(](?:unit: ?)?([muk]?v(?:olts?)?)[\])]$", re.I)
_FRACTION = re.compile(r"[+-]?(?:\d*[.,]\d*(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)")
# What sigrok takes for times, by the highest sample rate; above, picoseconds.
_OF_RATE = ((10**3, 10**3), (10**6, 10**6), (10**9, 10**9))


@dataclass(frozen=True, slots=True)
class Column:
    """A column that is a channel or a bus.

    ``key`` is what the parser calls it, ``name`` how it is shown; ``bits`` are its channels, the lowest
    first. ``base`` is that of its digits (-10: decimal with a sign), and what is read is multiplied by
    ``volts`` where it is analog.
    """

    key: str
    name: str
    bits: tuple[str, ...]
    analog: bool = False
    base: int = 10
    volts: float = 1.0
    with_units: bool = False


@dataclass(frozen=True, slots=True)
class Time:
    """The column that dates the rows: ``kind`` is number (with ``per_s`` of them a second), units or iso."""

    key: str
    kind: str
    per_s: int = 1


@dataclass(frozen=True, slots=True)
class Seen:
    """What is seen of a column: its place, name and unit ("" where it has none), and its first cells."""

    key: str
    place: int
    name: str
    unit: str
    values: tuple[str, ...]
    named: bool


def time_of(seen: Seen, settings: ReadSettings, rate_hz: int | None) -> Time | None:
    """Return the column as that of the times, None where it is no such.

    Args:
        rate_hz: of a comment, by which sigrok chooses a unit that it does not write.
    Raises:
        InputError: the unit that the user says is none, or the times fit no unit.
    """
    wish, said_unit = settings.layout.get("time"), settings.layout.get("unit")
    if wish not in (None, "none", seen.name):
        return None
    match = _TIME.fullmatch(seen.name)
    iso = _most(is_iso, seen.values)
    counted = not seen.named and not seen.place and not seen.unit and _rises(seen.values)
    by_unit = seen.unit.lower() in PER_S or (
        seen.name.lower() in PER_S and not seen.place and len(seen.name) > 2
    )
    if not (wish == seen.name or match or by_unit or (iso and seen.place < 2) or counted):
        return None
    if iso:
        return Time(seen.key, "iso")
    if _most(has_unit, seen.values):
        return Time(seen.key, "units")
    words = (said_unit, match and match[1], seen.unit, seen.name)
    if said_unit is not None and said_unit not in PER_S:
        raise InputError(f"--format csv: unit={said_unit}; s, ms, us, ns, ps are possible")
    for word in words:
        if word and word.lower() in PER_S:
            return Time(seen.key, "number", PER_S[word.lower()])
    return Time(seen.key, "number", 1 if rate_hz is None else _unit_of_rate(seen, rate_hz))


def column_of(seen: Seen, base: int, settings: ReadSettings) -> tuple[Column, str]:
    """Return a column, and why it cannot be read, or nothing."""
    if bus := _RANGE.search(seen.name):
        left, right = int(bus[1]), int(bus[2])
        stem = seen.name[: bus.start()].rstrip()
        width, step = abs(left - right) + 1, 1 if left >= right else -1
        if width > MAX_SIGNAL_BITS:
            why = f"it has {width} bits; 1 to {MAX_SIGNAL_BITS} are read"
            return Column(seen.key, stem, ()), why
        bits = tuple(f"{stem}[{right + step * bit}]" for bit in range(width))
        return Column(seen.key, seen.name, bits, base=base), ""
    shown, volts = seen.name, VOLTS.get(seen.unit.lower(), 0.0)
    if match := _IN_VOLTS.search(seen.name):
        shown = seen.name[: match.start()].rstrip() or seen.name
        volts = VOLTS[match[1].lower()]
    thresholds = settings.thresholds
    wished = shown in thresholds or seen.name in thresholds
    analog = bool(volts) or any(
        (is_number(v) and _FRACTION.fullmatch(v)) or has_unit(v) for v in seen.values
    )
    if not wished and not (analog and abs(base) == 10):
        return Column(seen.key, shown, (shown,), base=base), ""
    with_units = any(map(has_unit, seen.values))
    column = Column(seen.key, shown, (shown,), True, volts=volts or 1.0, with_units=with_units)
    if wished or "" in thresholds:
        return column, ""
    return column, no_threshold(shown)


def is_number(cell: str) -> bool:
    return len(cell) <= LONGEST_CELL and _NUMBER.fullmatch(cell) is not None


def are_units(cells: Sequence[str]) -> bool:
    """Return whether a line has units of columns, or bases of their digits, and perhaps numbers beside."""
    words = [cell.strip("()[] ") for cell in cells if cell and not is_number(cell)]
    return bool(words) and all(
        word.lower() in PER_S
        or word.lower() in VOLTS
        or word.lower() in _NO_UNIT
        or word.startswith("Radix")
        or word in BASES
        for word in words
    )


def _unit_of_rate(seen: Seen, rate_hz: int) -> int:
    """Return the unit that sigrok takes for the times of samples at this rate."""
    per_s = next((per_s for most, per_s in _OF_RATE if rate_hz <= most), 10**12)
    numbers = [
        float(value) for value in seen.values if re.fullmatch(r"\d{1,20}(?:\.\d{1,20})?", value)
    ]
    steps = [(after - before) * rate_hz / per_s for before, after in itertools.pairwise(numbers)]
    # A time may be a whole unit off.
    if any(step < 0.4 or abs(step - round(step)) > rate_hz / per_s + 0.01 for step in steps):
        raise InputError(
            f"column {seen.name} has no unit, and its times do not fit {rate_hz} Hz; write for instance "
            f"{seen.name} [us], or say --format csv:unit=us"
        )
    return per_s


def _rises(values: Sequence[str]) -> bool:
    """Return whether cells are fractions that rise, as times do."""
    if len(values) < 2 or not all(re.fullmatch(r"\d{1,20}[.,]\d{3,20}", value) for value in values):
        return False
    numbers = [float(value.replace(",", ".")) for value in values]
    return all(before < after for before, after in itertools.pairwise(numbers))


def _most(is_so: Callable[[str], bool], values: Sequence[str]) -> bool:
    """Return whether most cells are so; one that is not is damage, which is told when it is read."""
    return 2 * sum(map(is_so, values)) > len(values)
