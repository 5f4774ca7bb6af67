"""LiteScope dumps: written by LiteScope itself where it is installed, and byte by byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.files import open as any_format
from freezeframe.capture.files.edges import NO_RATE, Edges, join
from freezeframe.capture.files.litescope import is_dump, read_edges, read_header
from freezeframe.capture.files.source import ReadSettings
from tests.capture.files.test_vcd import pairs

RATE = ReadSettings(samplerate_hz=200_000_000)


def read(path: Path, probes: list[str] | None = None, settings: ReadSettings = RATE) -> Edges:
    return join(list(read_edges(path, probes, settings)))


@pytest.mark.parametrize(
    ("kind", "suffix"),
    [("CSVDump", "csv"), ("JSONDump", "json"), ("VCDDump", "vcd"), ("SigrokDump", "sr")],
)
def test_what_litescope_writes_is_read_whatever_the_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, suffix: str
) -> None:
    dump = pytest.importorskip("litescope.software.dump")
    monkeypatch.chdir(tmp_path)  # it leaves a folder where it is
    samples = [1, 3, 511, 256, 0, 0]
    data = dump.DumpData(9)
    data.extend(samples)
    writer = getattr(dump, kind)(**({"samplerate": 100e6} if suffix in ("vcd", "sr") else {}))
    writer.add_from_layout([("a", 1), ("b", 8)], data)
    writer.add_scope_clk()
    writer.add_scope_trig(2)
    path = tmp_path / f"dump.{suffix}"
    writer.write(path.name)
    edges = join(list(any_format.read_edges(path, None, RATE)))
    assert edges.channels == ("a", *(f"b[{bit}]" for bit in range(8)), "scope_clk", "scope_trig")
    expected = [
        (at, samples[at // 2] | (at + 1) % 2 << 9 | (at >= 2) << 10)
        for at in range(2 * len(samples))
    ]
    assert pairs(edges) == expected
    assert edges.samplerate_hz == 200_000_000


def test_values_that_are_not_yet_known_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b,\n1,3,\nx, xx1, \n1, 101, \n")
    notes: list[str] = []
    edges = read(path, settings=ReadSettings(samplerate_hz=1, note=notes.append))
    assert pairs(edges) == [(0, 0b0010), (1, 0b1011)]
    assert edges.bus("b").tolist() == [1, 5]
    assert notes == [f"{path}: 2 values with x are read as 0"]


def test_signals_wider_than_64_bits_are_refused_by_name_and_the_others_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b,\n1,72,\n1, " + "01" * 36 + ", \n")
    assert read_header(path).refused == {"b": "it has 72 bits; 1 to 64 are read"}
    assert pairs(read(path)) == [(0, 1)]
    with pytest.raises(InputError, match="b cannot be read: it has 72 bits"):
        read(path, ["b"])


def test_a_bit_of_a_signal_that_is_too_wide_may_have_the_name_of_another_signal(
    tmp_path: Path,
) -> None:
    path = tmp_path / "dump.json"
    path.write_text(json.dumps({"b": [1 << 70, 0], "b[0]": [0, 1]}))
    header = read_header(path)
    assert (header.channels, list(header.refused)) == (("b[0]",), ["b"])
    assert pairs(join(list(read_edges(path)))) == [(0, 0), (1, 1)]


def test_the_other_tables_are_not_taken_for_dumps(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,8\n1,0\n")
    assert not is_dump(path)
    path.write_text("a,b,\n0,1,\n1,0,\n")  # samples, with a comma at the end; no widths
    assert not is_dump(path)
    path.write_text("")
    assert not is_dump(path)


BAD = {
    "digit": ("a.csv", "a,\n2,\n00, \n02, \n", "row 2: a is '02', not 2 digits of 0, 1 and x"),
    "short": ("a.csv", "a,\n2,\n00, \n1, \n", "row 2: a is '1', not 2 digits"),
    "cut": ("a.csv", "a,b,\n1,1,\n1, 0, \n1,", "Expected 3 columns, got 2"),
    "no row": ("a.csv", "a,\n2,\n", "there is no sample in it"),
    "twice": ("a.csv", "a,a,\n1,1,\n1, 0, \n", "2 signals are named 'a'"),
    "no json": ("a.json", '{"a": [1, 0', "no JSON: .*; no dump, or cut short"),
    "nested": ("a.json", '{"a": ' + "[" * 100_000, "no JSON: .*"),
    "text": ("a.json", '{"a": [1, "0"]}', "'a' is not a list of whole numbers from 0"),
    "true": ("a.json", '{"a": [true]}', "'a' is not a list of whole numbers from 0"),
    "negative": ("a.json", '{"a": [-1]}', "'a' is not a list of whole numbers from 0"),
    "number": ("a.json", "17", "no object of signals"),
    "none": ("a.json", '{"a": []}', "there is no sample in it"),
    "large": ("a.json", '{"a": [' + "1," * 9_000_000, "more than 16777216 B of JSON"),
}


@pytest.mark.parametrize("what", BAD)
def test_damage_is_one_clear_error(tmp_path: Path, what: str) -> None:
    name, text, message = BAD[what]
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(CaptureFormatError, match=message) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))


def test_a_rate_is_not_in_it_and_samples_are_limited(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a": [1, 0, 1], "b": [5]}')
    notes: list[str] = []
    assert read(path, settings=ReadSettings(note=notes.append)).samplerate_hz == NO_RATE
    assert notes == [
        f"{path}: a LiteScope dump of this kind has no sample rate; that of its lines is twice the clock of the scope"
    ]
    with pytest.raises(InputError, match="holds at least 3 samples, more than the 2 allowed"):
        read(path, settings=ReadSettings(samplerate_hz=1, max_samples=2))
    assert pairs(read(path)) == [(0, 0b1011), (1, 0b1010), (2, 0b1011)]
