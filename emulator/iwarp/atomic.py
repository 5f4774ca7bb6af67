"""Atomic operations: a word of 64 bits in the peer's memory is read and changed at once.

The word stands in memory in the byte order of this machine, and travels in that of the network. No two atomic
operations of this process come between each other; Writes, and stores of the memory's owner, may.

Source: RFC 7306, 5.
"""

from __future__ import annotations

import ctypes
import struct
import threading
from typing import NamedTuple

FETCH_ADD, SWAP, COMPARE_SWAP = range(3)
WORD_B, REQUEST_B, RESPONSE_B = 8, 52, 12
ALL = (1 << 64) - 1

_REQUEST = struct.Struct(">IIIQQQQQ")
_RESPONSE = struct.Struct(">IQ")
_LOCK = threading.Lock()


class AtomicRequest(NamedTuple):
    """The payload of an Atomic Request. ``data`` and ``mask``: to add or to swap; the others: to compare."""

    operation: int
    identifier: int
    stag: int
    to: int
    data: int
    mask: int
    compare: int = 0
    compare_mask: int = 0

    def to_bytes(self) -> bytes:
        return _REQUEST.pack(*self)

    @classmethod
    def of(cls, payload: bytes) -> AtomicRequest:
        """Return the fields of 52 octets; 28 bits are reserved, and not looked at."""
        first, *rest = _REQUEST.unpack(payload)
        return cls(first & 15, *rest)

    def changed(self, word: int) -> int:
        """Return what becomes of a word."""
        if self.operation == FETCH_ADD:
            # The mask has the highest bit of each field: into it is carried, out of it not.
            low = (word & ~self.mask) + (self.data & ~self.mask)
            return (low ^ ((word ^ self.data) & self.mask)) & ALL
        if self.operation == COMPARE_SWAP and (word ^ self.compare) & self.compare_mask:
            return word
        return word & ~self.mask | self.data & self.mask


def perform(request: AtomicRequest, address: int) -> bytes:
    """Do what is asked for to the word at an address; return the payload of the Response."""
    word = ctypes.c_uint64.from_address(address)
    with _LOCK:
        before = word.value
        word.value = request.changed(before)
    return response(request.identifier, before)


def response(identifier: int, before: int) -> bytes:
    """Return the payload of an Atomic Response."""
    return _RESPONSE.pack(identifier, before)


def parse_response(payload: bytes) -> tuple[int, int]:
    """Return identifier and word of 12 octets."""
    identifier, before = _RESPONSE.unpack(payload)
    return identifier, before


def store(address: int, word: int) -> None:
    """Put a word into memory."""
    ctypes.c_uint64.from_address(address).value = word
