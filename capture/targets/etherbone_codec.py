"""Etherbone 1 packets of 32-bit addresses and data: encoding and decoding, for client and server.

A malformed packet is a ``Malformed``, never anything worse; whoever receives packets counts these.

Source: docs/formats.md, section 9.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from freezeframe.capture.targets.base import Words

MAX_WORDS = 255
"""Words that one record can ask for or write: its counts are one byte each."""

PROBE = bytes.fromhex("4e6f114400000000")
PROBE_REPLY = bytes.fromhex("4e6f124400000000")

_PACKET = 0x4E6F1044  # magic, version 1, no flags, 32-bit addresses and data
_NO_READS = 1 << 10  # sent by some peers in packets that hold only writes
_PROBE_REPLY_FLAG = 1 << 9
_PROBE_FLAG = 1 << 8
_RECORD = 0x000F0000  # no flags, all four bytes of each word
_END_OF_CYCLE = 0x10  # record flag without a meaning on a bus without cycles
_HEAD = struct.Struct(">IIII")  # packet header (2), record header, base or return address

BigWords = npt.NDArray[np.uint32]  # of dtype ">u4": as on the wire


class Malformed(ValueError):
    """A packet that is not a whole Etherbone packet of this kind; the message says why."""


class Record(NamedTuple):
    """One record of a request: ``data`` goes to ``base`` on, then ``addresses`` are read."""

    base: int
    data: Words
    return_address: int
    addresses: Words


class Reply(NamedTuple):
    """One read's answer: the request's id and its words, as on the wire (a view of the packet)."""

    id: int
    words: BigWords


_NO_WORDS: Words = np.empty(0, np.uint32)


def encode_reads(addresses: Words, ids: Words, burst: int) -> list[memoryview]:
    """Return one packet for each ``burst`` addresses, the last one for what is left.

    Args:
        addresses: ``(n,)`` byte addresses; ``n`` may be 0.
        ids: ``(ceil(n / burst),)``, what each reply will carry.
        burst: words a packet, 1..255.
    Raises:
        ValueError: burst out of range or not an id for each packet.
    """
    if not 1 <= burst <= MAX_WORDS:
        raise ValueError(f"burst of {burst} words is out of range (1..{MAX_WORDS})")
    packets = -(-len(addresses) // burst)
    if len(ids) != packets:
        raise ValueError(f"{len(ids)} ids for {packets} packets")
    whole = len(addresses) // burst
    block = _read_block(addresses[: whole * burst].reshape(whole, burst), ids[:whole])
    views = [memoryview(row) for row in block.view(np.uint8)]
    if whole < packets:
        rest = _read_block(addresses[whole * burst :].reshape(1, -1), ids[whole:])
        views.append(memoryview(rest.view(np.uint8)[0]))
    return views


def encode_writes(address: int, words: Words, burst: int = MAX_WORDS) -> list[bytes]:
    """Return packets that write words to consecutive addresses, ``burst`` (1..255) words each."""
    if not 1 <= burst <= MAX_WORDS:
        raise ValueError(f"burst of {burst} words is out of range (1..{MAX_WORDS})")
    return [
        _HEAD.pack(_PACKET, 0, _RECORD | len(part) << 8, address + 4 * at)
        + part.astype(">u4").tobytes()
        for at in range(0, len(words), burst)
        for part in (words[at : at + burst],)
    ]


def encode_reply(answers: list[tuple[int, Words]]) -> bytes:
    """Return the answer to a request: for each record with reads its id and its words."""
    packet = b"".join(
        struct.pack(">II", _RECORD | len(words) << 8, id_) + words.astype(">u4").tobytes()
        for id_, words in answers
    )
    return struct.pack(">II", _PACKET, 0) + packet


def decode_reply(packet: memoryview | bytes) -> Reply:
    """Take the answer to a read apart. Nothing is copied.

    Raises:
        Malformed: anything but one record of 1..255 words, all bytes where they belong.
    """
    length_B = len(packet)
    if length_B < 20:
        raise Malformed(f"{length_B} B is too short for an answer")
    head, _, record, id_ = _HEAD.unpack_from(packet)
    if head & ~_NO_READS != _PACKET:
        raise Malformed(f"packet header {head:#010x}, expected {_PACKET:#010x}")
    count = record >> 8 & 0xFF
    if record != _RECORD | count << 8:
        raise Malformed(f"record header {record:#010x} is not that of an answer")
    if length_B != 16 + 4 * count:
        raise Malformed(f"{length_B} B for {count} words, expected {16 + 4 * count} B")
    return Reply(id_, np.frombuffer(packet, ">u4", count, 16))


def is_probe_reply(packet: memoryview | bytes) -> bool:
    """Tell whether a packet answers a probe; padding with zeros may follow the header."""
    if len(packet) < 8:
        return False
    head = int(_U32.unpack_from(packet)[0])
    return head & ~(_NO_READS | _PROBE_FLAG) == _PACKET | _PROBE_REPLY_FLAG and not any(packet[8:])


def decode_request(packet: memoryview | bytes) -> list[Record] | None:
    """Take a request apart, all of it before any of it is carried out.

    Returns:
        its records in order, or None for a probe.
    Raises:
        Malformed: cut short, too long, or of a kind we do not answer; the message says which.
    """
    length_B = len(packet)
    if length_B < 8:
        raise Malformed(f"{length_B} B is too short for a packet header")
    head = int(_U32.unpack_from(packet)[0])
    if head >> 16 != _PACKET >> 16:
        raise Malformed(f"magic {head >> 16:#06x}, expected 0x4e6f")
    if head >> 12 & 0xF != 1 or head & 0xFF != 0x44:
        raise Malformed(f"header {head:#010x}: version 1 and 32-bit addresses and data expected")
    if head & _PROBE_REPLY_FLAG:
        raise Malformed("an answer to a probe, sent to a server")
    if head & _PROBE_FLAG:
        return None
    records: list[Record] = []
    at = 8
    while at < length_B:
        record, at = _decode_record(packet, at, length_B)
        records.append(record)
    if not records:
        raise Malformed("no record")
    return records


def packet_length_B(head: bytes) -> int:
    """Return the whole length of a one-record packet from its first 12 bytes, for byte streams.

    Raises:
        Malformed: these are not the first bytes of a packet.
    """
    start, _, record = _HEAD_12.unpack(head)
    if start & ~_NO_READS != _PACKET or record >> 16 != _RECORD >> 16:
        raise Malformed(f"{head.hex()} are not the first bytes of a packet")
    writes, reads = record >> 8 & 0xFF, record & 0xFF
    return 12 + (4 + 4 * writes if writes else 0) + (4 + 4 * reads if reads else 0)


_U32 = struct.Struct(">I")
_HEAD_12 = struct.Struct(">III")


def _read_block(addresses: Words, ids: Words) -> BigWords:
    packets, count = addresses.shape
    block = np.empty((packets, 4 + count), ">u4")
    block[:, 0] = _PACKET
    block[:, 1] = 0
    block[:, 2] = _RECORD | count
    block[:, 3] = ids
    block[:, 4:] = addresses
    return block


def _decode_record(packet: memoryview | bytes, at: int, length_B: int) -> tuple[Record, int]:
    if length_B - at < 4:
        raise Malformed(f"{length_B - at} B at byte {at} are too short for a record header")
    flags, byte_enable, writes, reads = struct.unpack_from(">BBBB", packet, at)
    if flags & ~_END_OF_CYCLE:
        raise Malformed(f"record flags {flags:#04x}: FIFO and configuration accesses are not known")
    if (writes or reads) and byte_enable != 0x0F:
        raise Malformed(f"byte enable {byte_enable:#04x}: only whole words can be accessed")
    need_B = 4 + (4 + 4 * writes if writes else 0) + (4 + 4 * reads if reads else 0)
    if length_B - at < need_B:
        raise Malformed(f"record at byte {at} needs {need_B} B and {length_B - at} B are left")
    at += 4
    base = return_address = 0
    data = addresses = _NO_WORDS
    if writes:
        base = int(_U32.unpack_from(packet, at)[0])
        data = np.frombuffer(packet, ">u4", writes, at + 4).astype(np.uint32)
        at += 4 + 4 * writes
    if reads:
        return_address = int(_U32.unpack_from(packet, at)[0])
        addresses = np.frombuffer(packet, ">u4", reads, at + 4).astype(np.uint32)
        at += 4 + 4 * reads
    return Record(base, data, return_address, addresses), at
