"""Export as tables, CSV or Parquet: those of decoders, a file each, or the edges of the samples.

Rows are in order of time, except where another table counts them (``first_row``, ``packet``): the
words and packets of a recording keep the order of docs/formats.md section 8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as kinds
from pyarrow import csv

from freezeframe.capture.files.edges import Edges
from freezeframe.capture.parquet import write_table
from freezeframe.gui.export.material import Material, Wrote, different, times_ps
from freezeframe.gui.export.safe_csv import safe_cell, safe_column
from freezeframe.gui.export.signals import Signals

_COUNTED = ("packet", "first_row")  # columns whose table counts rows, or is counted
_EDGE_COLUMNS = ("t_ps", "sample")


def file_names(path: Path, material: Material) -> list[Path]:
    """Return a file for each table: ``path`` for one, else ``STEM.NAME.SUFFIX``."""
    if len(material.tables) <= 1:
        return [path]
    return [
        path.with_name(f"{path.stem}.{name}{path.suffix}")
        for name in (n for n, _ in material.tables)
    ]


def write_csv(material: Material, paths: Sequence[Path]) -> Wrote:
    """Write text: a line of names, then a line a row; bytes as hex, lists as numbers and blanks.

    A bus of samples is named with its range, ``data[7:0]``, without which a number says nothing of
    its bits to who reads the table again.
    Text that a spreadsheet would take for a formula is made safe (`safe_csv`). Null is empty, and an empty text is
    ``""``. Whole numbers are written as such, whatever their size.
    """

    def write(path: Path, schema: pa.Schema, tables: Iterator[pa.Table]) -> None:
        plain = _as_text_schema(schema)
        with path.open("xb") as file, csv.CSVWriter(file, plain) as writer:
            for table in tables:
                writer.write_table(_as_text(table))

    return _write(material, paths, write, ranges=True)


def write_parquet(material: Material, paths: Sequence[Path]) -> Wrote:
    """Write Parquet with the types of the tables; edges as int64 times and a column a signal."""

    def write(path: Path, schema: pa.Schema, tables: Iterator[pa.Table]) -> None:
        if material.edges is None:
            write_table(next(tables), path)
            return
        with (
            path.open("xb") as file,
            pq.ParquetWriter(file, schema, compression="zstd", write_page_checksum=True) as writer,
        ):
            for table in tables:
                writer.write_table(table)

    return _write(material, paths, write)


def _write(
    material: Material,
    paths: Sequence[Path],
    write: Callable[[Path, pa.Schema, Iterator[pa.Table]], None],
    *,
    ranges: bool = False,
) -> Wrote:
    wrote = Wrote()
    if material.edges is not None:
        pieces = material.edges()
        first = next(pieces)
        signals = Signals(first)
        schema = _edge_schema(signals, signals.ranged if ranges else signals.names)
        write(paths[0], schema, _edge_tables(first, pieces, signals, schema, wrote))
        return wrote
    for path, (name, table) in zip(paths, material.tables, strict=True):
        write(path, table.schema, iter([_in_order(table)]))
        wrote.add(f"rows of {name}", len(table))
    return wrote


def _in_order(table: pa.Table) -> pa.Table:
    if set(_COUNTED) & set(table.column_names):
        return table
    t_ps = table.column("t_ps").to_numpy()
    if not len(t_ps) or not np.any(t_ps[1:] < t_ps[:-1]):
        return table
    return table.take(np.argsort(t_ps, kind="stable"))


def _edge_schema(signals: Signals, names: Sequence[str]) -> pa.Schema:
    names = different([*_EDGE_COLUMNS, *names])
    kinds = [pa.int64(), pa.int64(), *[_kind_of(bits) for bits in signals.bits]]
    return pa.schema(
        [pa.field(n, kind, nullable=False) for n, kind in zip(names, kinds, strict=True)]
    )


def _kind_of(bits: int) -> pa.DataType:
    kinds = ((8, pa.uint8()), (16, pa.uint16()), (32, pa.uint32()), (64, pa.uint64()))
    return next(kind for most, kind in kinds if bits <= most)


def _edge_tables(
    first: Edges, others: Iterator[Edges], signals: Signals, schema: pa.Schema, wrote: Wrote
) -> Iterator[pa.Table]:
    """Yield the edges: the value at sample 0, then a row a change."""
    piece: Edges | None = first
    while piece is not None:
        wrote.add("edges", len(piece))
        end = f"the capture ends before sample {piece.end_sample} of {piece.samplerate_hz} Hz"
        columns = [times_ps(piece.sample, piece.samplerate_hz), piece.sample]
        arrays = [pa.array(column) for column in (*columns, *signals.columns(piece))]
        yield pa.Table.from_arrays(
            [array.cast(field.type) for array, field in zip(arrays, schema, strict=True)],
            schema=schema,
        )
        piece = next(others, None)
    wrote.notes.append(f"{end}; after the last row nothing changes")


def _as_text_schema(schema: pa.Schema) -> pa.Schema:
    return pa.schema([pa.field(safe_cell(field.name), _text_type(field.type)) for field in schema])


def _text_type(kind: pa.DataType) -> pa.DataType:
    if kinds.is_integer(kind) or kinds.is_boolean(kind) or kinds.is_floating(kind):
        return kind
    return pa.string()


def _as_text(table: pa.Table) -> pa.Table:
    """Return the table with the types of `_as_text_schema`."""
    columns = []
    for field, column in zip(table.schema, table.columns, strict=True):
        wanted = _text_type(field.type)
        if kinds.is_dictionary(field.type) or kinds.is_string(field.type):
            columns.append(safe_column(column))
        elif wanted == field.type:
            columns.append(column)
        else:
            columns.append(pa.array([_text(value) for value in column.to_pylist()], wanted))
    return pa.Table.from_arrays(columns, schema=_as_text_schema(table.schema))


def _text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bytes):
        return value.hex()
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
