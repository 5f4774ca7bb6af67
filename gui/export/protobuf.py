"""Write protobuf messages: the few field types that a trace needs.

Source: protobuf.dev, Encoding.
"""

from __future__ import annotations

import struct

_VARINT, _FIXED64, _LENGTH = 0, 1, 2  # wire types
_WIDTH = 64


def uint_field(number: int, value: int) -> bytes:
    """Return an uint32, uint64, bool or enum field.

    Raises:
        ValueError: the value is negative or has more than 64 bits.
    """
    if not 0 <= value < 1 << _WIDTH:
        raise ValueError(f"field {number}: {value} does not fit 64 bits without sign")
    return _varint(number << 3 | _VARINT) + _varint(value)


def int_field(number: int, value: int) -> bytes:
    """Return an int32 or int64 field; a negative number takes ten bytes.

    Raises:
        ValueError: the value does not fit 64 bits with sign.
    """
    if not -(1 << _WIDTH - 1) <= value < 1 << _WIDTH - 1:
        raise ValueError(f"field {number}: {value} does not fit 64 bits with sign")
    return _varint(number << 3 | _VARINT) + _varint(value & (1 << _WIDTH) - 1)


def double_field(number: int, value: float) -> bytes:
    """Return a double field."""
    return _varint(number << 3 | _FIXED64) + struct.pack("<d", value)


def bytes_field(number: int, value: bytes) -> bytes:
    """Return a field of bytes, or of a message."""
    return _varint(number << 3 | _LENGTH) + _varint(len(value)) + value


def text_field(number: int, value: str) -> bytes:
    """Return a field of text; what UTF-8 cannot hold becomes a question mark."""
    return bytes_field(number, value.encode("utf-8", "replace"))


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
