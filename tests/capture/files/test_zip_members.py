"""Members of a zip archive come out as they went in, whatever their size beside that of the pieces."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from freezeframe.capture.errors import CaptureFormatError
from freezeframe.capture.files._zip_members import ZipMembers

PIECE_B = 1 << 22
SIZES_B = (0, 1, PIECE_B - 1, PIECE_B, PIECE_B + 1, 4 * PIECE_B + 1)  # the last is streamed


def noise(size_B: int) -> bytes:
    return np.random.default_rng(1).bytes(size_B)


# What packs a thousandfold fills pieces long before what was read is used up.
@pytest.mark.parametrize(
    ("content", "method", "level"),
    [
        (noise, zipfile.ZIP_STORED, None),
        (noise, zipfile.ZIP_DEFLATED, 0),
        (bytes, zipfile.ZIP_DEFLATED, 1),
    ],
)
def test_members_of_any_size_come_out_whole(
    content: Callable[[int], bytes], method: int, level: int | None, tmp_path: Path
) -> None:
    path = tmp_path / "any.zip"
    packed = {f"m{size_B}": content(size_B) for size_B in SIZES_B}
    with zipfile.ZipFile(path, "w", method, compresslevel=level) as archive:
        for name, data in packed.items():
            archive.writestr(name, data)
    with ZipMembers(path) as members:
        for name, data in packed.items():
            pieces = list(members.stream([name]))
            assert b"".join(pieces) == data, name
            assert max(map(len, pieces), default=0) <= PIECE_B


@pytest.mark.parametrize("size_B", [1000, 5 * PIECE_B])
def test_a_wrong_checksum_is_found_after_the_last_piece(size_B: int, tmp_path: Path) -> None:
    path = tmp_path / "wrong.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("m", bytes(size_B))
    data = bytearray(path.read_bytes())
    data[30 + 1 + size_B - 1] ^= 1  # the last byte of the member
    path.write_bytes(data)
    with ZipMembers(path) as members, pytest.raises(CaptureFormatError, match=r"checksum 0x\w+ of"):
        list(members.stream(["m"]))
