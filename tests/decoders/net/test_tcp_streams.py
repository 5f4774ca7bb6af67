"""TCP streams: what both ends wrote comes out once and in order, whatever the packets did on their way."""

from __future__ import annotations

import io
import random
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.capture.packets.block import PacketBlock
from freezeframe.capture.packets.file import PacketFile
from freezeframe.decoders.net.tcp_streams import (
    AT_END,
    CLOSED,
    CUT,
    DATA,
    DIFFERS,
    FIN,
    GAP,
    LEAST_RECENT,
    LOST,
    REPLACED,
    RST,
    SYN,
    TcpStreams,
)
from tests.capture.packets import build

A, B = ("10.0.0.1", 4000), ("10.0.0.2", 80)
A6, B6 = ("2001:db8::1", 4000), ("2001:db8::2", 80)
NAMES: dict[Any, str] = {
    DATA: "data",
    GAP: "gap",
    SYN: "syn",
    FIN: "fin",
    RST: "rst",
    CLOSED: "closed",
}
NAMES[DIFFERS] = "differs"

Row = tuple[Any, ...]


def block(
    packets: Sequence[bytes],
    *,
    first: int = 1,
    linktype: int = 1,
    snap: int = 1 << 18,
    step_ps: int = 1_000_000,
    spare: int = 0,
) -> PacketBlock:
    kept = [packet[:snap] for packet in packets]
    length = np.array([len(packet) for packet in kept], np.int64)
    data = b"".join(kept) + bytes(spare)
    return PacketBlock(
        np.frombuffer(bytearray(data), np.uint8),
        np.concatenate([[0], np.cumsum(length)[:-1]]).astype(np.int64)
        if kept
        else np.empty(0, np.int64),
        length,
        np.array([len(packet) for packet in packets], np.int64),
        (np.arange(len(kept), dtype=np.int64) + first) * step_ps,
        np.full(len(kept), linktype, np.int32),
        np.zeros(len(kept), np.int32),
        first,
    )


def rows(streams: TcpStreams, packets: PacketBlock, last: bool = True) -> list[Row]:
    """Return the pieces: kind, connection, side, position, then the bytes, or the length and why; a packet's number."""
    pieces = streams.feed(packets, last)
    out: list[Row] = []
    for i in range(len(pieces)):
        kind = int(pieces.kind[i])
        what: Row = (NAMES[kind], int(pieces.connection[i]), int(pieces.side[i]))
        if kind == CLOSED:
            out.append((*what, int(pieces.aux[i])))
            continue
        what = (*what, int(pieces.position[i]))
        if kind in (DATA, DIFFERS):
            what = (*what, pieces.data(i))
        if kind == GAP:
            what = (*what, int(pieces.length[i]), int(pieces.aux[i]))
        out.append((*what, int(pieces.packet[i])))
    return out


def followed(*packets: bytes, **how: int) -> list[Row]:
    return rows(TcpStreams(), block(packets, **how))


def sent(seq: int, payload: bytes = b"", **how: Any) -> bytes:
    return build.ethernet(build.tcp(A, B, seq, payload, **how))


def answered(seq: int, payload: bytes = b"", **how: Any) -> bytes:
    return build.ethernet(build.tcp(B, A, seq, payload, **how))


def test_a_connection_from_its_opening_to_its_end() -> None:
    assert followed(
        sent(99, flags=build.SYN),
        answered(499, flags=build.SYN | build.ACK, ack=100),
        sent(100, ack=500),
        sent(100, b"hello", ack=500),
        answered(500, b"world!", ack=105),
        sent(105, flags=build.FIN | build.ACK, ack=506),
        answered(506, flags=build.FIN | build.ACK, ack=106),
        sent(106, ack=507),
    ) == [
        ("syn", 0, 0, 0, 1),
        ("syn", 0, 1, 0, 2),
        ("data", 0, 0, 0, b"hello", 4),
        ("data", 0, 1, 0, b"world!", 5),
        ("fin", 0, 0, 5, 6),
        ("fin", 0, 1, 6, 7),
        ("closed", 0, 0, AT_END),
    ]


def test_without_a_syn_position_0_is_the_first_byte_seen_and_side_0_its_sender() -> None:
    assert followed(answered(700, b"abc"), sent(5, b"xy"), answered(703, b"d")) == [
        ("data", 0, 0, 0, b"abc", 1),
        ("data", 0, 1, 0, b"xy", 2),
        ("data", 0, 0, 3, b"d", 3),
        ("closed", 0, 0, AT_END),
    ]


def test_a_syn_with_ack_alone_makes_its_sender_side_1() -> None:
    assert followed(answered(9, flags=build.SYN | build.ACK), sent(50, b"x"))[:2] == [
        ("syn", 0, 1, 0, 1),
        ("data", 0, 0, 0, b"x", 2),
    ]


def test_what_came_early_waits_and_keeps_its_packet() -> None:
    assert followed(sent(0, b"ab"), sent(4, b"ef"), sent(2, b"cd"), sent(6, b"g"))[:4] == [
        ("data", 0, 0, 0, b"ab", 1),
        ("data", 0, 0, 2, b"cd", 3),
        ("data", 0, 0, 4, b"ef", 2),
        ("data", 0, 0, 6, b"g", 4),
    ]


def test_a_hole_that_the_other_side_acknowledged_is_given_up_after_some_packets() -> None:
    packets = [sent(0, b"ab"), sent(4, b"ef"), answered(0, ack=6)] + [answered(0, ack=6)] * 300
    assert followed(*packets) == [
        ("data", 0, 0, 0, b"ab", 1),
        ("gap", 0, 0, 2, 2, LOST, 260),
        ("data", 0, 0, 4, b"ef", 2),
        ("closed", 0, 0, AT_END),
    ]


def test_a_hole_that_is_left_at_the_end_is_a_gap() -> None:
    assert followed(sent(0, b"ab"), sent(4, b"ef"), sent(6, flags=build.FIN)) == [
        ("data", 0, 0, 0, b"ab", 1),
        ("gap", 0, 0, 2, 2, LOST, 3),
        ("data", 0, 0, 4, b"ef", 2),
        ("fin", 0, 0, 6, 3),
        ("closed", 0, 0, AT_END),
    ]


def test_a_reset_gives_up_what_is_missing_on_both_sides() -> None:
    assert followed(sent(0, b"a"), sent(3, b"d"), answered(0, flags=build.RST)) == [
        ("data", 0, 0, 0, b"a", 1),
        ("gap", 0, 0, 1, 2, LOST, 3),
        ("data", 0, 0, 3, b"d", 2),
        ("rst", 0, 1, 0, 3),
        ("closed", 0, 0, AT_END),
    ]


def test_the_last_bytes_before_a_reset_that_were_lost_are_a_gap_by_its_sequence_number() -> None:
    assert followed(sent(0, b"ab"), sent(7, flags=build.RST | build.ACK)) == [
        ("data", 0, 0, 0, b"ab", 1),
        ("gap", 0, 0, 2, 5, LOST, 2),
        ("rst", 0, 0, 7, 2),
        ("closed", 0, 0, AT_END),
    ]


def test_what_a_reset_acknowledges_and_was_never_seen_is_a_gap_of_the_other_side() -> None:
    assert followed(
        sent(0, b"ab"), answered(9, b"x"), answered(10, flags=build.RST | build.ACK, ack=6)
    )[2:] == [
        ("gap", 0, 0, 2, 4, LOST, 3),
        ("rst", 0, 1, 1, 3),
        ("closed", 0, 0, AT_END),
    ]


def test_a_reset_far_from_the_stream_says_nothing_of_what_was_lost() -> None:
    assert followed(sent(0, b"ab"), sent(1 << 24, flags=build.RST))[1] == ("rst", 0, 0, 2, 2)


def test_one_sequence_number_before_a_reset_may_be_a_fin_and_is_no_gap() -> None:
    pieces = TcpStreams().feed(block([sent(0, b"ab"), sent(3, flags=build.RST)]), last=True)
    assert (pieces.kind.tolist(), pieces.aux.tolist()) == ([DATA, RST, CLOSED], [0, 1, AT_END])


def test_bytes_beyond_the_snap_length_are_a_gap_of_their_own() -> None:
    assert followed(sent(0, b"abcdef"), sent(6, b"gh"), snap=54 + 2)[:3] == [
        ("data", 0, 0, 0, b"ab", 1),
        ("gap", 0, 0, 2, 4, CUT, 1),
        ("data", 0, 0, 6, b"gh", 2),
    ]


def test_an_early_packet_that_was_cut_is_followed_by_its_gap() -> None:
    assert followed(sent(0, b"ab"), sent(4, b"efgh"), sent(2, b"cd"), sent(8, b"i"), snap=56)[
        1:5
    ] == [
        ("data", 0, 0, 2, b"cd", 3),
        ("data", 0, 0, 4, b"ef", 2),
        ("gap", 0, 0, 6, 2, CUT, 2),
        ("data", 0, 0, 8, b"i", 4),
    ]


@pytest.mark.parametrize(
    ("again", "found"),
    [
        ((0, b"abcd"), []),
        ((1, b"bc"), []),
        ((0, b"abXd"), [("differs", 0, 0, 0, b"abXd", 3)]),
        ((2, b"cdeX"), [("differs", 0, 0, 2, b"cdeX", 3)]),
        ((7, b"\0"), []),  # a keep-alive
        ((7, b"hij"), [("data", 0, 0, 8, b"ij", 3)]),
        ((6, b"gXij"), [("differs", 0, 0, 6, b"gX", 3), ("data", 0, 0, 8, b"ij", 3)]),
    ],
)
def test_a_retransmission_is_compared_with_what_came_first(
    again: tuple[int, bytes], found: list[Row]
) -> None:
    assert followed(sent(0, b"abcd"), sent(4, b"efgh"), sent(*again))[2:-1] == found


def test_two_versions_of_bytes_that_came_early_are_told_apart_and_the_first_is_kept() -> None:
    assert followed(
        sent(0, b"a"), sent(4, b"efg"), sent(2, b"cdEfgh"), sent(1, b"b"), sent(8, b"i")
    )[1:7] == [
        ("differs", 0, 0, 2, b"cdEfgh", 3),
        ("data", 0, 0, 1, b"b", 4),
        ("data", 0, 0, 2, b"cd", 3),
        ("data", 0, 0, 4, b"efg", 2),
        ("data", 0, 0, 7, b"h", 3),
        ("data", 0, 0, 8, b"i", 5),
    ]


def test_the_same_ports_with_another_syn_are_another_connection() -> None:
    assert followed(
        sent(9, flags=build.SYN),
        sent(10, b"a"),
        sent(11, flags=build.FIN),
        sent(9, flags=build.SYN),  # once more
        sent(5000, flags=build.SYN),
        sent(5001, b"b"),
    ) == [
        ("syn", 0, 0, 0, 1),
        ("data", 0, 0, 0, b"a", 2),
        ("fin", 0, 0, 1, 3),
        ("closed", 0, 0, REPLACED),
        ("syn", 1, 0, 0, 5),
        ("data", 1, 0, 0, b"b", 6),
        ("closed", 1, 0, AT_END),
    ]


def test_what_lies_before_the_first_byte_that_was_seen_has_no_place() -> None:
    assert followed(sent(10, b"cd"), sent(8, b"ab"), sent(8, b"abcdef"))[:-1] == [
        ("data", 0, 0, 0, b"cd", 1),
        ("data", 0, 0, 2, b"ef", 3),
    ]


def test_an_acknowledgement_before_the_first_byte_is_no_gap() -> None:
    assert followed(sent(0), answered(0, ack=500), sent(500, b"ab"), answered(0, ack=502))[:-1] == [
        ("data", 0, 0, 0, b"ab", 3),
    ]


def test_what_was_acknowledged_and_never_seen_is_a_gap_at_the_end() -> None:
    assert followed(sent(0, b"ab"), answered(0, ack=12))[:-1] == [
        ("data", 0, 0, 0, b"ab", 1),
        ("gap", 0, 0, 2, 10, LOST, 2),
    ]


def test_both_ends_may_open_at_once() -> None:
    assert followed(
        sent(9, flags=build.SYN),
        answered(99, flags=build.SYN),
        sent(9, flags=build.SYN | build.ACK, ack=100),
        answered(99, flags=build.SYN | build.ACK, ack=10),
        sent(10, b"a", ack=100),
        answered(100, b"b", ack=11),
    )[:4] == [
        ("syn", 0, 0, 0, 1),
        ("syn", 0, 1, 0, 2),
        ("data", 0, 0, 0, b"a", 5),
        ("data", 0, 1, 0, b"b", 6),
    ]


def test_data_in_the_syn_is_at_the_beginning_of_the_stream() -> None:
    assert followed(sent(9, b"hi", flags=build.SYN), sent(12, b"!"))[1:3] == [
        ("data", 0, 0, 0, b"hi", 1),
        ("data", 0, 0, 2, b"!", 2),
    ]


def test_sequence_numbers_wrap_round() -> None:
    start = (1 << 32) - 3
    assert followed(sent(start, b"abcde"), sent(start + 5, b"f"), sent(start + 2, b"cde"))[:-1] == [
        ("data", 0, 0, 0, b"abcde", 1),
        ("data", 0, 0, 5, b"f", 2),
    ]


def test_a_segment_of_64_kb_without_a_length_in_its_ip_header() -> None:
    data = bytes(random.Random(1).randbytes(65_536))
    packet = build.ethernet(build.tcp(A, B, 0, data, length=0))
    assert followed(packet)[0] == ("data", 0, 0, 0, data, 1)


def test_padding_of_a_short_frame_is_no_data() -> None:
    assert followed(sent(0, b"a") + bytes(5), sent(1, b"b") + bytes(5))[:2] == [
        ("data", 0, 0, 0, b"a", 1),
        ("data", 0, 0, 1, b"b", 2),
    ]


def test_a_later_fragment_is_counted_and_its_bytes_are_a_gap() -> None:
    whole = build.tcp(A, B, 0, bytes(range(40)))
    one = build.ipv4(A[0], B[0], 6, whole[20:60], fragment=0x2000)
    two = build.ipv4(A[0], B[0], 6, whole[60:], fragment=5)
    streams = TcpStreams()
    packets = block([build.ethernet(one), build.ethernet(two), sent(40, b"x")])
    assert rows(streams, packets) == [
        ("data", 0, 0, 0, bytes(range(20)), 1),
        ("gap", 0, 0, 20, 20, LOST, 3),
        ("data", 0, 0, 40, b"x", 3),
        ("closed", 0, 0, AT_END),
    ]
    assert streams.fragments == 1


def test_ipv6_with_extension_headers_and_tags_of_vlans() -> None:
    extensions = bytes([60, 0, 1, 4, 0, 0, 0, 0]) + bytes([6, 0, 1, 4, 0, 0, 0, 0])
    packets = [
        build.ethernet(
            build.tcp(A6, B6, 0, b"six", extensions=extensions, first_extension=0), vlans=(5, 6)
        ),
        build.ethernet(build.tcp(B6, A6, 0, b"back")),
    ]
    streams = TcpStreams()
    pieces = streams.feed(block(packets), last=True)
    assert [pieces.data(i) for i in range(2)] == [b"six", b"back"]
    slot = int(pieces.slot[0])
    high, low = pieces.connections.address(0)
    assert (int(high[slot]), int(low[slot])) == (0x20010DB8 << 32, 1)
    assert [int(pieces.connections.port(side)[slot]) for side in (0, 1)] == [4000, 80]
    assert int(pieces.connections.ip_version[slot]) == 6
    assert not pieces.connections.syn_seen(0)[slot]


@pytest.mark.parametrize("linktype", [0, 1, 12, 101, 108, 113, 228, 276])
def test_every_linktype_gives_the_same_stream(linktype: int) -> None:
    packets = [build.framed(build.tcp(A, B, 10 + 2 * n, b"ab"), linktype) for n in range(3)]
    assert [row[4] for row in followed(*packets, linktype=linktype)[:-1]] == [b"ab"] * 3


def test_beyond_65536_connections_the_least_recently_used_is_closed() -> None:
    def of(number: int) -> bytes:
        return build.ethernet(
            build.tcp((f"10.1.{number >> 8 & 255}.{number & 255}", 1 + (number >> 16)), B, 0, b"x")
        )

    streams = TcpStreams()
    packets = [of(number) for number in range(1 << 16)]
    rows(streams, block(packets[: 1 << 15]), last=False)
    rows(streams, block(packets[1 << 15 :], first=(1 << 15) + 1), last=False)
    # 0 is used again, so that 1 and 2 are the oldest.
    again = rows(streams, block([of(0), of(1 << 16), of((1 << 16) + 1)], first=70_000), last=False)
    assert [row for row in again if row[0] == "closed"] == [
        ("closed", 1, 0, LEAST_RECENT),
        ("closed", 2, 0, LEAST_RECENT),
    ]
    assert [row[1] for row in again if row[0] == "data"] == [1 << 16, (1 << 16) + 1]
    closed = rows(streams, block([], first=70_003), last=True)
    assert len(closed) == 1 << 16 and closed[-1][1] == (1 << 16) + 1


def test_held_bytes_are_bounded_and_the_oldest_hole_is_given_up() -> None:
    streams, found = TcpStreams(), []
    payload = bytes(60_000)
    for part in range(4):
        packets = [sent(0, b"a")] if not part else []
        packets += [sent(10 + 60_000 * (100 * part + n), payload) for n in range(100)]
        found += rows(streams, block(packets, first=1 + 200 * part), last=False)
    gap = [row for row in found if row[0] == "gap"]
    assert gap[0][3:6] == (1, 9, LOST)
    assert len(gap) == 1


def stream_of(found: Sequence[Row], side: int) -> tuple[bytes, list[tuple[int, int]]]:
    """Return what a side's pieces make together, gaps as zeros, and the gaps; they must follow each other."""
    out, gaps = bytearray(), []
    for row in found:
        if row[0] == "data" and row[2] == side:
            assert row[3] == len(out)
            out += row[4]
        elif row[0] == "gap" and row[2] == side:
            assert row[3] == len(out)
            gaps.append((row[3], row[4]))
            out += bytes(row[4])
    return bytes(out), gaps


@settings(max_examples=60)
@given(st.integers(0, 1 << 40), st.booleans(), st.booleans(), st.integers(1, 40))
def test_any_order_and_any_cuts_of_a_stream_give_the_stream(
    seed: int, lose: bool, six: bool, at_once: int
) -> None:
    chance = random.Random(seed)
    ends = (A6, B6) if six else (A, B)
    data = [chance.randbytes(chance.randrange(1, 9000)) for _ in range(2)]
    begin = [chance.randrange(1 << 32), (1 << 32) - chance.randrange(1, 5000)]
    packets, lost = [], [bytearray(b"\1" * len(each)) for each in data]
    for side in range(2):
        cuts = sorted({0, len(data[side]), *(chance.randrange(len(data[side])) for _ in range(60))})
        spans = list(pairwise(cuts))
        # Some again, with other boundaries.
        spans += [(a, min(len(data[side]), a + chance.randrange(1, 3000))) for a in cuts[:-1:4]]
        chance.shuffle(spans)
        for a, b in spans:
            if lose and chance.random() < 0.3:
                continue
            lost[side][a:b] = bytes(b - a)
            segment = build.tcp(
                ends[side], ends[1 - side], begin[side] + a, data[side][a:b], flags=build.PSH
            )
            packets.append((chance.random(), build.ethernet(segment)))
    shuffled = [packet for _, packet in sorted(packets)]
    opening = [
        build.ethernet(build.tcp(ends[s], ends[1 - s], begin[s] - 1, flags=build.SYN))
        for s in (0, 1)
    ]
    streams, found = TcpStreams(), []
    whole = opening + shuffled
    for at in range(0, len(whole), at_once):
        found += rows(streams, block(whole[at : at + at_once], first=at + 1), last=False)
    found += rows(streams, block([], first=len(whole) + 1), last=True)
    assert not [row for row in found if row[0] == "differs"]
    for side in range(2):
        mask = lost[side].rstrip(b"\1")  # nobody knows of what is missing at the end
        got, gaps = stream_of(found, side)
        want = bytes(0 if gone else byte for byte, gone in zip(data[side], mask, strict=False))
        assert got == want
        assert sum(length for _, length in gaps) == sum(mask)


@settings(max_examples=40)
@given(st.integers(0, 1 << 40))
def test_no_bytes_make_it_fail_or_lose_count(seed: int) -> None:
    chance = random.Random(seed)
    packets = []
    for _ in range(200):
        ends = [(f"10.0.0.{chance.randrange(1, 4)}", chance.randrange(1, 3)) for _ in range(2)]
        packet = bytearray(
            build.ethernet(
                build.tcp(
                    ends[0],
                    ends[1],
                    chance.randrange(1 << 32) if chance.random() < 0.2 else chance.randrange(5000),
                    chance.randbytes(chance.randrange(200)),
                    flags=chance.randrange(64) if chance.random() < 0.5 else build.ACK,
                    ack=chance.randrange(1 << 32) if chance.random() < 0.2 else chance.randrange(5000),
                )
            )
        )  # fmt: skip
        for _ in range(chance.randrange(3)):
            packet[chance.randrange(len(packet))] = chance.randrange(256)
        packets.append(bytes(packet[: chance.randrange(10, len(packet) + 1)]))
    streams = TcpStreams()
    ends_at: dict[tuple[object, object], int] = {}
    for part in range(4):
        for row in rows(streams, block(packets[part::4], first=1 + 50 * part), last=part == 3):
            if row[0] in ("data", "gap"):
                place = (row[1], row[2])
                assert row[3] == ends_at.get(place, 0)
                length = len(row[4]) if row[0] == "data" else row[4]
                ends_at[place] = row[3] + length


def test_what_waits_is_not_written_over_packets_that_the_reader_has_still_to_hand_on() -> None:
    payload = [bytes([k]) * 100 for k in range(1, 61)]
    packets = [sent(100 * k, data) for k, data in enumerate(payload)]
    packets[1:59:2], packets[2:60:2] = packets[2:60:2], packets[1:59:2]
    data = build.pcap([(1000 * k, packet) for k, packet in enumerate(packets)])
    with PacketFile(io.BytesIO(data), "swapped", len(data), chunk_B=1000) as file:
        streams, found = TcpStreams(), bytearray()
        for piece in file:
            found += b"".join(
                row[4] for row in rows(streams, piece, last=False) if row[0] == "data"
            )
        assert file.notes == []
    assert bytes(found) == b"".join(payload)
