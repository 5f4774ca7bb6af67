"""FPDUs as bytes: built one by one, and read out of a stream that may be damaged in any way.

For what is to be looked at or broken; the stack itself frames and reads in compiled kernels.

Source: RFC 5044, 4.1 to 4.4. A position is counted from the first octet after the sender's MPA frame.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import google_crc32c

EVERY_B = 512
"""From one marker to the next, counted from first octet to first octet."""
MOST_ULPDU_B = 64_768


def markers_within(position: int, data_B: int) -> int:
    """Return how many markers stand in, or right before, ``data_B`` octets that begin at a position."""
    before = -position % EVERY_B  # octets until the first one
    return 1 + (data_B - before - 1) // (EVERY_B - 4) if data_B > before else 0


def padding(ulpdu_B: int) -> int:
    """Return how many zero octets follow so many of a ULPDU."""
    return -(2 + ulpdu_B) % 4


def with_crc(covered: bytes) -> bytes:
    """Return octets and, after them, their CRC as it goes on the wire."""
    return covered + struct.pack("<I", google_crc32c.value(covered))


def build_fpdu(
    ulpdu: bytes,
    *,
    position: int = 0,
    markers: bool = False,
    crc: bool = True,
    length: int | None = None,
) -> bytes:
    """Return the FPDU of a ULPDU.

    Args:
        position: where it will stand in the stream of its sender; of importance with markers alone.
        crc: False leaves zeros in its place, as where both ends have switched it off.
        length: what ULPDU_Length is to say, where it is to be wrong.
    """
    told = len(ulpdu) if length is None else length
    data = struct.pack(">H", told) + ulpdu + bytes(padding(len(ulpdu)))
    covered = _with_markers(data + bytes(4), position)[:-4] if markers else data
    return with_crc(covered) if crc else covered + bytes(4)


def _with_markers(data: bytes, position: int) -> bytes:
    pieces, at, header = [], position, -1
    done = 0
    while done < len(data):
        if at % EVERY_B == 0:
            pieces.append(struct.pack(">HH", 0, 0 if header < 0 else at - header))
            at += 4
        if header < 0:
            header = at
        size = min(len(data) - done, EVERY_B - at % EVERY_B)
        pieces.append(data[done : done + size])
        at += size
        done += size
    return b"".join(pieces)


@dataclass(frozen=True, slots=True)
class Fpdu:
    """An FPDU as it came.

    Attributes:
        position: of its first octet, a marker that stands before it included.
        raw: all of it.
        ulpdu: the DDP segment in it.
        crc_is: the CRC that it has, and ``crc_expected`` the one that it should have.
        pointers: what its markers say, and what each should say.
    """

    position: int
    raw: bytes
    ulpdu: bytes
    pad: bytes
    crc_is: int
    crc_expected: int
    pointers: tuple[tuple[int, int], ...] = ()

    @property
    def crc_right(self) -> bool:
        return self.crc_is == self.crc_expected

    @property
    def markers_right(self) -> bool:
        return all(said & ~3 == expected for said, expected in self.pointers)


class FpduStream:
    """Takes the octets of one direction after its MPA frame, and gives the FPDUs in them."""

    def __init__(self, *, markers: bool) -> None:
        self.markers = markers
        self.position = 0
        self._held = bytearray()

    @property
    def held(self) -> bytes:
        """The octets of an FPDU that is not whole yet."""
        return bytes(self._held)

    def feed(self, data: bytes) -> Iterator[Fpdu]:
        """Yield the FPDUs that are whole now; their boundaries follow from ULPDU_Length alone."""
        self._held += data
        while (fpdu := self._next()) is not None:
            yield fpdu

    def _next(self) -> Fpdu | None:
        first = 4 if self.markers and self.position % EVERY_B == 0 else 0
        if len(self._held) < first + 2:
            return None
        length = int.from_bytes(self._held[first : first + 2])
        data_B = 2 + length + padding(length) + 4
        count = markers_within(self.position, data_B) if self.markers else 0
        total = data_B + 4 * count
        if len(self._held) < total:
            return None
        raw = bytes(self._held[:total])
        del self._held[:total]
        data, pointers = self._without_markers(raw, first) if count else (raw, ())
        position, self.position = self.position, self.position + total
        return Fpdu(
            position, raw, data[2 : 2 + length], data[2 + length : -4],
            int.from_bytes(raw[-4:], "little"), google_crc32c.value(raw[:-4]), pointers,
        )  # fmt: skip

    def _without_markers(self, raw: bytes, first: int) -> tuple[bytes, tuple[tuple[int, int], ...]]:
        pieces, pointers = [], []
        at = 0
        while at < len(raw):
            if (self.position + at) % EVERY_B == 0:
                said = int.from_bytes(raw[at + 2 : at + 4])
                pointers.append((said, max(at - first, 0)))
                at += 4
            size = EVERY_B - (self.position + at) % EVERY_B
            pieces.append(raw[at : at + size])
            at += size
        return b"".join(pieces), tuple(pointers)
