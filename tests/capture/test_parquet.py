"""Tables on disk: the recipe, the same bytes each time, and no damage that reads silently."""

from __future__ import annotations

import errno
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from freezeframe.capture.errors import InputError
from freezeframe.capture.parquet import write_table

SCHEMA = pa.schema(
    [
        pa.field("t_ps", pa.int64(), nullable=False),
        ("source", pa.dictionary(pa.int32(), pa.string())),
        ("kind", pa.dictionary(pa.int32(), pa.string())),
        ("data", pa.int64()),
        ("word", pa.int32()),
        ("flow", pa.int16()),
        ("ok", pa.bool_()),
        ("share", pa.float64()),
    ]
)


def sample(rows: int = 1000) -> pa.Table:
    rng = np.random.default_rng(3)
    return pa.table(
        {
            "t_ps": np.cumsum(rng.integers(1, 100, rows)) * 8000,
            "source": pa.array(["A.tx_enq", "B.rx_deq"] * (rows // 2)).dictionary_encode(),
            "kind": pa.array(["HEAD", "BODY", "BODY", "TAIL"] * (rows // 4)).dictionary_encode(),
            "data": rng.integers(-(2**63), 2**63 - 1, rows),
            "word": np.arange(rows, dtype=np.int32) % 512,
            "flow": np.full(rows, 7, dtype=np.int16),
            "ok": pa.array([True, False, None, True] * (rows // 4)),
            "share": rng.random(rows),
        },
        schema=SCHEMA,
    )


def test_what_is_written_is_read_back_with_its_types(tmp_path: Path) -> None:
    write_table(sample(), tmp_path / "t.parquet")
    again = pq.read_table(tmp_path / "t.parquet")
    assert again.equals(sample())
    assert again.schema.equals(SCHEMA)


def test_an_empty_table_keeps_its_columns(tmp_path: Path) -> None:
    write_table(SCHEMA.empty_table(), tmp_path / "t.parquet")
    assert pq.read_table(tmp_path / "t.parquet").schema.equals(SCHEMA)


def test_a_frame_is_written_without_its_index(tmp_path: Path) -> None:
    frame = pd.DataFrame({"t_ps": [1, 2], "kind": ["a", "b"]}, index=[7, 8])
    write_table(frame, tmp_path / "t.parquet")
    assert pq.read_table(tmp_path / "t.parquet").column_names == ["t_ps", "kind"]


def test_columns_are_packed_by_the_recipe(tmp_path: Path) -> None:
    write_table(sample(), tmp_path / "t.parquet")
    group = pq.ParquetFile(tmp_path / "t.parquet").metadata.row_group(0)
    columns = {group.column(i).path_in_schema: group.column(i) for i in range(group.num_columns)}
    assert {column.compression for column in columns.values()} == {"ZSTD"}
    for name, encoding in {
        "t_ps": "DELTA_BINARY_PACKED",
        "word": "DELTA_BINARY_PACKED",
        "flow": "DELTA_BINARY_PACKED",
        "data": "BYTE_STREAM_SPLIT",
        "share": "BYTE_STREAM_SPLIT",
        "source": "RLE_DICTIONARY",
        "kind": "RLE_DICTIONARY",
    }.items():
        assert encoding in columns[name].encodings, name
    assert "RLE_DICTIONARY" not in columns["data"].encodings


def test_the_same_rows_give_the_same_bytes_whatever_pieces_they_came_in(tmp_path: Path) -> None:
    whole = sample()
    write_table(whole, tmp_path / "a.parquet")
    pieces = pa.concat_tables([whole.slice(0, 13), whole.slice(13, 500), whole.slice(513)])
    write_table(pieces, tmp_path / "b.parquet")
    write_table(whole.to_batches()[0], tmp_path / "c.parquet")
    first = (tmp_path / "a.parquet").read_bytes()
    assert (tmp_path / "b.parquet").read_bytes() == first
    assert (tmp_path / "c.parquet").read_bytes() == first


def test_an_unsigned_64_bit_column_is_refused(tmp_path: Path) -> None:
    table = pa.table({"t_ps": [0], "data": pa.array([2**63], pa.uint64())})
    with pytest.raises(ValueError, match="column data is uint64; keep such words as int64"):
        write_table(table, tmp_path / "t.parquet")
    assert list(tmp_path.iterdir()) == []


def test_no_flipped_bit_of_the_rows_reads_silently(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    write_table(sample(), path)
    raw = path.read_bytes()
    footer_B = int.from_bytes(raw[-8:-4], "little") + 8
    rng = random.Random(1)
    for _ in range(60):
        bit = rng.randrange(8 * 4, 8 * (len(raw) - footer_B))
        damaged = bytearray(raw)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            again = pq.read_table(path, page_checksum_verification=True, memory_map=False)
        except (OSError, pa.ArrowException):
            continue
        # A flip may hit a field of a page header that nothing depends on.
        assert again.equals(sample()), f"bit {bit}"


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"t\.parquet: cannot be written: No such file"):
        write_table(sample(), tmp_path / "no" / "t.parquet")


def test_a_full_disk_leaves_the_old_table_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.parquet"
    write_table(sample(), path)
    before = path.read_bytes()

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InputError, match="cannot be written: No space left on device"):
        write_table(sample(2000), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["t.parquet"]
