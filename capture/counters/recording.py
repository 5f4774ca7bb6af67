"""Samples kept as a table: a journal while it runs, one Parquet file at its end.

The Parquet writer costs 60 MB of memory, so while a dashboard runs only lines of text are appended to
``.FILE.journal`` beside the file. They become the table when the recording is closed; after a crash, the next
recording to the same file makes the table from what is there, and is refused.

Rows: ``t_ps`` from the first sample, ``source``, ``kind`` (counter or gauge), ``counter``, ``unit``, ``value`` (int64
bit pattern), ``changed`` (its value is another than one sample before). Every value of every sample is a row.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freezeframe.capture.errors import CaptureFormatError, InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from freezeframe.capture.counters.contract import Counter, Sample

__all__ = ["Recording", "finish", "journal_of"]

_PS_A_NS = 1000
_ROWS = 1 << 18  # of a row group
_TOP = 1 << 63


def journal_of(path: Path) -> Path:
    """Return where the journal of a recording stands until it is finished."""
    return path.with_name(f".{path.name}.journal")


class Recording:
    """A recording in progress."""

    def __init__(self, path: Path, *, overwrite: bool = False) -> None:
        """Begin.

        Raises:
            InputError: the file is there already, or its folder is not; or an earlier recording was cut short.
            That one is made a table then.
        """
        if not path.parent.is_dir():
            raise InputError(f"{path}: there is no folder {path.parent}")
        if path.is_dir() or (path.exists() and not overwrite):
            raise InputError(f"{path}: exists already; choose another name, or give --force")
        self.path = path
        self.samples = 0
        if journal_of(path).exists():
            raise InputError(
                f"{path}: an earlier recording of that name was cut short; its {finish(path):,} rows stand there "
                "now; choose another name for the new one"
            )
        self._file = journal_of(path).open("x", encoding="utf-8")
        self._keys: dict[str, list[str]] = {}  # source -> the columns of its lines

    def add(self, source: str, counters: Mapping[str, Counter], sample: Sample) -> None:
        """Append a sample.

        Raises:
            OSError: the disk is full.
        """
        keys = self._keys.get(source)
        if (
            keys is None
            or len(keys) != len(sample.values)
            or any(map(str.__ne__, keys, sample.values))
        ):
            keys = self._keys[source] = list(sample.values)
            columns = [
                (key, counters[key].kind, counters[key].unit)
                if key in counters
                else (key, "gauge", "")
                for key in keys
            ]
            self._write({"source": source, "columns": columns})
        self._write([source, sample.t_ns, list(sample.values.values())])
        self.samples += 1

    def close(self) -> int:
        """End the recording; return its rows. The journal goes when the table stands."""
        self._file.close()
        return finish(self.path)

    def _write(self, line: Any) -> None:
        self._file.write(json.dumps(line, separators=(",", ":")) + "\n")
        self._file.flush()


def finish(path: Path) -> int:
    """Make the table of a journal; return its rows.

    Raises:
        InputError: there is no journal, or the table cannot be written.
        CaptureFormatError: the journal is damaged other than by being cut short in its last line.
    """
    import pyarrow as pa

    from freezeframe.capture.parquet import write_batches

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
    import pyarrow as pa

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
