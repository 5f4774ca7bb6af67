"""One direction of a connection: octets, then FPDUs with pads, markers and CRCs (RFC 5044, 4)."""

from __future__ import annotations

from dataclasses import dataclass

from tests.decoders.iwarp.octets import crc32c


@dataclass(frozen=True, slots=True)
class Placed:
    """Where an FPDU stands: positions in its stream, from 0 after SYN; markers before it are part of it."""

    begin: int
    header: int  # of ULPDU_Length
    end: int
    crc: int  # as the field holds it, read least significant octet first
    crc_right: int  # as it should be
    markers: int


class Sender:
    """A growing stream. `full` says that FPDUs have begun: before, octets are what they are."""

    def __init__(self, position: int = 0) -> None:
        self.position = position  # of data[0]
        self.data = bytearray()
        self.start: int | None = None  # of the first FPDU
        self.markers = False

    @property
    def end(self) -> int:
        return self.position + len(self.data)

    def raw(self, octets: bytes) -> tuple[int, int]:
        """Append octets as they are; return where they stand."""
        begin = self.end
        self.data += octets
        return begin, self.end

    def fpdu(
        self,
        ulpdu: bytes,
        *,
        length: int | None = None,
        pad: bytes | None = None,
        crc_xor: int = 0,
        crc: int | None = None,
        pointer_xor: tuple[int, int] | None = None,
        marker_reserved: int = 0,
    ) -> Placed:
        """Append an FPDU; what is not None departs from the RFC. `pointer_xor`: (number of the marker, xor).

        The fields of markers count into the CRC, whatever they say.
        """
        if self.start is None:
            self.start = self.end
        begin = self.end - self.start
        head = (len(ulpdu) if length is None else length).to_bytes(2, "big")
        body = head + ulpdu + (bytes(-(2 + len(ulpdu)) % 4) if pad is None else pad)
        header = begin + 4 if self.markers and begin % 512 == 0 else begin
        octets, markers, rest = bytearray(), 0, 0
        while rest <= len(
            body
        ):  # once more at its end: a marker before the CRC belongs to this FPDU
            at = begin + len(octets)
            if self.markers and at % 512 == 0:
                pointer = max(at - header, 0) & 0xFFFF
                if pointer_xor is not None and pointer_xor[0] == markers:
                    pointer ^= pointer_xor[1]
                octets += marker_reserved.to_bytes(2, "big") + pointer.to_bytes(2, "big")
                markers += 1
                at += 4
            if rest == len(body):
                break
            count = min(512 - at % 512 if self.markers else len(body), len(body) - rest)
            octets += body[rest : rest + count]
            rest += count
        right = crc32c(octets)
        field = (right if crc is None else crc) ^ crc_xor
        octets += field.to_bytes(4, "little")
        self.data += octets
        return Placed(begin + self.start, header + self.start, self.end, field, right, markers)
