"""decode as a process, and how rows are printed."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.run import Decoded
from freezeframe.decoders.serial.mdio_encode import MdioFrame, encode_frames
from freezeframe.gui.cli.work.events import print_json, rows_of
from tests.gui.cli import run_inside, run_process


def test_the_program_prints_the_same_on_one_core_and_on_more(tmp_path: Path) -> None:
    path = tmp_path / "phy.sr"
    frames = [MdioFrame(22, "read", phy=1, reg=number % 32, data=number) for number in range(300)]
    write_sr(encode_frames(frames, samplerate_hz=100_000_000), path)
    _store(path)
    assert path.stat().st_size > 1 << 17  # worth a second process where there are two cores
    done = run_process("decode", str(path), "-d", "mdio")
    assert (done.code, done.err) == (0, "")
    assert done.out == run_inside("decode", str(path), "-d", "mdio").out
    assert len(done.out.splitlines()) == 300


def test_a_damaged_capture_is_one_line_and_code_2(tmp_path: Path) -> None:
    path = tmp_path / "phy.sr"
    frames = [MdioFrame(22, "read", phy=1, reg=number % 32, data=number) for number in range(300)]
    write_sr(encode_frames(frames, samplerate_hz=100_000_000), path)
    _store(path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 2
    path.write_bytes(data)
    done = run_process("decode", str(path), "-d", "mdio")
    assert (done.code, done.out) == (2, "")
    (line,) = done.err.splitlines()
    assert line.startswith(f"freezeframe: {path}: logic-1-1: checksum 0x")


def _store(path: Path) -> None:
    """Write the archive again with nothing packed."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([], pa.int64()),
        pa.array([1, -(2**63), 2**63 - 1], pa.int64()),
        pa.array([0, 2**64 - 1], pa.uint64()),
        pa.array([1, None, 3], pa.int16()),
        pa.array([True, False]),
        pa.array([1.5, 2.5]),
        pa.array(["a", None, "b"]),
        pa.array(["a", "b", "a"]).dictionary_encode(),
        pa.array(["a", None]).dictionary_encode(),
        pa.array([[1, 2], [], [3]], pa.list_(pa.uint64())),
        pa.array([[], []], pa.list_(pa.int64())),
        pa.array([[1, None], [2]], pa.list_(pa.int64())),
        pa.array([[1], None], pa.list_(pa.int64())),
        pa.array([["a"], []], pa.list_(pa.string())),
    ],
    ids=str,
)
def test_rows_hold_what_pyarrow_gives(column: pa.Array) -> None:
    for cut in (column, column[1:], column[:-1]):
        table = pa.table({"a": cut, "b": cut})
        assert list(rows_of(table)) == table.to_pylist()


def test_bytes_stand_in_json_as_hex(capsys: pytest.CaptureFixture[str]) -> None:
    table = pa.table(
        {
            "t_ps": pa.array([1, 2, 3], pa.int64()),
            "data": pa.array([b"\x00\xff", b"", None], pa.binary()),
            "parts": pa.array([[b"\x01"], [], None], pa.list_(pa.binary())),
        }
    )
    print_json(Path("a.sr"), [Decoded("x", table)])
    assert json.loads(capsys.readouterr().out)["tables"] == [
        {
            "name": "x",
            "rows": [
                {"t_ps": 1, "data": "00ff", "parts": ["01"]},
                {"t_ps": 2, "data": "", "parts": []},
                {"t_ps": 3, "data": None, "parts": None},
            ],
        }
    ]
