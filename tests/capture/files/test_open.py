"""Which format a file is of, and the names that the user gives its channels."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.choice import SourceChoice
from freezeframe.capture.files.edges import Bus, join
from freezeframe.capture.files.open import find_format, is_samples, read_header, renamed
from freezeframe.capture.files.source import CaptureHeader, ReadSettings
from tests.capture.files.captures import metadata, write_session
from tests.capture.files.test_vcd import HEAD, pairs

SALEAE = b"<SALEAE>" + struct.pack("<iiIddQ", 0, 0, 1, 0.0, 1.0, 0)


@pytest.mark.parametrize(
    ("name", "data", "want"),
    [
        ("a.bin", SALEAE, "saleae"),
        ("a.txt", b"\n $date today $end", "vcd"),
        ("a.vcd", b"", "vcd"),
        ("a.dump", b"\0" + (329).to_bytes(8, "big"), "fst"),
        ("a.csv", b"a,b\n0,1\n", "csv"),
        ("a.csv", b"a,b,\n1,1,\n0, 1,\n", "litescope"),
        ("a.json", b'{"a": [1]}', "litescope"),
        ("a.vcd", b"PK\x03\x04", "sr"),
        ("a.sr", b"nonsense", "sr"),
    ],
)
def test_the_content_decides_and_then_the_name(
    tmp_path: Path, name: str, data: bytes, want: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    assert find_format(path) == want


OTHER = r"no format is recognised .*pcapng.* --format binary:channels=8"


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"", r"raw\.bin: the file is empty$"), (b"\x01\x02", OTHER), (b"hello", OTHER)],
)
def test_what_is_not_recognised_says_how_to_go_on(
    tmp_path: Path, data: bytes, message: str
) -> None:
    path = tmp_path / "raw.bin"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message):
        read_header(path)


def test_formats_that_are_not_known_and_files_that_are_not_there_are_refused(
    tmp_path: Path,
) -> None:
    with pytest.raises(InputError, match="--format mp3: not known; there is sr, vcd"):
        read_header(tmp_path, format="mp3")
    with pytest.raises(InputError, match="cannot be read: No such file"):
        find_format(tmp_path / "none")
    with pytest.raises(InputError, match=r"a folder without digital_N\.bin"):
        find_format(tmp_path)
    assert not is_samples(tmp_path)
    (tmp_path / "digital_0.bin").write_bytes(SALEAE)
    assert is_samples(tmp_path)
    assert find_format(tmp_path) == "saleae"


HEADER = CaptureHeader(
    "vcd", ("top.c", "d[0]", "d[1]", "e"), 1, (Bus("d", ("d[0]", "d[1]")),), spans_time=True
)


def test_a_channel_and_the_bits_of_a_bus_get_other_names() -> None:
    header, meant = renamed(HEADER, ["clk=top.c", "data = d"])
    assert header.channels == ("clk", "data0", "data1", "e")
    assert meant == {"clk": "top.c", "data0": "d[0]", "data1": "d[1]"}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["clk"], "'clk': not NEW=CHANNEL"),
        (["=e"], "'=e': not NEW=CHANNEL"),
        (["clk=f"], r"no channel or bus f; there is top\.c, d\[0\], d\[1\], e, d"),
        (["e=top.c"], "e is the name of another channel"),
        (["x=e", "x=top.c"], "x is the name of another channel"),
    ],
)
def test_names_that_make_no_sense_are_refused(names: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        renamed(HEADER, names)


def test_a_choice_reads_the_cut_under_the_new_names(tmp_path: Path) -> None:
    path = tmp_path / "a.vcd"
    path.write_text(HEAD + '#0\n0!\nb0001 "\n#5\n1!\n#7\nb1000 "\n#20\n')
    choice = SourceChoice("vcd", ["clock=clk", "d=data"], cut_ps=(60_000, 100_000))
    source = choice.open(path, ReadSettings())
    assert source.header.channels[:5] == ("clock", "d0", "d1", "d2", "d3")
    edges = join(list(source.read(["d3", "clock"])))
    assert (edges.channels, pairs(edges)) == (("d3", "clock"), [(0, 0b10), (1, 0b11)])
    assert (edges.end_sample, edges.samplerate_hz) == (4, 100_000_000)


def test_a_threshold_for_a_channel_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path = write_session(tmp_path / "a.sr", [b"\0\1"], metadata(["CLK"]))
    with pytest.raises(InputError, match="threshold for A0: no such channel; there is CLK"):
        SourceChoice(thresholds=["A0=1"]).open(path, ReadSettings())
    with pytest.raises(InputError, match="a second one for CLK"):
        SourceChoice(thresholds=["CLK=1", "CLK=2"]).open(path, ReadSettings())
