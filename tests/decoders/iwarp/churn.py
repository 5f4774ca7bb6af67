"""Very many iWARP connections, none of which ends: the opening of TCP and of MPA, and a Send, one after the other."""

from __future__ import annotations

import struct
from pathlib import Path

import google_crc32c

_REQUEST, _REPLY = b"MPA ID Req Frame\x40\x01", b"MPA ID Rep Frame\x40\x01"
_SERVER = (b"\x0a\xff\xff\xfe", 4791)


def write_connections(path: Path, count: int, private_B: int = 0) -> None:
    """Write a pcap of ``count`` connections with ``private_B`` octets of private data each way; no checksums."""
    private = struct.pack(">H", private_B) + bytes(private_B)
    body = struct.pack(">H2BIIII", 18 + 4, 0x41, 0x43, 0, 0, 1, 0) + b"abcd"
    send = body + struct.pack("<I", google_crc32c.value(body))
    talk = [
        (0, 0x02, b""), (1, 0x12, b""), (0, 0x10, b""), (0, 0x18, _REQUEST + private),
        (1, 0x18, _REPLY + private), (0, 0x18, send),
    ]  # fmt: skip
    with path.open("wb") as file:
        file.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1))
        for number in range(count):
            client = (struct.pack(">I", 0x0A000001 + number), 40_000)
            at = [1000, 2000]
            for place, (side, flags, data) in enumerate(talk):
                ends = (client, _SERVER) if side == 0 else (_SERVER, client)
                file.write(_packet(number * 10 + place, ends, at[side], at[1 - side], flags, data))
                at[side] += len(data) + (flags >> 1 & 1)


def _packet(
    t_us: int, ends: tuple[tuple[bytes, int], tuple[bytes, int]], seq: int, ack: int, flags: int, data: bytes
) -> bytes:  # fmt: skip
    (one, port), (other, other_port) = ends
    size = 40 + len(data)
    head = struct.pack("<IIII", t_us // 10**6, t_us % 10**6, size + 14, size + 14)
    ip = struct.pack(
        ">12x2sBBHHHBBH4s4s", b"\x08\x00", 0x45, 0, size, 0, 0x4000, 64, 6, 0, one, other
    )
    tcp = struct.pack(">HHIIBBHHH", port, other_port, seq, ack, 0x50, flags, 65_535, 0, 0)
    return head + ip + tcp + data
