"""Columns of tables out of records and rows."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from freezeframe.decoders.columns import by_column, distinct, name_type, names, of_rows

RECORD = np.dtype([("t", "i8"), ("a", "u4"), ("b", "i4"), ("c", "i2"), ("d", "u1")], align=True)


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 100])
def test_every_field_of_records_is_a_column_of_its_type(count: int) -> None:
    rows = np.zeros(count, RECORD)
    for place, name in enumerate(RECORD.names or ()):
        rows[name] = np.arange(count) - (0 if name in "ad" else 2 * place)
    columns = by_column(rows)
    assert set(columns) == set(RECORD.names or ())
    for name, column in columns.items():
        assert column.dtype == RECORD[name]
        assert column.flags["C_CONTIGUOUS"]
        assert column.tolist() == rows[name].tolist()


def test_rows_become_a_table_with_nulls_where_nothing_stands() -> None:
    schema = pa.schema(
        [
            ("number", pa.int16()), ("word", pa.uint32()), ("yes", pa.bool_()), ("text", pa.string()),
            ("data", pa.binary()), ("name", name_type()),
        ]
    )  # fmt: skip
    rows: list[dict[str, Any]] = [
        {"number": -3, "word": 0xFFFFFFFF, "yes": True, "text": "ä", "data": b"\0\1", "name": "x"},
        {"number": None, "word": None, "yes": None, "text": None, "data": None, "name": "y"},
        {"number": 7, "word": 0, "yes": False, "text": "", "data": b"", "name": "x"},
    ]
    table = of_rows(schema, rows)
    table.validate(full=True)
    assert table.to_pylist() == rows


def test_to_start_decoding_iwarp_loads_no_pandas() -> None:
    code = (
        "import sys; from freezeframe.decoders.iwarp.iwarp import IWARP; "
        "from freezeframe.decoders.iwarp.iwarp_code import IwarpState; "
        "IwarpState(IWARP.option_values({})); print('pandas' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True
    )
    assert done.stdout == "False\n"


def test_texts_that_repeat_are_each_once_in_the_dictionary() -> None:
    texts, code = distinct(["a", "b", "a", ""])
    assert (texts, code.tolist()) == (["a", "b", ""], [0, 1, 0, 2])
    column = names(code[np.array([2, 3, 1])], texts, checked=False)
    assert column.to_pandas().tolist() == ["a", "", "b"]


def test_names_that_repeat_are_one_in_the_dictionary_so_that_pandas_takes_the_column() -> None:
    column = names(np.array([0, 1, 2, 3]), ("", "ok", "", "late"))
    assert column.to_pylist() == ["", "ok", "", "late"]
    assert column.to_pandas().tolist() == ["", "ok", "", "late"]
