"""Expressions of find and filter: what they match, and where an error in one is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freezeframe.decoders.query.evaluate import matching
from freezeframe.decoders.query.parse import parse
from freezeframe.decoders.query.words import ExpressionError

TABLE = pd.DataFrame(
    {
        "t_ps": np.array([0, 5_000, 12_500_000, 2**53 + 1], np.int64),
        "kind": pd.Categorical(["DESC", "CREDIT", "CREDIT", "error"]),
        "source": pd.array(["A.event_log", "A.tx_enq", "B.tx_enq", None], dtype="str"),
        "flow": np.array([0, 1, 2, -1], np.int16),
        "ok": pd.array([True, False, None, True], dtype="boolean"),
        "data": np.array([0, 255, -1, 0x1234], np.int64),
        "rate": np.array([0.5, 1.5, np.nan, 2.0]),
        "direction": ["A->B", "B->A", "A->B", "A->B"],
        "raw": [b"\x01\xff", b"", None, b"\x10"],
    }
)


def rows(expression: str) -> list[int]:
    return [int(row) for row in np.flatnonzero(matching(TABLE, expression))]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("kind == CREDIT", [1, 2]),
        ("kind = 'CREDIT' and flow > 1", [2]),
        ("kind != CREDIT", [0, 3]),
        ("not kind == CREDIT", [0, 3]),
        ("flow == 0 or flow == 2", [0, 2]),
        ("flow == 0 or flow == 1 and kind == DESC", [0]),  # and binds closer
        ("(flow == 0 or flow == 1) and kind == CREDIT", [1]),
        ("2 <= flow", [2]),
        (f"rate < {'9' * 400}", [0, 1, 3]),  # no double is as large
        (f"rate > -{'9' * 400}.5", [0, 1, 3]),
        (f"t_ps > {'9' * 400}", []),
        ("source ~ tx", [1, 2]),
        ("source ~ a.TX_e*q", [1]),
        ("source !~ tx", [0, 3]),
        ("source == null", [3]),
        ("source != null and not source ~ B", [0, 1]),
        ("direction == A->B", [0, 2, 3]),
        ("ok", [0, 3]),
        ("not ok", [1, 2]),
        ("ok == false", [1]),
        ("ok == null", [2]),
        ("data == 0xff", [1]),
        ("data == 0xffffffffffffffff", [2]),
        ("data > 0x1000", [2, 3]),
        ("data == 0b11111111", [1]),
        ("t_ps >= 12.5us", [2, 3]),
        ("t_ps < 3h and t_ps >= 12.5us", [2, 3]),
        ("t_ps < 5.1ns", [0, 1]),
        ("t_ps == 9007199254740993", [3]),  # 2^53 + 1: no float stands between
        ("t_ps == 9007199254740992", []),
        ("t_ps > 0.5ps", [1, 2, 3]),
        ("rate > 1.25", [1, 3]),
        ("rate == null", [2]),
        ("flow == 99999999999999999999", []),
        ("flow < 99999999999999999999", [0, 1, 2, 3]),
        ("CREDIT", [1, 2]),
        ("0x1234", [3]),
        ("true", [0, 1, 2, 3]),
        ("KIND == DESC", [0]),
        ("raw == 01ff", [0]),
        ("raw ~ ff", [0]),
        ("! ( flow >= 0 )", [3]),
        ("source < kind", [0, 1, 2]),  # where both are known
        ("flow > data", []),  # the word -1 is the largest there is
        ("data > flow", [1, 2, 3]),
    ],
)
def test_an_expression_matches_these_rows(expression: str, expected: list[int]) -> None:
    assert rows(expression) == expected


@pytest.mark.parametrize(
    ("expression", "at", "message"),
    [
        ("", 0, "nothing is asked for"),
        ("kidn == CREDIT", 0, "there is no column 'kidn'; did you mean kind?"),
        ("kind == CREDIT and flwo > 1", 19, "there is no column 'flwo'; did you mean flow?"),
        ("kind ==", 7, "a value to compare with, after == is missing at the end"),
        ("kind == CREDIT CREDIT", 15, "'CREDIT' does not continue the expression"),
        ("(kind == CREDIT", 0, "this bracket is not closed"),
        ("kind == CREDIT)", 14, "a bracket is closed that was not opened"),
        ('kind == "CREDIT', 8, "this quote is not closed"),
        ("and flow > 1", 0, "a column, a value or a bracket should stand here, not 'and'"),
        ("flow == many", 8, "flow holds numbers; 'many' is none"),
        ("ok == 3", 6, "ok is true or false"),
        ("kind > null", 7, "neither true nor null is larger or smaller"),
        ("flow", 0, "flow is no yes or no; compare it"),
        ("flow == kind", 8, "flow and kind cannot be compared: one holds texts"),
        ("kind == flow", 8, "one holds texts; a text is put in quotes: kind == 'flow'"),
        ("3 == 4", 0, "a column should stand on one side of this"),
        ("0x == flow", 0, "there is no column '0x'"),
    ],
)
def test_an_error_is_said_at_its_place(expression: str, at: int, message: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        matching(TABLE, expression)
    assert (raised.value.at, message in str(raised.value)) == (at, True), str(raised.value)
    assert str(raised.value).startswith(f"character {at + 1}: ")


def test_an_expression_that_is_too_long_or_too_deep_is_refused() -> None:
    with pytest.raises(ExpressionError, match="5000 characters; 4096 are possible"):
        parse("x" * 5000)
    with pytest.raises(ExpressionError, match="more than 50 brackets in each other"):
        parse("(" * 2000 + "ok" + ")" * 2000)


def test_an_error_behind_what_already_decides_is_told_all_the_same() -> None:
    with pytest.raises(ExpressionError, match="no column 'nothing'"):
        matching(TABLE, "true or nothing == 1")


@given(st.text(max_size=60))
def test_no_text_does_anything_but_match_or_say_where_it_is_wrong(text: str) -> None:
    try:
        found = matching(TABLE, text)
    except ExpressionError as error:
        assert 0 <= error.at <= len(text)
        assert error.at <= error.end
    else:
        assert found.dtype == np.bool_
        assert len(found) == len(TABLE)


@given(st.integers(-(2**63), 2**63 - 1), st.sampled_from(["==", "!=", "<", "<=", ">", ">="]))
def test_numbers_compare_as_in_python(number: int, sign: str) -> None:
    import operator

    compare = {"==": operator.eq, "!=": operator.ne, "<": operator.lt,
               "<=": operator.le, ">": operator.gt, ">=": operator.ge}[sign]  # fmt: skip
    column = [0, number, number - 1 if number > -(2**63) else 0, 2**63 - 1, -(2**63)]
    table = pd.DataFrame({"n": np.array(column, np.int64)})
    expected = [compare(value, number) for value in column]
    assert matching(table, f"n {sign} {number}").tolist() == expected


def test_every_expression_of_the_docs_can_be_used() -> None:
    """The table in docs/desktop.md, on the columns of a recording."""
    import re
    from pathlib import Path

    from freezeframe.decoders.trace.schema import column_types

    page = (Path(__file__).parents[3] / "docs" / "desktop.md").read_text(encoding="utf-8")
    table = page.partition("| you write |")[2].partition("\n\n")[0]
    shown = [
        e for line in table.splitlines()[2:] for e in re.findall(r"`([^`]+)`", line.split("|")[1])
    ]
    assert len(shown) >= 10
    kinds = {"text": "str", "string": "str", "bool?": "boolean"}
    columns = {**column_types("packets"), **column_types("events")}
    empty: list[object] = []
    frame = pd.DataFrame(
        {name: pd.Series(empty, dtype=kinds.get(kind, kind)) for name, kind in columns.items()}
    )
    for expression in shown:
        assert len(matching(frame, expression)) == 0, expression
