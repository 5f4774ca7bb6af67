"""Packets of a tap by their format: columns of its headers, and which packets pass its checks.

A verdict stands only on a packet that is there whole; ``raw`` gives none. Bad bytes never raise.

Source: docs/card-file.md; docs/formats.md section 3 for ``link``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntFlag

import numpy as np
import numpy.typing as npt

from freezeframe.capture.card.elaborated import ElaboratedTap
from freezeframe.capture.card.tables import CardFile, CrcCheck, Format, FormatField
from freezeframe.capture.packets.block import ETHERNET
from freezeframe.decoders.crc import CRC16_IBM_3740, Crc
from freezeframe.decoders.crc_catalogue import crc_of_check
from freezeframe.decoders.net import header_kernels as kernels
from freezeframe.decoders.tap.crc_kernels import crc32_each
from freezeframe.decoders.tap.kinds import Packet
from freezeframe.decoders.tap.stream import TapStream

Int64 = npt.NDArray[np.int64]
Verdicts = npt.NDArray[np.int8]

UNKNOWN, BAD, GOOD = -1, 0, 1

FCS_B = 4
FCS_RESIDUE = 0x2144DF1C  # the CRC-32/ISO-HDLC of bytes that end with their own
PREAMBLE_B = 8
_SHORTEST_B, _LONGEST_B = 64, 1518  # with the FCS
_HEADER_B, _MOST_TAGS_B = 14, 8
LINK_HEADER_B, LINK_TAIL_B = 16, 8


class Wrong(IntFlag):
    """Why a packet does not pass; each is a check that its format has."""

    CRC = 1 << 0
    USER = 1 << 1
    RUNT = 1 << 2
    GIANT = 1 << 3
    CONSTANT = 1 << 4
    LENGTH = 1 << 5
    PREAMBLE = 1 << 6
    HEADER_CRC = 1 << 7


@dataclass(frozen=True, slots=True, eq=False)
class CheckedStream:
    """A tap's packets with what their format says of them.

    Attributes:
        said: the format; None on a tap without one.
        verdict: ``(n,)``: GOOD, BAD, or UNKNOWN where nothing can be said.
        wrong: ``(n,)``: bits of `Wrong`.
        crc: ``(n,)``: the verdict of the CRC alone.
        start, size: ``(n,)``: where the packet's own bytes lie in the buffer, without a preamble.
        columns: of the headers, by name.
        unasked: checks that cannot be made, a line each.
    """

    stream: TapStream
    said: Format | None
    verdict: Verdicts
    wrong: Int64
    crc: Verdicts
    start: Int64
    size: Int64
    columns: dict[str, Int64] = field(default_factory=dict)
    unasked: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.stream)

    @property
    def tap(self) -> ElaboratedTap:
        return self.stream.tap

    @property
    def is_checked(self) -> bool:
        """Whether any packet can pass or fail."""
        return bool((self.verdict != UNKNOWN).any())

    @property
    def begun(self) -> npt.NDArray[np.bool_]:
        """``(n,)``: the packet's first bytes are there; no header is read of the others."""
        hidden = int(Packet.CUT_BEGIN | Packet.VOID)
        return np.asarray((self.stream.packets.flags & hidden) == 0)

    @property
    def length_B(self) -> Int64:
        """``(n,)``: bytes of each packet without a preamble, also those that its memory does not keep."""
        before_B = self.start - self.stream.packets.offset
        if self.said is not None and self.said.preamble:
            before_B = np.where(self.stream.told, PREAMBLE_B, before_B)
        return np.asarray(np.maximum(0, self.stream.packets.length - before_B))

    def content(self, packet: int) -> bytes:
        """Return the packet's bytes, without a preamble."""
        start = int(self.start[packet])
        return self.stream.content[start : start + int(self.size[packet])].tobytes()


def check_packets(card: CardFile, stream: TapStream) -> CheckedStream:
    """Return a tap's packets with the verdicts of their format."""
    said = card.format.get(stream.tap.said.format)
    shape = "raw" if said is None else said.is_
    packets = stream.packets
    count = len(packets.offset)
    start, size = packets.offset.copy(), packets.stored_B.copy()
    checked = CheckedStream(
        stream,
        said,
        np.full(count, UNKNOWN, np.int8),
        np.zeros(count, np.int64),
        np.full(count, UNKNOWN, np.int8),
        start,
        size,
    )
    if said is None or shape == "raw":
        return checked
    if shape == "ethernet":
        _ethernet(checked, said)
        return checked
    columns, unasked = (_link if shape == "link" else _fields)(checked, said)
    return CheckedStream(
        stream, said, checked.verdict, checked.wrong, checked.crc, start, size, columns, unasked
    )


def _judge(checked: CheckedStream, can: npt.NDArray[np.bool_]) -> None:
    checked.verdict[can] = np.where(checked.wrong[can] == 0, GOOD, BAD)


def _limits(checked: CheckedStream, shortest: int, longest: Int64 | int, length: Int64) -> None:
    whole = checked.stream.whole | checked.stream.told
    checked.wrong[whole & (length < shortest)] |= int(Wrong.RUNT)
    checked.wrong[whole & (length > longest)] |= int(Wrong.GIANT)


def _ethernet(checked: CheckedStream, said: Format) -> None:
    stream, packets = checked.stream, checked.stream.packets
    words = stream.content.view(np.uint64)
    whole = stream.whole
    ended = (packets.flags & int(Packet.CUT_END | Packet.VOID)) == 0
    if said.preamble:
        _strip_preamble(checked, words)
    out = np.full((len(kernels.COLUMNS), len(packets.offset)), -1, np.int64)
    present = said.fcs == "present"
    shortened = (packets.flags & int(Packet.SHORTENED)) != 0
    own_B = np.maximum(0, checked.size - FCS_B * (present & ended & ~shortened))
    linktype = np.full(len(own_B), ETHERNET, np.int32)
    begun_B = np.where(checked.begun, own_B, 0)
    kernels.parse_headers(stream.content, checked.start, begun_B, linktype, out)
    checked.columns.update(zip(kernels.COLUMNS, out, strict=True))
    if present:
        good = (_crcs(checked) == FCS_RESIDUE) & (checked.size >= FCS_B)
        checked.crc[whole] = good[whole]
        _check_digests(checked, said)
        checked.wrong[checked.crc == BAD] |= int(Wrong.CRC)
    user = stream.tap.said.user
    flagged = user is not None and user.bad_frame is not None
    if flagged:
        checked.wrong[ended & ((packets.flags & int(Packet.USER_END)) != 0)] |= int(Wrong.USER)
    without_B = 0 if present else FCS_B
    length = np.where(stream.told, checked.length_B, checked.size)
    longest: Int64 | int = said.longest_B
    if not longest:  # a tag makes it longer; how many a digest stands for is not known
        l3 = out[kernels.L3]
        tags_B = np.where(l3 >= 0, l3 - _HEADER_B, _MOST_TAGS_B)
        longest = _LONGEST_B - without_B + tags_B
    _limits(checked, said.shortest_B or _SHORTEST_B - without_B, longest, length)
    passes = checked.crc == GOOD if present else np.full(len(whole), flagged)
    _judge(checked, (whole | stream.told) & ((checked.wrong != 0) | passes))


def _crcs(checked: CheckedStream) -> npt.NDArray[np.uint32]:
    """Return the CRC-32/ISO-HDLC of the bytes of each packet that are there."""
    sums = np.zeros(len(checked.size), np.uint32)
    crc32_each(checked.stream.content.view(np.uint64), checked.start, checked.size, sums)
    return sums


def _strip_preamble(checked: CheckedStream, words: npt.NDArray[np.uint64]) -> None:
    whole = checked.stream.whole
    first = words[np.minimum(checked.start >> 3, max(0, len(words) - 1))] if len(words) else None
    right = np.zeros(len(checked.start), np.bool_)
    if first is not None:
        right = (
            checked.begun & (first == np.uint64(0xD555555555555555)) & (checked.size >= PREAMBLE_B)
        )
    checked.wrong[whole & ~right] |= int(Wrong.PREAMBLE)
    checked.start[right] += PREAMBLE_B
    checked.size[right] -= PREAMBLE_B


def _check_digests(checked: CheckedStream, said: Format) -> None:
    """Judge packets that one SUM stands for: the CRC over a frame with its FCS is a constant."""
    if said.preamble:
        return
    for packet in np.flatnonzero(checked.stream.told).tolist():
        digest = checked.stream.digest(packet)
        if digest is not None:
            checked.crc[packet] = GOOD if digest == FCS_RESIDUE else BAD


def _field(checked: CheckedStream, said: FormatField) -> Int64:
    """Return the values of a field, -1 where the packet is too short for it; 64 bits as their pattern."""
    first, last = said.at_bit // 8, (said.at_bit + said.bits - 1) // 8
    span = np.arange(first, last + 1)
    fits = (checked.size > last) & checked.begun
    data = np.zeros((len(checked.start), len(span)), np.uint8)
    data[fits] = checked.stream.content[checked.start[fits, None] + span]
    if said.order == "little":
        data = data[:, ::-1]
        low = said.at_bit - 8 * first
    else:
        low = 8 * (last + 1) - (said.at_bit + said.bits)
    value = np.zeros(len(data), object)
    for column in range(data.shape[1]):
        value = value * 256 + data[:, column].astype(object)
    value = (value >> low) & ((1 << said.bits) - 1)
    return np.array(
        [
            int(v) - (1 << 64) * (int(v) >> 63) if ok else -1
            for v, ok in zip(value, fits, strict=True)
        ],
        np.int64,
    )


def _fields(checked: CheckedStream, said: Format) -> tuple[dict[str, Int64], tuple[str, ...]]:
    whole = checked.stream.whole
    columns = {name: _field(checked, each) for name, each in said.field.items()}
    for name, each in said.field.items():
        if each.constant is not None:
            short = checked.size * 8 < each.at_bit + each.bits
            wrong = short | (columns[name] != each.constant - (1 << 64) * (each.constant >> 63))
            checked.wrong[whole & wrong] |= int(Wrong.CONSTANT)
    if said.length:
        each = said.field[said.length]
        short = checked.size * 8 < each.at_bit + each.bits
        wrong = short | (columns[said.length] + said.length_plus_B != checked.size)
        checked.wrong[whole & wrong] |= int(Wrong.LENGTH)
    unasked = []
    for name, check in said.check.items():
        try:
            crc = crc_of_check(check)
        except ValueError as error:
            unasked.append(f"{checked.tap.name}: check {name}: {error}")
            continue
        for packet in np.flatnonzero(whole).tolist():
            good = _crc_holds(checked.content(packet), crc, check)
            checked.crc[packet] = good & (checked.crc[packet] != BAD)
    checked.wrong[checked.crc == BAD] |= int(Wrong.CRC)
    longest = said.longest_B or 1 << 62
    _limits(checked, said.shortest_B, longest, checked.size)
    checks = said.check or said.length or any(f.constant is not None for f in said.field.values())
    if checks or said.shortest_B or said.longest_B:
        _judge(checked, whole & ((checked.wrong != 0) | (not unasked)))
    return columns, tuple(unasked)


def crc_places(size_B: int, crc: Crc, check: CrcCheck) -> tuple[int, int] | None:
    """Return the byte of a CRC in a packet of that size, and the byte after the last one it covers; None: too short."""
    place = check.at if check.at >= 0 else size_B + check.at
    end = check.end
    stop = place if end is None else end if end >= 0 else size_B + end
    fits = 0 <= place <= size_B - -(-crc.width // 8) and check.first <= stop <= size_B
    return (place, stop) if fits else None


def _crc_holds(data: bytes, crc: Crc, check: CrcCheck) -> bool:
    """Tell whether the CRC at a place of a packet is that of its span; no where the packet is too short."""
    places = crc_places(len(data), crc, check)
    if places is None:
        return False
    place, stop = places
    seen = int.from_bytes(data[place : place + -(-crc.width // 8)], check.order)
    return crc.of(data[check.first : stop]) == seen


def _link(checked: CheckedStream, said: Format) -> tuple[dict[str, Int64], tuple[str, ...]]:
    """Judge packets of the example card's link: header CRC, payload CRC, length."""
    stream = checked.stream
    whole = stream.whole
    fits = (checked.size >= LINK_HEADER_B) & checked.begun
    headers = np.zeros(len(checked.start), np.uint64)
    words = stream.content.view(np.uint64)
    headers[fits] = words[checked.start[fits] >> 3]

    def bits(low: int, width: int) -> Int64:
        value = (headers >> np.uint64(low) & np.uint64((1 << width) - 1)).astype(np.int64)
        return np.where(fits, value, -1)

    columns = {"type": bits(0, 4), "flow": bits(8, 7), "length": bits(16, 10), "seq": bits(32, 16)}
    checked.wrong[whole & ~fits] |= int(Wrong.LENGTH)
    wanted = LINK_HEADER_B + 8 * columns["length"] + LINK_TAIL_B
    checked.wrong[whole & fits & (wanted != checked.size)] |= int(Wrong.LENGTH)
    for packet in np.flatnonzero(whole & fits).tolist():
        data = checked.content(packet)
        if CRC16_IBM_3740.of(data[:6] + data[8:16]) != int(headers[packet]) >> 48:
            checked.wrong[packet] |= int(Wrong.HEADER_CRC)
    spans = np.maximum(0, checked.size - LINK_HEADER_B - LINK_TAIL_B)
    sums = np.zeros(len(spans), np.uint32)
    crc32_each(words, checked.start + LINK_HEADER_B * fits, spans, sums)
    has_tail = whole & (checked.size >= LINK_HEADER_B + LINK_TAIL_B)
    tails = np.zeros(len(spans), np.uint64)
    tails[has_tail] = words[(checked.start[has_tail] + checked.size[has_tail] - LINK_TAIL_B) >> 3]
    expected = np.where(spans > 0, sums, 0)
    checked.crc[has_tail] = (tails == expected)[has_tail]
    checked.wrong[checked.crc == BAD] |= int(Wrong.CRC)
    _judge(checked, whole)
    return columns, ()
