"""What a tap with SUM holds against the packets that were given: each one's length, cycles, user bits and CRC-32.

The CRC is zlib's over the bytes that were on.
"""

from __future__ import annotations

from collections.abc import Sequence

from freezeframe.capture.card.elaborated import SUMMARY_CYCLES
from freezeframe.decoders.tap.kinds import Packet, TapKind
from freezeframe.decoders.tap.stream import TapStream
from tests.rtl.card.given_packets import MOST_B, MOST_CYCLES, Beat, Given


def compare_sums(
    stream: TapStream, ended: Sequence[Given], opened: Given, eligible: Sequence[Beat], first_B: int
) -> int:
    """Compare every packet of a memory, and that none is missing; return how many were compared.

    Args:
        ended: packets that ended from the arm on. opened: the one after them. eligible: beats from the arm on.
        first_B: how many bytes of each packet are stored at least; 0: none.
    """
    columns = stream.packets
    place = {packet.end: number for number, packet in enumerate(ended)}
    numbers: list[int] = []
    for n in range(len(stream)):
        flags = int(columns.flags[n])
        if flags & Packet.CUT_END:  # the newest, without its end; at most its first bytes are there
            assert n == len(stream) - 1 and first_B and not flags & Packet.SUMMARY
            known = _after(ended, numbers[-1], opened) if numbers else [*ended, opened]
            assert any(stream.data(n) in packet.head for packet in known)
            continue
        number = place[int(columns.end[n])]
        numbers.append(number)
        _compare_one(stream, n, ended[number], first_B)
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers))) if numbers else True
    assert not numbers or stream.recorded.wrapped or numbers[0] == 0
    closing = int(stream.records.dated.cycle[stream.mark.row]) if stream.mark else -1
    missing = _after(ended, numbers[-1] if numbers else -1, opened)
    assert all(packet.end < 0 or packet.end + SUMMARY_CYCLES >= closing for packet in missing)
    if not first_B and stream.mark:
        since = ended[numbers[-1]].end if numbers else -1
        waits = [b for b in eligible if b.cycle > since and b.cycle + SUMMARY_CYCLES < closing]
        assert stream.mark.pending == min(255, len(waits))
    return len(numbers)


def _after(ended: Sequence[Given], number: int, opened: Given) -> list[Given]:
    return [*ended[number + 1 :], opened]


def _compare_one(stream: TapStream, n: int, given: Given, first_B: int) -> None:
    columns, flags = stream.packets, int(stream.packets.flags[n])
    width, data = stream.tap.stream_bytes, stream.data(n)
    begin, exact = given.begin, int(columns.begin_slack[n]) == 0
    if not flags & Packet.SUMMARY:  # it ended within its first words
        assert first_B
        assert given.head.endswith(data) if flags & Packet.CUT_BEGIN else data == given.head, n
        if not flags & Packet.CUT_BEGIN:
            assert given.length < first_B + max(8, width)
            _begins_right(stream, n, given)
        assert bool(flags & Packet.USER_END) == given.user_end
        return
    assert int(columns.length[n]) == min(given.length, MOST_B), n
    assert bool(flags & Packet.USER_END) == given.user_end, n
    assert bool(flags & Packet.USER_ANY) == given.user, n
    assert bool(flags & Packet.CUT_BEGIN) == given.first, n
    if not first_B or not flags & Packet.SHORTENED:
        assert not data
        assert bool(flags & Packet.IRREGULAR) == given.irregular, n
        lasted = given.end - begin
        assert int(columns.begin[n]) == given.end - min(lasted, MOST_CYCLES), n
        assert exact == (lasted < MOST_CYCLES), n
    else:
        assert first_B <= len(data) < first_B + max(8, width)
        assert given.head.startswith(data), n
        assert bool(flags & Packet.IRREGULAR) == given.irregular, n
        _begins_right(stream, n, given)
    hidden = given.irregular or given.first or given.length >= MOST_B
    assert int(stream.digests[n]) == (-1 if hidden else given.crc), n


def _begins_right(stream: TapStream, n: int, given: Given) -> None:
    begin, slack = int(stream.packets.begin[n]), int(stream.packets.begin_slack[n])
    # A last beat without a byte joins the packed word before it, whose beats are then told a cycle late.
    late = (
        stream.tap.said.bits < 64
        and stream.records.columns.kind[stream.packets.first_row[n]] != TapKind.HEAD
    )
    assert slack or begin == given.traced or (late and begin == given.traced + 1), n
