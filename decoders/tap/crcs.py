"""The CRCs of one packet, as they stand in it and as its bytes give them, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from freezeframe.decoders.crc import CRC16_IBM_3740, CRC32_ISO_HDLC
from freezeframe.decoders.crc_catalogue import crc_of_check
from freezeframe.decoders.tap.checked import (
    FCS_B,
    LINK_HEADER_B,
    LINK_TAIL_B,
    CheckedStream,
    crc_places,
)


class CrcFound(NamedTuple):
    """A CRC of a packet: what the card file calls it, its bits, what stands there, what its bytes give."""

    name: str
    bits: int
    found: int
    expected: int

    @property
    def text(self) -> str:
        digits = -(-self.bits // 4)
        return f"{self.name} {self.found:#0{digits + 2}x}, its bytes give {self.expected:#0{digits + 2}x}"


def wrong_crcs(checked: CheckedStream, packet: int) -> list[CrcFound]:
    """Return the CRCs of a packet that do not fit, in its order; none where its bytes are not all there."""
    if checked.said is None or not checked.stream.whole[packet]:
        return []
    return [each for each in _crcs(checked, packet) if each.found != each.expected]


def _crcs(checked: CheckedStream, packet: int) -> Iterator[CrcFound]:
    data, said = checked.content(packet), checked.said
    assert said is not None  # wrong_crcs asked
    if said.is_ == "ethernet" and said.fcs == "present" and len(data) >= FCS_B:
        found = int.from_bytes(data[-FCS_B:], "little")
        yield CrcFound("FCS", 32, found, CRC32_ISO_HDLC.of(data[:-FCS_B]))
    if said.is_ == "link" and len(data) >= LINK_HEADER_B + LINK_TAIL_B:
        header = CRC16_IBM_3740.of(data[:6] + data[8:16])
        yield CrcFound("header CRC", 16, int.from_bytes(data[6:8], "little"), header)
        payload = data[LINK_HEADER_B:-LINK_TAIL_B]
        tail = int.from_bytes(data[-LINK_TAIL_B:], "little")
        yield CrcFound("payload CRC", 64, tail, CRC32_ISO_HDLC.of(payload) if payload else 0)
    for name, check in said.check.items():
        try:
            crc = crc_of_check(check)
        except ValueError:
            continue  # it is told as a check that cannot be made
        places = crc_places(len(data), crc, check)
        if places is not None:
            at, stop = places
            size_B = -(-crc.width // 8)
            found = int.from_bytes(data[at : at + size_B], check.order)
            yield CrcFound(name, crc.width, found, crc.of(data[check.first : stop]))
