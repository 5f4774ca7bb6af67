"""Read CSV tables of samples as edges, in memory that does not depend on their length.

What stands in a table, and what of it is a time, a channel, a bus or a voltage, is found by
`csv_sniff`, with what programs and instruments are known to write (`csv_dialects`). Times are counted
from the first row. Rows are read by pyarrow, a MiB at once, and cells that are no plain numbers by
`csv_cells`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import csv

from freezeframe.capture.errors import CaptureFormatError
from freezeframe.capture.files.bytes_of import first_bytes
from freezeframe.capture.files.changes import ChangeMerger
from freezeframe.capture.files.csv_cells import digits, iso_ps, iso_second, signed, with_units
from freezeframe.capture.files.csv_columns import Column
from freezeframe.capture.files.csv_sniff import HEAD_B, UNKNOWN, Layout, sniff
from freezeframe.capture.files.edges import NO_RATE, PS_PER_S, Bus, Edges
from freezeframe.capture.files.levels import thresholder
from freezeframe.capture.files.sigrok_sr import DEFAULT_MAX_SAMPLES
from freezeframe.capture.files.source import (
    NO_SETTINGS,
    CaptureHeader,
    ReadSettings,
    check_probes,
    check_samples,
)

_BLOCK_B = 1 << 20  # the longest line too
_LAST_S = 9_000_000
_BAD_CELL = re.compile(r"In CSV column #(\d+): Row #(\d+): CSV conversion error to .*?value (.*)")
_WHOLE_HZ = 1e-6  # a rate so near to a whole number of Hz is that


def read_header(path: str | Path, settings: ReadSettings = NO_SETTINGS) -> CaptureHeader:
    """Return the channels, buses and sample rate, from the first lines.

    Raises:
        InputError: the file cannot be read, or a setting does not fit it.
        CaptureFormatError: it is empty, or no text.
    """
    return _header(sniff(path, settings), settings)


def read_edges(
    path: str | Path, probes: Sequence[str] | None = None, settings: ReadSettings = NO_SETTINGS
) -> Iterator[Edges]:
    """Yield the table as edges, in pieces that follow each other; at least one.

    Settings of the layout: those of `csv_sniff`.

    Raises:
        InputError: the file cannot be read, holds more than ``max_samples``, or a channel cannot
            be read.
        CaptureFormatError: a cell is no number or too large, a row is cut, or time goes back; this
            comes when it is reached, so take no result before the last piece.
    """
    layout = sniff(path, settings)
    header = _header(layout, settings)
    chosen = check_probes(path, header, probes)
    rate_hz = header.samplerate_hz or NO_RATE
    limit = settings.max_samples
    if layout.time is None and limit is None:
        limit = DEFAULT_MAX_SAMPLES
    wanted = [column for column in layout.columns if set(column.bits) & set(chosen)]
    reader = _Rows(path, layout, wanted, chosen, rate_hz, settings)
    merger = ChangeMerger(chosen, rate_hz, header.buses)
    end = 0
    for sample, value in reader.read():
        end = int(sample[-1]) + 1
        check_samples(path, end, limit)
        try:
            yield from merger.feed(sample, np.full_like(value, ~np.uint64(0)), value)
        except ValueError as error:
            raise CaptureFormatError(
                f"{path}: row {reader.rows - len(sample) + error.args[1] + 1}: its time is earlier than "
                "that of the row before; sort the table by time"
            ) from None
        if settings.progress is not None:
            settings.progress(reader.rows, 0)
    if not reader.rows:
        raise CaptureFormatError(f"{path}: there is no row after the names of the columns")
    yield from merger.finish(end)
    reader.say()


class _Rows:
    """The rows of a table: for each its sample, and the word of the channels that are wanted."""

    def __init__(
        self,
        path: str | Path,
        layout: Layout,
        wanted: Sequence[Column],
        chosen: Sequence[str],
        rate_hz: int,
        settings: ReadSettings,
    ) -> None:
        self._path, self._layout, self._wanted, self._chosen = path, layout, wanted, chosen
        self._rate_hz, self._settings = rate_hz, settings
        self._levels = {
            column.key: thresholder(column.name, settings) for column in wanted if column.analog
        }
        self._begin: float | None = None
        self.rows = self._unknowns = self._equal = 0
        self._last = -1

    def read(self) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]]:
        """Yield samples and words of some rows, which are counted in ``rows``."""
        types = {column.key: _arrow_type(column) for column in self._wanted}
        time = self._layout.time
        if time is not None:
            types[time.key] = pa.float64() if time.kind == "number" else pa.string()
        batches = record_batches(
            self._path,
            self._layout.skip_rows,
            self._layout.delimiter,
            self._layout.keys,
            types,
            self._layout.decimal,
        )
        for batch in batches:
            if not len(batch):
                continue
            value = np.zeros(len(batch), dtype=np.uint64)
            for column in self._wanted:
                value |= self._word(column, batch.column(column.key))
            sample = self._samples(batch)
            self._equal += int((np.diff(sample, prepend=self._last) == 0).sum())
            self._last = int(sample[-1])
            self.rows += len(batch)
            yield sample, value

    def say(self) -> None:
        """Say what had to be assumed of the rows that were read."""
        unknowns = self._unknowns + sum(level.not_numbers for level in self._levels.values())
        if unknowns:
            self._settings.say(f"{self._path}: {unknowns} cells with x or z are read as 0")
        if self._equal:
            self._settings.say(
                f"{self._path}: {self._equal} rows are at the time of the row before, of which nothing is "
                "left: the times of the table are too coarse; with --format csv:time=none and "
                "--samplerate a row is a sample"
            )

    def _samples(self, batch: pa.RecordBatch) -> npt.NDArray[np.int64]:
        time, rows = self._layout.time, len(batch)
        index = np.arange(self.rows, self.rows + rows, dtype=np.int64)
        if self._layout.spacing_s:
            if _is_whole(1 / self._layout.spacing_s, self._rate_hz):
                return index
            places: npt.NDArray[np.int64] = np.rint(
                index * (self._layout.spacing_s * self._rate_hz)
            ).astype(np.int64)
            return places
        if time is None:
            return index
        cells = batch.column(time.key)
        if time.kind == "iso":
            if self._begin is None:
                self._begin = float(iso_second(cells[0].as_py())) if cells[0].as_py() else 0.0
                self._begin_ps = max(0, int(iso_ps(cells[:1], int(self._begin))[0]))
            ps = iso_ps(cells, int(self._begin))
            self._check_times(ps >= 0)
            ps = ps - self._begin_ps
            if self._rate_hz == PS_PER_S:
                return ps
            return np.rint(ps.astype(np.float64) * (self._rate_hz / PS_PER_S)).astype(np.int64)
        if time.kind == "units":
            at = with_units(cells, self._layout.decimal)
        else:
            at = np.asarray(cells.to_numpy(zero_copy_only=False)) / time.per_s
        self._begin = float(at[0]) if self._begin is None else self._begin
        at = at - self._begin
        self._check_times(np.abs(at) < _LAST_S)
        return np.asarray(np.rint(at * self._rate_hz), dtype=np.int64)

    def _check_times(self, good: npt.NDArray[np.bool_]) -> None:
        if not good.all():
            raise CaptureFormatError(
                f"{self._path}: row {self.rows + int(np.argmin(good)) + 1}: a time that is missing or "
                f"later than {_LAST_S} s"
            )

    def _word(self, column: Column, cells: Any) -> npt.NDArray[np.uint64]:
        """Return the bits of a column at the places of the channels that are wanted."""
        if column.analog:
            volts = (
                with_units(cells, self._layout.decimal)
                if column.with_units
                else np.asarray(cells.to_numpy(zero_copy_only=False), dtype=np.float64)
            )
            number = self._levels[column.key].feed(volts * column.volts)
        else:
            number = self._number(column, cells)
        word = np.zeros(len(number), dtype=np.uint64)
        for bit, name in enumerate(column.bits):
            if name in self._chosen:
                to = np.uint64(self._chosen.index(name))
                word |= (number >> np.uint64(bit) & np.uint64(1)) << to
        return word

    def _number(self, column: Column, cells: Any) -> npt.NDArray[np.uint64]:
        name, width = column.name, len(column.bits)
        if column.base == -10:
            try:
                return signed(cells, width)
            except pa.ArrowInvalid as error:
                raise self._no_number(column, cells, 0, str(error)) from None
        if column.base == 10:
            self._unknowns += cells.null_count
            number = np.asarray(cells.fill_null(0).to_numpy(zero_copy_only=False), dtype=np.uint64)
        else:
            number, unknown, bad = digits(cells, column.base)
            self._unknowns += int(unknown.sum())
            if bad >= 0:
                raise self._no_number(column, cells, bad, f"of base {column.base}")
        most = (1 << width) - 1
        if int(number.max()) > most:
            bad = int(np.argmax(number > most))
            raise CaptureFormatError(
                f"{self._path}: row {self.rows + bad + 1}: {name} is {int(number[bad])}; it has "
                f"{width} bits, 0..{most}. A bus is named {name}[7:0], and analog values need a point in "
                "one of the first rows"
            )
        return number

    def _no_number(self, column: Column, cells: Any, row: int, why: str) -> CaptureFormatError:
        return CaptureFormatError(
            f"{self._path}: row {self.rows + row + 1}: {column.name} is {str(cells[row].as_py())[:40]!r}, "
            f"not a number {why[:80]}"
        )


def record_batches(
    path: str | Path,
    skip_rows: int,
    delimiter: str,
    keys: Sequence[str],
    types: dict[str, Any],
    decimal: str = ".",
) -> Iterator[pa.RecordBatch]:
    """Yield the rows with the columns of ``types``, in pieces of about a MiB of text.

    Args:
        keys: what all columns are called; in messages, without a number and colon before.
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
                column_names=list(keys),
                encoding="utf8" if _is_utf8(path) else "latin1",
            ),
            csv.ParseOptions(delimiter=delimiter),
            csv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=list(UNKNOWN),
                strings_can_be_null=False,
                decimal_point=decimal,
            ),
        ) as reader:
            yield from reader
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        why = re.sub("\0+", "NUL bytes", str(error).splitlines()[0][:200]).rstrip(". ")
        if "straddl" in why:
            why = f"a line is longer than {_BLOCK_B} B"
        cell = _BAD_CELL.fullmatch(why)
        if cell:  # it counts columns from 0, and lines with those that were skipped
            name = re.sub(r"^\d+:", "", keys[int(cell[1])])
            why = f"line {cell[2]}: {name} is {cell[3]}, not a number that can stand there"
        raise CaptureFormatError(f"{path}: {why}; no table of samples, or damaged") from None


def _is_utf8(path: str | Path) -> bool:
    head = first_bytes(path, HEAD_B)
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return error.start >= len(head) - 3
    return True


def _arrow_type(column: Column) -> pa.DataType:
    if column.analog:
        return pa.string() if column.with_units else pa.float64()
    return pa.uint64() if column.base == 10 else pa.string()


def _is_whole(rate: float, rate_hz: int) -> bool:
    return abs(rate - rate_hz) <= _WHOLE_HZ * rate


def _header(layout: Layout, settings: ReadSettings) -> CaptureHeader:
    rate_hz = settings.samplerate_hz or layout.rate_hz
    if rate_hz is None and layout.spacing_s:
        rate = 1 / layout.spacing_s
        rate_hz = round(rate) if rate >= 0.5 and _is_whole(rate, round(rate)) else PS_PER_S
    if rate_hz is None and layout.time is not None:
        rate_hz = PS_PER_S
    columns = layout.columns
    return CaptureHeader(
        "csv",
        tuple(bit for column in columns for bit in column.bits),
        rate_hz,
        tuple(
            Bus(column.name.partition("[")[0].strip(), column.bits)
            for column in columns
            if len(column.bits) > 1
        ),
        layout.refused,
        spans_time=layout.time is not None,
        analog=tuple(column.name for column in columns if column.analog),
        aliases={
            full: column.name
            for column in columns
            if (full := column.key.partition(":")[2]) != column.name
        },
        understood=layout.understood,
    )
