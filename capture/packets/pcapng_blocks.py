"""Blocks of a pcapng file, as bytes: what writers of packets share.

Source: IETF draft-ietf-opsawg-pcapng-03, 3 and 4; tcpdump.org link-layer header types.
"""

from __future__ import annotations

import struct

LINKTYPE_ETHERNET = 1
MOST_B = 262_144
"""Wireshark refuses longer packets as damage."""

_COMMENT, _IF_NAME, _IF_DESCRIPTION, _IF_TSRESOL, _IF_FCSLEN = 1, 2, 3, 9, 13  # option codes
_EPB_FLAGS, _SHB_USERAPPL = 2, 4


def section_block(comment: str) -> bytes:
    """Return the block with which a file begins."""
    body = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1) + _option(_COMMENT, comment)
    return _block(0x0A0D0D0A, body + _option(_SHB_USERAPPL, "freezeframe") + bytes(4))


def interface_block(name: str, linktype: int, description: str) -> bytes:
    """Return the block of an interface whose times are nanoseconds."""
    options = _option(_IF_NAME, name) + _option(_IF_DESCRIPTION, description)
    options += _option(_IF_TSRESOL, b"\x09")  # 10^-9 s
    if linktype == LINKTYPE_ETHERNET:  # a frame that has one says so; else Wireshark guesses
        options += _option(_IF_FCSLEN, b"\0")
    return _block(1, struct.pack("<HHI", linktype, 0, MOST_B) + options + bytes(4))


def packet_block(
    interface: int, t_ns: int, data: bytes, *, wire_B: int = 0, comment: str = "", flags: int = 0
) -> bytes:
    """Return the block of a packet, cut at `MOST_B`; ``wire_B``: its length where more of it was on the wire."""
    kept = data[:MOST_B]
    length = max(len(data), wire_B)
    head = struct.pack("<IIIII", interface, t_ns >> 32, t_ns & 0xFFFFFFFF, len(kept), length)
    options = _option(_COMMENT, comment) if comment else b""
    if flags:
        options += _option(_EPB_FLAGS, struct.pack("<I", flags))
    return _block(6, head + _padded(kept) + (options + bytes(4) if options else b""))


def _block(kind: int, body: bytes) -> bytes:
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + length + body + length


def _option(code: int, value: str | bytes) -> bytes:
    raw = value.encode("utf-8", "replace") if isinstance(value, str) else value
    raw = raw[:0xFFFC]  # the length has 16 bits
    return struct.pack("<HH", code, len(raw)) + _padded(raw)


def _padded(raw: bytes) -> bytes:
    return raw + bytes(-len(raw) % 4)
