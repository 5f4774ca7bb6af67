"""Files packed by gzip, xz and Zstandard: the same edges as of the plain file, and what damage is called."""

from __future__ import annotations

import gzip
import lzma
import shutil
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from itertools import chain, repeat
from pathlib import Path

import pytest

from freezeframe.capture.errors import CaptureFormatError, FreezeframeError, InputError
from freezeframe.capture.files import packed
from freezeframe.capture.files.edges import join
from freezeframe.capture.files.open import find_format, read_edges, read_header, read_samples
from freezeframe.capture.files.source import ReadSettings
from tests.campaign.hostile_makers import zstd
from tests.capture.files.captures import metadata, write_session
from tests.capture.files.test_vcd import pairs, random_dump

PACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": zstd,
}


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("members", [1, 2])
def test_a_packed_file_gives_the_edges_of_the_plain_one(
    tmp_path: Path, suffix: str, members: int
) -> None:
    plain, small = tmp_path / "a.vcd", tmp_path / f"a.vcd{suffix}"
    text = random_dump(3, 20_000).encode()
    plain.write_bytes(text)
    half = len(text) // members
    small.write_bytes(
        b"".join(PACK[suffix](text[at : at + half]) for at in range(0, len(text), half))
    )
    assert find_format(small) == "vcd"
    assert read_header(small).channels == read_header(plain).channels
    assert pairs(join(list(read_edges(small)))) == pairs(join(list(read_edges(plain))))


def test_samples_of_a_packed_session_are_read_and_errors_in_it_name_the_packed_file(
    tmp_path: Path,
) -> None:
    plain = write_session(tmp_path / "a.sr", [b"\0\1\0"], metadata(["A"]))
    small = tmp_path / "b.sr.gz"
    small.write_bytes(gzip.compress(plain.read_bytes()))
    pieces = read_samples(small)
    assert pieces is not None
    assert [len(piece) for piece in pieces] == [3]
    with pytest.raises(InputError, match="no channel B; there is A") as error:
        list(read_edges(small, ["B"]))
    assert str(error.value).startswith(str(small))


def test_raw_samples_that_look_packed_are_read_as_they_are(tmp_path: Path) -> None:
    raw = tmp_path / "raw.bin"
    raw.write_bytes(b"\x1f\x8b\x08\0")
    settings = ReadSettings(layout={"channels": "8", "rate": "1000"})
    assert join(list(read_edges(raw, None, settings, "binary"))).value.tolist() == [31, 139, 8, 0]
    named = tmp_path / "raw.bin.gz"
    named.write_bytes(gzip.compress(b"\1\2"))
    assert join(list(read_edges(named, None, settings, "binary"))).value.tolist() == [1, 2]


def broken(data: bytes) -> bytes:
    return data[: len(data) // 2] + b"\xff" * 8 + data[len(data) // 2 + 8 :]


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:-9], "the packed data end in the middle|cannot be unpacked .Truncated"),
        (broken, "cannot be unpacked|the packed data end in the middle"),
        (lambda data: data + b"rubbish" * 9, "cannot be unpacked"),
    ],
)
def test_damage_is_one_clear_error(
    tmp_path: Path, suffix: str, change: Callable[[bytes], bytes], message: str
) -> None:
    path = tmp_path / f"a.vcd{suffix}"
    path.write_bytes(change(PACK[suffix](random_dump(1, 3000).encode())))
    with pytest.raises(CaptureFormatError, match=message) as error:
        read_header(path)
    assert str(error.value).startswith(f"{path}: ")
    assert "byte 0x" in str(error.value)


@pytest.mark.slow  # measures the process, in which a quick run leaves threads of tests that it cut
@pytest.mark.parametrize("suffix", PACK)
def test_a_bomb_takes_the_room_of_the_disk_that_there_is_and_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    path = tmp_path / f"a.csv{suffix}"
    path.write_bytes(PACK[suffix](b"\n" * (1 << 26)))
    spare = chain([1 << 25], repeat(0))  # twice what may be taken of it, beside what is left free
    kind = type(shutil.disk_usage(tmp_path))
    usage = lambda _: kind(1 << 40, 0, 2 * packed._LEFT_FREE_B + next(spare) - 1)  # noqa: E731
    monkeypatch.setattr(shutil, "disk_usage", usage)
    tracemalloc.start()
    try:
        with pytest.raises(
            FreezeframeError, match=r"unpacks to more than \d+ B, for which .* no room"
        ):
            read_header(path)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


def test_what_was_unpacked_goes_with_the_process(tmp_path: Path) -> None:
    path = tmp_path / "a.vcd.gz"
    path.write_bytes(gzip.compress(random_dump(1, 30).encode()))
    code = "import sys; from freezeframe.capture.files.packed import unpacked; print(unpacked(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", code, path], check=True, capture_output=True, text=True
    )
    place = Path(done.stdout.strip())
    assert place.name == "a.vcd"
    assert not place.parents[1].exists()
