"""A capture cut in pieces: what a decoder gives of them is what it gives of the whole; and the errors among rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pyarrow as pa

from freezeframe.capture.files.edges import Edges


def errors(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return which errors the rows are."""
    return [row["error"] for row in rows if row["kind"] == "error"]


def between(edges: Edges, begin: int, end: int) -> Edges:
    """Return the piece of a capture from one sample to before another."""
    inside = (edges.sample >= begin) & (edges.sample < end)
    high = None if edges.high is None else edges.high[inside]
    return replace(
        edges, sample=edges.sample[inside], value=edges.value[inside], high=high,
        begin_sample=begin, end_sample=end,
    )  # fmt: skip


def assert_same_in_pieces(
    whole: pa.Table | Mapping[str, pa.Table], decode: Callable[..., Any], state: object, edges: Edges,
    values: Mapping[str, Any], cuts: Iterable[int],
) -> None:  # fmt: skip
    """Decode a capture cut at some samples from a fresh state, and compare every table with that of the whole."""
    last = edges.end_sample
    places = sorted({0, last, *(min(cut, last) for cut in cuts)})
    made = [
        decode(between(edges, begin, end), values, state, end == last)
        for begin, end in pairwise(places)
    ]
    if isinstance(whole, pa.Table):  # of a decoder with one kind of rows
        whole, made = {"": whole}, [{"": table} for table in made]
    for kind, table in whole.items():
        joined = pa.concat_tables(tables[kind] for tables in made)
        assert joined.schema == table.schema
        assert joined.to_pylist() == table.to_pylist()
