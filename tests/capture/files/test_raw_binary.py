"""Raw samples: the layout says everything, and is checked against the length of the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.files.edges import Edges, join
from freezeframe.capture.files.raw_binary import read_edges, read_header
from freezeframe.capture.files.settings import parse_format
from freezeframe.capture.files.source import ReadSettings
from tests.capture.files.test_vcd import pairs


def read(path: Path, layout: str, probes: list[str] | None = None, **more: int) -> Edges:
    settings = ReadSettings(layout=parse_format(layout)[1], **more)  # type: ignore[arg-type] # test
    return join(list(read_edges(path, probes, settings)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "a.bin"
    file.write_bytes(bytes.fromhex("0001 0001 0201 8000"))
    return file


def test_a_byte_is_a_sample_of_eight_channels(path: Path) -> None:
    edges = read(path, "binary:channels=8,rate=1000000")
    assert pairs(edges)[:4] == [(0, 0), (1, 1), (2, 0), (3, 1)]
    assert (edges.channels[7], edges.samplerate_hz, edges.end_sample) == ("7", 1_000_000, 8)


def test_wider_samples_are_little_endian_unless_said(path: Path) -> None:
    assert pairs(read(path, "binary:channels=9,rate=1MHz", ["8", "1"])) == [
        (0, 0b01),
        (2, 0b11),
        (3, 0b00),
    ]
    big = read(path, "binary:channels=9,rate=1MHz,order=big", ["0", "8"])
    assert pairs(big) == [(0, 0b01), (3, 0b00)]


def test_channels_are_named_a_head_is_skipped_and_samples_are_padded(path: Path) -> None:
    edges = read(path, "binary:channels=2,rate=5,names=scl;sda,skip=4,unit=2")
    assert (edges.channels, pairs(edges)) == (("scl", "sda"), [(0, 0b10), (1, 0b00)])


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ("binary", r"give channels=1\.\.64"),
        ("binary:channels=0,rate=1", r"channels=0; 1\.\.64 are possible"),
        ("binary:channels=65,rate=1", r"channels=65; 1\.\.64"),
        ("binary:channels=eight,rate=1", r"channels=eight; 1\.\.64"),
        ("binary:channels=8", "give the sample rate too"),
        ("binary:channels=8,rate=0", "1 Hz to 1 THz"),
        ("binary:channels=8,rate=1,unit=9", r"unit=9; 1\.\.8"),
        ("binary:channels=9,rate=1,unit=1", r"unit=1; 2\.\.8"),
        ("binary:channels=2,rate=1,names=a", "names gives 1 names"),
        ("binary:channels=2,rate=1,names=a;a", "names gives 2 names, 1 of them different"),
        ("binary:channels=8,rate=1,order=middle", "order is little or big"),
        ("binary:channels=8,rate=1,colour=red", "there is no setting colour; channels, rate"),
        ("binary:channels", "'channels' is not key=value"),
        ("binary:channels=1,channels=2", "channels is given twice"),
    ],
)
def test_a_layout_that_makes_no_sense_is_refused(path: Path, layout: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(path, layout)


def test_a_length_that_does_not_fit_the_layout_is_refused(path: Path) -> None:
    with pytest.raises(CaptureFormatError, match="8 B are no whole number of samples of 3 B"):
        read(path, "binary:channels=24,rate=1")
    with pytest.raises(CaptureFormatError, match="0 B after the first 9"):
        read(path, "binary:channels=8,rate=1,skip=9")
    with pytest.raises(InputError, match="holds at least 8 samples, more than the 7 allowed"):
        read(path, "binary:channels=8,rate=1", max_samples=7)
    (path.parent / "empty").touch()
    with pytest.raises(CaptureFormatError, match="empty: 0 B"):
        read(path.parent / "empty", "binary:channels=8,rate=1")


def test_the_header_needs_no_file(tmp_path: Path) -> None:
    settings = ReadSettings(samplerate_hz=7, layout={"channels": "3"})
    assert read_header(tmp_path / "none", settings).channels == ("0", "1", "2")
    with pytest.raises(InputError, match="cannot be read: No such file"):
        list(read_edges(tmp_path / "none", None, settings))
