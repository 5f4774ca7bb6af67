"""UDP datagrams as fragments in Ethernet frames, and a host that puts them together: no code of the firmware."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field

ETHERNET_B, IP_B = 14, 20


def checksum(data: bytes) -> int:
    """Return the Internet checksum: RFC 1071."""
    data += bytes(len(data) % 2)
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


@dataclass
class Datagram:
    """A UDP datagram between two hosts."""

    payload: bytes
    identification: int
    source: bytes = bytes((10, 0, 0, 1))
    destination: bytes = bytes((10, 0, 0, 2))
    with_checksum: bool = True
    header: bytes = field(init=False)

    def __post_init__(self) -> None:
        length = 8 + len(self.payload)
        pseudo = self.source + self.destination + struct.pack(">BBH", 0, 17, length)
        plain = struct.pack(">HHHH", 5000, 6000, length, 0)
        found = (checksum(pseudo + plain + self.payload) or 0xFFFF) if self.with_checksum else 0
        self.header = plain[:6] + struct.pack(">H", found)

    @property
    def transport(self) -> bytes:
        return self.header + self.payload

    def frames(self, mtu_B: int = 1500) -> list[bytes]:
        """Return its frames in order."""
        part_B = (mtu_B - IP_B) // 8 * 8
        whole = self.transport
        return [
            frame_of(self, at, whole[at : at + part_B], at + part_B < len(whole))
            for at in range(0, len(whole), part_B)
        ]


def frame_of(datagram: Datagram, offset_B: int, part: bytes, more: bool) -> bytes:
    """Return a fragment as a frame, padded to the 60 bytes that a frame has at least."""
    fields = (
        0x45,
        0,
        IP_B + len(part),
        datagram.identification,
        more << 13 | offset_B // 8,
        64,
        17,
        0,
    )
    header = struct.pack(">BBHHHBBH", *fields) + datagram.source + datagram.destination
    header = header[:10] + struct.pack(">H", checksum(header)) + header[12:]
    frame = bytes(range(2, 14)) + b"\x08\x00" + header + part
    return frame + bytes(max(0, 60 - len(frame)))


class Host:
    """A host's IP and UDP: fragments by addresses and identification until they are whole and their sum is right."""

    def __init__(self) -> None:
        self.received: list[bytes] = []
        self._parts: dict[bytes, dict[int, tuple[bytes, bool]]] = {}

    def take(self, frame: bytes) -> None:
        if (
            len(frame) < 34
            or frame[12:15] != b"\x08\x00\x45"
            or frame[23] != 17
            or checksum(frame[14:34])
        ):
            return
        length, identification, flags = struct.unpack(">HHH", frame[16:22])
        offset, more = (flags & 0x1FFF) * 8, bool(flags & 0x2000)
        key = frame[26:34] + struct.pack(">H", identification)
        parts = self._parts.setdefault(key, {})
        parts[offset] = (frame[34 : ETHERNET_B + length], more)
        whole = b""
        while len(whole) in parts:
            part, follows = parts[len(whole)]
            whole += part
            if not follows:
                del self._parts[key]
                self._udp(frame[26:34], whole)
                return
            if not part:
                return

    def _udp(self, addresses: bytes, whole: bytes) -> None:
        length, found = struct.unpack(">HH", whole[4:8])
        pseudo = addresses + struct.pack(">BBH", 0, 17, len(whole))
        if length == len(whole) and (found == 0 or checksum(pseudo + whole) == 0):
            self.received.append(whole)


def received(frames: Iterable[bytes]) -> list[bytes]:
    """Return the datagrams that a host takes out of frames, in order."""
    host = Host()
    for frame in frames:
        host.take(frame)
    return host.received


def spoiled(frames: list[bytes], draw: random.Random) -> list[bytes]:
    """Return the frames of a datagram so that the guess of three in a row is wrong: one way of many."""
    other = Datagram(draw.randbytes(900), draw.randrange(1 << 16), source=bytes((10, 0, 0, 9)))
    arp = bytes(12) + b"\x08\x06" + draw.randbytes(46)
    at = draw.randrange(1, len(frames))
    way = draw.randrange(9)
    if way == 0:  # another datagram in between
        return [*frames[:at], *other.frames(), *frames[at:]]
    if way == 1:  # of the same length, its fragments between ours
        twin = Datagram(draw.randbytes(4000), draw.randrange(1 << 16)).frames()
        pairs = [frame for pair in zip(frames, twin, strict=False) for frame in pair]
        return pairs + twin[len(frames) :] + frames[len(twin) :]
    if way == 2:  # one is missing
        return frames[:at] + frames[at + 1 :]
    if way == 3:  # two exchanged
        return [*frames[: at - 1], frames[at], frames[at - 1], *frames[at + 1 :]]
    if way == 4:  # one again
        return [*frames[:at], frames[at - 1], *frames[at:]]
    if way == 5:  # a bit of the payload
        spot = draw.randrange(34, len(frames[at]) - 30) if len(frames[at]) > 64 else 34
        bad = bytearray(frames[at])
        bad[spot] ^= 1 << draw.randrange(8)
        return [*frames[:at], bytes(bad), *frames[at + 1 :]]
    if way == 6:  # a bit of the IP header
        bad = bytearray(frames[at])
        bad[draw.randrange(14, 34)] ^= 1 << draw.randrange(8)
        return [*frames[:at], bytes(bad), *frames[at + 1 :]]
    if way == 7:  # the end does not come
        return frames[:at]
    return [*frames[:at], arp, *frames[at:]]
