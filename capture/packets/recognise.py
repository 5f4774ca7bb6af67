"""What is a source of packets: a file by its first bytes, standard input, a network interface of this machine."""

from __future__ import annotations

import zlib
from pathlib import Path

STANDARD_INPUT, NETDEV = "-", "netdev:"

GZIP_MARK = b"\x1f\x8b"
SECTION_MARK = b"\x0a\x0d\x0d\x0a"
MICRO, NANO, MODIFIED = 0xA1B2C3D4, 0xA1B23C4D, 0xA1B2CD34
PCAP_MARKS = {
    mark.to_bytes(4, order): (order == "big", mark)
    for mark in (MICRO, NANO, MODIFIED)
    for order in ("little", "big")
}
_HEAD_B = 4096
_GZIP = 31  # of zlib: with the header of gzip


def is_live(source: str | Path) -> bool:
    """Return whether packets come while they are read: standard input, or ``netdev:NAME``."""
    return str(source) == STANDARD_INPUT or str(source).startswith(NETDEV)


def is_packets(source: str | Path) -> bool:
    """Return whether this is a source of packets: pcap or pcapng, also packed by gzip, or a live one.

    Of a file that cannot be read whoever opens it says so.
    """
    if is_live(source):
        return True
    place = Path(source)
    if not place.is_file():
        return False
    try:
        with place.open("rb") as file:
            head = file.read(_HEAD_B)
    except OSError:
        return False
    if head.startswith(GZIP_MARK):
        try:
            head = zlib.decompressobj(_GZIP).decompress(head, 4)
        except zlib.error:
            return False
    return head[:4] in PCAP_MARKS or head.startswith(SECTION_MARK)
