"""UARTBone commands: encoding for the client, decoding from a byte stream for the server.

Source: docs/formats.md, section 9.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np

from freezeframe.capture.targets.base import Words

WRITE_INCREMENTING = 1
READ_INCREMENTING = 2
WRITE_FIXED = 3
READ_FIXED = 4
MAX_WORDS = 255

_HEAD = struct.Struct(">BBI")
_WRITES = (WRITE_INCREMENTING, WRITE_FIXED)
_KNOWN = (WRITE_INCREMENTING, READ_INCREMENTING, WRITE_FIXED, READ_FIXED)


class Command(NamedTuple):
    """One command as received. ``address`` is a byte address; ``data`` is empty for a read."""

    code: int
    words: int
    address: int
    data: Words

    @property
    def known(self) -> bool:
        """Whether it is one of the four commands, with at least one word."""
        return self.code in _KNOWN and self.words > 0

    @property
    def is_write(self) -> bool:
        return self.code in _WRITES

    @property
    def step_B(self) -> int:
        """Bytes from one access to the next."""
        return 4 if self.code in (WRITE_INCREMENTING, READ_INCREMENTING) else 0


def encode_read(address: int, count: int) -> bytes:
    """Return the command that reads ``count`` (1..255) words from a byte address on.

    Raises:
        ValueError: the count is out of range, or the address is not a multiple of 4 in 32 bits.
    """
    return _head(READ_INCREMENTING, address, count)


def encode_write(address: int, words: Words) -> bytes:
    """Return the command that writes 1..255 words from a byte address on; raises as encode_read."""
    return _head(WRITE_INCREMENTING, address, len(words)) + encode_words(words)


def encode_words(words: Words) -> bytes:
    """Return words as they cross the line: big-endian."""
    return words.astype(">u4").tobytes()


def decode_words(data: bytes) -> Words:
    """Return the words of an answer, of whole words only."""
    return np.frombuffer(data, ">u4").astype(np.uint32)


def next_command(stream: bytes | bytearray) -> tuple[Command | None, int]:
    """Take the first command off a byte stream.

    Returns:
        the command and the bytes it took; ``(None, 0)`` while it is incomplete. A command of an
        unknown code takes six bytes, as in the gateware; see ``Command.known``.
    """
    if len(stream) < _HEAD.size:
        return None, 0
    code, count, word_address = _HEAD.unpack_from(stream)
    data_B = 4 * count if code in _WRITES else 0
    if len(stream) < _HEAD.size + data_B:
        return None, 0
    data = np.frombuffer(bytes(stream[_HEAD.size : _HEAD.size + data_B]), ">u4").astype(np.uint32)
    return Command(code, count, 4 * word_address, data), _HEAD.size + data_B


def _head(code: int, address: int, count: int) -> bytes:
    if not 1 <= count <= MAX_WORDS:
        raise ValueError(f"{count} words are out of range (1..{MAX_WORDS})")
    if address < 0 or address & 3 or address >> 32:
        raise ValueError(f"address {address:#x} is not a multiple of 4 in 32 bits")
    return _HEAD.pack(code, count, address // 4)
