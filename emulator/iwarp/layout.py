"""DDP segments and what RDMAP puts into them, as bytes and as fields. Nothing is checked: wrong ones can be made too.

Source: RFC 5041, 4.2 and 4.3; RFC 5040, 4.1 to 4.8; RFC 7306, 5 and 6.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

TAGGED_B, UNTAGGED_B, READ_REQUEST_B = 14, 18, 28
SEND_QUEUE, READ_QUEUE, TERMINATE_QUEUE, ATOMIC_QUEUE = range(4)

_TAGGED = struct.Struct(">BBIQ")
_UNTAGGED = struct.Struct(">BBIIII")
_READ_REQUEST = struct.Struct(">IQIIQ")


class Opcode(IntEnum):
    """What an RDMAP message is."""

    WRITE = 0
    READ_REQUEST = 1
    READ_RESPONSE = 2
    SEND = 3
    SEND_INVALIDATE = 4
    SEND_SOLICITED = 5
    SEND_SOLICITED_INVALIDATE = 6
    TERMINATE = 7
    IMMEDIATE = 8
    IMMEDIATE_SOLICITED = 9
    ATOMIC_REQUEST = 10
    ATOMIC_RESPONSE = 11


@dataclass(frozen=True, slots=True)
class Segment:
    """A DDP segment: a ULPDU of MPA. A tagged one has ``stag`` and ``to``, the other ``queue``, ``msn``, ``mo`` and
    ``invalidates`` (the STag of a Send with Invalidate, 0 elsewhere).
    """

    opcode: int
    payload: bytes = b""
    tagged: bool = False
    last: bool = True
    stag: int = 0
    to: int = 0
    queue: int = 0
    msn: int = 1
    mo: int = 0
    invalidates: int = 0
    ddp_version: int = 1
    rdmap_version: int = 1
    reserved: int = 0  # four bits of DDP
    rdmap_reserved: int = 0  # two bits of RDMAP

    @property
    def header(self) -> bytes:
        ddp = self.tagged << 7 | self.last << 6 | (self.reserved & 15) << 2 | self.ddp_version & 3
        rdmap = (self.rdmap_version & 3) << 6 | (self.rdmap_reserved & 3) << 4 | self.opcode & 15
        if self.tagged:
            return _TAGGED.pack(ddp, rdmap, self.stag, self.to)
        return _UNTAGGED.pack(ddp, rdmap, self.invalidates, self.queue, self.msn, self.mo)

    def to_bytes(self) -> bytes:
        return self.header + self.payload

    @classmethod
    def of(cls, ulpdu: bytes) -> Segment:
        """Return the fields of a ULPDU.

        Raises:
            ValueError: it is shorter than its header.
        """
        tagged = bool(ulpdu[:1] and ulpdu[0] & 0x80)
        size = TAGGED_B if tagged else UNTAGGED_B
        if len(ulpdu) < size:
            raise ValueError(f"a DDP segment of {len(ulpdu)} octets; its header has {size}")
        ddp, rdmap, *rest = (_TAGGED if tagged else _UNTAGGED).unpack_from(ulpdu)
        names = ("stag", "to") if tagged else ("invalidates", "queue", "msn", "mo")
        return cls(
            rdmap & 15, ulpdu[size:], tagged, bool(ddp & 0x40), ddp_version=ddp & 3,
            rdmap_version=rdmap >> 6, reserved=ddp >> 2 & 15, rdmap_reserved=rdmap >> 4 & 3,
            **dict(zip(names, rest, strict=True)),
        )  # fmt: skip


class ReadRequest(NamedTuple):
    """The payload of a Read Request."""

    sink_stag: int
    sink_to: int
    size: int
    source_stag: int
    source_to: int

    def to_bytes(self) -> bytes:
        return _READ_REQUEST.pack(*self)

    @classmethod
    def of(cls, data: bytes) -> ReadRequest:
        return cls(*_READ_REQUEST.unpack(data))


class Cause(NamedTuple):
    """Why a Terminate is sent: layer, error type, error code."""

    layer: int
    etype: int
    code: int


def terminate_payload(
    cause: tuple[int, int, int], ddp: bytes = b"", read: bytes = b"", length: int = 0
) -> bytes:
    """Return the payload of a Terminate.

    Args:
        ddp: header of the segment that is the cause; its octets and ``length``, those of the segment, are told with it.
        read: payload of the Read Request that is the cause.
    """
    layer, etype, code = cause
    flags = (0xC0 if ddp else 0) | (0x20 if read else 0)
    told = struct.pack(">H", length) + ddp if ddp else b""
    return struct.pack(">BBBB", layer << 4 | etype, code, flags, 0) + told + read


def terminate_cause(payload: bytes) -> Cause:
    """Return why a Terminate was sent.

    Raises:
        ValueError: it is cut.
    """
    if len(payload) < 4:
        raise ValueError(f"a Terminate of {len(payload)} octets; it has 4 at least")
    return Cause(payload[0] >> 4, payload[0] & 15, payload[1])
