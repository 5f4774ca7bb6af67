"""Link packets as the stages hand them on, and the checks a receiver makes of them.

Words are numpy arrays because a packet crosses four taps and is recorded at each: it is made once and never changed.

Source: docs/formats.md section 3.
"""

from __future__ import annotations

import binascii
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freezeframe.capture.registers.layouts import (
    HEADER_CRC_LSB,
    HEADER_FLAGS_LSB,
    HEADER_FLOW_LSB,
    HEADER_FLOW_MASK,
    HEADER_LENGTH_LSB,
    HEADER_LENGTH_MASK,
    HEADER_SEQ_LSB,
    HEADER_SEQ_MASK,
    HEADER_TYPE_LSB,
    HEADER_TYPE_MASK,
    TAIL_CRC_MASK,
    Kind,
)
from freezeframe.emulator.memory import HEAD, TAIL, Kinds, Words

CREDIT_VALUE_MASK = (1 << 40) - 1
"""Bits of a credit word that an event holds."""

HEAD_WORDS = 2
FRAME_WORDS = 3
"""Words of a packet beside its payload: header, address, tail."""

NO_WORDS: Words = np.empty(0, dtype=np.uint64)
"""A payload of no words."""

_frames: dict[int, Kinds] = {}


@dataclass(frozen=True, slots=True)
class Header:
    """The fields of a header word, with the verdict on its CRC."""

    type: int
    flags: int
    flow: int
    length: int
    seq: int
    good: bool

    def payload_word(self, place: int) -> int | None:
        """Return which payload word the packet's word ``place`` is; None for header words and tail."""
        word = place - HEAD_WORDS
        return word if 0 <= word < self.length else None


@dataclass(slots=True)
class Packet:
    """A packet in the outgoing FIFO.

    Attributes:
        words: ``(n,)`` uint64 as they entered the FIFO, HEAD to TAIL.
        kinds: ``(n,)`` uint8.
        flow, seq, length, flags: as in the header.
        room: words that the sender asks credit for.
        ready_ps: when its last word stood in the FIFO.
    """

    words: Words
    kinds: Kinds
    flow: int
    seq: int
    length: int
    flags: int
    room: int
    ready_ps: int = 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of one receiver stage's checks of a packet.

    Attributes:
        header: None when the packet has no two HEAD words.
        header_at: index of the word with which the header is complete.
        payload_at: index of the word at which payload and length were judged; None when it never came.
        payload_bad, length_bad: only meaningful with ``payload_at``.
    """

    header: Header | None
    header_at: int
    payload_at: int | None = None
    payload_bad: bool = False
    length_bad: bool = False

    @property
    def header_bad(self) -> bool:
        return self.header is None or not self.header.good

    @property
    def bad(self) -> bool:
        return self.header_bad or self.payload_bad or self.length_bad


def frame_kinds(length: int) -> Kinds:
    """Return the kinds of a whole packet with ``length`` payload words: HEAD HEAD BODY* TAIL. Do not change it."""
    kinds = _frames.get(length)
    if kinds is None:
        kinds = np.full(length + FRAME_WORDS, Kind.BODY, dtype=np.uint8)
        kinds[:HEAD_WORDS] = Kind.HEAD
        kinds[-1] = Kind.TAIL
        _frames[length] = kinds
    return kinds


def make_packet(type: int, flags: int, flow: int, seq: int, dest: int, payload: Words) -> Packet:
    """Build a packet with right CRCs. ``payload`` is ``(n,)`` uint64."""
    length = len(payload)
    header = (
        type << HEADER_TYPE_LSB
        | flags << HEADER_FLAGS_LSB
        | flow << HEADER_FLOW_LSB
        | length << HEADER_LENGTH_LSB
        | seq << HEADER_SEQ_LSB
    )
    words = np.empty(length + FRAME_WORDS, dtype=np.uint64)
    words[0] = header | _header_crc(header, dest) << HEADER_CRC_LSB
    words[1] = dest
    words[HEAD_WORDS:-1] = payload
    words[-1] = zlib.crc32(words[HEAD_WORDS:-1].tobytes())
    return Packet(words, frame_kinds(length), flow, seq, length, flags, length + FRAME_WORDS)


def raw_packet(words: Sequence[int]) -> Packet:
    """Frame words as they stand (an injected packet): two HEAD, BODY, one TAIL, as far as they go."""
    data = np.array(words, dtype=np.uint64)
    if len(data) >= FRAME_WORDS:
        kinds = frame_kinds(len(data) - FRAME_WORDS)
    else:
        kinds = np.full(len(data), Kind.HEAD, dtype=np.uint8)
    header = header_of(int(data[0]), 0)
    return Packet(data, kinds, header.flow, header.seq, header.length, header.flags, len(data))


def leave_out(packet: Packet, first: int, words: int) -> None:
    """Take payload words out of a packet, from ``first`` on: the header stays, the payload gets a new CRC."""
    payload = np.delete(packet.words[HEAD_WORDS:-1], np.s_[first : first + words])
    tail = np.array([zlib.crc32(payload.tobytes())], dtype=np.uint64)
    packet.words = np.concatenate([packet.words[:HEAD_WORDS], payload, tail])
    packet.kinds = frame_kinds(len(payload))


def header_of(header: int, address: int) -> Header:
    """Return the fields of a header word and whether its CRC fits it and the address word."""
    return Header(
        header >> HEADER_TYPE_LSB & HEADER_TYPE_MASK,
        header >> HEADER_FLAGS_LSB & 0xF,
        header >> HEADER_FLOW_LSB & HEADER_FLOW_MASK,
        header >> HEADER_LENGTH_LSB & HEADER_LENGTH_MASK,
        header >> HEADER_SEQ_LSB & HEADER_SEQ_MASK,
        _header_crc(header, address) == header >> HEADER_CRC_LSB,
    )


def header_in(words: Words) -> Header:
    """Return the header of a packet of at least two words."""
    return header_of(int(words[0]), int(words[1]))


def flipped(words: Words, place: int, bits: Sequence[int]) -> Words:
    """Return a copy with some bits of the word at ``place`` turned over."""
    changed = words.copy()
    changed[place] ^= np.uint64(sum(1 << bit for bit in bits))
    return changed


def inspect(words: Words, kinds: Kinds) -> Verdict:
    """Check a packet as the hardware does: the header CRC at the second HEAD, then payload CRC and length at the TAIL
    or, when there is no TAIL, where the header says it should.

    After a bad header nothing else is judged: its length cannot be believed.
    """
    count = len(words)
    if count < HEAD_WORDS or kinds[0] != HEAD or kinds[1] != HEAD:
        return Verdict(None, min(count, HEAD_WORDS) - 1)
    header = header_in(words)
    if not header.good:
        return Verdict(header, 1)
    expected = HEAD_WORDS + header.length
    tail = count - 1 if kinds[-1] == TAIL else None
    if tail is not None and tail < expected:
        judged = tail
    elif count > expected:
        judged = expected
    else:
        return Verdict(header, 1)
    crc = zlib.crc32(words[HEAD_WORDS:judged].tobytes())
    payload_bad = crc != int(words[judged]) & TAIL_CRC_MASK
    return Verdict(header, 1, judged, payload_bad, judged != tail or tail != expected)


def _header_crc(header: int, address: int) -> int:
    covered = (header & 0xFFFFFFFFFFFF).to_bytes(6, "little") + address.to_bytes(8, "little")
    return binascii.crc_hqx(covered, 0xFFFF)
