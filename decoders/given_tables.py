"""What a decoder gives is compared with what it declares; tables as Arrow streams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from freezeframe.capture.errors import InputError
from freezeframe.decoders.contract import Decoder


def checked(decoder: Decoder, result: Any) -> dict[str, pa.Table]:
    """Return the tables that a decoder gave, by kind, checked against what it declares.

    Raises:
        InputError: they are not what it declares.
    """
    kinds = [output.kind for output in decoder.produces]
    given = result if isinstance(result, Mapping) else {kinds[0]: result}
    if sorted(given) != sorted(kinds):
        raise _wrong(decoder, f"made {', '.join(sorted(given))}, but declares {', '.join(kinds)}")
    tables = {}
    for output in decoder.produces:
        table = given[output.kind]
        if isinstance(table, pa.RecordBatch):
            table = pa.Table.from_batches([table])
        if not isinstance(table, pa.Table):
            raise _wrong(decoder, f"{output.kind} is a {type(table).__name__}, not a pyarrow Table")
        declared = output.schema()
        wide = output.wide is not None and table.schema.equals(output.wide())
        if not wide and not table.schema.equals(declared):
            raise _wrong(
                decoder,
                f"{output.kind} has columns {_columns(table.schema)}, not {_columns(declared)}",
            )
        tables[output.kind] = table
    return tables


def _wrong(decoder: Decoder, what: str) -> InputError:
    return InputError(f"decoder {decoder.id} is wrong: {what}; tell its author")


def _columns(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in schema)


def as_stream(table: pa.Table) -> bytes:
    """Return a table as an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())
