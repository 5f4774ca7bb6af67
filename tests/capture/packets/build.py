"""Packets and files of packets, made byte by byte; shares nothing with what reads them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from ipaddress import ip_address

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16


def checksum(data: bytes) -> int:
    """Return the Internet checksum. Source: RFC 1071."""
    data += b"\0" * (len(data) & 1)
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def tcp(
    src: tuple[str, int],
    dst: tuple[str, int],
    seq: int,
    payload: bytes = b"",
    *,
    flags: int = ACK,
    ack: int = 0,
    window: int = 1000,
    options: bytes = b"",
    extensions: bytes = b"",
    first_extension: int = 6,
    length: int | None = None,
) -> bytes:
    """Return an IPv4 or IPv6 packet with a TCP segment, both checksums right.

    Args:
        extensions: headers of IPv6 between it and TCP, the first of them of the kind ``first_extension``.
        length: what the IP header says, where it is to lie.
    """
    a, b = ip_address(src[0]).packed, ip_address(dst[0]).packed
    head = struct.pack(
        ">HHIIBBHHH",
        src[1],
        dst[1],
        seq % (1 << 32),
        ack % (1 << 32),
        (20 + len(options)) // 4 << 4,
        flags,
        window,
        0,
        0,
    )
    segment = head + options + payload
    pseudo = a + b + struct.pack(">II", len(segment), 6)
    segment = segment[:16] + struct.pack(">H", checksum(pseudo + segment)) + segment[18:]
    if len(a) == 4:
        return ipv4(src[0], dst[0], 6, segment, length=length)
    size = len(extensions) + len(segment) if length is None else length
    return struct.pack(">IHBB", 6 << 28, size, first_extension, 64) + a + b + extensions + segment


def ipv4(
    src: str,
    dst: str,
    protocol: int,
    payload: bytes,
    *,
    length: int | None = None,
    ident: int = 7,
    fragment: int = 0,
) -> bytes:
    """Return an IPv4 packet; ``fragment`` is its field of flags and offset."""
    size = 20 + len(payload) if length is None else length
    head = struct.pack(">BBHHHBBH", 0x45, 0, size, ident, fragment, 64, protocol, 0)
    head += ip_address(src).packed + ip_address(dst).packed
    return head[:10] + struct.pack(">H", checksum(head)) + head[12:] + payload


def ethernet(packet: bytes, *, vlans: Sequence[int] = (), ethertype: int | None = None) -> bytes:
    """Return a frame without FCS."""
    kind = (0x86DD if packet[0] >> 4 == 6 else 0x0800) if ethertype is None else ethertype
    tags = b"".join(struct.pack(">HH", 0x8100, vlan) for vlan in vlans)
    return bytes.fromhex("020000000001020000000002") + tags + struct.pack(">H", kind) + packet


def framed(packet: bytes, linktype: int) -> bytes:
    """Return an IP packet as it lies in a capture of a linktype."""
    kind = 0x86DD if packet[0] >> 4 == 6 else 0x0800
    if linktype == 1:
        return ethernet(packet)
    if linktype == 113:
        return struct.pack(">HHH8sH", 0, 1, 6, bytes.fromhex("0200000000020000"), kind) + packet
    if linktype == 276:
        return (
            struct.pack(">HHIHBB8s", kind, 0, 2, 1, 0, 6, bytes.fromhex("0200000000020000"))
            + packet
        )
    if linktype in (0, 108):
        family = 2 if kind == 0x0800 else 30
        return struct.pack("<I" if linktype == 0 else ">I", family) + packet
    return packet


def pcap(
    packets: Iterable[tuple[int, bytes]],
    *,
    order: str = "<",
    nano: bool = False,
    linktype: int = 1,
    snap: int = 262144,
) -> bytes:
    """Return a pcap; each packet with its time in ns."""
    out = [
        struct.pack(
            f"{order}IHHiIII", 0xA1B23C4D if nano else 0xA1B2C3D4, 2, 4, 0, 0, snap, linktype
        )
    ]
    for t_ns, data in packets:
        second, rest = divmod(t_ns, 10**9)
        kept = data[:snap]
        out.append(
            struct.pack(
                f"{order}IIII", second, rest if nano else rest // 1000, len(kept), len(data)
            )
        )
        out.append(kept)
    return b"".join(out)


def ng_block(kind: int, body: bytes, order: str = "<") -> bytes:
    body += b"\0" * (-len(body) % 4)
    total = struct.pack(f"{order}I", len(body) + 12)
    return struct.pack(f"{order}I", kind) + total + body + total


def ng_option(kind: int, value: bytes, order: str = "<") -> bytes:
    return struct.pack(f"{order}HH", kind, len(value)) + value + b"\0" * (-len(value) % 4)


def ng_section(order: str = "<") -> bytes:
    return ng_block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1), order)


def ng_interface(
    linktype: int = 1, snap: int = 0, options: Sequence[bytes] = (), order: str = "<"
) -> bytes:
    end = ng_option(0, b"", order) if options else b""
    return ng_block(
        1, struct.pack(f"{order}HHI", linktype, 0, snap) + b"".join(options) + end, order
    )


def ng_packet(
    ticks: int,
    data: bytes,
    *,
    interface: int = 0,
    wire: int | None = None,
    options: Sequence[bytes] = (),
    order: str = "<",
) -> bytes:
    """Return an enhanced packet block."""
    head = struct.pack(
        f"{order}IIIII",
        interface,
        ticks >> 32,
        ticks & 0xFFFFFFFF,
        len(data),
        len(data) if wire is None else wire,
    )
    end = ng_option(0, b"", order) if options else b""
    return ng_block(6, head + data + b"\0" * (-len(data) % 4) + b"".join(options) + end, order)
