"""Arbitrary blocks of IEEE 488.2-1992, 8.7.9 (definite) and 8.7.10 (indefinite length)."""

from __future__ import annotations

import io

import pytest

from freezeframe.capture.errors import TargetError
from freezeframe.capture.instruments.blocks import read_block


def block(data: bytes, expected_B: int = 5) -> bytes:
    stream = io.BytesIO(data)

    def read(size_B: int) -> bytes:
        got = stream.read(size_B)
        if len(got) < size_B:
            raise TargetError("it stops")
        return got

    made = read_block(read, "CH", expected_B)
    assert stream.read() == b""
    return made


@pytest.mark.parametrize("head", [b"#15", b"#205", b"#9000000005", b"#0"])
def test_a_block_of_either_form_is_its_data(head: bytes) -> None:
    assert block(head + b"\n#1\0\xff\n") == b"\n#1\0\xff"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"HELLO\n", r"begins with b'HE', not with a block"),
        (b"#x5HELLO\n", r"begins with b'#x'"),
        (b"#3 5 HELLO\n", r"the length of the block is b' 5 ', not 3 digits"),
        (b"#9999999999" + b"x" * 9, r"says 999999999 B, and the preamble promises 5 B"),
        (b"#14HELL\n", r"says 4 B, and the preamble promises 5 B"),
        (b"#15HELLO!", r"b'!' follows the 5 B of the block, not a newline"),
        (b"#0HELLO!\n", r"b'!' follows the 5 B"),
        (b"#15HEL", r"it stops"),
        (b"", r"it stops"),
    ],
)
def test_what_is_no_such_block_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(TargetError, match=message):
        block(data)


def test_a_long_block_comes_in_parts_with_progress() -> None:
    data = bytes(range(256)) * 300
    stream = io.BytesIO(b"#576800" + data + b"\n")
    seen: list[int] = []
    assert read_block(stream.read, "CH", len(data), seen.append) == data
    assert seen == [16384, 32768, 49152, 65536, 76800]
