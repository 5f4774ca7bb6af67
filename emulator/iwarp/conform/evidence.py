"""The octets of a run as packets: what sockets passed, as TCP segments with addresses, numbers and checksums.

What the socket shows is what was said and in which order; how the system cut it into packets it does not show, and so
segments here are as long as each call's octets, or `SEGMENT_B`. Bare acknowledgements are left out.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

from freezeframe.capture.packets.pcapng_blocks import (
    LINKTYPE_ETHERNET,
    interface_block,
    packet_block,
    section_block,
)
from freezeframe.emulator.iwarp.conform.link import CAME, CLOSED, ENDED, RESET, SENT, Record

SEGMENT_B = 32_768
_FIN, _SYN, _RST, _PSH, _ACK = 1, 2, 4, 8, 16
_FIRST = (1000, 500_000)  # sequence numbers of the SYNs: ours, the peer's
_OUT = {SENT: True, CLOSED: True, CAME: False, ENDED: False, RESET: False}


class Frame(NamedTuple):
    """An Ethernet frame of the evidence."""

    t_ns: int
    data: bytes
    comment: str


def write_evidence(records: Sequence[Record], path: Path, comment: str) -> None:
    """Write the packets of all connections as a pcapng, in order of time."""
    found = sorted((frame for r in records for frame in frames(r)), key=lambda frame: frame.t_ns)
    with path.open("wb") as file:
        file.write(section_block(comment))
        file.write(interface_block("socket", LINKTYPE_ETHERNET, "made from what a socket passed"))
        for frame in found:
            file.write(packet_block(0, frame.t_ns, frame.data, comment=frame.comment))


def frames(record: Record) -> Iterator[Frame]:
    """Yield the packets of a connection; its note is the comment of the first one."""
    sides = _Sides(record)
    opened, *rest = record.said
    t_ns = opened.t_ns
    yield Frame(t_ns, sides.segment(record.opener, _SYN), record.note)
    yield Frame(t_ns, sides.segment(not record.opener, _SYN | _ACK), "")
    yield Frame(t_ns, sides.segment(record.opener, _ACK), "")
    for said in rest:
        out = _OUT[said.kind]
        for at in range(0, len(said.octets), SEGMENT_B):
            piece = said.octets[at : at + SEGMENT_B]
            yield Frame(said.t_ns, sides.segment(out, _PSH | _ACK, piece), "")
        if said.kind == RESET:
            yield Frame(said.t_ns, sides.segment(out, _RST | _ACK), "")
        elif said.kind in (ENDED, CLOSED) and not sides.ended[out]:
            yield Frame(said.t_ns, sides.segment(out, _FIN | _ACK), "")


class _Sides:
    """Both ends' addresses and sequence numbers; index True: ours."""

    def __init__(self, record: Record) -> None:
        ours, theirs = record.ours, record.theirs
        self._address = (ip_address(theirs[0]).packed, ip_address(ours[0]).packed)
        self._port = (theirs[1], ours[1])
        self._next = [_FIRST[1], _FIRST[0]]
        self.ended = [False, False]

    def segment(self, out: bool, flags: int, data: bytes = b"") -> bytes:
        """Return the frame of a segment, and count its octets."""
        acked = self._next[not out] if flags & _ACK else 0
        numbers = (self._next[out] & 0xFFFFFFFF, acked & 0xFFFFFFFF)
        self._next[out] += len(data) + bool(flags & (_SYN | _FIN))
        self.ended[out] |= bool(flags & (_FIN | _RST))
        ports = (self._port[out], self._port[not out])
        tcp = struct.pack(">HHIIBBHHH", *ports, *numbers, 5 << 4, flags, 0xFFFF, 0, 0) + data
        source, sink = self._address[out], self._address[not out]
        pseudo = source + sink + struct.pack(">IHBB", len(tcp), 0, 0, 6)
        tcp = tcp[:16] + _checksum(pseudo + tcp) + tcp[18:]
        if len(source) == 16:
            ip = struct.pack(">IHBB", 6 << 28, len(tcp), 6, 64) + source + sink
        else:
            total = 20 + len(tcp)
            ip = struct.pack(">BBHHHBBH", 0x45, 0, total, 0, 0x4000, 64, 6, 0) + source + sink
            ip = ip[:10] + _checksum(ip) + ip[12:]
        macs = (b"\x02\0\0\0\0\x02", b"\x02\0\0\0\0\x01")
        return (
            macs[not out] + macs[out] + (b"\x86\xdd" if len(source) == 16 else b"\x08\0") + ip + tcp
        )


def _checksum(octets: bytes) -> bytes:
    octets += bytes(len(octets) % 2)
    total = sum(struct.unpack(f">{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return struct.pack(">H", ~total & 0xFFFF)
