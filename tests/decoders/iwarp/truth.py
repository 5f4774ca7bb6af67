"""What a generated capture holds, for a decoder to be compared with."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from tests.decoders.iwarp.packets import Capture, Endpoints, Packet


@dataclass(slots=True)
class Frame:
    """An MPA Request or Reply."""

    side: int
    is_request: bool
    position: int
    flags: int
    revision: int
    private: bytes  # with the enhanced data


@dataclass(slots=True)
class Fpdu:
    """An FPDU and the DDP segment in it. `packet`: number of the one that completes it, 0: never whole."""

    connection: int
    side: int
    begin: int  # with a marker before its header
    header: int  # position of ULPDU_Length
    end: int
    ulpdu: bytes
    crc: int
    crc_right: int
    markers: int
    packet: int = 0

    @property
    def tagged(self) -> bool:
        return bool(self.ulpdu[0] & 0x80)

    @property
    def last(self) -> bool:
        return bool(self.ulpdu[0] & 0x40)

    @property
    def opcode(self) -> int:
        return self.ulpdu[1] & 15

    def _field(self, first: int, length: int) -> int:
        return int.from_bytes(self.ulpdu[first : first + length], "big")

    @property
    def stag(self) -> int:
        """Of the tagged buffer, or the one to invalidate."""
        return self._field(2, 4)

    @property
    def to(self) -> int:
        return self._field(6, 8)

    @property
    def queue(self) -> int:
        return self._field(6, 4)

    @property
    def msn(self) -> int:
        return self._field(10, 4)

    @property
    def mo(self) -> int:
        return self._field(14, 4)

    @property
    def payload(self) -> bytes:
        return self.ulpdu[14 if self.tagged else 18 :]


@dataclass(slots=True)
class Operation:
    """A message, or a read or atomic with its response; first and last are numbers in Truth.fpdus."""

    connection: int
    side: int  # who asks
    opcode: int
    size_B: int  # of a read: of its response
    first: int
    last: int
    response_first: int | None = None
    response_last: int | None = None


@dataclass(slots=True)
class Connection:
    """One connection, by side: 0 opened it."""

    ends: Endpoints
    initiator: int
    revision: int = 1
    wants_markers: tuple[bool, bool] = (False, False)  # by side: what it wants to receive
    crc_on: bool = True
    rejected: bool = False
    syn_seen: bool = True
    start: list[int] = field(
        default_factory=lambda: [0, 0]
    )  # positions of the first octets captured


@dataclass(slots=True)
class Breach:
    """The one rule that is broken. `fpdu`: its number in Truth.fpdus, None: an MPA frame or TCP.

    `followers`: rules that a decoder may name after it, because what follows cannot be right any more.
    """

    rule: str
    connection: int
    side: int
    position: int
    fpdu: int | None = None
    followers: tuple[str, ...] = ()
    packet: int = 0


@dataclass(slots=True)
class Truth:
    """All of a capture, in the order said."""

    connections: list[Connection] = field(default_factory=list)
    frames: list[list[Frame]] = field(default_factory=list)
    fpdus: list[Fpdu] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    breaches: list[Breach] = field(default_factory=list)


class Seen:
    """Which packet brought each octet of a side first: what a capture really holds."""

    def __init__(self, packets: list[Packet], snap: int = 1 << 30) -> None:
        self._first: dict[tuple[int, int], int] = {}
        self._number: dict[tuple[int, int], array[int]] = {}
        for packet in packets:
            key = (packet.connection, packet.side)
            if packet.data:
                self._first[key] = min(self._first.get(key, 1 << 60), packet.position)
        for number, packet in enumerate(packets, 1):
            held = len(packet.data) - max(0, len(packet.frame) - snap)
            if held > 0:
                self._bring((packet.connection, packet.side), packet.position, held, number)

    def _bring(self, key: tuple[int, int], position: int, count: int, number: int) -> None:
        numbers, at = self._number.setdefault(key, array("I")), position - self._first[key]
        if at + count > len(numbers):
            numbers.frombytes(bytes(4 * (at + count - len(numbers))))
        before = numbers[at : at + count]
        now = [number] * count if not any(before) else [n or number for n in before]
        numbers[at : at + count] = array("I", now)

    def completed(self, connection: int, side: int, begin: int, end: int) -> int:
        """Return the number of the packet with which all of begin..end are there, 0 where some never are."""
        key = (connection, side)
        numbers, at = self._number.get(key, array("I")), begin - self._first.get(key, 0)
        found = numbers[at : at + end - begin] if at >= 0 else array("I")
        return max(found) if len(found) == end - begin and all(found) else 0


def complete(capture: Capture, truth: Truth) -> None:
    """Set the packets that complete FPDUs and hold breaches, as this capture brings them."""
    seen = Seen(capture.packets, capture.snap)
    for fpdu in truth.fpdus:
        fpdu.packet = seen.completed(fpdu.connection, fpdu.side, fpdu.begin, fpdu.end)
    for breach in truth.breaches:
        if breach.fpdu is not None:
            breach.packet = truth.fpdus[breach.fpdu].packet
