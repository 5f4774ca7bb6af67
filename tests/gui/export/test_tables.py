"""CSV and Parquet: literal text, and what duckdb reads in both."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from freezeframe.capture.files.csv_table import read_edges
from freezeframe.capture.files.edges import Bus, join
from freezeframe.capture.files.source import ReadSettings
from freezeframe.decoders.run import Decoded
from freezeframe.gui.export.material import Material
from freezeframe.gui.export.tables import file_names, write_csv, write_parquet
from tests.gui.export.material import golden_recording, samples, small, with_bus

EDGES = [(0, 0, 1, 0), (1_000_000, 3, 0, 1), (2_333_333, 7, 1, 1), (2_666_666, 8, 0, 0)]
ROWS: list[dict[str, Any]] = [
    {
        "t_ps": 2**63 - 1,
        "source": "X",
        "kind": "a,b",
        "data": -(2**63),
        "ok": None,
        "text": 'a "b"\nc',
        "memory": b"\x00\xff",
        "words": [1, 255],
    },
    {
        "t_ps": 5,
        "source": "X",
        "kind": "c",
        "data": 2**53 + 1,
        "ok": True,
        "text": "",
        "memory": b"",
        "words": [],
    },
]


def made() -> Material:
    return Material(Path("x.sr"), tables=[Decoded("x", pa.Table.from_pylist(ROWS[::-1]))])


def read(path: Path, columns: str = "*") -> list[tuple[Any, ...]]:
    return duckdb.connect().execute(f"select {columns} from '{path}'").fetchall()


def test_csv_of_edges_is_a_line_a_change_with_time_and_sample(tmp_path: Path) -> None:
    wrote = write_csv(samples(small()), [tmp_path / "x.csv"])
    assert (tmp_path / "x.csv").read_text() == (
        '"t_ps","sample","clk","data out"\n0,0,1,0\n1000000,3,0,1\n2333333,7,1,1\n2666666,8,0,0\n'
    )
    assert wrote.counts == {"edges": 4}
    assert wrote.notes == [
        "the capture ends before sample 12 of 3000000 Hz; after the last row nothing changes"
    ]


@pytest.mark.parametrize(
    ("write", "name"), [(write_csv, "x.csv"), (write_parquet, "x.parquet")], ids=["csv", "parquet"]
)
def test_duckdb_reads_the_edges_of_several_pieces(write: Any, name: str, tmp_path: Path) -> None:
    whole = small()
    first = replace(whole, sample=whole.sample[:2], value=whole.value[:2], end_sample=5)
    second = replace(whole, sample=whole.sample[2:], value=whole.value[2:], begin_sample=5)
    write(samples(first, second), [tmp_path / name])
    assert read(tmp_path / name) == EDGES


@pytest.mark.parametrize(
    ("write", "name", "bus"),
    [(write_csv, "x.csv", '"addr[3:0]"'), (write_parquet, "x.parquet", "addr")],
    ids=["csv", "parquet"],
)
def test_a_bus_is_one_column(write: Any, name: str, bus: str, tmp_path: Path) -> None:
    write(samples(with_bus()), [tmp_path / name])
    found = read(tmp_path / name, f"t_ps, {bus}, clk")
    assert found == [(0, 0, 0), (2_000, 10, 0), (5_000, 15, 1)]


def test_the_edges_in_csv_are_a_capture_again(tmp_path: Path) -> None:
    write_csv(samples(with_bus()), [tmp_path / "x.csv"])
    again = join(list(read_edges(tmp_path / "x.csv", None, ReadSettings(1_000_000_000))))
    assert again.buses == (Bus("addr", ("addr[0]", "addr[1]", "addr[2]", "addr[3]")),)
    whole = with_bus()
    assert again.sample.tolist() == whole.sample.tolist()
    assert again.select(whole.channels).value.tolist() == whole.value.tolist()


def test_a_channel_named_like_a_column_of_ours_is_renamed(tmp_path: Path) -> None:
    write_parquet(samples(replace(small(), channels=("t_ps", "x"))), [tmp_path / "x.parquet"])
    assert read(tmp_path / "x.parquet", "t_ps, t_ps_2")[1] == (1_000_000, 0)


def test_csv_has_all_digits_hex_for_bytes_and_tells_null_from_empty(tmp_path: Path) -> None:
    write_csv(made(), [tmp_path / "x.csv"])
    assert (tmp_path / "x.csv").read_text() == (
        '"t_ps","source","kind","data","ok","text","memory","words"\n'
        '5,"X","c",9007199254740993,true,"","",""\n'
        '9223372036854775807,"X","a,b",-9223372036854775808,,"a ""b""\\nc","00ff","1 255"\n'
    )


def test_rows_come_in_order_of_time_and_duckdb_reads_the_same_integers(tmp_path: Path) -> None:
    unsorted = Material(Path("x.sr"), tables=[Decoded("x", pa.Table.from_pylist(ROWS))])
    write_csv(unsorted, [tmp_path / "x.csv"])
    write_parquet(unsorted, [tmp_path / "x.parquet"])
    wanted = [(5, 2**53 + 1, True), (2**63 - 1, -(2**63), None)]
    for name in ("x.csv", "x.parquet"):
        assert read(tmp_path / name, "t_ps, data, ok") == wanted
    assert read(tmp_path / "x.parquet", "memory, words") == [(b"", []), (b"\x00\xff", [1, 255])]


def test_a_recording_is_a_file_a_table_and_row_numbers_still_fit(tmp_path: Path) -> None:
    material = golden_recording()
    paths = file_names(tmp_path / "out.parquet", material)
    assert [path.name for path in paths] == [
        "out.trace.packets.parquet",
        "out.trace.words.parquet",
        "out.trace.events.parquet",
        "out.trace.intervals.parquet",
    ]
    wrote = write_parquet(material, paths)
    assert wrote.counts["rows of trace.words"] == 5
    ((first, end),) = read(paths[0], "first_row, end_row")
    assert [row[0] for row in read(paths[1], "kind")[first:end]] == [
        *("HEAD", "HEAD", "BODY", "BODY", "TAIL")
    ]
    assert read(paths[1], "data")[0] == (0x30C5000700020301,)


def test_words_that_packets_count_keep_their_order(tmp_path: Path) -> None:
    material = golden_recording()
    words = material.tables[1].table.take([4, 3, 2, 1, 0])
    one = Material(Path("x.ff"), tables=[Decoded("trace.words", words)])
    write_csv(one, file_names(tmp_path / "x.csv", one))
    assert [row[0] for row in read(tmp_path / "x.csv", "slot")] == [4, 3, 2, 1, 0]


def test_a_table_without_rows_is_a_file_with_the_names_of_its_columns(tmp_path: Path) -> None:
    material = golden_recording()
    one = Material(Path("x.ff"), tables=material.tables[3:])
    write_csv(one, [tmp_path / "x.csv"])
    assert (tmp_path / "x.csv").read_text().startswith('"t_ps","source","kind","t_end_ps"')
    assert read(tmp_path / "x.csv") == []
