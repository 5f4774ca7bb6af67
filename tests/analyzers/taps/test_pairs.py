"""Packets of two taps are paired by what they have in common, never by their place alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from freezeframe.analyzers.streams import Packet, Stream
from freezeframe.analyzers.taps.align import match_packets
from freezeframe.capture.registers.layouts import Kind

_HEAD, _BODY, _TAIL = int(Kind.HEAD), int(Kind.BODY), int(Kind.TAIL)


def stream(tap: str, first: int, count: int) -> Stream:
    """Return packets with headers ``first`` on, of six words each, whose contents follow from their number."""
    numbers = np.repeat(np.arange(first, first + count), 6)
    places = np.tile(np.arange(6), count)
    draw = np.random.default_rng(first)
    data = draw.integers(0, 1 << 63, 6 * count, dtype=np.uint64)
    data[places == 0] = (numbers[places == 0].astype(np.uint64) + np.uint64(1)) << np.uint64(32)
    kinds = np.tile(np.array([_HEAD, _HEAD, _BODY, _BODY, _BODY, _TAIL], np.uint8), count)
    whole = np.arange(6 * count, dtype=np.int64)
    packets = [
        Packet(
            n, 6 * n, 6 * n + 6, 2, 3, int(data[6 * n]), int(data[6 * n + 1]), True, False, False, True, True, True
        )
        for n in range(count)
    ]  # fmt: skip
    return Stream("A", tap, whole, kinds, data, whole, whole, whole, whole, packets)


def test_two_memories_that_hold_no_packet_in_common_have_no_pair_however_many_they_hold() -> None:
    assert match_packets(stream("rx_enq", 117, 90), stream("rx_deq", 0, 90)).pairs == ()


def test_those_that_overlap_are_paired_where_they_do() -> None:
    up, down = stream("rx_enq", 5, 90), stream("rx_deq", 5, 90)
    assert match_packets(up, down).pairs == tuple((n, n) for n in range(90))


def with_heads(made: Stream, header: int) -> Stream:
    """Give the one packet of a stream this header and address 0."""
    made.data[:2] = header, 0
    made.packets[:] = [replace(each, header=header, address=0) for each in made.packets]
    return made


def test_a_header_that_is_equal_on_one_lane_alone_is_that_of_another_packet() -> None:
    """Packets 298 and 286 of a recording: number and CRC are equal in their upper octets, which one lane carries."""
    up = with_heads(stream("tx_enq", 1, 1), 0x621B_012A_0040_0041)
    down = with_heads(stream("tx_deq", 2, 1), 0x62B5_011E_0040_0041)
    assert match_packets(up, down).pairs == ()


def test_a_packet_whose_other_lane_is_damaged_throughout_is_the_same() -> None:
    up = with_heads(stream("tx_deq", 1, 1), 0x621B_012A_0040_0041)
    down = with_heads(stream("rx_enq", 1, 1), 0x621B_012A_0040_0041 ^ 0x00AE_00DA_0053_0036)
    down.data[:] = up.data ^ np.uint64(0x00AE_00DA_0053_0036)
    assert match_packets(up, down).pairs == ((0, 0),)
