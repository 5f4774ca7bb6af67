"""Make the columns of event tables: text columns that repeat few names, and tables of a schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.files.edges import samples_to_ps
from freezeframe.decoders.column_kernels import picked

_LEAST_ZEROS = 1 << 16
_MOST_REMEMBERED = 64
_IN_SAMPLES = {b"freezeframe.t_ps": b"samples"}  # metadata of a table; a Parquet file keeps it
_WHOLE = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}


def name_type() -> pa.DataType:
    """Return the type of ``source``, ``kind`` and other columns of few different texts."""
    return pa.dictionary(pa.int32(), pa.string())


def row_schema(columns: Mapping[str, pa.DataType]) -> pa.Schema:
    """Return the schema of a table: the columns that all begin with (``t_ps``, ``source``, ``kind``), then these."""
    return pa.schema(
        [
            pa.field("t_ps", pa.int64(), nullable=False),
            pa.field("source", name_type(), nullable=False),
            pa.field("kind", name_type(), nullable=False),
            *(pa.field(name, kind) for name, kind in columns.items()),
        ]
    )


def span_schema(columns: Mapping[str, pa.DataType]) -> pa.Schema:
    """Return the schema of what lasts: `row_schema` with ``t_end_ps`` before these columns."""
    schema = row_schema(columns)
    after = schema.get_field_index("kind") + 1
    return schema.insert(after, pa.field("t_end_ps", pa.int64(), nullable=False))


def event_schema(columns: Mapping[str, pa.DataType]) -> pa.Schema:
    """Return the schema of events that last and may be errors: `span_schema` with ``error`` before these columns."""
    return span_schema({"error": name_type(), **columns})


def sampled_schema(columns: Mapping[str, pa.DataType]) -> pa.Schema:
    """Return the schema of events with their samples: `event_schema`, ``sample`` and ``end_sample`` last."""
    return event_schema({**columns, "sample": pa.int64(), "end_sample": pa.int64()})


def codes_of(column: pa.ChunkedArray, texts: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return where in ``texts`` each name of a column of `name_type` is, -1 for another."""
    named = column.combine_chunks()
    places = [texts.index(t) if t in texts else -1 for t in named.dictionary.to_pylist()]
    codes: npt.NDArray[np.int64] = np.array(places, np.int64)[named.indices.to_numpy()]
    return codes


def names(
    codes: npt.NDArray[np.integer[Any]], texts: Sequence[str], *, checked: bool = True
) -> pa.Array:
    """Return a column of ``texts[code]`` for each code; those of a kernel that gives no others need not
    be ``checked``, which takes longer than all else."""
    # Many texts are those of one block alone: to remember them would cost their memory.
    made, again = _texts(tuple(texts)) if len(texts) <= _MOST_REMEMBERED else (octets(texts), None)
    if again is not None:
        codes = again[codes]
    return pa.DictionaryArray.from_arrays(
        whole(codes.astype(np.int32, copy=False)), made, safe=checked
    )


def distinct(texts: Sequence[str]) -> tuple[list[str], npt.NDArray[np.int32]]:
    """Return the texts, each once, and the code of each of ``texts`` among them.

    `names` of texts that repeat need it: pandas takes no column whose dictionary holds a text twice.
    """
    code = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    return list(code), np.array([code[text] for text in texts], np.int32)


def one_name(text: str, count: int) -> pa.Array:
    """Return a column that has the same text ``count`` times."""
    # Few lengths, so that nearly every column is a slice of one that is there.
    room = max(_LEAST_ZEROS, 1 << int(count).bit_length())
    return _named(text, room).slice(0, count)


def one_number(number: int, count: int, kind: type[np.signedinteger[Any]]) -> pa.Array:
    """Return a column that has the same number ``count`` times."""
    room = max(_LEAST_ZEROS, 1 << int(count).bit_length())
    return _numbered(number, room, np.dtype(kind)).slice(0, count)


def whole(numbers: npt.NDArray[Any]) -> pa.Array:
    """Return numbers or truth values as a column without nulls; ``(n,)`` of any stride.

    Not ``pyarrow.array``: that imports pandas, a third of a second and 40 MB, to see whether the
    values are of its making.
    """
    if numbers.dtype == np.bool_:
        packed = np.packbits(numbers, bitorder="little")
        return pa.Array.from_buffers(pa.bool_(), len(numbers), [None, pa.py_buffer(packed)])
    plain = np.ascontiguousarray(numbers)
    return pa.Array.from_buffers(_arrow_type(plain.dtype), len(plain), [None, pa.py_buffer(plain)])


@lru_cache(maxsize=16)
def _arrow_type(dtype: np.dtype[Any]) -> pa.DataType:
    return pa.from_numpy_dtype(dtype)


def verdicts(codes: npt.NDArray[np.integer[Any]]) -> pa.Array:
    """Return a column of truth values: true for 1, false for 0, null below 0."""
    buffers = [
        pa.py_buffer(np.packbits(bits, bitorder="little")) for bits in (codes >= 0, codes == 1)
    ]
    return pa.Array.from_buffers(pa.bool_(), len(codes), buffers)


def octets(values: Sequence[str | bytes | None], kind: pa.DataType | None = None) -> pa.Array:
    """Return texts, or bytes as ``pa.binary()``, as a column; None is null. `whole` says why not ``pyarrow.array``."""
    coded = [value.encode() if isinstance(value, str) else value or b"" for value in values]
    ends = np.cumsum([0, *map(len, coded)], dtype=np.int32)
    there = np.array([value is not None for value in values], np.bool_)
    mask = None if there.all() else pa.py_buffer(np.packbits(there, bitorder="little"))
    buffers = [mask, pa.py_buffer(ends), pa.py_buffer(b"".join(coded))]
    return pa.Array.from_buffers(kind or pa.string(), len(values), buffers)


def some(values: npt.NDArray[Any], there: npt.NDArray[np.bool_]) -> pa.Array:
    """Return numbers or truth values as a column, null where they are not there."""
    made = whole(values)
    mask = pa.py_buffer(np.packbits(there, bitorder="little"))
    return pa.Array.from_buffers(made.type, len(made), [mask, made.buffers()[1]])


def of_rows(schema: pa.Schema, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Return a table of few rows, a mapping each, whose columns are numbers, truth values, texts or bytes."""
    arrays = []
    for name, kind in zip(schema.names, schema.types, strict=True):
        values = [row.get(name) for row in rows]
        if kind == name_type():
            different = tuple(dict.fromkeys(map(str, values)))
            place = {text: number for number, text in enumerate(different)}
            arrays.append(names(np.array([place[str(v)] for v in values], np.int32), different))
        elif kind in (pa.string(), pa.binary()):
            arrays.append(octets(values, kind))
        else:
            there = np.array([value is not None for value in values], np.bool_)
            plain = np.array([value or 0 for value in values], str(kind))
            arrays.append(some(plain, there))
    return pa.Table.from_arrays(arrays, schema=schema)


@lru_cache(maxsize=256)
def _texts(texts: tuple[str, ...]) -> tuple[pa.Array, npt.NDArray[np.int32] | None]:
    """Return a dictionary without a text twice, which pandas refuses, and the codes in it where some repeat."""
    once, codes = distinct(texts)
    return octets(once), None if len(once) == len(texts) else codes


@lru_cache(maxsize=32)
def _named(text: str, count: int) -> pa.Array:
    # They are indices of the one text: nothing to check.
    return pa.DictionaryArray.from_arrays(whole(_zeros(count)), _texts((text,))[0], safe=False)


@lru_cache(maxsize=8)
def _numbered(number: int, count: int, kind: np.dtype[Any]) -> pa.Array:
    return whole(np.full(count, number, dtype=kind))


@lru_cache(maxsize=4)
def _zeros(count: int) -> npt.NDArray[np.int32]:
    """Return zeros that all columns of one name share: new ones cost as much as any column."""
    zeros = np.zeros(count, dtype=np.int32)
    zeros.setflags(write=False)
    return zeros


def by_column(rows: npt.NDArray[np.void]) -> dict[str, npt.NDArray[Any]]:
    """Return the fields of records, each contiguous; ``rows`` is ``(n,)``, and each field aligned to its size."""
    made: dict[str, npt.NDArray[Any]] = {}
    rows = np.ascontiguousarray(rows)
    fields: Mapping[str, Any] = rows.dtype.fields or {}
    for size in sorted({field[0].itemsize for field in fields.values()}):
        some_fields = {n: field for n, field in fields.items() if field[0].itemsize == size}
        places = np.array([field[1] // size for field in some_fields.values()])
        plain = rows.view(f"u{size}").reshape(len(rows), rows.dtype.itemsize // size)
        for (name, field), column in zip(some_fields.items(), picked(plain, places), strict=True):
            made[name] = column.view(field[0])
    return made


def end_to_end(
    parts: Sequence[Mapping[str, npt.NDArray[np.int64]]],
) -> dict[str, npt.NDArray[np.int64]]:
    """Return columns that begin with those of the first part and go on with those of the next."""
    if len(parts) == 1:
        return dict(parts[0])
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def table(schema: pa.Schema, columns: Mapping[str, Any]) -> pa.Table:
    """Return a table of the schema; numpy columns are converted to the declared types.

    Raises:
        KeyError: a column of the schema is missing.
        ValueError: there is a column that the schema does not have, or a value does not fit.
    """
    unknown = sorted(columns.keys() - set(schema.names))
    if unknown:
        raise ValueError(f"columns {', '.join(unknown)} are not in the schema")
    arrays = []
    for name, kind in zip(schema.names, schema.types, strict=True):
        column = columns[name]
        if isinstance(column, np.ndarray) and column.dtype.kind in "biuf":
            column = whole(_fitted(name, column, kind))
        elif not isinstance(column, pa.Array | pa.ChunkedArray):
            column = pa.array(column)
        arrays.append(column if column.type == kind else column.cast(kind))
    return pa.Table.from_arrays(arrays, schema=schema)


def span_table(
    schema: pa.Schema,
    rows: Mapping[str, npt.NDArray[Any]] | npt.NDArray[np.void],
    source: str,
    samplerate_hz: int,
    /,
    **columns: Any,
) -> pa.Table:
    """Return the table of a kernel's rows, which last from ``sample`` to ``end_sample``.

    Times and source are made of these; all other columns are those given here, or the field of the rows
    that has the column's name, truth values as `verdicts`.
    """
    made: dict[str, Any] = {
        "t_ps": samples_to_ps(rows["sample"], samplerate_hz),
        "t_end_ps": samples_to_ps(rows["end_sample"], samplerate_hz),
        "source": one_name(source, len(rows["sample"])),
        **columns,
    }
    for name, kind in zip(schema.names, schema.types, strict=True):
        if name not in made:
            made[name] = verdicts(rows[name]) if kind == pa.bool_() else rows[name]
    return table(schema, made)


def _fitted(name: str, column: npt.NDArray[Any], kind: pa.DataType) -> npt.NDArray[Any]:
    """Return whole numbers as those of the column's type; pyarrow's own cast costs an import of 0.1 s."""
    if column.dtype.kind not in "iu" or str(kind) not in _WHOLE:
        return column
    fitted = column.astype(str(kind), copy=False)
    if fitted.dtype.itemsize < column.dtype.itemsize and not np.array_equal(fitted, column):
        wrong = column[fitted != column][0]
        raise ValueError(f"column {name}: {wrong} does not fit {kind}")
    return fitted if fitted.dtype.kind == column.dtype.kind else column


def numbers(chunk: pa.Array) -> npt.NDArray[Any]:
    """Return the values of a column of numbers without nulls; ``(n,)``, a view.

    Not ``to_numpy``: that imports pandas, a third of a second and 40 MB.
    """
    data = np.frombuffer(chunk.buffers()[1], dtype=str(chunk.type))
    return data[chunk.offset : chunk.offset + len(chunk)]


def cut_octets(data: npt.NDArray[Any], ends: npt.NDArray[np.integer[Any]]) -> pa.Array:
    """Return a column of octets: of row i ``data[ends[i] : ends[i + 1]]``."""
    buffers = [None, pa.py_buffer(ends.astype(np.int32, copy=False)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary(), len(ends) - 1, buffers)


def byte_strings(
    data: npt.NDArray[np.uint8], first: npt.NDArray[np.int64], count: npt.NDArray[np.int64]
) -> pa.Array:
    """Return a column of octets: of each row ``data[first : first + count]``; rows may share octets."""
    ends = np.zeros(len(first) + 1, dtype=np.int32)
    np.cumsum(count, out=ends[1:])
    at = np.arange(ends[-1]) + np.repeat(first - ends[:-1], count)
    return cut_octets(data[at], ends)


def table_in_samples(table: pa.Table) -> pa.Table:
    """Return a table that says that its times are numbers of samples, as of a capture without sample rate."""
    return table.replace_schema_metadata({**(table.schema.metadata or {}), **_IN_SAMPLES})


def is_in_samples(table: pa.Table) -> bool:
    """Return whether the times of a table are numbers of samples."""
    return _IN_SAMPLES.items() <= (table.schema.metadata or {}).items()
