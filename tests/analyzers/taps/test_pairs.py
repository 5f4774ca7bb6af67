"""Packets of two taps are paired by what they have in common, never by their place alone."""

from __future__ import annotations

from typing import Any

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
    columns: dict[str, np.ndarray[Any, Any]] = {
        "row": whole, "kind": kinds, "data": data, "slot": whole, "cycle": whole, "t_ps": whole, "t_unc_ps": whole,
    }  # fmt: skip
    packets = [
        Packet(
            n, 6 * n, 6 * n + 6, 2, 3, int(data[6 * n]), int(data[6 * n + 1]), True, False, False, True, True, True
        )
        for n in range(count)
    ]  # fmt: skip
    return Stream("A", tap, columns, packets)


def test_two_memories_that_hold_no_packet_in_common_have_no_pair_however_many_they_hold() -> None:
    assert match_packets(stream("rx_enq", 117, 90), stream("rx_deq", 0, 90)).pairs == ()


def test_those_that_overlap_are_paired_where_they_do() -> None:
    up, down = stream("rx_enq", 5, 90), stream("rx_deq", 5, 90)
    assert match_packets(up, down).pairs == tuple((n, n) for n in range(90))
