"""The packets on the back-side link of an SCI link controller: every field, and how sure its place is.

The paper (M. Trams, W. Rehm, "SCI Transaction Management in our FPGA-based PCI-SCI Bridge") gives sizes, 64 transaction
IDs, the pointers of a partly filled body and what a wrapper adds; it prints no format. The order of an SCI packet's
16-bit symbols is that of IEEE 1596-1992 as it is commonly described; its text was not at hand. Everything else is
ours. `FIELDS` says which is which; the card file ``pci-sci`` has the same places, and a test holds the two together.

Sizes agree with the paper: 14 bytes of header, 64 of data and 2 of CRC are an SCI packet of 80 bytes; with the wrapper
of 8 (section II) 88, 11 words of 64 bits; with three cycles before and two behind
(section IV, D) the 16 cycles that the paper says a packet does not need when they overlap.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from freezeframe.decoders.crc import CRC16_IBM_3740

Origin = Literal["paper", "standard", "assumed"]


class Field(NamedTuple):
    """A field: first bit and bits of the packet, most significant first, its origin, and why."""

    at_bit: int
    bits: int
    origin: Origin
    doc: str


MARK = 0xB5
WRAP_HEAD_B, WRAP_TAIL_B = 4, 4
HEADER_B, CRC_B = 14, 2
BODY_AT = WRAP_HEAD_B + HEADER_B
LEAST_B = WRAP_HEAD_B + HEADER_B + CRC_B + WRAP_TAIL_B
WORD_B = 8
"""Bytes of a word of the back-side link; a packet is whole words."""

IDS = 64
BODY_WORDS = 16
"""32-bit words of the largest body: what a write buffer takes."""

FIELDS: Mapping[str, Field] = {
    "mark": Field(0, 8, "assumed", "a constant byte, so that a reader finds the beginning again"),
    "queue": Field(8, 2, "assumed", "which queue of the bridge it belongs to (the queues: paper, II.B.1)"),
    "buffer": Field(10, 6, "assumed", "buffer of the dual-ported memory"),
    "sci_bytes": Field(16, 16, "assumed", "bytes of the SCI packet; the wrapper has 8 more (8: paper, II)"),
    "target_node": Field(32, 16, "standard", "targetId, the first symbol"),
    "flow_bits": Field(48, 9, "standard", "upper bits of the command symbol: flow control of the ring; 0 here"),
    "command": Field(57, 7, "standard", "lower bits of the command symbol; the codes are ours"),
    "source_node": Field(64, 16, "standard", "sourceId, the third symbol"),
    "tag": Field(80, 10, "assumed", "a write's number, modulo 1,024, where the standard has trace and time of death"),
    "transaction": Field(90, 6, "standard", "transactionId: 64 of them (paper, III.B)"),
    "start": Field(96, 4, "paper", "first valid word of 32 bits, in high-order address bits (III.C); place ours"),
    "end": Field(100, 5, "paper", "the word after the last valid one, as start"),
    "address": Field(105, 39, "standard", "addressOffset, less the pointers; aligned to the body"),
    "status": Field(140, 4, "assumed", "of a response, where a request has the lowest address bits"),
}  # fmt: skip

QUEUES = {"request": 0, "response": 1, "manual": 2}

COMMANDS = {
    "nread16": 0x11, "nread64": 0x12, "nwrite16": 0x21, "nwrite64": 0x22, "dmove16": 0x31, "dmove64": 0x32,
    "response00": 0x40, "response16": 0x41, "response64": 0x42,
}  # fmt: skip
"""Names of the standard; the codes are ours."""

BODY_B = {"nwrite16": 16, "nwrite64": 64, "dmove16": 16, "dmove64": 64, "response16": 16, "response64": 64}  # fmt: skip
"""Bytes of the body by command; the others have none."""

STATUS = {"done": 0, "refused": 1, "error": 2}

CRC = CRC16_IBM_3740
"""x^16 + x^12 + x^5 + 1 as the standard has it, preset to ones (assumed), over the SCI packet up to its CRC."""


class Header(NamedTuple):
    """What a packet says before its body; values as in `FIELDS`."""

    queue: int
    buffer: int
    target_node: int
    command: int
    source_node: int
    tag: int
    transaction: int
    start: int
    end: int
    address: int


def encode(header: Header, body: bytes = b"") -> bytes:
    """Return a packet of the back-side link.

    Raises:
        ValueError: a value that its field cannot hold, a body of another size than the command has, or pointers
            that are no range of the body.
    """
    name = next((name for name, code in COMMANDS.items() if code == header.command), "")
    size_B = BODY_B.get(name, 0)
    if len(body) != size_B:
        raise ValueError(f"a body of {len(body)} B; {name or hex(header.command)} has {size_B} B")
    if size_B and not header.start < header.end <= size_B // 4:
        raise ValueError(f"words {header.start}..{header.end} of a body of {size_B // 4}")
    sci_B = HEADER_B + size_B + CRC_B
    values = {
        **header._asdict(), "mark": MARK, "sci_bytes": sci_B, "flow_bits": 0,
    }  # fmt: skip
    whole = 0
    for field_name, field in FIELDS.items():
        if field_name == "status":
            continue  # the same bits as the lowest of the address
        value = values[field_name]
        if not 0 <= value < 1 << field.bits:
            raise ValueError(f"{field_name} {value}: it has {field.bits} bits")
        whole |= value << (8 * BODY_AT - field.at_bit - field.bits)
    data = whole.to_bytes(BODY_AT, "big") + body
    return data + CRC.of(data[WRAP_HEAD_B:]).to_bytes(CRC_B, "big") + bytes(WRAP_TAIL_B)


def value_of(data: bytes, name: str) -> int:
    """Return the value of a field of a packet that is long enough for it."""
    field = FIELDS[name]
    first, last = field.at_bit // 8, (field.at_bit + field.bits - 1) // 8
    whole = int.from_bytes(data[first : last + 1], "big")
    return whole >> (8 * (last + 1) - field.at_bit - field.bits) & (1 << field.bits) - 1


def problems_of(data: bytes) -> list[str]:
    """Return what is wrong with a packet's bytes, a few words each; nothing for a good one."""
    if len(data) < LEAST_B:
        return [f"{len(data)} B, shorter than the {LEAST_B} B of a packet without a body"]
    found = []
    if data[0] != MARK:
        found.append(f"begins with {data[0]:#04x}, not {MARK:#04x}")
    if value_of(data, "sci_bytes") + WRAP_HEAD_B + WRAP_TAIL_B != len(data):
        found.append(f"says {value_of(data, 'sci_B')} B of SCI in {len(data)} B")
    code = value_of(data, "command")
    name = next((name for name, known in COMMANDS.items() if known == code), None)
    if name is None:
        found.append(f"command {code:#04x} is none of those known")
    elif HEADER_B + BODY_B.get(name, 0) + CRC_B != len(data) - WRAP_HEAD_B - WRAP_TAIL_B:
        found.append(f"{name} of {len(data)} B; it has {LEAST_B + BODY_B.get(name, 0)} B")
    elif (
        name in BODY_B and not value_of(data, "start") < value_of(data, "end") <= BODY_B[name] // 4
    ):
        found.append(
            f"words {value_of(data, 'start')}..{value_of(data, 'end')} are no range of its body"
        )
    crc = int.from_bytes(data[-WRAP_TAIL_B - CRC_B : -WRAP_TAIL_B], "big")
    own = CRC.of(data[WRAP_HEAD_B : -WRAP_TAIL_B - CRC_B])
    if crc != own:
        found.append(f"CRC {crc:04x}, of its bytes {own:04x}")
    return found
