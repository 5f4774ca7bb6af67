"""What pcap and pcapng say before their packets: byte order, clock resolution, interfaces.

Source: draft-ietf-opsawg-pcap, 4; draft-ietf-opsawg-pcapng, 4.1, 4.2.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from freezeframe.capture.errors import CaptureFormatError
from freezeframe.capture.packets.block import Interface
from freezeframe.capture.packets.recognise import GZIP_MARK, MODIFIED, NANO, PCAP_MARKS

_ORDER_MARK = 0x1A2B3C4D
_NAME, _RESOLUTION, _FCS, _OFFSET = 2, 9, 13, 14  # options of an interface
_DEFAULT_RESOLUTION = 6
_FCS_KNOWN = 1 << 26


def pcap_header(name: str, head: bytes) -> tuple[bool, bool, Interface]:
    """Return whether a pcap is big-endian, whether it has nanoseconds, and its interface, from its 24 bytes.

    Raises:
        CaptureFormatError: it is no pcap, or one that cannot be read.
    """
    big, mark = PCAP_MARKS.get(head[:4], (False, 0))
    if not mark:
        if head.startswith(GZIP_MARK):
            raise CaptureFormatError(
                f"{name}: packed by gzip, which is read of a file, or of a pipe behind gzip -dc"
            )
        what = f"it begins with {head[:8].hex(' ')}" if head else "it is empty"
        raise CaptureFormatError(f"{name}: neither pcap nor pcapng ({what})")
    if mark == MODIFIED:
        raise CaptureFormatError(
            f"{name}: a modified pcap (magic a1b2cd34), whose records have fields of their own; "
            "convert it: editcap -F pcap FILE NEW"
        )
    if len(head) < 24:
        raise CaptureFormatError(f"{name}: ends {len(head)} B into its header of 24 B")
    major, minor, _, _, snap_B, link = struct.unpack_from(f"{'>' if big else '<'}HHiIII", head, 4)
    if major != 2 or minor < 3:  # before 2.3 the two lengths of a record stood the other way round
        raise CaptureFormatError(
            f"{name}: pcap of version {major}.{minor}; 2.3 and later 2.x are read"
        )
    fcs_B = 2 * (link >> 28) if link & _FCS_KNOWN else -1
    return big, mark == NANO, Interface(link & 0xFFFF, "", snap_B, fcs_B)


def section_length(head: bytes) -> tuple[bool, int]:
    """Return whether a section is big-endian, and the length of its header block, from its first 28 bytes.

    Raises:
        CaptureFormatError: it is no such block.
    """
    if len(head) < 28:
        raise CaptureFormatError(f"the file ends {len(head)} B into the header of a section")
    big = head[8:12] == _ORDER_MARK.to_bytes(4, "big")
    if not big and head[8:12] != _ORDER_MARK.to_bytes(4, "little"):
        raise CaptureFormatError(f"no byte order of a section is {head[8:12].hex(' ')}")
    length, _, major, minor = struct.unpack_from(f"{'>' if big else '<'}IIHH", head, 4)
    if major != 1:
        raise CaptureFormatError(f"pcapng of version {major}.{minor}; 1.x is read")
    if length < 28 or length % 4:
        raise CaptureFormatError(f"the header of a section is said to have {length:,} B")
    return big, length


def interface_of(body: bytes, order: str) -> tuple[Interface, int, int]:
    """Return an interface, its ``if_tsresol`` and ``if_tsoffset``, from the body of its block.

    Raises:
        CaptureFormatError: the body is too short.
    """
    if len(body) < 8:
        raise CaptureFormatError("the description of an interface is too short")
    linktype, _, snap_B = struct.unpack_from(f"{order}HHI", body)
    name, resolution, fcs_B, offset_s = "", _DEFAULT_RESOLUTION, -1, 0
    for kind, value in _options(body[8:], order):
        if kind == _NAME:
            name = value.rstrip(b"\0").decode(errors="replace")
        elif kind == _RESOLUTION and len(value) == 1:
            resolution = value[0]
        elif kind == _FCS and len(value) == 1:
            fcs_B = value[0]
        elif kind == _OFFSET and len(value) == 8:
            (offset_s,) = struct.unpack(f"{order}q", value)
    # No clock is off by more than the years that int64 nanoseconds can hold.
    return (
        Interface(linktype, name, snap_B, fcs_B),
        resolution,
        max(min(offset_s, 9_000_000_000), -9_000_000_000),
    )


def _options(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        kind, size = struct.unpack_from(f"{order}HH", data, at)
        if not kind:
            return
        yield kind, data[at + 4 : at + 4 + size]
        at += 4 + (size + 3 & ~3)
