"""A slow reader of trace records, plain enough to be believed: the oracle of the kernels.

Written from docs/formats.md sections 2, 3 and 8 with lists and bits; shares no code with the decoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

HEAD, BODY, TAIL, TIME = 1, 2, 3, 15


def split(record: bytes) -> tuple[int, int, int]:
    """Return data, kind, dt of 9 bytes."""
    assert len(record) == 9
    return int.from_bytes(record[:8], "little"), record[8] % 16, record[8] // 16


def bitwise_crc16(data: bytes) -> int:
    """CRC-16/IBM-3740, bit by bit."""
    crc = 0xFFFF
    for byte in data:
        for bit in range(7, -1, -1):
            feedback = (crc >> 15) ^ (byte >> bit & 1)
            crc = (crc << 1 & 0xFFFF) ^ (0x1021 if feedback else 0)
    return crc


def bitwise_crc32(data: bytes) -> int:
    """CRC-32/ISO-HDLC, bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        for bit in range(8):
            feedback = (crc & 1) ^ (byte >> bit & 1)
            crc = (crc >> 1) ^ (0xEDB88320 if feedback else 0)
    return crc ^ 0xFFFFFFFF


def le(word: int) -> bytes:
    return word.to_bytes(8, "little")


def header_passes(header: int, address: int) -> bool:
    return bitwise_crc16(le(header)[:6] + le(address)) == header >> 48


@dataclass
class Packet:
    """What the tables should say of a packet; None where it cannot be known."""

    records: list[int] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    payload: list[int] = field(default_factory=list)
    tail: int | None = None
    cut_before: bool = False
    cut_after: bool = False
    header: int | None = None
    address: int | None = None
    header_ok: bool | None = None
    payload_ok: bool | None = None
    length_ok: bool | None = None
    whole: bool = True


def packets(rows: Sequence[bytes], gaps: Sequence[int] = ()) -> list[Packet]:
    """Return the packets in records, oldest first; ``gaps`` are rows before which some are missing."""
    pieces: list[list[tuple[int, int, int]]] = [[]]
    for number, row in enumerate(rows):
        if number in gaps:
            pieces.append([])
        data, kind, _ = split(row)
        if kind in (HEAD, BODY, TAIL):
            pieces[-1].append((number, kind, data))
    found = []
    for piece in pieces:
        groups = _groups(piece)
        for position, group in enumerate(groups):
            packet = Packet()
            for number, kind, data in group:
                packet.records.append(number)
                if kind == HEAD:
                    packet.heads.append(data)
                elif kind == BODY:
                    packet.payload.append(data)
                else:
                    packet.tail = data
            packet.cut_before = position == 0 and len(packet.heads) < 2
            packet.cut_after = position == len(groups) - 1 and packet.tail is None
            _judge(packet)
            found.append(packet)
    return found


def _groups(piece: list[tuple[int, int, int]]) -> list[list[tuple[int, int, int]]]:
    """Cut a piece of words before every word that begins a packet."""
    begins = []
    run = 0  # HEAD words in a row before this one, in this packet
    for position, (_, kind, data) in enumerate(piece):
        before = piece[position - 1][1] if position else None
        if (
            before is None
            or before == TAIL
            or (kind == HEAD and before == BODY)
            or (
                kind == HEAD
                and run >= 2
                and position + 1 < len(piece)
                and piece[position + 1][1] == HEAD
                and header_passes(data, piece[position + 1][2])
            )
        ):
            begins.append(position)
            run = 0
        run = run + 1 if kind == HEAD else 0
    ends = [*begins[1:], len(piece)]
    return [piece[a:b] for a, b in zip(begins, ends, strict=False)]


def _judge(packet: Packet) -> None:
    heads, body = packet.heads, packet.payload
    passes = False
    if len(heads) >= 2:
        packet.header, packet.address = heads[0], heads[1]
        pairs = [(heads[0], heads[1])]
        if len(heads) >= 3:
            pairs += [(heads[1], heads[2]), (heads[0], heads[2])]
        for header, address in pairs:
            if header_passes(header, address):
                packet.header, packet.address, passes = header, address, True
                break
        packet.header_ok = passes and len(heads) == 2
    elif len(heads) == 1:
        alone = not body and packet.tail is None
        length, known = heads[0] >> 16 & 0x3FF, heads[0] & 15 in (1, 2, 3)
        if packet.cut_before:
            if not alone:
                packet.address = heads[0]
        elif packet.cut_after and alone:
            packet.header = heads[0]
        else:
            fits = length >= len(body) if packet.cut_after else length == len(body)
            if known and fits:
                packet.header = heads[0]
            else:
                packet.address = heads[0]
            packet.header_ok = False
    elif not packet.cut_before:
        packet.header_ok = False

    if packet.tail is not None and (heads or not packet.cut_before):
        crc = bitwise_crc32(b"".join(map(le, body)))
        packet.payload_ok = packet.tail & 0xFFFFFFFF == crc

    if packet.header is not None:
        length = packet.header >> 16 & 0x3FF
        if packet.tail is not None:
            packet.length_ok = length == len(body)
        elif not packet.cut_after or len(body) > length:
            packet.length_ok = False
    packet.whole = not (packet.cut_before or packet.cut_after)


def earliest_and_latest(
    rows: Sequence[bytes], missing: Sequence[int], min_dt: int
) -> list[tuple[int, int | None]]:
    """Return the earliest and latest cycle each record can have, by relaxing all rules until nothing moves.

    Only for recordings without a contradiction. ``missing[i]`` records were not read before record i.
    """
    parsed = [split(row) for row in rows]
    low = [0] * len(rows)
    high: list[int | None] = [None] * len(rows)
    for number, (data, kind, _) in enumerate(parsed):
        if kind == TIME:
            low[number] = high[number] = data
    moved = True
    while moved:
        moved = False
        for after in range(1, len(rows)):
            before = after - 1
            dt = parsed[after][2]
            step = (missing[after] + 1) * min_dt if missing[after] else dt
            exact = not missing[after] and dt < 15
            candidates = [
                (low, after, max(low[after], low[before] + step)),
                (low, before, max(low[before], low[after] - dt) if exact else low[before]),
                (high, before, _least(high[before], _minus(high[after], step))),
                (
                    high,
                    after,
                    _least(high[after], _plus(high[before], dt)) if exact else high[after],
                ),
            ]
            for bound, where, value in candidates:
                if bound[where] != value:  # type: ignore[index]
                    bound[where] = value  # type: ignore[index]
                    moved = True
    return list(zip(low, high, strict=True))


def _least(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else min(a, b)


def _minus(a: int | None, step: int) -> int | None:
    return None if a is None else a - step


def _plus(a: int | None, step: int) -> int | None:
    return None if a is None else a + step
