r"""Text for a CSV file that spreadsheets and terminals open: no cell is a formula, no control character is sent.

A spreadsheet takes a cell that begins with ``=``, ``+``, ``-`` or ``@`` for a formula, quoted or not; a name of a
channel, a task or a driver's counter can be one. Such text gets an apostrophe before it, control characters become
``\x1b``. Numbers stay what they are; Parquet and JSON have the text as it is.

Source: OWASP, CSV Injection.
"""

from __future__ import annotations

import pandas as pd
import pyarrow as pa

from freezeframe.gui.text import printable

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def safe_cell(text: str) -> str:
    """Return text for a cell."""
    return ("'" if text.startswith(_FORMULA) else "") + printable(text)


def safe_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of text, or a dictionary of it, as text for cells; what is null stays so."""
    texts = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    chunks = [
        pa.DictionaryArray.from_arrays(
            chunk.indices,
            pa.array(
                [t if t is None else safe_cell(t) for t in chunk.dictionary.to_pylist()],
                pa.string(),
            ),
        ).cast(pa.string())
        for chunk in texts.chunks
    ]
    return pa.chunked_array(chunks, pa.string())


def safe_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose names and texts are text for cells."""
    shown = frame.rename(columns=safe_cell)
    for name in shown.columns:
        column = shown[name]
        if not (
            pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_bool_dtype(column.dtype)
        ):
            shown[name] = [safe_cell(v) if isinstance(v, str) else v for v in column]
    return shown
