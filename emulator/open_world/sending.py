"""What A's transmit DMA engine makes wrong before its own tap, and what B's checks say wrong."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from freezeframe.emulator.descriptor import Descriptor
from freezeframe.emulator.faults.base import A, B
from freezeframe.emulator.memory import Words
from freezeframe.emulator.open_world.base import Unlisted
from freezeframe.emulator.packet import HEAD_WORDS, Packet, Verdict, frame_kinds, make_packet

Making = Callable[["Made", Descriptor, Packet], tuple[Packet, int | None]]


class Made(Unlisted):
    """One packet is made wrong, or all from some moment on: ``how`` gives it, and the payload word it shows at."""

    card = A

    def __init__(self, name: str, how: Making, shortest: int = 1, goes_on: bool = False) -> None:
        super().__init__(name)
        self._how = how
        self._shortest = shortest
        self._goes_on = goes_on

    def made(self, descriptor: Descriptor, packet: Packet) -> Packet:
        if not self.takes_hold(self._goes_on) or packet.length < self._shortest:
            return packet
        wrong, word = self._how(self, descriptor, packet)
        self.strike_first("tx_enq", packet.flow, packet.seq, word)
        return wrong


def with_payload(packet: Packet, payload: Words, crc: int | None = None) -> Packet:
    """Return a packet with another payload, whose CRC is right unless another is given; the header stays."""
    tail = zlib.crc32(payload.tobytes()) if crc is None else crc
    words = np.concatenate([packet.words[:HEAD_WORDS], payload, np.array([tail], np.uint64)])
    return replace(packet, words=words, kinds=frame_kinds(len(payload)), room=len(words))


def _payload(packet: Packet) -> Words:
    return packet.words[HEAD_WORDS:-1].copy()


def wrong_crc(fault: Made, descriptor: Descriptor, packet: Packet) -> tuple[Packet, int | None]:
    """The generator starts from another value."""
    return with_payload(packet, _payload(packet), zlib.crc32(_payload(packet).tobytes(), 1)), None


def wrong_header_crc(
    fault: Made, descriptor: Descriptor, packet: Packet
) -> tuple[Packet, int | None]:
    """The generator of the header's CRC starts from another value."""
    words = packet.words.copy()
    words[0] ^= np.uint64(0x1D0F << 48)
    return replace(packet, words=words), None


def wrong_flow(fault: Made, descriptor: Descriptor, packet: Packet) -> tuple[Packet, int | None]:
    """The header has another active flow's number, or one that has no credit, and a right CRC."""
    others = [flow for flow in range(fault.nic.profile.flows_count) if flow != packet.flow]
    d = descriptor
    flow = fault.draw.choice(others) if others else 127
    return make_packet(d.type, d.flags, flow, d.seq, d.dest, d.words), None


def wrong_seq(fault: Made, descriptor: Descriptor, packet: Packet) -> tuple[Packet, int | None]:
    """The header has a sequence number that is ahead."""
    d = descriptor
    ahead = d.seq + fault.draw.randint(1, 9) & 0xFFFF
    return make_packet(d.type, d.flags, d.flow, ahead, d.dest, d.words), None


def wrong_dest(fault: Made, descriptor: Descriptor, packet: Packet) -> tuple[Packet, int | None]:
    """The address word has one bit wrong, and the header's CRC covers it as it is."""
    d = descriptor
    return make_packet(d.type, d.flags, d.flow, d.seq, d.dest ^ 1 << 12, d.words), None


def wrong_length(fault: Made, descriptor: Descriptor, packet: Packet) -> tuple[Packet, int | None]:
    """The header says some words more than there are, with a right CRC over it."""
    d, more = descriptor, fault.draw.randint(1, 7)
    longer = np.concatenate([d.words, np.zeros(more, np.uint64)])
    said = make_packet(d.type, d.flags, d.flow, d.seq, d.dest, longer)
    words = packet.words.copy()
    words[0] = said.words[0]
    return replace(packet, words=words), None


def swapped_before(
    fault: Made, descriptor: Descriptor, packet: Packet
) -> tuple[Packet, int | None]:
    """The bytes of one word are in the opposite order before the CRC is made."""
    payload, word = _payload(packet), fault.draw.randrange(packet.length)
    payload[word] = payload[word : word + 1].byteswap()[0]
    return with_payload(packet, payload), word


def swapped_after(fault: Made, descriptor: Descriptor, packet: Packet) -> tuple[Packet, int | None]:
    """The bytes of one word are in the opposite order behind the CRC generator."""
    payload, word = _payload(packet), fault.draw.randrange(packet.length)
    crc = zlib.crc32(payload.tobytes())
    payload[word] = payload[word : word + 1].byteswap()[0]
    return with_payload(packet, payload, crc), word


def words_left_out(
    fault: Made, descriptor: Descriptor, packet: Packet
) -> tuple[Packet, int | None]:
    """Some words of the message are not fetched, without any retry or disconnect; the CRC is that of the rest."""
    count = fault.draw.randint(1, min(8, packet.length - 1))
    word = fault.draw.randrange(packet.length - count)
    payload = np.delete(_payload(packet), np.s_[word : word + count])
    return with_payload(packet, payload), word


def word_twice(fault: Made, descriptor: Descriptor, packet: Packet) -> tuple[Packet, int | None]:
    """One word of the message is put in twice; the CRC is that of all."""
    payload = _payload(packet)
    word = fault.draw.randrange(packet.length)
    return with_payload(packet, np.insert(payload, word, payload[word])), word + 1


def old_message(fault: Made, descriptor: Descriptor, packet: Packet) -> tuple[Packet, int | None]:
    """The host wrote another message over the buffer before it was fetched."""
    payload = np.array([fault.draw.getrandbits(64) for _ in range(packet.length)], np.uint64)
    return with_payload(packet, payload), 0


class Checker(Unlisted):
    """B's payload check, at the link and in the DMA engine: it passes every packet, or refuses one that is good."""

    card = B

    def __init__(self, name: str, passes: bool) -> None:
        super().__init__(name)
        self._passes = passes

    def prepare(self) -> None:
        self._seq: int | None = None
        self._flipped = False

    def arriving(self, words: Words) -> Words:
        if not self._passes or not self.ready() or len(words) < 8:
            return words
        new, place = words.copy(), HEAD_WORDS + self.draw.randrange(len(words) - 4)
        new[place] ^= np.uint64(1 << self.draw.randrange(64))
        self.hit("rx_enq", words, place)
        return new

    def judged(self, verdict: Verdict) -> Verdict:
        if self._passes:
            return replace(verdict, payload_bad=False)
        header = verdict.header
        if header is None or verdict.bad or verdict.payload_at is None:
            return verdict
        if self.ready() and header.length:
            self._seq = header.seq
            self.strike(None, header.flow, header.seq, None, register="payload_errors")
        return replace(verdict, payload_bad=True) if header.seq == self._seq else verdict
