"""Millions of legal FPDUs in seconds: the same few messages round after round, all octets random, written with numpy.

A round is a packet of the one end and then one of the other: Sends, Writes of one or more segments, immediate data, a
Read and its Response. A chunk of rounds has the same messages; markers and packets' lengths follow the stream.
It shares no code with the decoder, nor with the generator beside it but for the octets' layout.
"""

from __future__ import annotations

import itertools
import random
import struct
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.decoders.iwarp import octets as o
from tests.decoders.iwarp.packets import ACK, SYN, Endpoints, Packet, build

Octets = NDArray[np.uint8]
_TABLE = np.array(o.CRC_TABLE, np.uint32)
EVERY, BETWEEN = 512, 508
_FRAME_B = 54  # Ethernet, IPv4 and TCP headers
_RECORD_B = 16


class Slot(NamedTuple):
    """An FPDU of a round: where it stands in the round's octets (without markers), and what it says."""

    begin: int
    ulpdu_B: int
    opcode: int
    queue: int  # of an untagged one
    step: int  # which message on its queue in this round, from 0
    offset: int  # in its message
    last: bool
    answers: bool = False

    @property
    def covered_B(self) -> int:
        return 2 + self.ulpdu_B + -(2 + self.ulpdu_B) % 4


def _crc_rows(rows: Octets) -> NDArray[np.uint32]:
    """Return the CRC32C of each row."""
    rest = np.full(len(rows), 0xFFFFFFFF, np.uint32)
    for column in np.ascontiguousarray(rows.T):
        rest = rest >> 8 ^ _TABLE[(rest ^ column) & 0xFF]
    return ~rest


def _column(values: NDArray[Any], width: int) -> Octets:
    """Return values as big-endian octets, a row each."""
    return values.astype(f">u{width}").view(np.uint8).reshape(-1, width)


class End:
    """What one end says: its stream's position, MSNs, markers."""

    def __init__(self, rng: random.Random, markers: bool, isn: int) -> None:
        self.rng, self.markers = rng, markers
        self.msn = [1, 1, 1, 1]
        self.position = 0  # in the stream of FPDUs, with markers
        self.unmarked = 0  # the same without
        self.sequence = isn

    def slots(self, read_B: int | None, answer_B: int | None) -> list[Slot]:
        """Return a round's FPDUs; `read_B`: it asks for so many octets, `answer_B`: it answers with so many."""
        rng, out, at, steps = self.rng, [], 0, [0, 0, 0, 0]
        wanted: list[tuple[int, int]] = []
        if answer_B is not None:
            wanted.append((o.READ_RESPONSE, answer_B))
        if read_B is not None:
            wanted.append((o.READ_REQUEST, 28))
        for _ in range(rng.randint(1, 6)):
            opcode = rng.choice(
                (o.WRITE, o.WRITE, o.SEND, o.SEND_SE, o.SEND_INV, o.SEND_SE_INV, o.IMMEDIATE)
            )
            wanted.append(
                (
                    opcode,
                    8
                    if opcode == o.IMMEDIATE
                    else rng.choice((0, 1, rng.randrange(64), rng.randrange(120))),
                )
            )
        for opcode, size in wanted:
            queue = o.QUEUE_OF.get(opcode, 0)
            header = 14 if opcode in o.TAGGED else 18
            cuts = [0, size]
            if size > 20 and opcode not in (o.READ_REQUEST, o.IMMEDIATE) and rng.random() < 0.3:
                cuts = [0, rng.randrange(1, size), size]
            for first, end in itertools.pairwise(cuts):
                slot = Slot(
                    at,
                    header + end - first,
                    opcode,
                    queue,
                    steps[queue],
                    first,
                    end == size,
                    opcode == o.READ_RESPONSE,
                )
                out.append(slot)
                at += slot.covered_B + 4
            if opcode not in o.TAGGED:
                steps[queue] += 1
        return out

    def rounds(
        self, slots: list[Slot], count: int, read: Octets, source: np.random.Generator
    ) -> tuple[Octets, NDArray[np.int64]]:
        """Return the octets of `count` rounds of the stream, and where each ends in them.

        `read`: payloads of the Read Requests, a row a round, of this end or of the other one's that is answered.
        """
        round_B = slots[-1].begin + slots[-1].covered_B + 4
        octets = source.integers(0, 256, (count, round_B), np.uint8)
        numbers = np.arange(count)
        for slot in slots:
            at, tagged = slot.begin, slot.opcode in o.TAGGED
            octets[:, at : at + 2] = _column(np.full(count, slot.ulpdu_B), 2)
            octets[:, at + 2] = tagged << 7 | slot.last << 6 | 1
            octets[:, at + 3] = 0x40 | slot.opcode
            if tagged:
                self._tag(octets, slot, read)
            else:
                steps = 1 + max(
                    s.step for s in slots if s.opcode not in o.TAGGED and s.queue == slot.queue
                )
                if slot.opcode not in (o.SEND_INV, o.SEND_SE_INV):
                    octets[:, at + 4 : at + 8] = 0
                msn = (self.msn[slot.queue] + numbers * steps + slot.step) & 0xFFFFFFFF
                octets[:, at + 8 : at + 12] = _column(np.full(count, slot.queue), 4)
                octets[:, at + 12 : at + 16] = _column(msn, 4)
                octets[:, at + 16 : at + 20] = _column(np.full(count, slot.offset), 4)
                if slot.opcode == o.READ_REQUEST:
                    octets[:, at + 20 : at + 48] = read
            octets[:, at + 2 + slot.ulpdu_B : at + slot.covered_B] = 0
        for queue in range(4):
            own = [s.step for s in slots if s.opcode not in o.TAGGED and s.queue == queue]
            self.msn[queue] = (
                (self.msn[queue] + count * (1 + max(own))) & 0xFFFFFFFF if own else self.msn[queue]
            )
        return self._framed(octets, slots)

    def _tag(self, octets: Octets, slot: Slot, read: Octets) -> None:
        """Set STag and TO: of a Response as asked for, of a Write as of its first segment."""
        at = slot.begin
        if slot.answers:
            octets[:, at + 4 : at + 16] = read[:, :12]
        elif slot.offset == 0:
            octets[:, at + 8] = 0  # far from the end of all offsets
            self._base = octets[:, at + 4 : at + 16].copy()
            return
        else:
            octets[:, at + 4 : at + 16] = self._base
        to = np.ascontiguousarray(octets[:, at + 8 : at + 16]).view(">u8")[:, 0] + np.uint64(
            slot.offset
        )
        octets[:, at + 8 : at + 16] = _column(to, 8)

    def _framed(self, octets: Octets, slots: list[Slot]) -> tuple[Octets, NDArray[np.int64]]:
        """Put markers in, and the CRCs; return the stream's octets and the ends of the rounds."""
        count, round_B = octets.shape
        flat, first = octets.ravel(), self.unmarked
        bases = np.arange(count) * round_B

        def moved(at: NDArray[np.int64]) -> NDArray[np.int64]:
            """Return where octets stand in the new stream, counted from its first octet here."""
            if not self.markers:
                return at
            return first + at + 4 * ((first + at) // BETWEEN + 1) - self.position

        total = int(moved(np.array([flat.size - 1]))[0]) + 1
        stream = np.zeros(total, np.uint8)
        stream[moved(np.arange(flat.size))] = flat
        if self.markers:
            self._point(stream, np.sort(np.concatenate([moved(bases + s.begin) for s in slots])))
        for slot in slots:
            header = bases + slot.begin
            begin = np.where(header == 0, 0, moved(np.maximum(header - 1, 0)) + 1)
            field = moved(header + slot.covered_B)
            for length in np.unique(field - begin):
                rows = np.flatnonzero(field - begin == length)
                crc = _crc_rows(stream[begin[rows, None] + np.arange(length)])
                stream[field[rows, None] + np.arange(4)] = (
                    crc.astype("<u4").view(np.uint8).reshape(-1, 4)
                )
        ends = moved(bases + round_B - 1) + 1
        self.unmarked += flat.size
        self.position += total
        return stream, ends

    def _point(self, stream: Octets, headers: NDArray[np.int64]) -> None:
        """Write the markers' pointers to the headers before them; a header follows right behind a marker of 0."""
        markers = np.arange(-self.position % EVERY, stream.size, EVERY)
        which = np.searchsorted(headers, markers, "right") - 1
        pointer = np.where(which < 0, 0, markers - headers[np.maximum(which, 0)])
        follows = np.isin(markers + 4, headers)
        stream[markers[:, None] + np.arange(2, 4)] = _column(np.where(follows, 0, pointer), 2)


def _sums(data: Octets, ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sum of the 16-bit words of each piece."""
    words = data.view(">u2").astype(np.int64)
    starts = np.concatenate(([0], ends[:-1])) // 2
    return np.add.reduceat(words, starts)


def _fold(sums: NDArray[np.int64]) -> NDArray[np.int64]:
    for _ in range(3):
        sums = (sums & 0xFFFF) + (sums >> 16)
    return ~sums & 0xFFFF


def _headers(
    end: End,
    side: int,
    port: tuple[int, int],
    ack: NDArray[np.int64],
    said: tuple[Octets, NDArray[np.int64]],
    t_us: NDArray[np.int64],
) -> Octets:
    """Return the record header and the packet headers of each round's packet."""
    stream, ends = said
    count = len(ends)
    lengths = np.diff(ends, prepend=0)
    out = np.zeros((count, _RECORD_B + _FRAME_B), np.uint8)
    record = np.stack((t_us // 10**6, t_us % 10**6, lengths + _FRAME_B, lengths + _FRAME_B), 1)
    out[:, :16] = record.astype("<u4").view(np.uint8).reshape(count, 16)
    ip = [bytes([10, 9, 8, 1 + s]) for s in (side, 1 - side)]
    head = bytes(5) + b"\x02" + bytes(5) + b"\x04\x08\x00"
    head += struct.pack(">BBHHHBBH4s4s", 0x45, 0, 0, 0, 0x4000, 64, 6, 0, *ip)
    head += struct.pack(">HHIIBBHHH", port[side], port[1 - side], 0, 0, 0x50, 0x18, 0xFFFF, 0, 0)
    out[:, 16:] = np.frombuffer(head, np.uint8)
    out[:, 32:34] = _column(lengths + 40, 2)
    out[:, 40:42] = _column(_fold(_words(out[:, 30:50])), 2)
    begins = ends - lengths
    out[:, 54:58] = _column((end.sequence + begins) & 0xFFFFFFFF, 4)
    out[:, 58:62] = _column(ack & 0xFFFFFFFF, 4)
    total = _words(out[:, 50:70]) + _words(out[:, 42:50]) + 6 + lengths + 20 + _sums(stream, ends)
    out[:, 66:68] = _column(_fold(total), 2)
    return out


def _words(rows: Octets) -> NDArray[np.int64]:
    sums: NDArray[np.int64] = np.ascontiguousarray(rows).view(">u2").astype(np.int64).sum(1)
    return sums


def write_bulk(path: Path, fpdus: int, seed: int, chunk: int = 2000) -> tuple[int, int]:
    """Write a pcap of one connection with at least `fpdus` legal FPDUs; return their number and octets of payload."""
    rng, source = random.Random(f"bulk {seed}"), np.random.default_rng(seed)
    wants = (rng.random() < 0.5, rng.random() < 0.5)
    port = (40_000 + seed % 20_000, 4791)
    isn = [rng.randrange(1 << 32) for _ in "ab"]
    frames = [
        o.mpa_frame(key, o.CRC | o.MARKERS * want, 1, b"")
        for key, want in zip((o.REQUEST_KEY, o.REPLY_KEY), wants, strict=True)
    ]
    sides = [End(rng, wants[1 - side], isn[side] + 1 + len(frames[side])) for side in (0, 1)]
    made = payload_B = 0
    t_us = 1_000_000
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 1))
        file.write(_opening(port, isn, frames))
        while made < fpdus:
            read_B = rng.choice((None, 0, rng.randrange(100)))
            plans = (sides[0].slots(read_B, None), sides[1].slots(None, read_B))
            read = source.integers(0, 256, (chunk, 28), np.uint8)
            read[:, [4, 20]] = 0  # far from the end of all offsets
            read[:, 12:16] = _column(np.full(chunk, read_B or 0), 4)
            said = [
                side.rounds(plan, chunk, read, source)
                for side, plan in zip(sides, plans, strict=True)
            ]
            times = t_us + np.arange(chunk) * 20
            acks = (
                np.concatenate(([0], said[1][1][:-1])) + sides[1].sequence,
                said[0][1] + sides[0].sequence,
            )
            heads = [_headers(sides[s], s, port, acks[s], said[s], times + 10 * s) for s in (0, 1)]
            file.write(b"".join(_packets(heads, said)))
            for side, (stream, _) in zip(sides, said, strict=True):
                side.sequence += stream.size
            t_us += 20 * chunk
            made += chunk * sum(map(len, plans))
            payload_B += chunk * sum(
                s.ulpdu_B - (14 if s.opcode in o.TAGGED else 18) for p in plans for s in p
            )
    return made, payload_B


def _packets(heads: list[Octets], said: list[tuple[Octets, NDArray[np.int64]]]) -> list[bytes]:
    """Return the packets of both ends in turn."""
    octets = [stream.tobytes() for stream, _ in said]
    ends = [[0, *place.tolist()] for _, place in said]
    out = []
    for number in range(len(heads[0])):
        for side in (0, 1):
            out.append(heads[side][number].tobytes())
            out.append(octets[side][ends[side][number] : ends[side][number + 1]])
    return out


def _opening(port: tuple[int, int], isn: list[int], frames: list[bytes]) -> bytes:
    """Return the packets up to the Reply."""
    ends = Endpoints((IPv4Address("10.9.8.1"), IPv4Address("10.9.8.2")), port, (isn[0], isn[1]))
    first = [
        Packet(0, 0, -1, SYN),
        Packet(0, 1, -1, SYN | ACK),
        Packet(0, 0, 0, ACK),
        Packet(0, 0, 0, ACK, frames[0]),
        Packet(0, 1, 0, ACK, frames[1], len(frames[0])),
    ]
    out = b""
    for packet in first:
        frame = build(packet, ends)
        out += struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame
    return out
