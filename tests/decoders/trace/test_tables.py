"""Keeping of decoded tables beside a capture: equal bytes, checked pages, made again when damaged."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.folder import CaptureFolder, Gap
from freezeframe.decoders.trace import decode, encode, schema
from freezeframe.decoders.trace.decode import Trace, decode_capture, open_trace
from tests.decoders.trace.captures import capture, device, image, raw_image
from tests.decoders.trace.recorder_model import CREDIT, PRESSURE, record_stream


@pytest.fixture
def folder(tmp_path: Path) -> CaptureFolder:
    """A capture of two devices with packets good and cut, a gap, credits and back-pressure."""
    words = [
        (1000 + 3 * i, int(kind), word)
        for i, (kind, word) in enumerate(
            pair
            for seq in range(9)
            for pair in encode.packet_words(1, 3, seq, 0x1000, list(range(seq)))
        )
    ]
    log = [
        (1100, CREDIT, 1 << 56 | 3 << 40 | encode.credit_word(3, 8) & (1 << 40) - 1),
        (1150, PRESSURE, 1 << 56 | 3 << 40),
    ]
    stored = record_stream(words, 1000, 2000)
    return capture(
        device(0, image("tx_enq", stored), image("event_log", record_stream(log, 1000, 2000))),
        device(1, raw_image("rx_deq", [record.raw for record in stored], [Gap(5, 9, "x")])),
        path=tmp_path / "x.ff",
    )


def same(a: Trace, b: Trace) -> None:
    for name in schema.TABLES:
        pd.testing.assert_frame_equal(getattr(a, name), getattr(b, name))
    assert a.problems == b.problems
    assert a.devices == b.devices
    assert a.timebase.origin_ps == b.timebase.origin_ps


def test_a_trace_that_was_saved_loads_equal(folder: CaptureFolder) -> None:
    trace = decode_capture(folder)
    assert min(len(getattr(trace, name)) for name in schema.TABLES) > 0
    assert trace.problems
    paths = trace.save(folder)
    assert [path.name for path in paths] == [f"{name}.parquet" for name in schema.TABLES]
    same(Trace.load(folder), trace)


def test_tables_made_again_are_equal_byte_for_byte(folder: CaptureFolder, tmp_path: Path) -> None:
    first = {path.name: path.read_bytes() for path in decode_capture(folder).save(folder)}
    shutil.rmtree(folder.path / "tables")
    moved = tmp_path / "elsewhere.ff"
    shutil.copytree(folder.path, moved)
    again = CaptureFolder.open(moved)
    second = {path.name: path.read_bytes() for path in decode_capture(again).save(again)}
    assert first == second


def test_the_evidence_is_untouched_by_saving(folder: CaptureFolder) -> None:
    open_trace(folder)
    assert CaptureFolder.open(folder.path).manifest == folder.manifest


def test_any_reader_of_parquet_finds_the_declared_columns(folder: CaptureFolder) -> None:
    for path in decode_capture(folder).save(folder):
        file = pq.ParquetFile(path)
        assert file.schema_arrow.names == schema.schema(path.stem).names
        column = {
            file.metadata.row_group(0).column(i).path_in_schema: file.metadata.row_group(0).column(
                i
            )
            for i in range(file.metadata.num_columns)
        }
        assert column["t_ps"].compression == "ZSTD"
        assert "DELTA_BINARY_PACKED" in column["t_ps"].encodings
        assert "RLE_DICTIONARY" in column["source"].encodings
        if "data" in column:
            assert "BYTE_STREAM_SPLIT" in column["data"].encodings


def test_open_trace_makes_the_tables_once_and_then_reads_them(folder: CaptureFolder) -> None:
    made = open_trace(folder)
    stamps = {p.name: p.stat().st_mtime_ns for p in (folder.path / "tables").iterdir()}
    read = open_trace(folder)
    same(made, read)
    assert stamps == {p.name: p.stat().st_mtime_ns for p in (folder.path / "tables").iterdir()}
    assert [note for note in made.notes + read.notes if "tables" in note] == []


@pytest.mark.parametrize("table", schema.TABLES)
@pytest.mark.parametrize("damage", ["cut", "empty", "missing", "other file"])
def test_a_damaged_table_is_made_again_with_a_note(
    folder: CaptureFolder, table: str, damage: str
) -> None:
    whole = open_trace(folder)
    path = folder.path / "tables" / f"{table}.parquet"
    before = path.read_bytes()
    match damage:
        case "cut":
            path.write_bytes(before[:-20])
        case "empty":
            path.write_bytes(b"")
        case "missing":
            path.unlink()
        case "other file":
            pq.write_table(pa.table({"t_ps": [1]}), path)
    again = open_trace(folder)
    same(whole, again)
    assert path.read_bytes() == before
    (note,) = [note for note in again.notes if "tables" in note]
    assert note.startswith("tables were made again from the raw records: ")
    assert f"{table}.parquet" in note


@pytest.mark.parametrize("table", schema.TABLES)
def test_a_flipped_bit_anywhere_in_a_table_is_refused_or_changes_nothing(
    folder: CaptureFolder, table: str
) -> None:
    whole = open_trace(folder)
    path = folder.path / "tables" / f"{table}.parquet"
    before = path.read_bytes()
    refused = 0
    places = range(0, len(before), max(1, len(before) // 120))
    for at in places:
        path.write_bytes(before[:at] + bytes([before[at] ^ 1 << at % 8]) + before[at + 1 :])
        try:
            read = Trace.load(folder)
        except CaptureFormatError:
            refused += 1
        else:
            same(whole, read)  # statistics and names of the writer: nothing that is read
    assert refused > len(places) // 3


def test_tables_of_another_capture_are_not_believed(folder: CaptureFolder, tmp_path: Path) -> None:
    other = capture(
        device(0, image("tx_enq", record_stream([], 0, 99))), path=tmp_path / "other.ff"
    )
    open_trace(other)
    shutil.copytree(other.path / "tables", folder.path / "tables")
    with pytest.raises(CaptureFormatError, match="was decoded from another capture"):
        Trace.load(folder)
    assert len(open_trace(folder).words) > 0


def test_tables_of_another_decoder_version_are_made_again(
    folder: CaptureFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(decode, "DECODER_VERSION", 99)
        decode_capture(folder).save(folder)
    with pytest.raises(CaptureFormatError, match="made by decoder version 99, this is 2"):
        Trace.load(folder)


def test_a_trace_of_one_device_is_not_kept_as_that_of_the_capture(folder: CaptureFolder) -> None:
    with pytest.raises(ValueError, match="only a whole decoding is kept"):
        decode_capture(folder, ["A"]).save(folder)
    assert not (folder.path / "tables").exists()


def test_where_tables_cannot_be_kept_the_trace_is_there_and_says_so(
    folder: CaptureFolder,
) -> None:
    (folder.path / "tables").write_text("a file where the folder should be")
    trace = open_trace(folder)
    assert len(trace.words) > 0
    assert any(note.startswith("tables were not kept: ") for note in trace.notes)


def test_saving_where_it_is_impossible_is_one_clear_error(folder: CaptureFolder) -> None:
    (folder.path / "tables").write_text("a file where the folder should be")
    with pytest.raises(InputError, match=r"tables: cannot be made"):
        decode_capture(folder).save(folder)
