"""The Parquet table of a recording, made of its journal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from freezeframe.capture.counters.recording import journal_of
from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.parquet import write_batches

_PS_A_NS = 1000
_ROWS = 1 << 18  # of a row group
_TOP = 1 << 63


def finish(path: Path) -> int:
    """Make the table of a journal; return its rows.

    Raises:
        InputError: there is no journal, or the table cannot be written.
        CaptureFormatError: the journal is damaged other than by being cut short in its last line.
    """
    journal = journal_of(path)
    if not journal.is_file():
        raise InputError(f"{path}: there is no journal {journal.name} beside it to finish")
    text = pa.dictionary(pa.int32(), pa.string())
    schema = pa.schema(
        [
            ("t_ps", pa.int64()),
            *((name, text) for name in ("source", "kind", "counter", "unit")),
            ("value", pa.int64()),
            ("changed", pa.bool_()),
        ]
    )
    rows = 0

    def tables() -> Iterator[pa.Table]:
        nonlocal rows
        empty = True
        for batch in _batches(journal):
            empty = False
            rows += len(batch)
            yield _table(batch, schema)
        if empty:
            yield schema.empty_table()

    write_batches(tables(), path, schema)
    journal.unlink()
    return rows


def _table(batch: Sequence[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    arrays = []
    for column, field in zip(zip(*batch, strict=True), schema, strict=True):
        text = pa.types.is_dictionary(field.type)
        array = pa.array(column, type=pa.string() if text else field.type)
        arrays.append(array.dictionary_encode() if text else array)
    return pa.table(arrays, schema=schema)


def _batches(journal: Path) -> Iterator[list[tuple[Any, ...]]]:
    """Give the rows of a journal, in pieces."""
    columns: dict[str, list[tuple[str, str, str]]] = {}
    before: dict[tuple[str, str], int] = {}
    first_ns: int | None = None
    batch: list[tuple[Any, ...]] = []
    for line in _lines(journal):
        if isinstance(line, dict):
            columns[line["source"]] = line["columns"]
            continue
        source, t_ns, values = line
        first_ns = t_ns if first_ns is None else first_ns
        t_ps = (t_ns - first_ns) * _PS_A_NS
        for (key, kind, unit), value in zip(columns[source], values, strict=True):
            changed = before.get((source, key)) != value
            before[source, key] = value
            batch.append(
                (t_ps, source, kind, key, unit, (value + _TOP) % (2 * _TOP) - _TOP, changed)
            )
        if len(batch) >= _ROWS:
            yield batch
            batch = []
    if batch:
        yield batch


def _lines(journal: Path) -> Iterator[Any]:
    with journal.open(encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            if not text.endswith("\n"):
                return  # cut short while it was written
            try:
                yield json.loads(text)
            except ValueError:
                raise CaptureFormatError(
                    f"{journal}: line {number} is damaged; delete what follows it"
                ) from None
