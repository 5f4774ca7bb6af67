"""Packets and credits of the link, made with binascii, zlib and struct alone (docs/formats.md section 3)."""

from __future__ import annotations

import binascii
import struct
import zlib
from collections.abc import Sequence

HEAD, BODY, TAIL = 1, 2, 3
RDMA_WRITE, CREDIT = 1, 4
NOTIFY_LOCAL, NOTIFY_REMOTE, INJECTED = 1, 2, 8
_WORD = (1 << 64) - 1


def packet(
    payload: Sequence[int],
    *,
    type_: int = RDMA_WRITE,
    flags: int = 0,
    flow: int = 0,
    seq: int = 0,
    dest: int = 0,
    length: int | None = None,
) -> list[int]:
    """Return the words of a packet; ``length`` is what its header says, where that is not the truth."""  # fmt: skip
    said = len(payload) if length is None else length
    head = struct.pack("<BBHH", type_ | flags << 4, flow, said, seq)
    crc16 = binascii.crc_hqx(head + struct.pack("<Q", dest), 0xFFFF)
    header = int.from_bytes(head + struct.pack("<H", crc16), "little")
    return [header, dest, *payload, zlib.crc32(struct.pack(f"<{len(payload)}Q", *payload))]


def kinds(count: int) -> list[int]:
    """Return the kinds of a packet of so many words: HEAD HEAD BODY* TAIL."""
    return [HEAD, HEAD, *[BODY] * (count - 3), TAIL]


def credit(flow: int, freed: int) -> int:
    """Return a credit word, the number of ones in bits 0-47 odd."""
    low = CREDIT | flow << 8 | freed << 16
    low |= (1 - low.bit_count() % 2) << 15
    return low | binascii.crc_hqx(low.to_bytes(6, "little"), 0xFFFF) << 48


def splitmix64(x: int) -> int:
    """Return the output of the generator whose state was x before this step; of 0 it is 0xE220A8397B1DCDAF.

    Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014, figures 16 and 17
    (golden gamma, mix variant 13).
    """
    z = x + 0x9E3779B97F4A7C15 & _WORD
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _WORD
    return z ^ z >> 31
