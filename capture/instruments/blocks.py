"""Arbitrary block data of IEEE 488.2, read from an instrument in bounded memory.

Source: IEEE 488.2-1992, 8.7.9 (definite length: ``#``, the number of digits, the length, the data),
8.7.10 (indefinite length: ``#0``, the data, a newline with END).
"""

from __future__ import annotations

from collections.abc import Callable

from freezeframe.capture.errors import TargetError

_CHUNK_B = 1 << 14


def read_block(
    read: Callable[[int], bytes],
    what: str,
    expected_B: int,
    progress: Callable[[int], None] | None = None,
) -> bytes:
    """Return the data of a block, and read the newline after it.

    Args:
        read: returns exactly so many bytes, or raises.
        what: how a message begins.
        expected_B: what the preamble promises; a block of another length is refused before it is
            read.
    Raises:
        TargetError: it is no block, or of another length.
    """
    mark = read(2)
    if mark[:1] != b"#" or not mark[1:].isdigit():
        raise TargetError(
            f"{what}: the answer begins with {mark!r}, not with a block (# and digit)"
        )
    digits = int(mark[1:])
    if not digits:
        # Its end cannot be seen on a plain socket, so the preamble says where it must be.
        return _data(read, what, expected_B, progress)
    text = read(digits)
    if not text.isdigit():
        raise TargetError(f"{what}: the length of the block is {text!r}, not {digits} digits")
    if int(text) != expected_B:
        raise TargetError(
            f"{what}: the block says {int(text)} B, and the preamble promises {expected_B} B; "
            "nothing is kept"
        )
    return _data(read, what, expected_B, progress)


def _data(
    read: Callable[[int], bytes],
    what: str,
    expected_B: int,
    progress: Callable[[int], None] | None,
) -> bytes:
    parts: list[bytes] = []
    got_B = 0
    while got_B < expected_B:
        parts.append(read(min(_CHUNK_B, expected_B - got_B)))
        got_B += len(parts[-1])
        if progress is not None:
            progress(got_B)
    end = read(1)
    if end != b"\n":
        raise TargetError(f"{what}: {end!r} follows the {expected_B} B of the block, not a newline")
    return b"".join(parts)
