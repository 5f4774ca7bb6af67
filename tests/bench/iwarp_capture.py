"""Captures for benchmarks of iWARP: one connection, a message in each packet, as many packets as wanted."""

from __future__ import annotations

import struct
from pathlib import Path

import google_crc32c

_ETHERNET = bytes(range(12)) + b"\x08\x00"
_ONE, _OTHER = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
_PORTS = (40_000, 7_174)
HEADERS_B = 14 + 20 + 20
FPDU_B = 2 + 18 + 4  # of a Send without its payload, which is padded to whole words
_REQUEST = b"MPA ID Req Frame\x40\x01\x00\x00"
_REPLY = b"MPA ID Rep Frame\x40\x01\x00\x00"


def write_sends(path: Path, packets: int, payload_B: int) -> None:
    """Write a pcap of ``packets`` Sends from one end, the handshakes of TCP and MPA before them; without checksums.

    ``payload_B`` and two octets are whole words, so that no padding is needed.
    """
    seq = [1_000_000, 2_000_000]
    with path.open("wb") as file:
        file.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1))
        t_us = 0
        for side, flags, data in (
            (0, 0x02, b""), (1, 0x12, b""), (0, 0x10, b""), (0, 0x18, _REQUEST), (1, 0x18, _REPLY),
        ):  # fmt: skip
            _packet(file, t_us, side, flags, seq, data)
            seq[side] += len(data) + (flags >> 1 & 1)
            t_us += 10
        payload = bytes(range(256)) * (payload_B // 256 + 1)
        for number in range(packets):
            head = struct.pack(">H2BIIII", 18 + payload_B, 0x41, 0x43, 0, 0, number + 1, 0)
            body = head + payload[:payload_B]
            fpdu = body + struct.pack("<I", google_crc32c.value(body))
            _packet(file, t_us, 0, 0x18, seq, fpdu)
            seq[0] += len(fpdu)
            t_us += 1


def _packet(file: object, t_us: int, side: int, flags: int, seq: list[int], data: bytes) -> None:
    length = 40 + len(data)
    one, other = (_ONE, _OTHER) if side == 0 else (_OTHER, _ONE)
    ports = _PORTS if side == 0 else _PORTS[::-1]
    head = struct.pack("<IIII", t_us // 1_000_000, t_us % 1_000_000, length + 14, length + 14)
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, length, 0, 0x4000, 64, 6, 0, one, other)
    tcp = struct.pack(
        ">HHIIBBHHH",
        *ports,
        seq[side] & 0xFFFFFFFF,
        seq[1 - side] & 0xFFFFFFFF,
        0x50,
        flags,
        65_535,
        0,
        0,
    )
    file.write(head + _ETHERNET + ip + tcp + data)  # type: ignore[attr-defined]
