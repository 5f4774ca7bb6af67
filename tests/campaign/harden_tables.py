"""The table of edges for `tests.campaign.harden`: a Parquet file that says rightly of which capture it is.

It stands beside an imported capture; it is a cache, which may be refused and is never believed blindly.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from freezeframe.capture.files.edge_table import read_edge_table, write_edge_table
from freezeframe.capture.files.edges import Edges
from tests.campaign.harden_files import Mutate, scratch

_DIGEST = "0" * 64
_NUMBERS = (0, 1, -1, 2, 255, 1 << 31, (1 << 63) - 1, -(1 << 63))
_VALUES: tuple[Any, ...] = (
    None,
    -1,
    0,
    2.5,
    1 << 70,
    "",
    "x",
    "\x1b[31m\n",
    [],
    {},
    [[]],
    ["a", "a"],
    [["b", ["a"]]],
    True,
)
_KEY = b"freezeframe"


@cache
def _edges() -> bytes:
    path = Path(scratch().name) / "edges.parquet"
    sample = np.array([0, 3, 4, 9, 700], np.int64)
    value = np.array([1, 0, 3, 2, 1], np.uint64)
    write_edge_table(
        [Edges(sample, value, ("a", "b"), 10**6, 0, 1000)], path, source="x", digest=_DIGEST
    )
    return path.read_bytes()


def seeds() -> Sequence[bytes]:
    """Return the table, as it was written."""
    return [_edges()]


def run(data: bytes) -> object:
    """Read a table where it belongs."""
    path = Path(scratch().name) / "edges.parquet"
    path.write_bytes(data)
    found = read_edge_table(path, _DIGEST, ["b", "a"])
    if found is None:
        return "not used"
    return sum(len(piece) for piece in found[1])


def changed(rng: random.Random, data: bytes, mutate: Mutate) -> bytes:
    """Return a table with other values, columns or words of itself."""
    try:
        file = pq.ParquetFile(io.BytesIO(data))
        table = file.read()
    except (pa.ArrowException, OSError, ValueError):
        return mutate(data)
    about = {_KEY: (file.metadata.metadata or {}).get(_KEY, b"")}
    for _ in range(rng.choice((1, 1, 2))):
        if rng.random() < 0.4:
            about[_KEY] = _other_words(rng, about[_KEY], mutate)
        else:
            table = _other_rows(rng, table)
    made = io.BytesIO()
    try:
        pq.write_table(table.replace_schema_metadata(about), made)
    except (pa.ArrowException, ValueError):
        return data
    return made.getvalue()


def _other_words(rng: random.Random, text: bytes, mutate: Mutate) -> bytes:
    """Return what a table says of itself with another value."""
    try:
        about: dict[str, Any] = json.loads(text)
        for _ in range(rng.choice((1, 2))):
            _change(rng, about)
        return json.dumps(about).encode()
    except (AttributeError, ValueError, TypeError):
        return mutate(text)


def _change(rng: random.Random, tree: Any) -> None:
    """Replace or remove a value, anywhere but the one that a reader asks for first."""
    while True:
        keys: list[Any] = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
        keys = [key for key in keys if key not in ("digest",)] or keys
        if not keys:
            return
        key = rng.choice(keys)
        if isinstance(tree[key], dict | list) and tree[key] and rng.random() < 0.7:
            tree = tree[key]
        elif rng.random() < 0.15:
            del tree[key]
            return
        else:
            tree[key] = rng.choice(_VALUES)
            return


def _other_rows(rng: random.Random, table: pa.Table) -> pa.Table:
    """Return a table with other values in a column, rows in another order, more, or fewer."""
    chance = rng.random()
    if chance < 0.1:
        return table.slice(0, rng.randrange(len(table) + 1))
    if chance < 0.2 and len(table):
        return pa.concat_tables([table, table.slice(0, rng.randrange(len(table)))])
    at = rng.randrange(max(1, table.num_columns))
    if not table.num_columns or not len(table):
        return table
    if chance < 0.25:
        return table.remove_column(at)
    field = table.schema.field(at)
    values = table.column(at).to_pylist()
    for _ in range(rng.choice((1, 2, 9))):
        values[rng.randrange(len(values))] = _other_value(rng, field.type)
    try:
        column = pa.array(values, field.type, from_pandas=False)
        return table.set_column(at, field.with_nullable(True) if None in values else field, column)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return table


def _other_value(rng: random.Random, kind: pa.DataType) -> Any:
    if rng.random() < 0.1:
        return None
    if pa.types.is_integer(kind):
        bits = kind.bit_width
        number = rng.choice(_NUMBERS)
        return (
            (number + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
            if "u" not in str(kind)
            else number % (1 << bits)
        )
    if pa.types.is_boolean(kind):
        return rng.random() < 0.5
    if pa.types.is_floating(kind):
        return rng.choice((float("nan"), float("inf"), -1.0))
    return rng.choice(("", "x", "\x1b[31m", "error", "A", "=1"))
