"""Rows of Arrow tables chosen by an expression: what a whole frame would give, from the named columns alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from freezeframe.capture.errors import InputError
from freezeframe.decoders.query.evaluate import matching
from freezeframe.decoders.query.rows import Selection, matching_rows
from freezeframe.decoders.stack_run import Decoded

WORDS = pa.table(
    {
        "t_ps": pa.array([0, 10, 2**53 + 1], pa.int64()),
        "kind": pa.array(["data", "error", "data"]).dictionary_encode(),
        "data": pa.array([1, None, 2**53 + 1], pa.int64()),
        "ok": pa.array([True, None, False]),
        "raw": pa.array([b"\x01", b"", None], pa.binary()),
    }
)
FRAMES = pa.table({"t_ps": pa.array([5], pa.int64()), "length_B": pa.array([64], pa.int32())})


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("data == 9007199254740993", [2]),  # 2^53 + 1, though another row has none: no float stands between
        ("data == null", [1]),
        ("ok", [0]),
        ("not ok", [1, 2]),
        ("kind = error or t_ps > 1us", [1, 2]),
        ("DATA = 1", [0]),  # small and capital letters of a column are equal
        ("error", [1]),  # any column
        ("raw ~ 01", [0]),
    ],
)  # fmt: skip
def test_an_arrow_table_is_matched_as_its_frame_would_be(
    expression: str, expected: list[int]
) -> None:
    assert np.flatnonzero(matching_rows(WORDS, expression)).tolist() == expected
    nullable = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    whole = WORDS.to_pandas(types_mapper=nullable.get)
    assert matching(whole, expression).tolist() == matching_rows(WORDS, expression).tolist()


def test_tables_without_a_named_column_are_left_out_and_that_is_said_once() -> None:
    notes: list[str] = []
    selection = Selection("length_B > 60", notes.append)
    tables = [Decoded("a.words", WORDS), Decoded("a.frames", FRAMES)]
    for _ in range(2):
        assert [(name, len(table)) for name, table in selection.rows(tables)] == [("a.frames", 1)]
    (note,) = notes
    assert note.startswith("a.words is left out: character 1: there is no column 'length_B'")


def test_a_column_that_no_table_has_is_refused() -> None:
    with pytest.raises(InputError, match=r"lenth_B.*a\.frames: .*did you mean length_B\?"):
        Selection("lenth_B > 60", print).rows([Decoded("a.frames", FRAMES)])


def test_no_rows_keep_their_columns() -> None:
    ((_, table),) = Selection("kind == none", print).rows([Decoded("a", WORDS)])
    assert (len(table), table.schema) == (0, WORDS.schema)


def test_names_that_repeat_in_a_dictionary_are_matched_as_texts() -> None:
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int32()), ["a", "b", "a"])
    table = pa.table({"kind": twice})
    assert matching_rows(table, "kind == a").tolist() == [True, False, True]


def test_what_is_wrong_in_several_tables_alike_is_said_once() -> None:
    tables = [Decoded("a", WORDS), Decoded("b", WORDS), Decoded("c", FRAMES)]
    with pytest.raises(InputError) as raised:
        Selection("knd == error", print).rows(tables)
    assert str(raised.value) == (
        "knd == error: a, b: character 1: there is no column 'knd'; did you mean kind?; "
        "c: character 1: there is no column 'knd'; there is t_ps, length_B"
    )


def test_a_text_that_a_column_of_numbers_is_called_wants_quotes() -> None:
    tables = [Decoded("a", WORDS), Decoded("b", WORDS.drop_columns(["data"]))]
    for table in (tables, tables[::-1]):
        with pytest.raises(
            InputError, match=r"a: .*a text is put in quotes: kind == 'data'"
        ) as raised:
            Selection("kind == data", print).rows(table)
        assert raised.value.exit_code == 2
    rows = Selection("kind == 'data'", print).rows(tables)
    assert [len(table) for _, table in rows] == [2, 2]


def _named(texts: list[str], *codes: int) -> pa.Table:
    """Return a table whose column ``op`` can have these texts."""
    column = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(texts))
    return pa.table({"op": column, "free": pa.array(["x"] * len(codes))})


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("op == raed", ["op is never 'raed'; did you mean read?"]),
        ("'Wirte' != OP", ["op is never 'Wirte'; did you mean write?"]),
        ("not (op == READ) and free == y", ["op is never 'READ'; did you mean read?"]),
        ("op == erase", ["op is never 'erase'; it has address, read, write"]),
        ("op == address", []),  # which it can have, though no row has it
        ("free == raed", []),  # any text can stand there
        ("op == free", []),  # two columns
        ("op ~ raed", ["op is never like 'raed'; did you mean read?"]),
        ("op !~ 'er*se'", ["op is never like 'er*se'; it has address, read, write"]),
        ("op ~ rea", []),  # part of a text
        ("op ~ 'r*d'", []),
        ("op == null", []),
    ],
)
def test_a_text_that_a_column_can_never_have_is_told_with_the_nearest(
    expression: str, told: list[str]
) -> None:
    notes: list[str] = []
    selection = Selection(expression, notes.append)
    selection.rows([Decoded("mdio", _named(["read", "write", "address"], 0, 1))])
    selection.note_never()
    assert notes == [f"{expression}: {line}" for line in told]


def test_a_text_that_another_table_or_a_later_block_can_have_is_not_told() -> None:
    notes: list[str] = []
    selection = Selection("op == burst", notes.append)
    selection.rows([Decoded("a", _named(["read"], 0)), Decoded("b", _named(["write"], 0))])
    selection.rows([Decoded("a", _named(["read"], 0)), Decoded("b", _named(["burst"]))])
    selection.note_never()
    assert notes == []


def test_of_many_texts_that_a_column_can_have_the_first_are_listed() -> None:
    notes: list[str] = []
    selection = Selection("op == zzz", notes.append)
    selection.rows([Decoded("a", _named([f"{n:02}" for n in range(14)], 0))])
    selection.note_never()
    assert notes == [
        "op == zzz: op is never 'zzz'; it has 00, 01, 02, 03, 04, 05, 06, 07, 08, 09, 10, 11 and 2 more"
    ]
