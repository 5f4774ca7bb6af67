"""FST files, made by vcd2fst: the same edges as the VCD they were made of."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.files import fst, vcd, wave_worker
from freezeframe.capture.files.edges import Edges, join
from freezeframe.capture.files.open import find_format
from freezeframe.capture.files.source import ReadSettings
from tests.capture.files.test_vcd import pairs, random_dump

pytest.importorskip("pywellen")
if shutil.which("vcd2fst") is None:
    pytest.skip("vcd2fst is not installed", allow_module_level=True)


def convert(tmp_path: Path, text: str) -> tuple[Path, Path]:
    plain, packed = tmp_path / "a.vcd", tmp_path / "a.fst"
    plain.write_text(text)
    subprocess.run(["vcd2fst", plain, packed], check=True, capture_output=True)
    return plain, packed


def read(path: Path, probes: list[str] | None = None, **more: object) -> Edges:
    settings = ReadSettings(**more)  # type: ignore[arg-type] # keywords of the test
    return join(list(fst.read_edges(path, probes, settings)))


@pytest.mark.parametrize("seed", range(3))
def test_an_fst_gives_the_edges_of_its_vcd(tmp_path: Path, seed: int) -> None:
    plain, packed = convert(tmp_path, random_dump(seed, 3000))
    channels = list(vcd.read_header(plain).channels)
    ours, theirs = read(packed, channels), join(list(vcd.read_edges(plain, channels)))
    assert pairs(ours) == pairs(theirs)
    assert (ours.samplerate_hz, ours.buses) == (theirs.samplerate_hz, theirs.buses)
    assert ours.end_sample == theirs.end_sample


def test_bits_may_be_taken_out_of_a_bus(tmp_path: Path) -> None:
    _, packed = convert(tmp_path, random_dump(1, 10))
    whole, some = read(packed), read(packed, ["wide[32]", "clk", "wide[3]"])
    assert pairs(whole.select(["wide[32]", "clk", "wide[3]"])) == pairs(some)


def test_x_and_z_are_read_as_told_and_counted(tmp_path: Path) -> None:
    text = "$timescale 1ns $end\n$scope module t $end\n$var wire 3 a n $end\n"
    text += "$var wire 1 c clk $end\n$upscope $end\n$enddefinitions $end\n#0\n0c\nbx1z a\n"
    _, packed = convert(tmp_path, text + "#4\nb110 a\n1c\n#9\n")
    n = ["n[0]", "n[1]", "n[2]"]
    notes: list[str] = []
    edges = read(packed, n, layout={"x": "1"}, note=notes.append)
    assert pairs(edges) == [(0, 0b110)]
    assert read(packed, n, layout={"z": "1"}).value.tolist() == [0b011, 0b110]
    assert edges.end_sample == 9
    assert len(notes) == 1
    assert "1 values with x or z" in notes[0]


@pytest.mark.parametrize("size", [0, 10, 200, 900])
def test_a_cut_file_is_an_error(tmp_path: Path, size: int) -> None:
    _, packed = convert(tmp_path, random_dump(2, 3000))
    cut = tmp_path / "cut.fst"
    cut.write_bytes(packed.read_bytes()[:size])
    with pytest.raises(CaptureFormatError, match=r"cut\.fst: "):
        read(cut)


def test_damaged_bytes_give_an_error_or_values_but_no_crash_and_no_hang(tmp_path: Path) -> None:
    _, packed = convert(tmp_path, random_dump(2, 300))
    rng = random.Random(4)
    good = packed.read_bytes()
    for _ in range(20):
        bad = bytearray(good)
        bad[rng.randrange(330, len(bad))] ^= 1 << rng.randrange(8)
        packed.write_bytes(bad)
        try:
            assert len(read(packed))
        except InputError as error:
            assert "a.fst" in str(error)


def section(kind: int, length_B: int, body: bytes = b"") -> bytes:
    return bytes([kind]) + length_B.to_bytes(8, "big") + body


BEHIND = {
    "zeros": (b"\0" * 4096, "no section begins with type 0 and length 0 B; the file is damaged"),
    "too short": (section(8, 7), "no section begins with type 8 and length 7 B"),
    "unknown": (section(77, 8), "no section begins with type 77 and length 8 B"),
    "lying": (
        section(8, 1 << 62),
        "a section of 4611686018427387904 B, and 8 B are left; the file is",
    ),
    "cut": (b"\x08\0\0", "3 B of a section; the file is cut"),
    "unfinished": (section(255, 0), "a section that was never finished: the simulation still runs"),
    "no end": (section(255, 8) * (1 << 18), "more than 262144 sections; the file is damaged"),
}


@pytest.mark.parametrize("what", BEHIND)
def test_what_stands_behind_the_sections_is_told_with_its_place(tmp_path: Path, what: str) -> None:
    _, packed = convert(tmp_path, random_dump(2, 30))
    good = packed.read_bytes()
    behind, message = BEHIND[what]
    packed.write_bytes(good + behind)
    with pytest.raises(CaptureFormatError, match=r"a\.fst: byte 0x[0-9a-f]+: " + message):
        fst.read_header(packed)


def test_sixty_gigabytes_of_nothing_are_refused_at_once(tmp_path: Path) -> None:
    _, packed = convert(tmp_path, random_dump(2, 30))
    with packed.open("r+b") as file:
        file.truncate(60 << 30)  # sparse: a disk that was full, a copy that was begun
    with pytest.raises(CaptureFormatError, match="length 0 B; the file is damaged"):
        fst.read_header(packed)
    with packed.open("r+b") as file:
        file.truncate(0)
        file.truncate(60 << 30)
    with pytest.raises(CaptureFormatError, match="no FST header in its first 330 B"):
        fst.read_header(packed)


def test_a_file_that_is_packed_as_a_whole_gives_the_same(tmp_path: Path) -> None:
    plain, packed = convert(tmp_path, random_dump(2, 30))
    want = pairs(read(packed))
    subprocess.run(["vcd2fst", "-c", plain, packed], check=True, capture_output=True)
    assert packed.read_bytes()[:1] == b"\xfe"
    assert find_format(packed) == "fst"
    assert pairs(read(packed)) == want


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:-9], "packed as a whole, of [0-9]+ B by its own word and [0-9]+ B"),
        (lambda data: data[:9] + (99).to_bytes(8, "big") + data[17:], "to more than the 99 B"),
        (
            lambda data: data[:9] + (1 << 30).to_bytes(8, "big") + data[17:],
            "and says 1073741824 B",
        ),
        (lambda data: data[:40] + b"\0" * 9 + data[49:], "cannot be unpacked|byte 0x"),
    ],
)
def test_a_packed_file_that_lies_or_is_cut_is_refused(
    tmp_path: Path, change: Callable[[bytes], bytes], message: str
) -> None:
    plain, packed = convert(tmp_path, random_dump(2, 30))
    subprocess.run(["vcd2fst", "-c", plain, packed], check=True, capture_output=True)
    packed.write_bytes(change(packed.read_bytes()))
    with pytest.raises(CaptureFormatError, match=message) as error:
        read(packed)
    assert str(error.value).startswith(str(packed))


def test_a_reader_that_is_closed_early_leaves_no_process(tmp_path: Path) -> None:
    _, packed = convert(tmp_path, random_dump(3, 200_000))
    before = children()  # of other tests, numba's or multiprocessing's
    pieces = fst.read_edges(packed)
    next(pieces)
    assert children() - before
    pieces.close()  # type: ignore[attr-defined] # a generator
    assert not children() - before


def children() -> set[str]:
    """Return the processes that this one has started and that still are there."""
    of_threads = Path("/proc/self/task").glob("*/children")
    return {pid for text in of_threads for pid in text.read_text().split()}


DEATHS = {
    "os.kill(os.getpid(), signal.SIGXCPU)": "nothing came of it in 120 s of the processor",
    "os.abort()": "its reader was ended by SIGABRT; the file is damaged",
    "print('memory allocation of 9 bytes failed', file=sys.stderr); os.abort()": (
        "more than 448 MiB of memory were asked for"
    ),
    "resource.setrlimit(resource.RLIMIT_DATA, (1 << 20, 1 << 20)); b'x' * (1 << 24)": (
        "more than 448 MiB of memory were asked for"
    ),
    "sys.exit('no such thing')": "no such thing; the file is damaged",
}


@pytest.mark.parametrize("act", DEATHS)
def test_the_end_of_the_reading_process_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    _, packed = convert(tmp_path, random_dump(3, 50))
    child = tmp_path / "child.py"
    child.write_text(f"import os, resource, signal, sys\n{act}\n")
    monkeypatch.setattr(wave_worker, "_CHILD", child)
    with pytest.raises(CaptureFormatError, match=DEATHS[act]) as error:
        fst.read_header(packed)
    assert str(error.value).startswith(str(packed))
    assert "\n" not in str(error.value)


def test_limits_hold(tmp_path: Path) -> None:
    _, packed = convert(tmp_path, random_dump(3, 50))
    with pytest.raises(InputError, match="more than the 3 allowed"):
        read(packed, max_samples=3)
    with pytest.raises(InputError, match=r"--format fst: x=7; it is read as 0 or as 1"):
        read(packed, layout={"x": "7"})
