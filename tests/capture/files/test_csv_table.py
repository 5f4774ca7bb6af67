"""CSV tables: what a column is, what a row is, and what each kind of damage is called."""

from __future__ import annotations

import subprocess
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.files.csv_table import read_edges, read_header
from freezeframe.capture.files.edges import NO_RATE, Edges, join
from freezeframe.capture.files.sigrok_sr import read_edges as read_sr
from freezeframe.capture.files.source import ReadSettings
from freezeframe.capture.files.threshold import Threshold
from tests.capture.files.captures import real_capture
from tests.capture.files.test_vcd import pairs

MHZ: dict[str, Any] = {"samplerate_hz": 1_000_000}


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "a.csv"
    path.write_text(text)
    return path


def read(path: Path, probes: list[str] | None = None, **more: Any) -> Edges:
    return join(list(read_edges(path, probes, ReadSettings(**more))))


def test_without_a_time_column_a_row_is_a_sample(tmp_path: Path) -> None:
    edges = read(write(tmp_path, "clk,d\n0,1\n1,1\n1,1\n0,0\n"), **MHZ)
    assert pairs(edges) == [(0, 0b10), (1, 0b11), (3, 0b00)]
    assert (edges.channels, edges.end_sample) == (("clk", "d"), 4)


def test_columns_without_names_are_numbered(tmp_path: Path) -> None:
    edges = read(write(tmp_path, "0;1\n1;1\n"), **MHZ)
    assert (edges.channels, pairs(edges)) == (("0", "1"), [(0, 0b10), (1, 0b11)])


def test_the_table_that_saleae_documents_is_read_with_its_gaps_counted(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "Time [s],Channel 0 :),Channel 1 :),Ch2\n0.000000000,0,1,X\n0.125000000,0,0,X\n"
        "0.250000000,1,1,X\n0.500000000,0,0,1\n0.625000000,1,1,0\n",
    )
    notes: list[str] = []
    edges = read(path, samplerate_hz=8, note=notes.append)
    assert pairs(edges) == [(0, 0b010), (1, 0b000), (2, 0b011), (4, 0b100), (5, 0b011)]
    assert notes == [f"{path}: 3 cells with x or z are read as 0"]


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("Time [s]", ("-0.5", "-0.4999995")),
        ("time(ms)", ("3", "3.0005")),
        ("Time[us]", ("7", "7.5")),
        ("t_ns", ("1000", "1500")),
        ("t_ps", ("4000000", "4500000")),
        ("timestamp", ("0", "5e-7")),
    ],
)
def test_times_are_counted_from_the_first_row_in_picoseconds(
    tmp_path: Path, name: str, cells: tuple[str, str]
) -> None:
    edges = read(write(tmp_path, f"{name}\tA\n{cells[0]}\t0\n{cells[1]}\t1\n"))
    assert pairs(edges) == [(0, 0), (500_000, 1)]
    assert edges.samplerate_hz == 10**12


def test_a_bus_is_a_column_with_a_range_in_decimal_or_hex(tmp_path: Path) -> None:
    path = write(tmp_path, '"addr[7:4]",wr,wide[63:0]\n0x9,0,18446744073709551615\n3,1,0\n')
    edges = read(path, ["addr[4]", "addr[5]", "addr[6]", "addr[7]", "wide[63]"], **MHZ)
    assert edges.bus("addr").tolist() == [9, 3]
    assert pairs(edges) == [(0, 0b11001), (1, 0b00011)]


def test_analog_columns_are_read_with_a_threshold_only(tmp_path: Path) -> None:
    path = write(tmp_path, "clk,A0\n0,0.1\n0,1.0\n1,1.5\n1,1.0\n0,0.7\n")
    assert read_header(path).refused["A0"].startswith("it is analog; give --threshold A0=")
    edges = read(path, thresholds={"A0": Threshold(1.4, 0.8)}, **MHZ)
    assert pairs(edges.select(["A0"]))[1:] == [(2, 1), (4, 0)]
    with pytest.raises(InputError, match="A0 cannot be read: it is analog"):
        read(path, ["A0"], **MHZ)


def test_csv_of_sigrok_cli_gives_the_edges_of_the_session(tmp_path: Path) -> None:
    session = real_capture("uart_count_19200_8n1.sr")
    path = tmp_path / "a.csv"
    subprocess.run(["sigrok-cli", "-i", session, "-O", "csv", "-o", path], check=True)
    want = join(list(read_sr(session)))
    edges = read(path)
    assert (edges.channels, edges.samplerate_hz) == (want.channels, want.samplerate_hz)
    assert edges.value.tolist() == want.value.tolist()
    assert edges.sample.tolist() == want.sample.tolist()


BAD = {
    "empty": ("", "there is no line with columns in it"),
    "only names": ("a,b\n", "there is no row after the names"),
    "text": (
        "a,b\n" + "0,1\n" * 1000 + "0,high\n",
        r"a\.csv: line 1002: b is 'high', not a number",
    ),
    "text far behind": ("a,b\n" + "0,1\n" * 900_000 + "x1,0\n", r"line 900002: a is 'x1', not a"),
    "text below comments": ("; x\n; y\na,b\n0,1\n0,-1\n", "line 5: b is '-1', not a number"),
    "empty cell": ("a,b\n0,1\n0,\n", "line 3: b is '', not a number"),
    "no text": ("a,b\n0,1\n\0\0\0", "byte 0x8: a byte 00; this is no text, so no table"),
    "long first line": ("a," * 40_000, "the first line is longer than 65536 B"),
    "cut row": ("a,b\n0,1\n0\n", "Expected 2 columns, got 1"),
    "too large": ("a,b\n0,1\n0,5\n", r"row 2: b is 5; it has 1 bits, 0\.\.1\. A bus is named b\[7"),
    "time back": ("time,a\n0,0\n3,1\n2,0\n", "row 3: its time is earlier than that of the row"),
    "time late": ("time,a\n0,0\n1e300,1\n", "row 2: a time that is missing or later"),
    "time none": ("time,a\n0,0\nx,1\n", "row 2: a time that is missing"),
    "long line": ("a,b\n0,1\n" + "0" * 3_000_000 + ",1\n", "a line is longer than 1048576 B"),
}


@pytest.mark.parametrize("what", BAD)
def test_damage_is_one_clear_error(tmp_path: Path, what: str) -> None:
    text, message = BAD[what]
    path = write(tmp_path, text)
    with pytest.raises(CaptureFormatError, match=message) as caught:
        read(path, **({} if "time" in what else MHZ))
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_columns_of_one_name_or_none_have_their_numbers_too(tmp_path: Path) -> None:
    edges = read(write(tmp_path, "a,,a\n0,1,0\n1,1,1\n"))
    assert edges.channels == ("a#1", "#2", "a#3")


def test_without_a_rate_times_are_numbers_of_rows(tmp_path: Path) -> None:
    edges = read(write(tmp_path, "a,b\n0,1\n1,1\n"))
    assert (edges.samplerate_hz, edges.t_ps().tolist()) == (NO_RATE, [0, 1])


def test_text_of_two_bytes_a_character_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("a,b\n0,1\n".encode("utf-16"))
    with pytest.raises(CaptureFormatError, match="is text in UTF-16; save it as UTF-8"):
        read_header(path)


def test_a_delimiter_at_the_end_of_each_line_is_no_column(tmp_path: Path) -> None:
    edges = read(write(tmp_path, "a,b,\n0,1,\n1,1,\n"), **MHZ)
    assert (edges.channels, pairs(edges)) == (("a", "b"), [(0, 0b10), (1, 0b11)])


def test_the_sample_numbers_of_an_export_are_no_channel(tmp_path: Path) -> None:
    edges = read(write(tmp_path, '"t_ps","sample","a"\n0,0,0\n7000000,7,1\n'), **MHZ)
    assert (edges.channels, pairs(edges)) == (("a",), [(0, 0), (7, 1)])
    assert read(write(tmp_path, "sample,a\n0,0\n1,1\n"), **MHZ).channels == ("sample", "a")


def test_memory_does_not_grow_with_the_table(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\n" + "0,1\n1,0\n" * 1_500_000)
    tracemalloc.start()
    edges = sum(map(len, read_edges(path, None, ReadSettings(samplerate_hz=1))))
    _, peak_B = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert edges == 3_000_000
    assert peak_B < 100 << 20


def test_limits_hold(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\n0,1\n1,1\n0,0\n")
    with pytest.raises(InputError, match="holds at least 3 samples, more than the 2 allowed"):
        read(path, max_samples=2, **MHZ)
    wide = write(tmp_path, "w[99:0],a\n0,1\n")
    with pytest.raises(InputError, match="w cannot be read: it has 100 bits"):
        read(wide, ["w"], **MHZ)
