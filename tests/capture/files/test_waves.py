"""DSView captures, Tektronix waveforms and WAV files, made byte by byte; and what is refused by its name."""

from __future__ import annotations

import json
import random
import struct
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.files import dsl, waveform
from freezeframe.capture.files.edges import NO_RATE, Edges, join
from freezeframe.capture.files.open import (
    FORMATS,
    find_format,
    read_edges,
    read_header,
    read_samples,
)
from freezeframe.capture.files.source import ReadSettings
from freezeframe.capture.files.threshold import Threshold
from tests.capture.files.captures import metadata, write_session
from tests.capture.files.test_vcd import pairs

VOLTS = {"": Threshold(1.5, 1.0)}
HEADER = """[version]
version = 3
[header]
driver = DSLogic
device mode = 0
capturefile = data
total samples = 20
total probes = 2
total blocks = 2
samplerate = 1 MHz
trigger time = 0
probe0 = SCL
probe5 = SDA
"""
# 16 samples of each in the first block, 8 more in the second, of which the capture has 4.
BLOCKS = {
    "L-0/0": bytes([0b00000001, 0b00000000]),
    "L-5/0": bytes([0b00001100, 0b10000000]),
    "L-0/1": bytes([0b11110010]),
    "L-5/1": bytes([0b11111111]),
}
DSL_EDGES = [(0, 0b01), (1, 0b00), (2, 0b10), (4, 0b00), (15, 0b10), (17, 0b11), (18, 0b10)]


def write_dsl(path: Path, header: str = HEADER, blocks: Mapping[str, bytes] = BLOCKS) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header", header)
        archive.writestr("decoders", "[]")
        for name, data in blocks.items():
            archive.writestr(name, data)
    return path


def read(path: Path, probes: list[str] | None = None, **more: Any) -> Edges:
    return join(list(read_edges(path, probes, ReadSettings(**more))))


def test_a_capture_of_dsview_is_read(tmp_path: Path) -> None:
    path = write_dsl(tmp_path / "a.dsl")
    assert find_format(path) == "dsl"
    assert read_header(path).channels == ("SCL", "SDA")
    edges = read(path)
    assert pairs(edges) == DSL_EDGES
    assert (edges.samplerate_hz, edges.end_sample) == (1_000_000, 20)
    assert pairs(read(path, ["SDA"])) == [(0, 0), (2, 1), (4, 0), (15, 1)]
    pieces = read_samples(path)
    assert pieces is not None
    assert sum(map(len, pieces)) == 20


def test_its_edges_do_not_depend_on_where_pieces_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_dsl(tmp_path / "a.dsl")
    monkeypatch.setattr(dsl, "_AT_ONCE_B", 1)
    assert pairs(read(path)) == DSL_EDGES


def test_its_probes_may_be_the_folders_in_their_order_and_have_one_name(tmp_path: Path) -> None:
    header = HEADER.replace("probe5 = SDA", "probe1 = SCL").replace("samplerate = 1 MHz\n", "")
    edges = read(write_dsl(tmp_path / "a.dsl", header))
    assert edges.channels == ("SCL#0", "SCL#1")
    assert (pairs(edges), edges.samplerate_hz) == (DSL_EDGES, NO_RATE)


def test_sixty_channels_are_told_apart(tmp_path: Path) -> None:
    rng = random.Random(7)
    levels = [[rng.randrange(2) for _ in range(24)] for _ in range(60)]
    names = "".join(f"probe{number} = P{number}\n" for number in range(60))
    header = "total samples = 24\ntotal blocks = 1\nsamplerate = 1 GHz\n" + names
    blocks = {
        f"L-{number}/0": sum(bit << at for at, bit in enumerate(line)).to_bytes(3, "little")
        for number, line in enumerate(levels)
    }
    edges = read(write_dsl(tmp_path / "a.dsl", header, blocks))
    words = [sum(line[at] << number for number, line in enumerate(levels)) for at in range(24)]
    assert edges.value.tolist() == [
        w for at, w in enumerate(words) if at == 0 or w != words[at - 1]
    ]


DSL_BAD = {
    "scope": (
        HEADER.replace("mode = 0", "mode = 1"),
        BLOCKS,
        "DSView of its oscilloscope, .* export it as",
    ),
    "no number": (HEADER.replace("= 20", "= many"), BLOCKS, "total samples is many, not a number"),
    "too many": (
        HEADER.replace("= 20", "= 99"),
        BLOCKS,
        "99 samples are promised and 24 are there",
    ),
    "block missing": (
        HEADER,
        {name: data for name, data in BLOCKS.items() if name != "L-5/1"},
        "L-5/1 is missing, and header says 2 blocks",
    ),
    "other length": (HEADER, {**BLOCKS, "L-5/1": b"\0\0"}, "block 1 has 1 to 2 B"),
    "huge block": (
        HEADER,
        {**BLOCKS, "L-5/1": bytes((1 << 24) + 1)},
        "at most 16777216 B make sense",
    ),
    "old": (
        HEADER,
        {"data": b"\0"},
        "2 probes and blocks of 0 of them; open it in DSView and save it again",
    ),
    "no probe": (HEADER.split("probe0", maxsplit=1)[0], BLOCKS, "0 probes and blocks of 2"),
}


@pytest.mark.parametrize("what", DSL_BAD)
def test_a_damaged_dsl_is_one_clear_error(tmp_path: Path, what: str) -> None:
    header, blocks, message = DSL_BAD[what]
    path = write_dsl(tmp_path / "a.dsl", header, blocks)
    with pytest.raises(InputError, match=message) as error:
        read(path)
    assert str(error.value).startswith(str(path))


LONG = (
    ':WFMOUTPRE:BYT_NR 2;BIT_NR 16;ENCDG BINARY;BN_FMT RI;BYT_OR MSB;WFID "Ch2, DC coupling; 1.0V/div, '
    '100.0us/div, 4 points";NR_PT 4;PT_FMT Y;PT_ORDER LINEAR;XUNIT "s";XINCR 4.0E-9;XZERO -2.0E-6;PT_OFF 0;'
    'YUNIT "V";YMULT 1.0E-3;YOFF 100.0;YZERO 0.5;:CURVE '
)
SHORT = 'BYT_N 1;BIT_N 8;ENC BIN;BN_F RP;BYT_O LSB;NR_P 4;WFI "Ch1";PT_F Y;XIN 1.0E-6;YMU 2.0E-2;YOF 0;YZE 0;:CURV '


def isf(head: str, data: bytes) -> bytes:
    return head.encode() + f"#{len(str(len(data)))}{len(data)}".encode() + data + b"\n"


LONG_DATA = struct.pack(">4h", 100, 3000, 700, -5000)  # 0.5, 3.4, 1.1 and -4.6 V
SHORT_DATA = bytes([0, 200, 60, 20])  # 0, 4, 1.2 and 0.4 V


@pytest.mark.parametrize(
    ("data", "name", "rate_hz", "edges"),
    [
        (isf(LONG, LONG_DATA), "CH2", 250_000_000, [(0, 0), (1, 1), (3, 0)]),
        (isf(SHORT, SHORT_DATA), "CH1", 1_000_000, [(0, 0), (1, 1), (3, 0)]),
        (
            isf(
                LONG.replace("BYT_NR 2", "BYT_NR 4").replace("RI", "FP"),
                struct.pack(">4f", 100, 3000, 700, 0),
            ),
            "CH2",
            250_000_000,
            [(0, 0), (1, 1), (3, 0)],
        ),
    ],
)
def test_a_waveform_of_tektronix_is_read(
    tmp_path: Path, data: bytes, name: str, rate_hz: int, edges: list[tuple[int, int]]
) -> None:
    path = tmp_path / "a.dat"
    path.write_bytes(data)
    assert find_format(path) == "isf"
    assert read_header(path).refused == {
        name: f"it is analog; give --threshold {name}=HIGH/LOW in volts"
    }
    found = read(path, thresholds=VOLTS)
    assert (found.channels, found.samplerate_hz, found.end_sample) == ((name,), rate_hz, 4)
    assert pairs(found) == edges


ISF_BAD: dict[str, tuple[bytes, str]] = {
    "cut": (isf(LONG, LONG_DATA)[:-4], "8 B of the curve are promised and 5 B are left"),
    "no curve": (LONG.replace(":CURVE", "").encode(), "no CURVE in its first"),
    "no count": (LONG.encode() + b"#x123", "the curve begins with b'#x', not with # and a digit"),
    "no bytes": (LONG.encode() + b"#4x1", "is no number of bytes"),
    "odd": (isf(LONG, LONG_DATA[:7]), "7 B are no whole number of points of 2 B"),
    "points": (isf(LONG, LONG_DATA[:6]), "3 points, where NR_PT says 4"),
    "text": (
        isf(LONG.replace("BINARY", "ASCII"), LONG_DATA),
        "ENCDG ASCII; binary waveforms are read",
    ),
    "pairs": (
        isf(LONG.replace("PT_FMT Y", "PT_FMT ENV"), LONG_DATA),
        "PT_FMT ENV: lowest and highest",
    ),
    "width": (isf(LONG.replace("BYT_NR 2", "BYT_NR 3"), LONG_DATA), "BN_FMT RI with BYT_NR 3"),
    "spacing": (isf(LONG.replace("4.0E-9", "4.0E-99"), LONG_DATA), "XINCR is 4e-99 s"),
    "number": (isf(LONG.replace("1.0E-3", "much"), LONG_DATA), "YMULT is much, not a number"),
    # A pattern that gives back what it took would try 8^500 ways.
    "paths": (
        isf(":BYT_NR 1;" + ":CCCCCCC" * 500 + ":CURVE ", b"abcd"),
        "BN_FMT RI with BYT_NR missing",
    ),
}


def wav(tag: int, channels: int, bits: int, data: bytes, *, length: int | None = None) -> bytes:
    width = channels * bits // 8
    form = struct.pack("<HHIIHH", tag, channels, 8000, 8000 * width, width, bits)
    chunks = b"LIST" + struct.pack("<I", 3) + b"abc\0"
    chunks += b"fmt " + struct.pack("<I", len(form)) + form
    chunks += b"data" + struct.pack("<I", len(data) if length is None else length) + data
    return b"RIFF" + struct.pack("<I", len(chunks) + 4) + b"WAVE" + chunks


SOUNDS: dict[str, tuple[int, int, bytes]] = {
    "8 bits": (1, 8, bytes([128, 0, 255, 128, 100, 255])),
    "16 bits": (1, 16, struct.pack("<6h", 0, -32768, 32767, 0, -7000, 30000)),
    "24 bits": (
        1,
        24,
        b"".join(
            n.to_bytes(3, "little", signed=True) for n in (0, -8388608, 8388607, 0, -1, 8000000)
        ),
    ),
    "32 bits": (1, 32, struct.pack("<6i", 0, -(1 << 31), (1 << 31) - 1, 0, -1, 1 << 30)),
    "float": (3, 32, struct.pack("<6f", 0, -1, 1, 0, -0.1, 0.9)),
    "double": (3, 64, struct.pack("<6d", 0, -1, 1, 0, -0.1, 0.9)),
}


@pytest.mark.parametrize("kind", SOUNDS)
def test_a_wav_file_is_read_in_shares_of_full_scale(tmp_path: Path, kind: str) -> None:
    tag, bits, data = SOUNDS[kind]
    path = tmp_path / "a.wav"
    path.write_bytes(wav(tag, 2, bits, data))
    assert find_format(path) == "wav"
    assert read_header(path).refused["CH2"] == (
        "it is analog; give --threshold CH2=HIGH/LOW in shares of full scale"
    )
    half = {"": Threshold(0.4, -0.4)}
    edges = read(path, thresholds=half)
    assert (edges.channels, edges.samplerate_hz, edges.end_sample) == (("CH1", "CH2"), 8000, 3)
    assert pairs(edges) == [(0, 0b00), (1, 0b01), (2, 0b11)]
    assert pairs(read(path, ["CH2"], thresholds=half)) == [(0, 0), (2, 1)]
    path.write_bytes(wav(tag, 2, bits, data, length=0))  # of a writer that could not go back
    assert pairs(read(path, thresholds=half)) == pairs(edges)


WAV_BAD: dict[str, tuple[bytes, str]] = {
    "short": (b"RIFF\0\0", "no RIFF with WAVE in its first 12 B"),
    "no sound": (wav(1, 2, 16, b"")[:-8], "the file ends before its sound"),
    "empty": (wav(1, 2, 16, b""), "there is no sound in it"),
    "cut": (wav(1, 2, 16, bytes(8), length=99), "99 B of sound are promised and 8 B are left"),
    "packed": (wav(2, 2, 4, bytes(8)), "sound of format 2 with 4 bits"),
    "channels": (
        wav(1, 200, 8, bytes(200)),
        "200 channels at 8000 Hz; 1 to 64 channels at 1 Hz or more are read",
    ),
}


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [("a.isf", *bad) for bad in ISF_BAD.values()] + [("a.wav", *bad) for bad in WAV_BAD.values()],
    ids=[*ISF_BAD, *WAV_BAD],
)
def test_a_damaged_isf_or_wav_is_one_clear_error(
    tmp_path: Path, name: str, data: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(CaptureFormatError, match=message) as error:
        read(path, thresholds=VOLTS)
    assert str(error.value).startswith(str(path))


MADE: dict[str, Callable[[Path], object]] = {
    "a.dsl": write_dsl,
    "a.isf": lambda path: path.write_bytes(isf(LONG, LONG_DATA)),
    "a.wav": lambda path: path.write_bytes(wav(1, 2, 16, bytes(range(200)))),
}


@pytest.mark.parametrize("name", MADE)
def test_flipped_bits_give_one_line_or_edges(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    MADE[name](path)
    good = path.read_bytes()
    chance = random.Random(name)
    for _ in range(150):
        bad = bytearray(good)
        bad[chance.randrange(len(bad))] ^= 1 << chance.randrange(8)
        path.write_bytes(bad[: chance.choice([len(bad), chance.randrange(4, len(bad))])])
        try:
            read(path, thresholds=VOLTS, max_samples=1 << 22)
        except InputError as error:
            assert str(error).startswith(str(path))
            assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        (
            "a.sal",
            b"PK\x03\x04rest",
            "Logic 2, whose inside Saleae does not document; in Logic 2 choose File > Export",
        ),
        ("a.logicdata", b"\x16\0", "Logic 1, .* Export data, as CSV or VCD"),
        ("top.fsdb", b"\0\0", "fsdb2vcd top -o top.vcd"),
        ("top.wlf", b"\0\0", "wlf2vcd -o top.vcd top"),
        ("hw.ila", b"PK\x03\x04rest", "write_hw_ila_data -csv_file hw.csv"),
    ],
)
def test_what_only_could_be_guessed_is_refused_with_the_export_that_works(
    tmp_path: Path, name: str, data: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InputError, match=message) as error:
        read_header(path)
    assert str(error.value).startswith(str(path))


def test_a_session_is_a_session_whatever_it_is_called(tmp_path: Path) -> None:
    assert find_format(write_session(tmp_path / "a.zip", [b"\0"], metadata(["A"]))) == "sr"
    assert find_format(write_dsl(tmp_path / "a.zip")) == "dsl"
    assert {"dsl", "isf", "wav"} < set(FORMATS)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"preamble": 2147483648}, "zip"),
        ({"file": "a\0.bin"}, "is not the name of a file"),
        ({"file": 7}, "7 is not the name of a file"),
    ],
)
def test_a_waveform_whose_index_has_other_kinds_of_values_is_one_clear_error(
    tmp_path: Path, changed: dict[str, object], says: str
) -> None:
    fields = "points x_increment_s x_origin_s x_reference y_increment_V y_origin_V y_reference"
    trace = {
        "file": "a.bin",
        "channels": ["D0"],
        "bits_per_byte": 8,
        "preamble": "4,1e-9,0,0,1,0,0",
    }
    index = {
        "format": ["freezeframe-waveform", 1],
        "fields": fields.split(),
        "volts": "reference",
        "traces": [trace | changed],
    }
    (tmp_path / "a.bin").write_bytes(bytes(4))
    (tmp_path / "waveform.json").write_text(json.dumps(index))
    with pytest.raises(CaptureFormatError, match=says) as raised:
        waveform.read_header(tmp_path)
    assert "\n" not in str(raised.value)
