"""Decoded tables as lines of text or JSON, row by row: a long capture has more rows than fit into memory as objects."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.types as kinds

from freezeframe.capture.count_text import plural
from freezeframe.capture.time_text import times_like
from freezeframe.decoders.blame import texts_of
from freezeframe.decoders.columns import is_in_samples, numbers
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import Decoded
from freezeframe.gui.text import printable

_LINES_AT_ONCE = 256  # a call for each line takes a fifth of the time
_ROWS = json.JSONEncoder(default=bytes.hex)  # JSON has no bytes: hex, as in CSV


def print_text(
    decoded: Sequence[Decoded],
    registry: Registry | None = None,
    words: Callable[[dict[str, Any]], str] | None = None,
) -> None:
    """Print a line for each row, a heading for each table where there are several.

    Args:
        registry: whose decoders put their rows into words, where ``words`` does not.
    """
    for name, table in decoded:
        if len(decoded) > 1:
            print(printable(f"# {name}, {plural(len(table), 'row')}"))
        if not len(table):
            continue
        text_of = words or texts_by_name(name, registry)
        # The unit of the latest time for all, so that the column can be read downwards.
        time_of = times_like(max(int(numbers(chunk).max()) for chunk in _chunks(table, "t_ps")))
        if is_in_samples(table):
            time_of = "sample {}".format
        print_rows(table, text_of, time_of, sources=len(names_in(table, "source")) > 1)


def print_rows(
    table: Any,
    text_of: Callable[[dict[str, Any]], str],
    time_of: Callable[[int], str],
    *,
    sources: bool,
    before: str = "",
) -> None:
    """Print a line for each row: its time, where it comes from if ``sources``, and its text, with ``before`` before."""
    lines: list[str] = []
    for row in rows_of(table):
        source = f"{row['source']:<12}  " if sources else ""
        mark = "! " if row["kind"] == "error" else ""
        text = printable(f"{before}{source}{mark}{text_of(row)}")
        lines.append(f"{time_of(row['t_ps']):>20}  {text}")
        if len(lines) == _LINES_AT_ONCE:
            print("\n".join(lines))
            lines.clear()
    if lines:
        print("\n".join(lines))


def json_row(row: dict[str, Any]) -> str:
    """Return a row as JSON."""
    return _ROWS.encode(row)


def print_json(file: Path, decoded: Sequence[Decoded]) -> None:
    """Print one document with all rows of all tables."""
    print(f'{{"file": {json.dumps(str(file))}, "tables": [', end="")
    for number, (name, table) in enumerate(decoded):
        print("," if number else "", f'{{"name": {json.dumps(name)}, "rows": [', sep="\n")
        for i, row in enumerate(rows_of(table)):
            print("," if i else "", _ROWS.encode(row), sep="\n " if i else " ", end="")
        print("\n]}", end="")
    print("\n]}")


def rows_of(table: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table as `to_pylist` gives them."""
    names = table.column_names
    for batch in table.to_batches(max_chunksize=4096):
        for values in zip(*map(_values, batch.columns), strict=True):
            yield dict(zip(names, values, strict=True))


def top_of(name: str) -> str:
    """Return the decoder on top of the stack that a table is named by."""
    return name.partition("#")[0].rpartition("+")[2].partition(".")[0]


def _chunks(table: Any, column: str) -> list[Any]:
    return [chunk for chunk in table.column(column).chunks if len(chunk)]


def names_in(table: Any, column: str) -> set[str]:
    """Return the different texts of a column, which a user's own decoder may not have as names."""
    texts: set[str] = set()
    for chunk in _chunks(table, column):
        if hasattr(chunk, "indices") and not chunk.null_count:
            codes = np.unique(numbers(chunk.indices))
            texts.update(chunk.dictionary[int(code)].as_py() for code in codes)
        else:
            texts.update(chunk.to_pylist())
    return texts


def texts_by_name(name: str, registry: Registry | None) -> Callable[[dict[str, Any]], str]:
    """Return what puts a row of a table into words: its decoder's own text, else all columns."""
    decoder = None if registry is None else registry.find(top_of(name))
    return (None if decoder is None else texts_of(decoder)) or (
        lambda row: "  ".join(f"{k}={v}" for k, v in row.items() if k != "t_ps")
    )


def _values(column: Any) -> list[Any]:
    """Return what `to_pylist` does; of numbers, lists of numbers and names in a tenth of the time."""
    kind = column.type
    if not len(column) or column.null_count:
        return list(column.to_pylist())
    if kinds.is_integer(kind):
        return list(numbers(column).tolist())
    if kinds.is_dictionary(kind):
        texts = column.dictionary.to_pylist()
        return [texts[code] for code in numbers(column.indices).tolist()]
    if kinds.is_list(kind) and kinds.is_integer(kind.value_type):
        ends = numbers(column.offsets)
        inside = column.values.slice(int(ends[0]), int(ends[-1] - ends[0]))
        if len(inside) and not inside.null_count:
            flat, ends = numbers(inside).tolist(), (ends - ends[0]).tolist()
            return [flat[begin:end] for begin, end in pairwise(ends)]
    return list(column.to_pylist())
