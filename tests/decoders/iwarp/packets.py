"""Packets: a conversation cut into TCP segments, disordered as networks do, and written as a pcap.

A step is what one end says at once: (side, begin, end, waits) of its stream; `waits`: it has seen all that the other
end said before. Sides: 0 opens the TCP connection. Positions count from 0 after SYN.
"""

from __future__ import annotations

import random
import struct
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
Step = tuple[int, int, int, bool]


@dataclass(slots=True)
class Packet:
    """One packet; `position`: of its first octet of data, -1 for SYN."""

    connection: int
    side: int
    position: int
    flags: int
    data: bytes = b""
    ack: int = 0
    frame: bytes = b""
    t_ns: int = 0
    wire_B: int = 0

    @property
    def end(self) -> int:
        return self.position + len(self.data)


@dataclass(frozen=True, slots=True)
class Packing:
    """How segments are cut. `how`: aligned, several, straddle, octets; `mss`: most octets of one."""

    how: str
    mss: int
    retransmit: float = 0.0  # of the segments: sent again, whole or in part, after later ones
    swap: float = 0.0  # of the segments: overtaken by the next ones of the same side
    bare_acks: float = 0.1
    for_tshark: bool = False  # MPA frames in segments of their own, no FPDU with less than 20 octets in its first one


@dataclass(slots=True)
class Endpoints:
    """Addresses of a connection, and what its packets look like below TCP."""

    ip: tuple[IPv4Address | IPv6Address, ...]
    port: tuple[int, int]
    isn: tuple[int, int]
    vlan: tuple[int, ...] = ()
    timestamps: bool = False
    ip_options: bool = False
    ident: int = 1


def cut(
    steps: Sequence[Step],
    data: Sequence[bytes],
    start: Sequence[int],
    packing: Packing,
    rng: random.Random,
    begun: Sequence[int | None] = (None, None),
) -> list[Packet]:
    """Return the packets of data in the order sent; connection and acknowledgements are not yet set.

    `begun`: where the FPDUs of each side begin.
    """
    packets: list[Packet] = []
    sent, said = list(start), list(start)
    begins = [[begin for s, begin, _, _ in steps if s == side] for side in (0, 1)]

    def emit(side: int, end: int) -> None:
        while sent[side] < end:
            room = end - sent[side]
            starts = packing.for_tshark and sent[side] < (begun[side] or 1 << 60)
            if packing.how == "octets":
                count = 1
            elif packing.how == "straddle" and not starts:
                count = min(room, rng.randint(1, packing.mss))
            else:
                count = min(room, packing.mss)
            at = sent[side]
            if packing.for_tshark and not starts:
                first = begins[side][bisect_right(begins[side], at + count) - 1]
                if first < at + count < first + 20:
                    count = first - at if first > at else 20
                if at + count > end:
                    return
            octets = data[side][at - start[side] : at - start[side] + count]
            packets.append(Packet(0, side, at, ACK | (PSH if count == room else 0), octets))
            sent[side] = at + count

    for side, begin, end, waits in steps:
        if waits:
            emit(1 - side, said[1 - side])
        if packing.how == "aligned":
            emit(side, begin)
        said[side] = end
        starts = packing.for_tshark and begin < (begun[side] or 1 << 60)
        if packing.how in ("aligned", "octets") or starts or rng.random() < 0.2:
            emit(side, end)
        elif packing.how == "straddle" and rng.random() < 0.5:
            emit(side, max(sent[side], end - rng.randint(0, 40)))
        while end - sent[side] >= packing.mss and packing.how == "several":
            emit(side, sent[side] + packing.mss)
    for side in rng.sample((0, 1), 2):
        emit(side, said[side])
    return packets


def disorder(packets: list[Packet], packing: Packing, rng: random.Random) -> list[Packet]:
    """Return them with retransmissions, and with order changed where no packet of the other side lies between."""
    out = list(packets)
    for at in range(len(out) - 1):
        if rng.random() < packing.swap:
            to = at
            while to + 1 < len(out) and to < at + 3 and out[to + 1].side == out[at].side:
                to += 1
            out.insert(to, out.pop(at))
    done: list[Packet] = []
    again: list[tuple[int, Packet]] = []
    for number, packet in enumerate(out):
        done.append(packet)
        if packet.data and rng.random() < packing.retransmit:
            first = rng.randint(0, len(packet.data) - 1) if rng.random() < 0.4 else 0
            piece = packet.data[first:]
            later = [p for p in done if p.side == packet.side and p.position == packet.end]
            if later and rng.random() < 0.4:
                piece += later[0].data  # one segment for two: overlaps
            again.append(
                (
                    number + rng.randint(0, 6),
                    Packet(0, packet.side, packet.position + first, ACK, piece),
                )
            )
        done += [extra for when, extra in again if when <= number]
        again = [(when, extra) for when, extra in again if when > number]
    return done + [extra for _, extra in again]


def opened(packets: list[Packet], start: Sequence[int]) -> list[Packet]:
    """Return them with the three packets that open a connection before them."""
    del start
    return [
        Packet(0, 0, -1, SYN),
        Packet(0, 1, -1, SYN | ACK),
        Packet(0, 0, 0, ACK),
        *packets,
    ]


def closed(
    packets: list[Packet], ends: Sequence[int], how: str, rng: random.Random
) -> list[Packet]:
    """Return them with the end: `fin` of both, `rst` of one, or `open`: the capture ends before."""
    first = rng.randrange(2)
    if how == "fin":
        return [
            *packets,
            Packet(0, first, ends[first], FIN | ACK),
            Packet(0, 1 - first, ends[1 - first], FIN | ACK),
            Packet(0, first, ends[first] + 1, ACK),
        ]
    if how == "rst":
        return [*packets, Packet(0, first, ends[first], RST | ACK)]
    return packets


def acknowledge(
    packets: Iterable[Packet], start: Sequence[int], rng: random.Random, bare: float
) -> list[Packet]:
    """Set what each packet acknowledges: no octet that the capture does not hold by then; add bare ACKs."""
    out: list[Packet] = []
    held: list[list[tuple[int, int]]] = [[], []]
    upto = list(start)
    told = list(start)
    sent = list(start)
    for packet in packets:
        side = packet.side
        other = 1 - side
        # Data may answer what came before, and then acknowledges it; a bare ACK may be late.
        if packet.flags & (SYN | FIN | RST) or packet.data or rng.random() < 0.7:
            told[side] = upto[other]
        packet.ack = told[side]
        out.append(packet)
        if packet.flags & SYN:
            continue
        end = packet.end + (packet.flags & FIN)
        sent[side] = max(sent[side], end)
        held[side].append((packet.position, end))
        held[side].sort()
        for low, high in held[side]:
            if low <= upto[side] < high:
                upto[side] = high
        held[side] = [span for span in held[side] if span[1] > upto[side]]
        if rng.random() < bare and not packet.flags & (FIN | RST):
            told[other] = upto[side]
            out.append(Packet(0, other, sent[other], ACK, b"", told[other]))
    return out


def _sum16(data: bytes) -> int:
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data[: len(data) & ~1]))
    if len(data) & 1:
        total += data[-1] << 8
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def build(packet: Packet, ends: Endpoints) -> bytes:
    """Return the Ethernet frame of a packet, with right checksums."""
    side = packet.side
    source, sink = ends.ip[side], ends.ip[1 - side]
    options = b""
    if packet.flags & SYN:
        options += b"\x02\x04\x05\xb4\x01\x03\x03\x07\x04\x02\x01\x01"
    if ends.timestamps:
        options += b"\x01\x01\x08\x0a" + struct.pack(">II", ends.ident & 0xFFFFFFFF, 7)
    sequence = (ends.isn[side] + 1 + packet.position) & 0xFFFFFFFF
    is_first = packet.flags & (SYN | ACK) == SYN
    ack = 0 if is_first else (ends.isn[1 - side] + 1 + packet.ack) & 0xFFFFFFFF
    head = struct.pack(
        ">HHIIBBHHH",
        ends.port[side],
        ends.port[1 - side],
        sequence,
        ack,
        (20 + len(options)) // 4 << 4,
        packet.flags,
        0xFFFF,
        0,
        0,
    )
    segment = head + options + packet.data
    pseudo = source.packed + sink.packed
    if source.version == 4:
        pseudo += struct.pack(">BBH", 0, 6, len(segment))
    else:
        pseudo += struct.pack(">IHBB", len(segment), 0, 0, 6)
    check = ~_sum16(pseudo + segment) & 0xFFFF
    segment = segment[:16] + check.to_bytes(2, "big") + segment[18:]
    ends.ident += 1
    if source.version == 4:
        extra = b"\x94\x04\x00\x00" if ends.ip_options else b""  # router alert
        ip = struct.pack(
            ">BBHHHBBH4s4s",
            0x45 + len(extra) // 4,
            0,
            20 + len(extra) + len(segment),
            ends.ident & 0xFFFF,
            0x4000,
            64,
            6,
            0,
            source.packed,
            sink.packed,
        )
        ip += extra
        ip = ip[:10] + (~_sum16(ip) & 0xFFFF).to_bytes(2, "big") + ip[12:]
        kind = 0x0800
    else:
        extra = (
            b"\x06\x00\x01\x04\x00\x00\x00\x00" if ends.ip_options else b""
        )  # a hop-by-hop header of padding
        ip = struct.pack(">IHBB", 0x60012345, len(extra) + len(segment), 0 if extra else 6, 64)
        ip += source.packed + sink.packed + extra
        kind = 0x86DD
    mac = [b"\x02\x00\x00\x00\x00" + bytes([n]) for n in (1, 2)]
    frame = mac[1 - side] + mac[side]
    for number, tag in enumerate(ends.vlan):
        frame += struct.pack(">HH", 0x88A8 if number + 1 < len(ends.vlan) else 0x8100, tag)
    frame += kind.to_bytes(2, "big") + ip + segment
    return frame.ljust(60, b"\0")


@dataclass(slots=True)
class Capture:
    """Packets of one or more connections in the order captured; numbers count from 1."""

    packets: list[Packet] = field(default_factory=list)
    order: str = "<"  # of the file's header fields
    in_ns: bool = True
    linktype: int = 1
    snap: int = 262_144

    def pcap(self) -> bytes:
        """Return the file."""
        magic = 0xA1B23C4D if self.in_ns else 0xA1B2C3D4
        out = [struct.pack(f"{self.order}IHHiIII", magic, 2, 4, 0, 0, self.snap, self.linktype)]
        for packet in self.packets:
            whole, rest = divmod(packet.t_ns, 10**9)
            frame = packet.frame[: self.snap]
            if self.linktype == 101:  # raw IP
                frame = packet.frame[14 : self.snap + 14]
            elif self.linktype == 113:  # Linux cooked
                frame = (b"\0\0\0\1\0\6" + packet.frame[6:12] + b"\0\0" + packet.frame[12:])[
                    : self.snap
                ]
            wire = max(len(packet.frame) + {101: -14, 113: 2}.get(self.linktype, 0), len(frame))
            sub = rest if self.in_ns else rest // 1000
            out.append(struct.pack(f"{self.order}IIII", whole, sub, len(frame), wire) + frame)
        return b"".join(out)

    def without(self, numbers: Iterable[int]) -> Capture:
        """Return the capture with the packets of these numbers lost."""
        lost = set(numbers)
        kept = [p for n, p in enumerate(self.packets, 1) if n not in lost]
        return Capture(kept, self.order, self.in_ns, self.linktype, self.snap)
