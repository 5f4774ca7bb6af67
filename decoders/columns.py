"""Make the columns of event tables: text columns that repeat few names, and tables of a schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["name_type", "names", "one_name", "table"]


def name_type() -> pa.DataType:
    """Return the type of ``source``, ``kind`` and other columns of few different texts."""
    import pyarrow as pa

    return pa.dictionary(pa.int32(), pa.string())


def names(codes: npt.NDArray[np.integer[Any]], texts: Sequence[str]) -> pa.Array:
    """Return a column of ``texts[code]`` for each code."""
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(
        pa.array(codes.astype(np.int32)), pa.array(list(texts), pa.string())
    )


def one_name(text: str, count: int) -> pa.Array:
    """Return a column that has the same text ``count`` times."""
    return names(np.zeros(count, dtype=np.int32), [text])


def table(schema: pa.Schema, columns: Mapping[str, Any]) -> pa.Table:
    """Return a table of the schema; numpy columns are converted to the declared types.

    Raises:
        KeyError: a column of the schema is missing.
        ValueError: there is a column that the schema does not have, or a value does not fit.
    """
    import pyarrow as pa

    unknown = sorted(set(columns) - set(schema.names))
    if unknown:
        raise ValueError(f"columns {', '.join(unknown)} are not in the schema")
    arrays = []
    for field in schema:
        column = columns[field.name]
        if not isinstance(column, pa.Array | pa.ChunkedArray):
            column = pa.array(column)
        arrays.append(column if column.type == field.type else column.cast(field.type))
    return pa.Table.from_arrays(arrays, schema=schema)
