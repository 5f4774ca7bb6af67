"""What a table is, found in its first 64 KiB: header lines, names, units, delimiter, columns, time.

What a dialect declares (`csv_dialects`) goes before what is found, and what the user says before both:
``--format csv:dialect=rigol,delimiter=semicolon,decimal=comma,names=3,time=X,unit=us,base=16``.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.files.bytes_of import first_bytes
from freezeframe.capture.files.csv_cells import has_unit, is_iso
from freezeframe.capture.files.csv_columns import (
    BASES,
    VOLTS,
    Column,
    Seen,
    Time,
    are_units,
    column_of,
    is_number,
    time_of,
)
from freezeframe.capture.files.csv_dialects import DIALECTS, Dialect
from freezeframe.capture.files.edges import MAX_SAMPLERATE_HZ
from freezeframe.capture.files.settings import layout_number
from freezeframe.capture.files.sigrok_sr import parse_samplerate
from freezeframe.capture.files.source import ReadSettings

HEAD_B = 1 << 16
KEYS = ("dialect", "delimiter", "decimal", "names", "time", "unit", "base")
UNKNOWN = ("X", "x", "Z", "z", "-")
AFTER_LAST = " "  # the empty cell after a delimiter at the end of each line
_EXPORTED = ("t_ps", "sample")  # the first columns of our own export; the second is no channel
_DELIMITERS = {"tab": "\t", "semicolon": ";", "comma": ",", "space": " "}
_PROBED = 50  # lines by which the delimiter is told
_NAMED_UNIT = re.compile(r"(?:nano|micro|milli|pico)?seconds", re.I)
_RATE = re.compile(r"\s*[;#].*?sample\s?rate\W+?(-?[\d.]+ ?[kKmMgG]?(?:[hH][zZ])?)", re.I)
_CHANNELS = re.compile(r"\s*[;#]\s*Channels \(\d+/\d+\):(.*)")


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the rows begin and what stands in them; ``keys`` are all columns.

    ``spacing_s`` is that from row to row, 0 where the table does not say it; ``rate_hz`` of a comment.
    """

    skip_rows: int
    delimiter: str
    decimal: str
    keys: tuple[str, ...]
    columns: tuple[Column, ...]
    refused: dict[str, str] = field(default_factory=dict)
    time: Time | None = None
    rate_hz: int | None = None
    spacing_s: float = 0.0
    dialect: str = ""
    understood: tuple[str, ...] = ()


def sniff(path: str | Path, settings: ReadSettings) -> Layout:
    """Return what the table is.

    Raises:
        InputError: the file cannot be read, or a setting does not fit it.
        CaptureFormatError: it is no text, or has no columns.
    """
    settings.only("csv", KEYS)
    try:
        return _Sniffer(path, _plain_lines(path), settings).layout()
    except InputError as error:
        text = str(error)
        raise type(error)(
            text if text.startswith((str(path), "--")) else f"{path}: {text}"
        ) from None


def first_lines(path: str | Path) -> list[str]:
    """Return the lines of the first 64 KiB; the last may be cut.

    Raises:
        InputError: the file cannot be read.
    """
    head = first_bytes(path, HEAD_B)
    try:
        text = head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        cut = error.start >= len(head) - 3 and len(head) == HEAD_B
        text = head.decode("utf-8-sig" if cut else "latin-1", "replace")
    return re.split(r"\r\n|\r|\n", text.removesuffix("\n").removesuffix("\r"))


def _plain_lines(path: str | Path) -> list[str]:
    """Return the first lines of a file that is text, with those that name its columns whole."""
    head = first_bytes(path, HEAD_B)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise CaptureFormatError(f"{path}: is text in UTF-16; save it as UTF-8 or plain text")
    if b"\0" in head:
        raise CaptureFormatError(
            f"{path}: byte {head.index(0):#x}: a byte 00; this is no text, so no table"
        )
    lines = first_lines(path)
    if len(head) == HEAD_B:
        lines.pop()  # it may be cut
        if not lines:
            raise CaptureFormatError(
                f"{path}: the first line is longer than {HEAD_B} B; no table of samples"
            )
    return lines


class _Sniffer:
    """One file that is looked at, step by step; lines are numbered from 0 here, and from 1 in messages."""

    def __init__(self, path: str | Path, lines: Sequence[str], settings: ReadSettings) -> None:
        self._path, self._lines, self._settings = path, lines, settings
        self._said = settings.layout
        self._begin = next(
            (at for at, line in enumerate(lines) if line.strip() and line.lstrip()[0] not in ";#"),
            len(lines),
        )
        if not any(line.strip() for line in lines[self._begin :]):
            raise CaptureFormatError(
                f"{path}: there is no line with columns in it; the file is empty"
            )
        self._dialect = self._found_dialect()
        self._delimiter, self._width = self._found_delimiter()
        self._rows = {
            at: self._cells(lines[at]) for at in range(self._begin, len(lines)) if lines[at].strip()
        }

    def layout(self) -> Layout:
        """Return what was found."""
        dialect = self._dialect
        named_at, units_at, first = self._found_names()
        cells = self._rows.get(named_at, []) if named_at >= 0 else []
        if dialect and dialect.places:
            cells = [dict(dialect.places).get(place, "") for place in range(self._width)]
        head = [self._rows[at] for at in sorted(self._rows) if at >= first][:_PROBED]
        width = len(head[0]) if head and not dialect else self._width
        width = max(width, len(cells)) if not head else width
        units = self._rows.get(units_at, [])
        names = self._named(cells, units, width)
        bases = self._bases(units, width)
        spacing_s, rate_hz = self._found_spacing(), self._found_rate()
        columns: list[Column] = []
        refused: dict[str, str] = {}
        time = None
        seen = [
            Seen(
                f"{place}:{name}",
                place,
                name,
                units[place].strip("()[] ") if place < len(units) else "",
                tuple(row[place] for row in head if place < len(row)),
                named_at >= 0,
            )
            for place, name in enumerate(names)
        ]
        for each, base in zip(seen, bases, strict=True):
            found = time_of(each, self._settings, rate_hz) if time is None else None
            if found is not None:
                time = found
            elif not self._left_out(each, names):
                column, why = column_of(each, base, self._settings)
                if why:
                    refused[column.name] = why
                else:
                    columns.append(column)
        wish = self._said.get("time")
        spaced = bool(spacing_s) and wish is None
        layout = Layout(
            first,
            self._delimiter,
            self._found_decimal(head),
            tuple(each.key for each in seen),
            tuple(columns),
            refused,
            None if spaced or wish == "none" else time,
            rate_hz,
            spacing_s if spaced else 0.0,
            dialect.name if dialect else "",
        )
        if list(names[:2]) == list(_EXPORTED):
            return layout
        return replace(layout, understood=self._understood(layout, named_at, units_at))

    def _left_out(self, seen: Seen, names: Sequence[str]) -> bool:
        """Return whether a column is no channel."""
        if not seen.name.strip() and not any(seen.values):
            return True  # the empty cell after a delimiter at the end of each line
        if self._dialect and self._dialect.places and not seen.name:
            return True
        if self._dialect and re.fullmatch(self._dialect.no_channel or "$.", seen.name):
            return True
        return seen.place == 1 and list(names[:2]) == list(_EXPORTED)

    def _cells(self, line: str) -> list[str]:
        try:
            cells = next(csv.reader([line], delimiter=self._delimiter))
        except csv.Error as error:
            raise CaptureFormatError(f"{self._path}: {error}; no table of samples") from None
        return [cell.strip().strip('"').strip() for cell in cells]

    def _found_dialect(self) -> Dialect | None:
        wish = self._said.get("dialect")
        if wish in ("none", "plain"):
            return None
        if wish is not None:
            for dialect in DIALECTS:
                if dialect.name == wish:
                    return dialect
            raise InputError(
                f"--format csv: dialect={wish}; there is none, {', '.join(d.name for d in DIALECTS)}"
            )
        head = [line.lstrip("\ufeff ") for line in self._lines[:100]]
        for dialect in DIALECTS:
            if all(any(re.match(mark, line, re.I) for line in head) for mark in dialect.marks):
                return dialect
        return None

    def _found_delimiter(self) -> tuple[str, int]:
        """Return the delimiter and how many cells a row has."""
        lines = [line for line in self._lines[self._begin :] if line.strip()][-_PROBED:]
        wish = self._said.get("delimiter")
        if wish is not None and wish not in _DELIMITERS:
            raise InputError(
                f"--format csv: delimiter={wish}; {', '.join(_DELIMITERS)} are possible"
            )
        best = ",", 1, 0
        for name, char in _DELIMITERS.items():
            if (name == "space" and wish != name) or wish not in (None, name):
                continue
            self._delimiter = char
            widths = Counter(len(self._cells(line)) for line in lines)
            width, count = max(widths.items(), key=lambda item: (item[1], item[0]))
            if width == 1 and len(widths) > 1 and widths.total() - widths[1] >= widths[1]:
                width, count = max(
                    (i for i in widths.items() if i[0] > 1), key=lambda item: item[1]
                )
            if wish == name or (width > 1 and 2 * count >= len(lines)):
                return char, width
            if width > 1 and count > best[2]:
                best = char, width, count
        return best[:2]

    def _found_decimal(self, head: Sequence[Sequence[str]]) -> str:
        wish = self._said.get("decimal")
        if wish is not None:
            if wish not in ("point", "comma"):
                raise InputError(f"--format csv: decimal={wish}; point or comma")
            return "," if wish == "comma" else "."
        if self._delimiter == ",":
            return "."
        commas = sum(1 for row in head for cell in row if re.match(r"[+-]?\d{0,20},\d", cell))
        points = sum(1 for row in head for cell in row if re.match(r"[+-]?\d{0,20}\.\d", cell))
        return "," if commas > points else "."

    def _found_names(self) -> tuple[int, int, int]:
        """Return the lines of the names and of the units, -1 where there is none, and of the first row."""
        order = sorted(self._rows)
        if "names" in self._said:
            if self._said["names"] == "none":
                return -1, -1, order[0]
            at = layout_number(self._settings, "csv", "names", 1, max(len(self._lines), 1)) - 1
            return self._below(at, order)
        if self._dialect and self._dialect.places:
            return -1, -1, order[0]
        if self._dialect and self._dialect.names:
            for at in order:
                if re.match(self._dialect.names, self._lines[at].lstrip("\ufeff"), re.I):
                    return self._below(at, order)
        first = next(
            (at for at in order if self._is_row(self._rows[at]) and any(self._rows[at])), None
        )
        if first is None:
            return order[0], -1, order[0] + 1
        above = [at for at in order if at < first]
        if not above:
            return -1, -1, first
        if len(above) > 1 and are_units(self._rows[above[-1]]):
            names = self._rows[above[-2]]
            if len(names) >= self._width - 1 and not any(is_number(n) for n in names):
                return above[-2], above[-1], first
            return -1, above[-1], first
        return above[-1], -1, first

    def _below(self, at: int, order: Sequence[int]) -> tuple[int, int, int]:
        """Return what stands below a line of names: a line of units, or the first row."""
        below = [line for line in order if line > at]
        if not below:
            return at, -1, at + 1
        units = are_units(self._rows.get(at, []))  # Second,Volt is units and names in one
        if units or self._is_row(self._rows[below[0]]) or not are_units(self._rows[below[0]]):
            return at, at if units else -1, at + 1
        return at, below[0], below[0] + 1

    def _is_row(self, cells: Sequence[str]) -> bool:
        if self._dialect and self._dialect.base == 16 and self._dialect.names:
            return not cells[0].startswith("Radix")
        return len(cells) in (self._width, self._width - 1, self._width + 1) and all(
            not cell or is_number(cell) or cell in UNKNOWN or has_unit(cell) or is_iso(cell)
            for cell in cells
        )

    def _named(self, cells: Sequence[str], units: Sequence[str], width: int) -> list[str]:
        """Return a name for each column, all different."""
        names = list(cells[:width])
        commented = self._commented()
        if set(names) <= {"logic", *VOLTS, "V DC"} and len(commented) == len(names):
            names = commented  # sigrok names columns by their kind, and channels above
        elif names and _NAMED_UNIT.fullmatch(names[0]) and len(commented) == len(names) - 1:
            names[1:] = commented
        elif (names and units and list(cells) == list(units)) or (not names and units):
            names = [*names[:1], *self._sources(width - 1)] if width > 1 else names
        if not names:
            names = [str(place) for place in range(width)]
        names += [""] * (width - len(names))
        if width > 1 and not names[-1]:
            names[-1] = AFTER_LAST
        count = Counter(names)
        return [
            f"{name}#{place + 1}"
            if (count[name] > 1 or not name) and not (self._dialect and self._dialect.places)
            else name
            for place, name in enumerate(names)
        ]

    def _commented(self) -> list[str]:
        for line in self._lines[: self._begin]:
            if match := _CHANNELS.match(line):
                return [name.strip() for name in match[1].split(",")]
        return []

    def _sources(self, count: int) -> list[str]:
        """Return the channels that the header lines speak of, where the columns have only units."""
        text = "\n".join(self._lines[self._begin : self._begin + 40])
        named = list(dict.fromkeys(re.findall(r"\b(?:CH|D|C)\d{1,2}\b", text)))
        return named if len(named) == count else [f"CH{place + 1}" for place in range(count)]

    def _bases(self, units: Sequence[str], width: int) -> list[int]:
        given = 10
        if self._dialect is not None:
            given = self._dialect.base
        if "base" in self._said:
            given = layout_number(self._settings, "csv", "base", 2, 16)
            if given not in (2, 8, 10, 16):
                raise InputError(f"--format csv: base={given}; 2, 8, 10, 16 are possible")
        said = [unit.removeprefix("Radix - ") for unit in units]
        return [
            BASES.get(said[place], given) if place < len(said) else given for place in range(width)
        ]

    def _found_rate(self) -> int | None:
        for line in self._lines[: self._begin]:
            if match := _RATE.match(line):
                return parse_samplerate(match[1])
        return None

    def _found_spacing(self) -> float:
        if self._dialect is None:
            return 0.0
        patterns = [(each, False) for each in self._dialect.spacing]
        patterns += [(self._dialect.rate, True)] if self._dialect.rate else []
        for pattern, is_rate in patterns:
            for line in self._lines[:100]:
                if match := re.match(pattern, line, re.I):
                    value = float(match[match.lastindex or 1])
                    spacing_s = 1 / value if is_rate and value > 0 else value
                    if not 1 / MAX_SAMPLERATE_HZ <= spacing_s <= 1e6:
                        raise CaptureFormatError(
                            f"{self._path}: a row each {spacing_s:g} s, by {line[:60]!r}; "
                            "say --format csv:dialect=plain"
                        )
                    return spacing_s
        return 0.0

    def _understood(self, layout: Layout, named_at: int, units_at: int) -> tuple[str, ...]:
        """Return the line that says how the table was taken, none where it is as plain as can be."""
        time = layout.time
        plain = self._delimiter == "," and units_at < 0 and named_at == self._begin
        if plain and self._dialect is None and (time is None or time.kind == "number"):
            return ()
        word = next(word for word, char in _DELIMITERS.items() if char == self._delimiter)
        parts = [self._dialect.title if self._dialect else "a table"]
        parts.append(f"names in line {named_at + 1}" if named_at >= 0 else "without names")
        if units_at >= 0 and units_at != named_at:
            parts.append(f"units in line {units_at + 1}")
        parts.append(f"rows from line {layout.skip_rows + 1}, delimited by {word}")
        if layout.decimal == ",":
            parts.append("with decimal commas")
        if any(column.base == 16 for column in layout.columns):
            parts.append("digits in hexadecimal")
        if layout.spacing_s:
            parts.append(f"a row each {layout.spacing_s:.9g} s by its header")
        elif time is not None:
            how = f"{time.per_s:.0e} a second" if time.per_s > 1 else "in seconds"
            how = how if time.kind == "number" else f"as {time.kind}"
            parts.append(f"times in column {time.key.partition(':')[2]!r}, {how}")
        if self._dialect and self._dialect.note:
            parts.append(self._dialect.note)
        return (
            f"read as {', '.join(parts)}; --format csv:KEY=VALUE says else ({', '.join(KEYS)})",
        )
