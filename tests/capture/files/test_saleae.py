"""Saleae exports, byte by byte as Saleae documents them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from freezeframe.capture.errors import CaptureFormatError, CaptureVersionError, InputError
from freezeframe.capture.files import saleae
from freezeframe.capture.files.edges import Edges, join
from freezeframe.capture.files.saleae import channel_files, read_edges, read_header
from freezeframe.capture.files.source import ReadSettings
from freezeframe.capture.files.threshold import Threshold
from tests.capture.files.test_vcd import pairs

US = 1_000_000  # picoseconds


def digital(level: int, begin_s: float, end_s: float, times_s: Sequence[float]) -> bytes:
    head = b"<SALEAE>" + struct.pack("<iiIddQ", 0, 0, level, begin_s, end_s, len(times_s))
    return head + struct.pack(f"<{len(times_s)}d", *times_s)


def digital_1(*chunks: tuple[int, float, float, float, Sequence[float]]) -> bytes:
    data = b"<SALEAE>" + struct.pack("<iiQ", 1, 0, len(chunks))
    for level, rate_hz, begin_s, end_s, times_s in chunks:
        data += struct.pack("<IdddQ", level, rate_hz, begin_s, end_s, len(times_s))
        data += struct.pack(f"<{len(times_s)}d", *times_s)
    return data


def analog(begin_s: float, rate_hz: int, downsample: int, volts: Sequence[float]) -> bytes:
    head = b"<SALEAE>" + struct.pack("<iidQQQ", 0, 1, begin_s, rate_hz, downsample, len(volts))
    return head + struct.pack(f"<{len(volts)}f", *volts)


def read(path: Path, probes: list[str] | None = None, **more: object) -> Edges:
    return join(list(read_edges(path, probes, ReadSettings(**more))))  # type: ignore[arg-type] # test


def test_one_file_is_one_channel_named_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "digital_3.bin"
    path.write_bytes(digital(1, 0.5, 0.5001, [0.500001, 0.5000025]))
    edges = read(path)
    assert (edges.channels, edges.samplerate_hz) == (("D3",), 10**12)
    assert pairs(edges) == [(0, 1), (1 * US, 0), (2_500_000, 1)]
    assert edges.end_sample == 100 * US


def test_a_folder_is_all_channels_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "digital_10.bin").write_bytes(digital(0, 0, 1e-3, [1e-6, 3e-6]))
    (tmp_path / "digital_2.bin").write_bytes(digital(1, 0, 1e-3, [1e-6, 2e-6]))
    (tmp_path / "notes.txt").write_text("not a channel")
    assert list(channel_files(tmp_path)) == ["D2", "D10"]
    edges = read(tmp_path)
    assert pairs(edges) == [(0, 0b01), (1 * US, 0b10), (2 * US, 0b11), (3 * US, 0b01)]
    assert pairs(read(tmp_path, ["D10"])) == [(0, 0), (1 * US, 1), (3 * US, 0)]


def test_a_sample_rate_that_is_given_or_in_the_file_counts_samples(tmp_path: Path) -> None:
    (tmp_path / "digital_0.bin").write_bytes(digital(0, 0, 1e-3, [1e-6, 3e-6]))
    assert read(tmp_path, samplerate_hz=1_000_000).sample.tolist() == [0, 1, 3]
    (tmp_path / "digital_0.bin").write_bytes(digital_1((0, 2e6, 0, 1e-3, [1e-6, 3e-6])))
    edges = read(tmp_path)
    assert (edges.samplerate_hz, edges.sample.tolist()) == (2_000_000, [0, 2, 6])


def test_gaps_of_version_1_are_said(tmp_path: Path) -> None:
    path = tmp_path / "digital_0.bin"
    path.write_bytes(digital_1((0, 1e6, 0, 10e-6, [2e-6]), (0, 1e6, 20e-6, 30e-6, [25e-6])))
    notes: list[str] = []
    edges = read(path, note=notes.append)
    assert pairs(edges) == [(0, 0), (2, 1), (20, 0), (25, 1)]
    assert len(notes) == 1
    assert "no data for 0.000010000 s before 0.000020000 s" in notes[0]


def test_analog_files_are_read_with_a_threshold(tmp_path: Path) -> None:
    volts = [0.0, 1.0, 2.0, 1.0, 0.5, 3.0]
    (tmp_path / "analog_1.bin").write_bytes(analog(0, 10_000_000, 10, volts))
    (tmp_path / "digital_0.bin").write_bytes(digital(1, 0, 6e-6, [3.5e-6]))
    assert read_header(tmp_path).refused == {
        "A1": "it is analog; give --threshold A1=HIGH/LOW in volts"
    }
    edges = read(tmp_path, thresholds={"": Threshold(1.8, 0.8)})
    assert edges.channels == ("D0", "A1")
    assert pairs(edges) == [
        (0, 0b01),
        (2 * US, 0b11),
        (3_500_000, 0b10),
        (4 * US, 0b00),
        (5 * US, 0b10),
    ]


def test_blocks_of_many_channels_are_merged_in_order_of_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(8)
    times_us = [np.unique(rng.integers(1, 5000, size)) for size in (900, 3, 0, 2000)]
    for number, times in enumerate(times_us):
        data = digital(number & 1, 0, 0.01, (times / 1e6).tolist())
        (tmp_path / f"digital_{number}.bin").write_bytes(data)
    monkeypatch.setattr(saleae, "_AT_ONCE", 7)
    edges = read(tmp_path, samplerate_hz=1_000_000)
    expected = []
    for now in [0, *sorted(set(np.concatenate(times_us).tolist()))]:
        levels = [n & 1 ^ int((times <= now).sum()) & 1 for n, times in enumerate(times_us)]
        expected.append((now, sum(level << bit for bit, level in enumerate(levels))))
    assert pairs(edges) == expected


GOOD = digital(0, 0, 1e-3, [1e-6, 3e-6])
BAD = {
    "magic": (b"<SALEAF>" + GOOD[8:], "not a Saleae export"),
    "empty": (b"", "not a Saleae export"),
    "type": (GOOD[:12] + struct.pack("<i", 2) + GOOD[16:], "type 2; 0 .digital. and 1"),
    "cut head": (GOOD[:30], "byte 0x10: 14 B of a header of 28 B"),
    "cut times": (GOOD[:-1], "2 values of 8 B are promised and 15 B are left"),
    "lying count": (GOOD[:36] + b"\xff" * 8 + GOOD[44:], "18446744073709551615 values of 8 B"),
    "more": (GOOD + b"x", "byte 0x3c: 1 B follow the last value"),
    "level": (GOOD[:16] + b"\2" + GOOD[17:], "level 2 at"),
    "end nan": (GOOD[:28] + struct.pack("<d", float("nan")) + GOOD[36:], "lasts from 0.0 s to nan"),
    "end before": (digital(0, 5, 1, []), "lasts from 5.0 s to 1.0 s"),
    "late": (digital(0, 0, 1e9, []), "lasts from 0.0 s to 1000000000.0 s"),
    "time back": (digital(0, 0, 1, [0.5, 0.25]), "byte 0x34: change at 0.25 s, after one at 0.5"),
    "time after": (digital(0, 0, 1, [0.5, 2.0]), "with the end at 1.0 s"),
    "time nan": (digital(0, 0, 1, [float("nan")]), "change at nan s"),
    "no chunk": (digital_1(), "byte 0x10: 0 chunks; 1 to 65536 are read"),
    "chunks": (b"<SALEAE>" + struct.pack("<iiQ", 1, 0, 1 << 60), "1152921504606846976 chunks"),
    "overlap": (digital_1((0, 1, 0, 5, []), (0, 1, 4, 6, [])), "begins at 4.0 s, before the end"),
    "analog rate": (analog(0, 0, 1, [1.0]), "sample rate 0 Hz"),
}


@pytest.mark.parametrize("what", BAD)
def test_damage_is_one_clear_error(tmp_path: Path, what: str) -> None:
    data, message = BAD[what]
    path = tmp_path / "digital_0.bin"
    path.write_bytes(data)
    with pytest.raises(CaptureFormatError, match=message) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))


def test_other_versions_and_other_wishes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "digital_0.bin"
    path.write_bytes(GOOD[:8] + struct.pack("<i", 2) + GOOD[12:])
    with pytest.raises(CaptureVersionError, match="export version 2; 0 and 1 are read"):
        read(path)
    path.write_bytes(GOOD)
    with pytest.raises(InputError, match="more than the 5 allowed"):
        read(path, max_samples=5)
    with pytest.raises(InputError, match="no channel D1; there is D0"):
        read(path, ["D1"])
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match=r"there is no digital_N\.bin"):
        read_header(tmp_path / "none")
