"""Read CSV tables of samples as edges, in memory that does not depend on their length.

A column is a channel of 0 and 1, a bus if its name ends in ``[7:0]``, or analog if its first value
has a point. A column ``time`` with a unit (``Time [s]``, ``t_ps``) dates the rows, counted from the
first; without one a row is a sample. Lines before the table that begin with ``;`` or ``#`` may give
the sample rate, as sigrok writes it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import csv

from freezeframe.capture.errors import CaptureFormatError
from freezeframe.capture.files.changes import ChangeMerger
from freezeframe.capture.files.edges import PS_PER_S, Bus, Edges
from freezeframe.capture.files.sigrok_sr import DEFAULT_MAX_SAMPLES, parse_samplerate
from freezeframe.capture.files.source import (
    MAX_SIGNAL_BITS,
    NO_SETTINGS,
    CaptureHeader,
    ReadSettings,
    check_probes,
    check_samples,
    first_bytes,
)
from freezeframe.capture.files.threshold import Thresholder

_HEAD_B = 1 << 16
_BLOCK_B = 1 << 20  # the longest line too
_UNKNOWN = ["X", "x", "Z", "z", "-"]
_PER_S = {"s": 1, "ms": 10**3, "us": 10**6, "µs": 10**6, "ns": 10**9, "ps": 10**12}
_TIME = re.compile(r"(?:time|t)(?:stamp)?\s*(?:[\[(_]\s*(s|ms|us|µs|ns|ps)\s*[\])]?)?", re.I)
_BUS = re.compile(r"(.+?)\s*\[(\d{1,3}):(\d{1,3})\]")
_BAD_CELL = re.compile(r"In CSV column #(\d+): Row #(\d+): CSV conversion error to .*?value (.*)")
_LAST_S = 9_000_000
_AFTER_LAST = " "  # the empty cell after a delimiter at the end of each line
_EXPORTED = ("t_ps", "sample")  # the first columns of our own export; the second is no channel


@dataclass(frozen=True, slots=True)
class _Column:
    """A column that is a channel or a bus: its name and the names of its bits, lowest first."""

    name: str
    bits: tuple[str, ...]
    analog: bool


@dataclass(frozen=True, slots=True)
class _Table:
    """Where the rows begin, what the columns are, and the time column with its unit."""

    header: CaptureHeader
    skip_rows: int
    delimiter: str
    names: tuple[str, ...]
    columns: tuple[_Column, ...]
    time: str | None
    per_s: int


def read_header(path: str | Path, settings: ReadSettings = NO_SETTINGS) -> CaptureHeader:
    """Return the channels, buses and sample rate, from the first lines.

    Raises:
        InputError: the file cannot be read.
        CaptureFormatError: it is empty, or two columns have one name.
    """
    return _table(path, settings).header


def read_edges(
    path: str | Path, probes: Sequence[str] | None = None, settings: ReadSettings = NO_SETTINGS
) -> Iterator[Edges]:
    """Yield the table as edges, in pieces that follow each other; at least one.

    Raises:
        InputError: the file cannot be read, holds more than ``max_samples``, or a channel cannot
            be read.
        CaptureFormatError: a cell is no number or too large, a row is cut, or time goes back; this
            comes when it is reached, so take no result before the last piece.
    """
    settings.only("csv", ())
    table = _table(path, settings)
    chosen = check_probes(path, table.header, probes)
    rate_hz = table.header.samplerate_hz
    if rate_hz is None:
        raise CaptureFormatError(
            f"{path}: there is no time column and no sample rate; give it with --samplerate, for "
            "example --samplerate 12MHz"
        )
    limit = settings.max_samples
    if table.time is None and limit is None:
        limit = DEFAULT_MAX_SAMPLES
    wanted = [column for column in table.columns if set(column.bits) & set(chosen)]
    levels = {
        column.name: Thresholder(settings.thresholds.get(column.name) or settings.thresholds[""])
        for column in wanted
        if column.analog
    }
    merger = ChangeMerger(chosen, rate_hz, table.header.buses)
    rows = unknowns = end = 0
    begin: float | None = None
    for batch in _batches(path, table, wanted):
        if not len(batch):
            continue
        value = np.zeros(len(batch), dtype=np.uint64)
        for column in wanted:
            cells = batch.column(column.name)
            unknowns += cells.null_count
            value |= _word(path, rows, column, cells, levels.get(column.name), chosen)
        if table.time is None:
            sample = np.arange(rows, rows + len(batch), dtype=np.int64)
        else:
            time = np.asarray(batch.column(table.time).to_numpy(zero_copy_only=False)) / table.per_s
            begin = float(time[0]) if begin is None else begin
            time = time - begin
            if not (np.abs(time) < _LAST_S).all():
                bad = int(np.argmin(np.abs(time) < _LAST_S))
                raise CaptureFormatError(
                    f"{path}: row {rows + bad + 1}: a time that is missing or later than {_LAST_S} s"
                )
            sample = np.asarray(np.rint(time * rate_hz), dtype=np.int64)
        end = int(sample[-1]) + 1
        check_samples(path, end, limit)
        try:
            yield from merger.feed(sample, np.full_like(value, ~np.uint64(0)), value)
        except ValueError as error:
            raise CaptureFormatError(
                f"{path}: row {rows + error.args[1] + 1}: its time is earlier than that of the row "
                "before; sort the table by time"
            ) from None
        rows += len(batch)
        if settings.progress is not None:
            settings.progress(rows, 0)
    if not rows:
        raise CaptureFormatError(f"{path}: there is no row after the names of the columns")
    yield from merger.finish(end)
    unknowns += sum(level.not_numbers for level in levels.values())
    if unknowns:
        settings.say(f"{path}: {unknowns} cells with x or z are read as 0")


def first_lines(path: str | Path) -> list[str]:
    """Return the lines of the first 64 KiB; the last may be cut.

    Raises:
        InputError: the file cannot be read.
    """
    return first_bytes(path, _HEAD_B).decode("utf-8-sig", "replace").splitlines()


def record_batches(
    path: str | Path, skip_rows: int, delimiter: str, names: Sequence[str], types: dict[str, Any]
) -> Iterator[pa.RecordBatch]:
    """Yield the rows with the columns of ``types``, in pieces of about a MiB of text.

    Raises:
        CaptureFormatError: a cell has not the type of its column, or a row not all columns.
    """
    try:
        with csv.open_csv(
            path,
            csv.ReadOptions(
                use_threads=False,
                block_size=_BLOCK_B,
                skip_rows=skip_rows,
                column_names=list(names),
            ),
            csv.ParseOptions(delimiter=delimiter),
            csv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=_UNKNOWN,
                strings_can_be_null=False,
            ),
        ) as reader:
            yield from reader
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        why = str(error).splitlines()[0][:200].rstrip(".")
        if "straddl" in why:
            why = f"a line is longer than {_BLOCK_B} B"
        cell = _BAD_CELL.fullmatch(why)
        if cell:  # it counts columns from 0, and lines with those that were skipped
            name = names[int(cell[1])]
            why = f"line {cell[2]}: {name} is {cell[3]}, not a number that can stand there"
        raise CaptureFormatError(f"{path}: {why}; no table of samples, or damaged") from None


def _batches(
    path: str | Path, table: _Table, wanted: Sequence[_Column]
) -> Iterator[pa.RecordBatch]:
    types: dict[str, Any] = {
        column.name: pa.float64() if column.analog else pa.uint64() for column in wanted
    }
    if table.time is not None:
        types[table.time] = pa.float64()
    return record_batches(path, table.skip_rows, table.delimiter, table.names, types)


def _word(
    path: str | Path,
    rows: int,
    column: _Column,
    cells: Any,
    level: Thresholder | None,
    chosen: Sequence[str],
) -> npt.NDArray[np.uint64]:
    """Return the bits of a column at the places of the channels that are wanted."""
    if level is not None:
        number = level.feed(np.asarray(cells.to_numpy(zero_copy_only=False), dtype=np.float64))
    else:
        number = np.asarray(cells.fill_null(0).to_numpy(zero_copy_only=False), dtype=np.uint64)
        most = (1 << len(column.bits)) - 1
        if int(number.max()) > most:
            bad = int(np.argmax(number > most))
            raise CaptureFormatError(
                f"{path}: row {rows + bad + 1}: {column.name} is {int(number[bad])}; it has "
                f"{len(column.bits)} bits, 0..{most}. A bus is named {column.name}[7:0], and analog "
                f"values need a point in the first row"
            )
    word = np.zeros(len(number), dtype=np.uint64)
    for bit, name in enumerate(column.bits):
        if name in chosen:
            word |= (number >> np.uint64(bit) & np.uint64(1)) << np.uint64(chosen.index(name))
    return word


def _plain_lines(path: str | Path) -> list[str]:
    """Return the first lines of a file that is text, with those that name its columns whole."""
    head = first_bytes(path, _HEAD_B)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise CaptureFormatError(f"{path}: is text in UTF-16; save it as UTF-8 or plain text")
    if b"\0" in head:
        raise CaptureFormatError(
            f"{path}: byte {head.index(0):#x}: a byte 00; this is no text, so no table"
        )
    if len(head) == _HEAD_B and b"\n" not in head and b"\r" not in head:
        raise CaptureFormatError(
            f"{path}: the first line is longer than {_HEAD_B} B; no table of samples"
        )
    return first_lines(path)


def _table(path: str | Path, settings: ReadSettings) -> _Table:
    lines = _plain_lines(path)
    rate_hz: int | None = None
    skip = 0
    listed: list[str] = []
    for line in lines:
        if line.strip() and line.lstrip()[0] not in ";#":
            break
        match = re.search(r"sample\s?rate\W+([\d.]+ ?[kKmMgG]?(?:[hH][zZ])?)", line, re.I)
        if match:
            rate_hz = parse_samplerate(match[1])
        match = re.match(r"\s*;\s*Channels \(\d+/\d+\):(.*)", line)
        if match:
            listed = [name.strip() for name in match[1].split(",")]
        skip += 1
    rest = lines[skip : skip + 2]
    if not rest:
        raise CaptureFormatError(f"{path}: there is no line with columns in it; the file is empty")
    delimiter = max(",;\t", key=rest[0].count)
    head = _cells(rest[0], delimiter)
    if len(head) > 1 and not head[-1]:
        head[-1] = _AFTER_LAST  # each line ends with a delimiter
    named = any(not _is_number(cell) for cell in head)
    names = tuple(head) if named else tuple(str(place) for place in range(len(head)))
    if set(names) == {"logic"} and len(listed) == len(names):
        names = tuple(listed)  # sigrok names columns by their kind, and channels above
    values = _cells(rest[-1], delimiter)
    for name, count in Counter(names).items():
        if not name or count > 1:
            what = f"{count} columns are named {name!r}" if name else "a column has no name"
            raise CaptureFormatError(f"{path}: line {skip + 1}: {what}; give each its own name")
    time, per_s = None, 1
    columns: list[_Column] = []
    refused: dict[str, str] = {}
    for place, name in enumerate(names):
        match = _TIME.fullmatch(name)
        if match and time is None and named:
            if not match[1] and rate_hz is not None:
                # sigrok chooses the unit by the sample rate, and does not write it.
                raise CaptureFormatError(
                    f"{path}: line {skip + 1}: column {name} has no unit; write for instance "
                    f"{name} [us]"
                )
            time, per_s = name, _PER_S[(match[1] or "s").lower()]
            continue
        if name == _AFTER_LAST or (place == 1 and names[:2] == _EXPORTED):
            continue
        value = values[place] if place < len(values) else ""
        bus = _BUS.fullmatch(name)
        if bus:
            left, right = int(bus[2]), int(bus[3])
            width = abs(left - right) + 1
            step = 1 if left >= right else -1
            if width > MAX_SIGNAL_BITS:
                refused[bus[1]] = f"it has {width} bits; 1 to {MAX_SIGNAL_BITS} are read"
            else:
                bits = tuple(f"{bus[1]}[{right + step * bit}]" for bit in range(width))
                columns.append(_Column(name, bits, False))
        elif name in settings.thresholds or re.fullmatch(r"[+-]?\d*\.\d*(?:[eE][+-]?\d+)?", value):
            if name in settings.thresholds or "" in settings.thresholds:
                columns.append(_Column(name, (name,), True))
            else:
                refused[name] = f"it is analog; give --threshold {name}=HIGH/LOW in volts"
        else:
            columns.append(_Column(name, (name,), False))
    channels = tuple(bit for column in columns for bit in column.bits)
    buses = tuple(
        Bus(column.name.partition("[")[0].strip(), column.bits)
        for column in columns
        if len(column.bits) > 1
    )
    rate_hz = settings.samplerate_hz or rate_hz or (PS_PER_S if time else None)
    header = CaptureHeader(
        "csv",
        channels,
        rate_hz,
        buses,
        refused,
        spans_time=time is not None,
        analog=tuple(column.name for column in columns if column.analog),
    )
    return _Table(header, skip + named, delimiter, names, tuple(columns), time, per_s)


def _cells(line: str, delimiter: str) -> list[str]:
    return [cell.strip().strip('"') for cell in line.split(delimiter)]


def _is_number(cell: str) -> bool:
    number = r"[+-]?(?:0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)"
    return bool(re.fullmatch(number, cell)) or cell in _UNKNOWN
