"""Encode trace records, link packets, credits and events: the other direction of this package's decoder.

Plain Python on integers, one word at a time: for tests, for emulated devices, and for packets to inject.

Source: docs/formats.md sections 2 to 5; layouts from firmware-hooks/registers/formats.toml.
"""

from __future__ import annotations

import binascii
import struct
import zlib
from collections.abc import Iterable, Sequence

from freezeframe.capture.registers.layouts import (
    CREDIT,
    DESC_VALUE,
    DESCRIPTOR,
    EVENT,
    HEADER,
    LOSS,
    MARK,
    RECORD,
    STATE_VALUE,
    TAIL,
    TIME,
    Kind,
    PacketType,
)

_WORD = (1 << 64) - 1


def crc16_ibm3740(data: bytes, crc: int = 0xFFFF) -> int:
    """Return the CRC-16/IBM-3740 of ``data``: polynomial 0x1021, start 0xFFFF, not reflected.

    ``crc`` is the result so far when a message is fed in pieces. "123456789" gives 0x29B1.

    Source: catalogue of parametrised CRC algorithms, CRC-16/IBM-3740.
    """
    return binascii.crc_hqx(data, crc)


def crc32_iso_hdlc(data: bytes, crc: int = 0) -> int:
    """Return the CRC-32/ISO-HDLC of ``data`` (that of Ethernet and zip). "123456789" gives 0xCBF43926.

    ``crc`` is the result so far when a message is fed in pieces.

    Source: catalogue of parametrised CRC algorithms, CRC-32/ISO-HDLC.
    """
    return zlib.crc32(data, crc)


def words_to_bytes(words: Iterable[int]) -> bytes:
    """Return 64-bit words in the order in which they enter a CRC: least significant byte first.

    Raises:
        ValueError: a word is negative or above 64 bits.
    """
    listed = list(words)
    try:
        return struct.pack(f"<{len(listed)}Q", *listed)
    except struct.error as error:
        raise ValueError(f"a word does not fit 64 bits: {error}") from None


def record(data: int, kind: int, dt: int) -> bytes:
    """Return the 9 bytes of one trace record. ``dt`` in cycles, 0..15.

    Raises:
        ValueError: a value does not fit its field.
    """
    return RECORD.pack(data=data, kind=kind, dt=dt).to_bytes(9, "little")


def records(rows: Iterable[tuple[int, int, int]]) -> bytes:
    """Return the bytes of many records, given as ``(data, kind, dt)``."""
    return b"".join(record(*row) for row in rows)


def time_record(cycle: int, dt: int) -> bytes:
    """Return a TIME record, whose data is its own cycle."""
    return record(TIME.pack(cycle=cycle), Kind.TIME, dt)


def mark_record(causes: int, since_cycles: int, dt: int) -> bytes:
    """Return the MARK of a memory that closes. ``causes`` is the bit mask of `Cause`."""
    return record(MARK.pack(causes=causes, since_cycles=since_cycles), Kind.MARK, dt)


def loss_record(lost: int, dt: int) -> bytes:
    """Return a LOSS record: events the event log lost since its previous record."""
    return record(LOSS.pack(lost=lost), Kind.LOSS, dt)


def event_data(source: int, code: int, value: int = 0, flow: int = 0) -> int:
    """Return the data word of an event-log record (all kinds but TIME, MARK, LOSS)."""
    return EVENT.pack(value=value, flow=flow, source=source, code=code)


def desc_value(length: int, type: int, flags: int, seq: int) -> int:
    """Return the value of a DESC event. ``length`` in 64-bit words."""
    return DESC_VALUE.pack(length=length, type=type, flags=flags, seq=seq)


def state_value(new: int, old: int) -> int:
    """Return the value of a STATE event."""
    return STATE_VALUE.pack(new=new, old=old)


def header_crc(header: int, address: int) -> int:
    """Return the CRC that belongs into ``header``, over its bytes 0-5 and the eight address bytes."""
    return crc16_ibm3740(words_to_bytes((header,))[:6] + words_to_bytes((address,)))


def header_words(
    type: int, flow: int, length: int, seq: int, dest: int, *, flags: int = 0
) -> tuple[int, int]:
    """Return the two HEAD words of a packet with the right CRC. ``length`` in 64-bit words, 0..512.

    Raises:
        ValueError: a value does not fit its field, or ``length`` is above 512.
    """
    if not 0 <= length <= 512:
        raise ValueError(f"length: {length} words; a packet carries 0..512")
    header = HEADER.pack(type=type, flags=flags, flow=flow, length=length, seq=seq)
    return HEADER.pack(**{**HEADER.unpack(header), "crc": header_crc(header, dest)}), dest


def tail_word(payload: Sequence[int]) -> int:
    """Return the TAIL word for a payload of 64-bit words; 0 for an empty payload."""
    return TAIL.pack(crc=crc32_iso_hdlc(words_to_bytes(payload)))


def packet_words(
    type: int, flow: int, seq: int, dest: int, payload: Sequence[int], *, flags: int = 0
) -> list[tuple[Kind, int]]:
    """Return a whole packet as the ``(kind, word)`` pairs that cross a tap, in order."""
    header, address = header_words(type, flow, len(payload), seq, dest, flags=flags)
    return [
        (Kind.HEAD, header),
        (Kind.HEAD, address),
        *((Kind.BODY, word) for word in payload),
        (Kind.TAIL, tail_word(payload)),
    ]


def credit_word(flow: int, freed: int, flags: int = 0) -> int:
    """Return a credit word with right parity and CRC. ``freed`` in words, cumulative, already wrapped."""
    word = CREDIT.pack(type=PacketType.CREDIT, flags=flags, flow=flow, freed=freed)
    word |= (1 - word.bit_count() % 2) << CREDIT.fields["parity"][0]
    return word | crc16_ibm3740(words_to_bytes((word,))[:6]) << CREDIT.fields["crc"][0]


def credit_parity_ok(word: int) -> bool:
    """Return whether the ones in bits 0-47 are odd. Works on bits 0-39, too: bits 40-47 are reserved, 0."""
    return (word & ((1 << 48) - 1)).bit_count() % 2 == 1


def credit_crc_ok(word: int) -> bool:
    """Return whether the CRC of a whole credit word fits its bytes 0-5."""
    return crc16_ibm3740(words_to_bytes((word,))[:6]) == CREDIT.unpack(word)["crc"]


def descriptor_words(
    src: int, dest: int, length: int, flags: int, flow: int
) -> tuple[int, int, int, int]:
    """Return the four 32-bit words of an RDMA descriptor, in the order they are written."""
    whole = DESCRIPTOR.pack(src=src, dest=dest, length=length, flags=flags, flow=flow)
    return (
        whole & 0xFFFFFFFF,
        whole >> 32 & 0xFFFFFFFF,
        whole >> 64 & 0xFFFFFFFF,
        whole >> 96 & 0xFFFFFFFF,
    )


def splitmix64(x: int) -> int:
    """Return the SplitMix64 output for state ``x`` (the constant is added first). 0 gives 0xE220A8397B1DCDAF.

    Source: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, figure 17.
    """
    z = (x + 0x9E3779B97F4A7C15) & _WORD
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _WORD
    return z ^ z >> 31


def pattern_payload(seed: int, packet: int, length: int) -> list[int]:
    """Return the payload of pattern packet number ``packet``: word i is splitmix64(seed<<32 ^ packet<<10 ^ i)."""
    return [splitmix64((seed << 32 ^ packet << 10 ^ i) & _WORD) for i in range(length)]
