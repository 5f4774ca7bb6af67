"""Octets of MPA, DDP and RDMAP, written from the RFCs' drawings; nothing of the product is used here.

Source: RFC 5044 (4.1, 4.4, 7.1.1), RFC 5041 (4), RFC 5040 (4), RFC 6581 (9), RFC 7306 (5, 6).
"""

from __future__ import annotations

import struct

REQUEST_KEY = b"MPA ID Req Frame"
REPLY_KEY = b"MPA ID Rep Frame"
MARKERS, CRC, REJECT, ENHANCED = 0x80, 0x40, 0x20, 0x10  # flags of an MPA frame
WRITE, READ_REQUEST, READ_RESPONSE, SEND, SEND_INV, SEND_SE, SEND_SE_INV, TERMINATE = range(8)
IMMEDIATE, IMMEDIATE_SE, ATOMIC_REQUEST, ATOMIC_RESPONSE = range(8, 12)
TAGGED = (WRITE, READ_RESPONSE)
QUEUE_OF = {
    READ_REQUEST: 1,
    SEND: 0,
    SEND_INV: 0,
    SEND_SE: 0,
    SEND_SE_INV: 0,
    TERMINATE: 2,
    IMMEDIATE: 0,
    IMMEDIATE_SE: 0,
    ATOMIC_REQUEST: 1,
    ATOMIC_RESPONSE: 3,
}


def _table() -> list[int]:
    """Return the remainders of Castagnoli's polynomial for each octet, least significant bit first."""
    table = []
    for octet in range(256):
        rest = octet
        for _ in range(8):
            rest = rest >> 1 ^ (0x82F63B78 if rest & 1 else 0)
        table.append(rest)
    return table


CRC_TABLE = _table()


def crc32c(data: bytes | bytearray) -> int:
    """Return the CRC32C of `data`; its field holds it least significant octet first (RFC 5044, 4.4)."""
    table, rest = CRC_TABLE, 0xFFFFFFFF
    for octet in data:
        rest = rest >> 8 ^ table[(rest ^ octet) & 0xFF]
    return rest ^ 0xFFFFFFFF


def mpa_frame(
    key: bytes, flags: int, revision: int, private: bytes, pd_length: int | None = None
) -> bytes:
    """Return an MPA Request or Reply."""
    length = len(private) if pd_length is None else pd_length
    return key + struct.pack(">BBH", flags, revision, length) + private


def enhanced(control_ird: int, control_ord: int) -> bytes:
    """Return the four octets of enhanced data: A, B and IRD; C, D and ORD."""
    return struct.pack(">HH", control_ird, control_ord)


def controls(
    last: bool, tagged: bool, opcode: int, version: int, reserved: int = 0
) -> tuple[int, int]:
    """Return the two control octets; `reserved`: the four bits of DDP and, above them, the two of RDMAP."""
    ddp = tagged << 7 | last << 6 | (reserved & 15) << 2 | version
    return ddp, version << 6 | (reserved >> 4 & 3) << 4 | opcode


def tagged_segment(control: tuple[int, int], stag: int, to: int, payload: bytes) -> bytes:
    """Return a tagged DDP segment of 14 + n octets."""
    return struct.pack(">BBIQ", *control, stag, to) + payload


def untagged_segment(
    control: tuple[int, int], ulp: int, queue: int, msn: int, mo: int, payload: bytes
) -> bytes:
    """Return an untagged DDP segment of 18 + n octets; `ulp`: the Invalidate STag, or reserved."""
    return struct.pack(">BBIIII", *control, ulp, queue, msn, mo) + payload


def read_request(
    sink_stag: int, sink_to: int, size: int, source_stag: int, source_to: int
) -> bytes:
    """Return the 28 octets of a Read Request."""
    return struct.pack(">IQIIQ", sink_stag, sink_to, size, source_stag, source_to)


def atomic_request(
    opcode: int, identifier: int, stag: int, to: int, data: tuple[int, ...]
) -> bytes:
    """Return the 52 octets of an Atomic Request; `data`: add or swap data and mask, compare data and mask."""
    return struct.pack(">IIIQQQQQ", opcode, identifier, stag, to, *data)


def terminate(
    layer: int,
    etype: int,
    code: int,
    segment: bytes | None = None,
    read: bytes = b"",
    ddp: bool = True,
) -> bytes:
    """Return a Terminate's payload; `segment`: the segment that was wrong, `read`: its Read Request if it is one."""
    head = bytes([layer << 4 | etype, code])
    if segment is None:
        return head + b"\0\0"
    header = segment[: 14 if segment[0] & 0x80 else 18] if ddp else b""
    bits = 0x80 | 0x40 * bool(header) | 0x20 * bool(read)
    return head + bytes([bits, 0]) + struct.pack(">H", len(segment)) + header + read
