"""A decoder run on a capture, whole or in pieces: its tables must not depend on where the pieces end."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pyarrow as pa

from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.samples import Samples
from freezeframe.decoders.contract import Decoder

Rows = list[dict[str, Any]]
Tables = Mapping[str, pa.Table]


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


def cut(whole: Edges | Samples | pa.Table, cuts: Iterable[int]) -> list[Any]:
    """Return a capture, or the rows of another decoder, in pieces that end at some samples or rows."""
    last = whole.end_sample if isinstance(whole, Edges) else len(whole)
    places = pairwise(sorted({0, last, *(min(at, last) for at in cuts)}))
    if isinstance(whole, Edges):
        return [between(whole, begin, end) for begin, end in places]
    if isinstance(whole, Samples):
        return [whole.cut(begin, end) for begin, end in places]
    return [whole.slice(begin, end - begin) for begin, end in places]


def in_any_form(pieces: Iterable[Samples], rng: random.Random) -> list[Samples | Edges]:
    """Return the pieces, some of them as edges."""
    return [piece.edges() if rng.random() < 0.4 else piece for piece in pieces]


def decoded(decoder: Decoder, *pieces: Any, **options: Any) -> Tables:
    """Return the tables, by kind, that a decoder gives of an input in pieces."""
    values = decoder.option_values(options)
    state = decoder.new_state(values)
    made: list[Tables] = []
    for piece in pieces:
        decode = decoder.decode_samples if isinstance(piece, Samples) else decoder.decode
        assert decode is not None
        tables = decode(piece, values, state, piece is pieces[-1])
        made.append({decoder.produces[0].kind: tables} if isinstance(tables, pa.Table) else tables)
    joined = {kind: pa.concat_tables(tables[kind] for tables in made) for kind in made[0]}
    return {kind: table.unify_dictionaries() for kind, table in joined.items()}


def rows_of(decoder: Decoder, *pieces: Any, **options: Any) -> list[Rows]:
    """Return the rows that a decoder gives of an input in pieces: of each kind, in the order it declares them."""
    made = decoded(decoder, *pieces, **options)
    return [made[output.kind].to_pylist() for output in decoder.produces]


def assert_same_tables(got: Tables, expected: Tables, said: object = "") -> None:
    """Compare every table; a difference is told with its kind and what is said of the case."""
    for kind, table in expected.items():
        assert got[kind].schema == table.schema, (kind, said)
        assert got[kind].to_pylist() == table.to_pylist(), (kind, said)


def assert_same_in_pieces(
    decoder: Decoder, whole: Edges | pa.Table, cuts: Iterable[int], **options: Any
) -> Tables:
    """Decode an input as a whole and cut at some samples or rows, and compare every table; return them."""
    expected = decoded(decoder, whole, **options)
    assert_same_tables(decoded(decoder, *cut(whole, cuts), **options), expected)
    return expected
