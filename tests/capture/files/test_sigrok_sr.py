"""Session files: what is read, and what each kind of damage is called."""

from __future__ import annotations

import re
import shutil
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from freezeframe.capture.errors import CaptureFormatError, CaptureVersionError, InputError
from freezeframe.capture.files.edges import NO_RATE, Edges, join
from freezeframe.capture.files.samples import Samples
from freezeframe.capture.files.sigrok_sr import (
    parse_samplerate,
    read_edges,
    read_header,
    read_pieces,
)
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from tests.campaign.hostile_makers import of_bytes
from tests.capture.files.captures import metadata, real_capture, write_session
from tests.capture.files.test_vcd import pairs
from tests.processes import run_program


def read(path: Path, **more: object) -> Edges:
    return join(list(read_edges(path, **more)))  # type: ignore[arg-type] # keywords of the test


def test_a_session_of_two_chunks_is_read_as_one_capture(tmp_path: Path) -> None:
    path = write_session(tmp_path / "a.sr", [b"\1\1\3", b"\3\2"], metadata(["CLK", "D"]))
    edges = read(path)
    assert pairs(edges) == [(0, 1), (2, 3), (4, 2)]
    assert edges.channels == ("CLK", "D")
    assert (edges.samplerate_hz, edges.total_samples) == (1_000_000, 5)


def test_chunks_are_taken_by_number_not_by_place_or_name(tmp_path: Path) -> None:
    numbers = [10, 2, 1, 3, 9, 4, 8, 5, 7, 6]
    path = write_session(
        tmp_path / "a.sr",
        [bytes([number]) for number in numbers],
        metadata([str(bit) for bit in range(8)]),
        names=[f"logic-1-{number}" for number in numbers],
    )
    assert [value for _, value in pairs(read(path))] == list(range(1, 11))


def test_a_sample_may_lie_across_two_chunks(tmp_path: Path) -> None:
    path = write_session(
        tmp_path / "a.sr", [b"\x01\x00\x00", b"\x01\x01\x01"], metadata(["A"], unitsize=2)
    )
    assert pairs(read(path)) == [(0, 1), (1, 0), (2, 1)]


@pytest.mark.parametrize("unitsize", [1, 2, 3])
@pytest.mark.parametrize("few", [1, 3, 40, 10_000])
def test_pieces_with_few_changes_come_as_edges_and_say_the_same(
    few: int, unitsize: int, tmp_path: Path
) -> None:
    """Chunks that change often, once, or never, and cut anywhere: also inside a sample."""
    rng = np.random.default_rng(few)
    noise = rng.integers(0, 256, 600, dtype=np.uint8).tobytes()
    chunks = [b"\0" * 600, noise, noise[:1] * 599, b"\7" * 302 + noise[:1], b"\7" * 298]
    path = write_session(tmp_path / "a.sr", chunks, metadata(["A", "C", "B"], unitsize=unitsize))
    pieces = list(
        read_pieces(
            path,
            probes=["B", "A"],
            samplerate_hz=None,
            max_samples=1 << 20,
            progress=None,
            few_changes=few,
        )
    )
    for piece in pieces:
        if isinstance(piece, Edges):
            assert len(piece) < few
        elif unitsize == 1:
            assert piece.changes() >= few
    assert any(isinstance(piece, Edges) for piece in pieces) == (few > 1 and unitsize < 3)
    mixed = join([p.edges() if isinstance(p, Samples) else p for p in pieces])
    # The first sample of a piece is an edge even where nothing changes.
    moves = np.concatenate(([True], mixed.value[1:] != mixed.value[:-1]))
    whole = read(path, probes=["B", "A"])
    assert mixed.sample[moves].tolist() == whole.sample.tolist()
    assert mixed.value[moves].tolist() == whole.value.tolist()
    assert mixed.end_sample == whole.end_sample


def test_metadata_of_the_first_sigrok_is_read(tmp_path: Path) -> None:
    # Spaces around =, an indented trigger line, no blank lines, one member for all samples.
    old = (
        "[global]\nsigrok version = 0.2.1\n[device 1]\ndriver = fx2lafw\ncapturefile = logic-1\n"
        "unitsize = 1\ntotal probes = 8\nsamplerate = 1 MHz\nprobe1 = SCL\n trigger1 = 0\n"
        "probe3 = SDA\n"
    )
    path = write_session(tmp_path / "a.sr", [b"\0\2\4\5"], old, version="1", names=["logic-1"])
    header = read_header(path)
    assert (header.version, header.channels, header.bits) == ("1", ("SCL", "SDA"), (0, 2))
    assert pairs(read(path)) == [(0, 0), (2, 2), (3, 3)]


@pytest.mark.parametrize("ending", ["\r\n", "\n"])
def test_metadata_lines_may_end_as_on_windows_and_hold_comments(
    tmp_path: Path, ending: str
) -> None:
    text = "\ufeff# made by hand\n; so\n" + metadata(["A"])
    path = write_session(tmp_path / "a.sr", [b"\0"], text.replace("\n", ending))
    assert read_header(path).channels == ("A",)


def test_probes_without_any_name_get_their_numbers_as_sigrok_shows_them(tmp_path: Path) -> None:
    path = write_session(tmp_path / "a.sr", [b"\5"], metadata([], total=3))
    assert read(path).channels == ("0", "1", "2")


def test_analog_channels_are_told_though_not_read(tmp_path: Path) -> None:
    meta = metadata(["A"]).replace("total analog=0", "total analog=1\nanalog2=A0")
    assert tuple(read_header(write_session(tmp_path / "a.sr", [b"\0"], meta)).analog) == ("A0",)


def test_only_the_probes_that_are_asked_for_make_edges(tmp_path: Path) -> None:
    path = write_session(tmp_path / "a.sr", [b"\0\1\0\3"], metadata(["A", "B"]))
    assert pairs(read(path, probes=["B"])) == [(0, 0), (3, 1)]
    with pytest.raises(ValueError, match="no channel C; there is A, B"):
        read(path, probes=["C"])


def test_progress_reaches_what_was_promised(tmp_path: Path) -> None:
    path = write_session(tmp_path / "a.sr", [bytes(10), bytes(5)], metadata(["A"]))
    seen: list[tuple[int, int]] = []
    read(path, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(10, 15), (15, 15)]


@pytest.mark.parametrize(
    ("text", "rate_hz"),
    [
        ("1000", 1000),
        ("12 MHz", 12_000_000),
        ("500kHz", 500_000),
        ("2.5 GHz", 2_500_000_000),
        ("0.1 kHz", 100),
        (" 4 mhz ", 4_000_000),
        ("1 Hz", 1),
    ],
)
def test_a_sample_rate_is_a_number_with_a_unit(text: str, rate_hz: int) -> None:
    assert parse_samplerate(text) == rate_hz


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("fast", "not a number with Hz"),
        ("-1 MHz", "not a number with Hz"),
        ("1.5 Hz", "not a whole number of Hz"),
        ("0 Hz", "1 Hz to 1 THz"),
        ("2 THz", "1 Hz to 1 THz"),
        ("1" * 5000, "sample rate of 5000 digits: 1 Hz to 1 THz"),
        ("1" + " " * 200_000 + "x", r"sample rate '1 {39}'\.\.\.: not a number with Hz"),
    ],
)
def test_a_sample_rate_that_is_none_is_refused(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        parse_samplerate(text)


def test_without_a_sample_rate_times_are_numbers_of_samples(tmp_path: Path) -> None:
    path = write_session(tmp_path / "a.sr", [b"\0\1\1\0"], metadata(["A"], rate=None))
    assert read_header(path).samplerate_hz is None
    assert read(path).samplerate_hz == NO_RATE
    assert read(path).t_ps().tolist() == [0, 1, 3]
    assert read(path, samplerate_hz=5).samplerate_hz == 5


@pytest.mark.parametrize(
    ("data", "probes", "total", "channels"),
    [(b"\0\2", ["SCL", "SDA"], 32, ("SCL", "SDA")), (b"\0\x80", [], 16, tuple("01234567"))],
    ids=["not enabled", "as many as bits where nothing names them"],
)
def test_probes_that_the_device_had_and_the_samples_do_not_hold_take_no_bit(
    tmp_path: Path, data: bytes, probes: list[str], total: int, channels: tuple[str, ...]
) -> None:
    path = write_session(tmp_path / "a.sr", [data], metadata(probes, total=total))
    assert read_header(path).channels == channels
    assert read(path).value.tolist() == list(data)


def test_probes_of_one_name_have_their_numbers_too(tmp_path: Path) -> None:
    path = write_session(tmp_path / "a.sr", [b"\0\4"], metadata(["NC", "CLK", "NC", ""]))
    assert read_header(path).channels == ("NC#1", "CLK", "NC#3", "probe4")
    assert read(path, probes=["NC#3", "CLK"]).value.tolist() == [0, 1]


def cut(path: Path) -> None:
    write_session(path, [bytes(1000)], metadata(["A"]))
    path.write_bytes(path.read_bytes()[:-30])


def zip_of(name: str, text: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, text)

    return make


def twice(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        for _ in range(2):
            archive.writestr("version", "2")


def with_metadata(
    text: str, *chunks: bytes, names: list[str] | None = None
) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        write_session(path, chunks or (bytes(4),), text, names=names)

    return make


def with_chunk(size_B: int, **fields: int) -> Callable[[Path], None]:
    """Return what writes a chunk of zeros of which the archive says something else."""

    def make(path: Path) -> None:
        write_session(path, [bytes(size_B)], metadata(["A"]))
        patch(path, "logic-1-1", **fields)

    return make


def packed_data_garbled(path: Path) -> None:
    write_session(path, [bytes(range(256)) * 4], metadata(["A"]))
    raw = bytearray(path.read_bytes())
    at = raw.index(b"logic-1-1") + len("logic-1-1")
    raw[at : at + 8] = b"\xff" * 8
    path.write_bytes(raw)


def unknown_method(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        for name, text in (("version", "2"), ("metadata", metadata(["A"])), ("logic-1-1", "AAAA")):
            archive.writestr(name, text)


def local_header_gone(path: Path) -> None:
    write_session(path, [bytes(10)], metadata(["A"]))
    raw = bytearray(path.read_bytes())
    at = raw.index(b"PK\x03\x04", raw.index(b"metadata"))
    raw[at : at + 4] = b"PK\0\0"
    path.write_bytes(raw)


def patch(path: Path, name: str, **fields: int) -> None:
    """Change what is said of a member, in the directory (APPNOTE 4.3.12) and in the header before it (4.3.7)."""
    places = {"flags": (8, "<H"), "crc": (16, "<I"), "packed": (20, "<I"), "size": (24, "<I")}
    raw = bytearray(path.read_bytes())
    at, local = raw.rindex(name.encode()) - 46, raw.index(name.encode()) - 30
    assert raw[at : at + 4] == b"PK\x01\x02"
    assert raw[local : local + 4] == b"PK\x03\x04"
    for field, value in fields.items():
        offset, kind = places[field]
        struct.pack_into(kind, raw, at + offset, value)
        struct.pack_into(kind, raw, local + offset - 2, value)
    path.write_bytes(raw)


def test_an_archive_that_contradicts_itself_is_refused_before_anything_is_unpacked(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.sr"
    with_metadata(metadata(["A"]), b"abc")(path)
    raw = bytearray(path.read_bytes())
    at = raw.rindex(b"logic-1-1") - 46
    struct.pack_into("<I", raw, at + 24, 4)
    path.write_bytes(raw)
    with pytest.raises(
        CaptureFormatError, match=r"unpack to 3 B there, and .* 4 B in the dir.*contra"
    ):
        read(path)


DAMAGE: list[tuple[str, Callable[[Path], object], str]] = [
    ("not a zip", of_bytes(b"hello, world"), r"not a zip archive \(it begins with 68 65 6c 6c\)"),
    ("empty file", of_bytes(b""), "the file is empty"),
    ("cut zip", cut, "without a readable directory at its end .* it was cut short"),
    (
        "another zip",
        zip_of("hello", "world"),
        "a zip archive without version; not a sigrok session",
    ),
    ("no metadata", zip_of("version", "2"), "a zip archive without metadata"),
    ("a member twice", twice, "version stands twice in the archive"),
    ("metadata line", with_metadata("[device 1]\nhello\n"), "metadata line 2: 'hello' is neither"),
    ("key twice", with_metadata(metadata(["A"]) + "unitsize=2\n"), "unitsize stands twice"),
    ("no logic", with_metadata("[device 1]\nunitsize=1\n"), "no device with a capturefile"),
    (
        "two devices",
        with_metadata(metadata(["A"]) + metadata(["A"]).replace("device 1", "device 2")),
        "2 devices with logic samples",
    ),
    ("unitsize 0", with_metadata(metadata(["A"], unitsize=0)), "unitsize 0; 1 to 8 B"),
    ("unitsize 9", with_metadata(metadata(["A"], unitsize=9)), "unitsize 9; 1 to 8 B"),
    (
        "unitsize missing",
        with_metadata(metadata(["A"]).replace("unitsize=1", "")),
        "unitsize is missing",
    ),
    (
        "unitsize a word",
        with_metadata(metadata(["A"]).replace("unitsize=1", "unitsize=one")),
        "unitsize is 'one', not a number",
    ),
    (
        "unitsize too large for the samples",
        with_metadata(metadata(["A"], unitsize=3), bytes(7)),
        "the samples end with 1 B of a sample of 3 B: unitsize is wrong, or the last chunk is cut",
    ),
    (
        "more probes than bits",
        with_metadata(metadata([f"P{i}" for i in range(9)])),
        "probe9=P8 is not in the 8 bits of unitsize 1",
    ),
    (
        "a name that is another's with its number",
        with_metadata(metadata(["A", "A", "A#2"])),
        "2 channels are named 'A#2'",
    ),
    (
        "a unitsize that no number is",
        with_metadata(metadata(["A"], unitsize=10**12)),
        "unitsize is '1000000000000', not a number up to 999999999",
    ),
    (
        "probe 0",
        with_metadata(metadata(["A"]).replace("probe1", "probe0")),
        "probes are numbered from 1",
    ),
    ("no probe", with_metadata(metadata([])), "there is no probe"),
    (
        "sample rate",
        with_metadata(metadata(["A"], rate="many")),
        "metadata: sample rate 'many': not a number .*; give --samplerate",
    ),
    (
        "chunk missing",
        with_metadata(metadata(["A"]), b"a", b"b", names=["logic-1-1", "logic-1-3"]),
        "logic-1-2 is missing, but logic-1-3 is there",
    ),
    (
        "all chunks missing",
        with_metadata(metadata(["A"]), b"a", names=["logic-2-1"]),
        "neither logic-1 nor logic-1-1 is in it",
    ),
    (
        "both forms",
        with_metadata(metadata(["A"]), b"a", b"b", names=["logic-1", "logic-1-1"]),
        "holds both logic-1 and logic-1-1",
    ),
    (
        "two chunks of one number",
        with_metadata(metadata(["A"]), b"a", b"b", names=["logic-1-1", "logic-1-01"]),
        "two chunks of logic-1 have one number",
    ),
    ("no samples", with_metadata(metadata(["A"]), b""), "there is no sample in it"),
    (
        "wrong checksum",
        with_chunk(1000, crc=0x12345678),
        "logic-1-1: checksum 0x.* but declares 0x12345678",
    ),
    ("chunk too short", with_chunk(1000, size=1001), "unpacks to 1000 B, but declares 1001 B"),
    (
        "chunk too long",
        with_chunk(1000, size=10, crc=zlib.crc32(bytes(10))),
        "unpacks to more than the 10 B it declares",
    ),
    ("packed data cut", with_chunk(100_000, packed=40), "the packed data end in the middle"),
    (
        "packed data garbled",
        packed_data_garbled,
        "logic-1-1: .*; the file is damaged, copy it again",
    ),
    (
        "packed size absurd",
        with_chunk(10, packed=1 << 30),
        "begins inside of|1073741824 B packed for 10 B",
    ),
    ("another method", unknown_method, "version is packed by method 12; 0 .* and 8"),
    ("encrypted", with_chunk(10, flags=1), "logic-1-1 is encrypted"),
    ("local header gone", local_header_gone, "no local header of logic-1-1"),
]


@pytest.mark.parametrize(("make", "says"), [d[1:] for d in DAMAGE], ids=[d[0] for d in DAMAGE])
def test_damage_is_one_clear_error(
    make: Callable[[Path], object], says: str, tmp_path: Path
) -> None:
    path = tmp_path / "bad.sr"
    make(path)
    with pytest.raises(CaptureFormatError, match=says) as error:
        read(path)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


def test_an_unknown_version_is_named(tmp_path: Path) -> None:
    path = write_session(tmp_path / "a.sr", [b"\0"], metadata(["A"]), version="3\n")
    with pytest.raises(CaptureVersionError, match="session file version '3'; 1 and 2 are read"):
        read(path)


def test_a_missing_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.sr: cannot be read: No such file"):
        read(tmp_path / "none.sr")


def test_metadata_of_any_size_are_not_unpacked(tmp_path: Path) -> None:
    path = write_session(tmp_path / "a.sr", [b"\0"], metadata(["A"]) + "#" * (2 << 20))
    with pytest.raises(CaptureFormatError, match=r"metadata declares 2097\d+ B; at most 1048576 B"):
        read(path)


def test_damage_anywhere_in_a_file_never_raises_anything_else(tmp_path: Path) -> None:
    whole = write_session(tmp_path / "a.sr", [b"\1\2\3" * 50, b"\0\7"], metadata(["A", "B", "C"]))
    raw = whole.read_bytes()
    expected = pairs(read(whole))
    broken = tmp_path / "b.sr"
    refused = 0
    for at in range(len(raw)):
        for changed in (raw[:at], raw[:at] + bytes([raw[at] ^ 0x41]) + raw[at + 1 :]):
            broken.write_bytes(changed)
            try:
                edges = read(broken)
            except (CaptureFormatError, InputError):
                refused += 1
            else:
                # What zip does not check (dates, attributes) may differ; samples may not.
                assert pairs(edges) == expected, f"byte {at:#x}"
    assert refused > len(raw)


def big_session(path: Path, samples: int) -> Path:
    """A chunk of zeros, a thousand times larger than packed."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("version", "2")
        archive.writestr("metadata", metadata(["A"]))
        with archive.open("logic-1-1", "w") as chunk:
            for _ in range(samples >> 20):
                chunk.write(bytes(1 << 20))
    return path


def test_a_chunk_that_unpacks_a_thousandfold_takes_bounded_memory(tmp_path: Path) -> None:
    path = big_session(tmp_path / "a.sr", 256 << 20)
    assert path.stat().st_size < 1 << 20
    read(write_session(tmp_path / "warm.sr", [b"\0\1"], metadata(["A"])))
    tracemalloc.start()
    try:
        edges = read(path)
        _, peak_B = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (len(edges), edges.total_samples) == (1, 256 << 20)
    assert peak_B < 64 << 20


def test_more_samples_than_allowed_are_refused_before_they_are_unpacked(tmp_path: Path) -> None:
    path = big_session(tmp_path / "a.sr", 64 << 20)
    seen: list[int] = []
    with pytest.raises(
        InputError,
        match=r"at least 67108864 samples, more than the 1000 allowed; .*"
        r"--max-samples 67108864",
    ):
        read(path, max_samples=1000, progress=lambda done, _: seen.append(done))
    assert seen == []


def test_a_chunk_that_holds_more_than_it_declares_is_stopped_there(tmp_path: Path) -> None:
    declared_B = 20 << 20
    path = big_session(tmp_path / "a.sr", 256 << 20)
    patch(path, "logic-1-1", size=declared_B, crc=zlib.crc32(bytes(declared_B)))
    seen: list[int] = []
    with pytest.raises(CaptureFormatError, match="unpacks to more than the 20971520 B it declares"):
        read(path, max_samples=declared_B, progress=lambda done, _: seen.append(done))
    assert 0 < seen[-1] <= declared_B


def test_what_is_written_is_read_back_and_read_by_sigrok(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    sample = np.unique(np.concatenate(([0], rng.integers(1, 30_000_000, 500)))).astype(np.int64)
    value = rng.integers(0, 1 << 10, len(sample)).astype(np.uint64)
    value[1:][value[1:] == value[:-1]] ^= np.uint64(1)
    for _ in range(9):
        value[1:][value[1:] == value[:-1]] ^= np.uint64(1)
    names = tuple(f"D{bit}" for bit in range(10))
    edges = Edges(sample, value, names, 24_000_000, 0, 30_000_001)
    path = tmp_path / "out.sr"
    write_sr(edges, path)
    again = read(path)
    keep = np.concatenate(([True], value[1:] != value[:-1]))
    assert again.sample.tolist() == sample[keep].tolist()
    assert again.value.tolist() == value[keep].tolist()
    assert (again.channels, again.samplerate_hz) == (names, 24_000_000)
    assert again.total_samples == 30_000_001
    if shutil.which("sigrok-cli") is None:
        pytest.skip("sigrok-cli is not installed (apt-get install sigrok-cli)")
    shown = run_program(["sigrok-cli", "-i", path, "--show"], check=True).stdout
    assert re.search(r"Samplerate: 24000000\b", shown)
    assert re.search(r"Logic sample count: 30000001\b", shown)
    assert [f"- {name}: logic" in shown for name in names] == [True] * 10


def test_writing_in_pieces_gives_the_same_bytes(tmp_path: Path) -> None:
    whole = read(write_session(tmp_path / "a.sr", [b"\1\1\3\3\2\0\0"], metadata(["A", "B"])))
    write_sr(whole, tmp_path / "whole.sr")
    parts = []
    for begin, end in ((0, 3), (3, 4), (4, 7)):
        inside = (whole.sample >= begin) & (whole.sample < end)
        parts.append(
            Edges(whole.sample[inside], whole.value[inside], ("A", "B"), 1_000_000, begin, end)
        )
    write_sr(iter(parts), tmp_path / "parts.sr")
    assert (tmp_path / "parts.sr").read_bytes() == (tmp_path / "whole.sr").read_bytes()


def test_a_session_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    edges = read(write_session(tmp_path / "a.sr", [b"\1"], metadata(["A"])))
    with pytest.raises(InputError, match="cannot be written: No such file or directory"):
        write_sr(edges, tmp_path / "no" / "out.sr")
    with pytest.raises(ValueError, match="a piece begins at sample 0; 1 is next"):
        write_sr([edges, edges], tmp_path / "out.sr")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.sr"]


@pytest.mark.parametrize(
    ("name", "samples", "changes"),
    [
        ("lan8720a_read_all_plugged.sr", 25_000, 4_289),
        ("olimex_stm32-h103_irscan_drscan.sr", 20_000_000, 117),
        ("xfp.sr", 994_141, 25_446),
        ("enc28j60-init-and-ping.sr", 1_017_531_342, 97_827),
    ],
)
def test_real_captures_have_the_samples_and_changes_that_are_known(
    name: str, samples: int, changes: int
) -> None:
    edges = read(real_capture(name))
    assert (edges.total_samples, len(edges) - 1) == (samples, changes)
