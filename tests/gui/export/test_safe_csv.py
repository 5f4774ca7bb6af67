"""CSV files: no name or text of a capture is a formula of a spreadsheet or an escape of a terminal."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from freezeframe.capture.journal import frame
from freezeframe.gui.export.safe_csv import safe_cell, safe_column, safe_frame
from tests.gui.cli import run_inside

FORMULAS = ("=1+1", "+SUM(A1)", "-2+3", "@cmd", "\t=1", "\r=1")


def cells(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file))


def test_text_that_begins_like_a_formula_gets_an_apostrophe_and_other_text_nothing() -> None:
    assert [safe_cell(text)[:2] for text in FORMULAS] == ["'=", "'+", "'-", "'@", "'\\", "'\\"]
    assert [safe_cell(text) for text in ("", "a=1", "rx-1", "0x10", "'x")] == [
        "",
        "a=1",
        "rx-1",
        "0x10",
        "'x",
    ]
    assert safe_cell("a\x1b[31m\u202eb") == "a\\x1b[31m\\u202eb"


def test_columns_of_text_keep_their_nulls_and_dictionaries_their_rows() -> None:
    plain = pa.chunked_array([pa.array(["=a", None]), pa.array(["b", "=a"])])
    assert safe_column(plain).to_pylist() == ["'=a", None, "b", "'=a"]
    assert safe_column(plain.dictionary_encode()).to_pylist() == ["'=a", None, "b", "'=a"]


def test_numbers_of_a_table_stay_as_they_are() -> None:
    made = safe_frame(pd.DataFrame({"=n": [-1, 2], "f": [-0.5, np.nan], "t": ["-x", None]}))
    assert list(made.columns) == ["'=n", "f", "t"]
    assert made["'=n"].tolist() == [-1, 2]
    assert made["f"].tolist()[0] == -0.5
    assert made["t"].tolist()[0] == "'-x"


def test_an_export_of_channels_with_such_names_has_none_of_them_as_a_formula(
    tmp_path: Path,
) -> None:
    dump, out = tmp_path / "a.csv", tmp_path / "out.csv"
    with dump.open("w", newline="") as file:
        csv.writer(file).writerows([["time [us]", *FORMULAS[:4]], [0, 0, 0, 0, 0], [1, 1, 0, 1, 0]])
    done = run_inside("export", str(dump), "--to", "csv", "-o", str(out))
    assert (done.code, done.err.count("Traceback")) == (0, 0), done.err
    assert cells(out)[0][2:] == ["'=1+1", "'+SUM(A1)", "'-2+3", "'@cmd"]
    assert all(int(cell) >= 0 for row in cells(out)[1:] for cell in row)


def test_a_recording_of_counters_with_such_names_has_none_of_them_as_a_formula(
    tmp_path: Path,
) -> None:
    place, out = tmp_path / "a.ffrec", tmp_path / "out.csv"
    place.mkdir()
    frames = [
        {"recording": 1, "kind": "counters", "tool": "x", "t_ns": 1, "utc_ns": 2},
        {"source": "@s", "columns": [["=cmd|x!A0\x1b[2J", "counter", "+B"]]},
        ["@s", 5, [-7]],
    ]
    data = b"".join(frame(n, json.dumps(each).encode()) for n, each in enumerate(frames))
    (place / "00000001.ffj").write_bytes(b"FFRJRNL1" + data)
    assert run_inside("recording", str(place), "-o", str(out)).code == 0
    row = dict(zip(*cells(out), strict=True))
    assert (row["source"], row["counter"], row["unit"]) == ("'@s", "'=cmd|x!A0\\x1b[2J", "'+B")
    assert row["value"] == "-7"
