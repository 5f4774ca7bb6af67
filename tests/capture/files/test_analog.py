"""Analog channels as logic, on request: of sigrok sessions (32-bit voltages in chunks) and VCD reals."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.files.edges import Edges, join
from freezeframe.capture.files.open import read_edges, read_header
from freezeframe.capture.files.source import ReadSettings
from freezeframe.capture.files.threshold import Threshold
from tests.capture.files.test_sample_folder import steps

VOLTS = [0.0, 1.0, 1.5, 1.0, 0.6, 0.5, 1.0, 2.0]
# High from 1.4 V up, low from 0.5 V down: up at sample 2, down at 5, up at 7.
LEVELS = [(0, 0), (2, 1), (5, 0), (7, 1)]
HYSTERESIS = {"A0": Threshold(1.4, 0.5)}

LOGIC = """\
[global]
sigrok version=0.5.2

[device 1]
capturefile=logic-1
total probes=2
samplerate=1 MHz
total analog=2
probe1=D0
probe2=D1
analog3=A0
analog4=A1
unitsize=1
"""
ANALOG_ONLY = """\
[global]
sigrok version=0.5.2

[device 1]
samplerate=1 MHz
total analog=1
analog1=A0
"""


def volts(values: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def session(path: Path, meta: str, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {"version": b"2", "metadata": meta.encode(), **members}.items():
            archive.writestr(name, data)
    return path


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    members = {
        "logic-1-1": bytes([0, 1, 1, 3, 3, 2, 2, 2]),
        "analog-1-3-1": volts(VOLTS[:3]),
        "analog-1-3-2": volts(VOLTS[3:]),
        "analog-1-4-1": volts([3.3] * 8),
    }
    return session(tmp_path / "a.sr", LOGIC, members)


def read(path: Path, probes: list[str] | None, thresholds: dict[str, Threshold]) -> Edges:
    return join(list(read_edges(path, probes, ReadSettings(thresholds=thresholds))))


def test_an_analog_channel_of_a_session_is_logic_by_its_threshold(mixed: Path) -> None:
    assert steps(read(mixed, ["A0"], HYSTERESIS)) == LEVELS


def test_logic_and_analog_stand_on_one_time_base(mixed: Path) -> None:
    header = read_header(mixed, ReadSettings(thresholds=HYSTERESIS))
    assert header.channels == ("D0", "D1", "A0")
    assert header.refused == {"A1": "it is analog; give --threshold A1=HIGH/LOW in volts"}
    found = read(mixed, ["A0", "D1"], HYSTERESIS)
    assert steps(found) == [(0, 0), (2, 1), (3, 3), (5, 2), (7, 3)]


def test_one_threshold_is_for_all_analog_channels(mixed: Path) -> None:
    found = read(mixed, None, {"": Threshold(1.4, 1.4)})
    assert steps(found)[:3] == [(0, 0b1000), (1, 0b1001), (2, 0b1101)]


def test_without_a_threshold_the_logic_is_read_as_ever(mixed: Path) -> None:
    assert steps(read(mixed, None, {})) == [(0, 0), (1, 1), (3, 3), (5, 2)]
    with pytest.raises(InputError, match="channel A0 cannot be read: it is analog; give --thre"):
        read(mixed, ["A0"], {})


def test_a_session_of_analog_channels_alone_is_read(tmp_path: Path) -> None:
    path = session(tmp_path / "a.sr", ANALOG_ONLY, {"analog-1-1-1": volts(VOLTS)})
    assert steps(read(path, None, HYSTERESIS)) == LEVELS
    with pytest.raises(CaptureFormatError, match="no channel that can be read; A0: it is analog"):
        read(path, None, {})


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"analog-1-1-1": volts(VOLTS) + b"\0"}, "end with 1 B of 4; the last chunk is cut"),
        ({"analog-1-1-1": b""}, "there is no voltage in it"),
        ({}, "it is analog, and there is no voltage of it"),
        ({"analog-1-1-2": volts(VOLTS)}, "analog-1-1-1 is missing"),
    ],
)
def test_voltages_that_are_cut_or_missing_are_told(
    members: dict[str, bytes], message: str, tmp_path: Path
) -> None:
    path = session(tmp_path / "a.sr", ANALOG_ONLY, members)
    with pytest.raises(CaptureFormatError, match=message):
        read(path, None, HYSTERESIS)


def test_more_voltages_than_allowed_are_refused(tmp_path: Path) -> None:
    path = session(tmp_path / "a.sr", ANALOG_ONLY, {"analog-1-1-1": volts(VOLTS)})
    settings = ReadSettings(thresholds=HYSTERESIS, max_samples=7)
    with pytest.raises(InputError, match="more than the 7 allowed"):
        list(read_edges(path, None, settings))


def test_a_logic_and_an_analog_channel_of_one_name_have_their_numbers_too(tmp_path: Path) -> None:
    path = session(tmp_path / "a.sr", LOGIC.replace("=A0", "=D0"), {"logic-1-1": b"\0"})
    header = read_header(path)
    assert header.channels == ("D0#1", "D1")
    assert set(header.refused) == {"D0#3", "A1"}


def dump(tmp_path: Path, values: Sequence[str]) -> Path:
    path = tmp_path / "a.vcd"
    lines = ["$timescale 1 us $end", "$scope module top $end", "$var real 64 ! A0 $end"]
    lines += ["$var wire 1 # clk $end", "$upscope $end", "$enddefinitions $end"]
    for tick, text in enumerate(values):
        lines += [f"#{tick}", f"r{text} !", f"{tick & 1}#"]
    path.write_text("\n".join([*lines, f"#{len(values)}", ""]))
    return path


@pytest.mark.parametrize(
    "values",
    [
        [str(v) for v in VOLTS],
        ["0", "1.0e0", "15e-1", "+1", "0.006e+2", "5E-1", "1000e-3", "2"],
        ["-1e300", "1", "1e300", "1", ".6", "-.5", "1.", "00000000000000000000002"],
    ],
    ids=["plain", "exponents", "odd forms"],
)
def test_a_real_variable_is_logic_by_its_threshold(tmp_path: Path, values: list[str]) -> None:
    path = dump(tmp_path, values)
    assert steps(read(path, ["A0"], HYSTERESIS)) == LEVELS
    assert steps(read(path, ["A0"], {"top.A0": HYSTERESIS["A0"]})) == LEVELS
    both = read(path, ["A0", "clk"], HYSTERESIS)
    assert steps(both)[:3] == [(0, 0), (1, 2), (2, 1)]


def test_what_is_no_number_leaves_a_real_as_it_was_and_is_counted(tmp_path: Path) -> None:
    notes: list[str] = []
    path = dump(tmp_path, ["2.0", "nan", "0.1", "-inf", "2"])
    settings = ReadSettings(thresholds=HYSTERESIS, note=notes.append)
    assert steps(join(list(read_edges(path, ["A0"], settings)))) == [(0, 1), (2, 0), (4, 1)]
    assert "2 values with x or z" in notes[0]


def test_a_real_without_a_threshold_is_refused_by_name(tmp_path: Path) -> None:
    path = dump(tmp_path, ["1.0"])
    assert read_header(path).channels == ("clk",)
    with pytest.raises(InputError, match="A0"):
        read(path, ["A0"], {})


@pytest.mark.parametrize(
    ("text", "message"),
    [("r1x5 !", "byte 0x78 in a real"), ("1!", "bits for a real one"), ("r1 #", "for a variable")],
)
def test_a_value_that_is_no_real_number_is_an_error(
    text: str, message: str, tmp_path: Path
) -> None:
    path = dump(tmp_path, ["1.0"])
    path.write_text(path.read_text().replace("r1.0 !", text))
    with pytest.raises(CaptureFormatError, match=message):
        read(path, None, HYSTERESIS)
