"""Decoded tables on disk: one under the name given, several beside it under their own names."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow.parquet import read_table

from freezeframe.capture.errors import InputError
from freezeframe.decoders.run import Decoded
from freezeframe.gui.cli.work.save_tables import save_all


def decoded(name: str, *t_ps: int) -> Decoded:
    return Decoded(name, pa.table({"t_ps": pa.array(t_ps, pa.int64())}))


def test_one_table_is_saved_under_the_given_name(tmp_path: Path) -> None:
    place = tmp_path / "events.parquet"
    assert save_all([decoded("mdio", 1, 2)], place, tmp_path / "x.sr", force=False) == [place]
    assert read_table(place)["t_ps"].to_pylist() == [1, 2]


def test_several_tables_are_saved_under_their_names(tmp_path: Path) -> None:
    tables = [decoded("mdio", 1, 2), decoded("both.a", 3), decoded("both.b")]
    files = save_all(tables, tmp_path / "events.parquet", tmp_path / "x.sr", force=False)
    assert [file.name for file in files] == [
        "events.mdio.parquet",
        "events.both.a.parquet",
        "events.both.b.parquet",
    ]
    assert [read_table(file).num_rows for file in files] == [2, 1, 0]


def test_when_one_place_is_taken_none_is_written(tmp_path: Path) -> None:
    (tmp_path / "events.b.parquet").write_text("mine")
    tables = [decoded("a", 1), decoded("b", 2)]
    with pytest.raises(InputError, match=r"events\.b\.parquet: exists already"):
        save_all(tables, tmp_path / "events.parquet", tmp_path / "x.sr", force=False)
    assert [path.name for path in tmp_path.iterdir()] == ["events.b.parquet"]
