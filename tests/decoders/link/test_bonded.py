"""Two lanes: sent columns in, literal words and lane events out; damaged lanes against a reader of bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.link.bonded import BONDED
from freezeframe.decoders.link.bonded_code import word_texts
from freezeframe.decoders.link.event_rows import EVENT_TEXTS, event_texts
from tests.decoders.link.line_model import damaged, pieces
from tests.decoders.link.link_model import (
    LinkReader,
    control,
    data,
    draw_lanes,
    lanes,
    send,
    side_by_side,
)
from tests.decoders.pieces import rows_of

Rows = list[dict[str, Any]]

WORDS = [0x0123456789ABCDEF, 0xFEDCBA9876543210, 0x1111222233334444, 0x5555666677778888]
PACKET = (*WORDS, 0x99AABBCC)
CREDIT = (0x5790000000648304,)


def decode(*cut: Edges, **options: Any) -> list[Rows]:
    """Decode a capture, given in pieces; return words and lane events."""
    return rows_of(BONDED, *cut, **({"bitrate": 250_000_000} | options))


def said(rows: Rows) -> list[tuple[str, int, int]]:
    """Return words as the model says them."""
    return [(row["error"] or row["kind"], row["data"] & (1 << 64) - 1, row["bad"]) for row in rows]


def codes(rows: Rows) -> list[tuple[str, int, int]]:
    return [(row["code"], row["lane"], row["value"]) for row in rows]


WHOLE = [
    ("HEAD", PACKET[0], 0),
    ("HEAD", PACKET[1], 0),
    ("BODY", PACKET[2], 0),
    ("BODY", PACKET[3], 0),
    ("TAIL", PACKET[4], 0),
]
CLEAN_EVENTS = [
    ("aligned", 0, 0),
    ("aligned", 1, 0),
    ("sync_found", 0, 0),
    ("sync_found", 1, 0),
    ("skew", -1, 0),
]


def test_a_packet_a_credit_and_a_packet_with_one_control_column_between() -> None:
    words, events = decode(draw_lanes(*lanes(send([PACKET, CREDIT, PACKET]))))
    assert said(words) == [*WHOLE, ("CREDIT", CREDIT[0], 0), *WHOLE]
    # 4 idles, align, 2 skips, 12 idles, one that announces: column 20, of 160 samples.
    assert words[0] == {
        "t_ps": 3_200_000,
        "source": "L0+L1",
        "kind": "HEAD",
        "t_unc_ps": 1000,
        "error": "",
        "first": True,
        "data": WORDS[0],
        "bad": 0,
        "sample": 3200,
    }
    assert [row["first"] for row in words] == [True, *[False] * 4, False, True, *[False] * 4]
    assert [row["sample"] - 3200 for row in words[5:7]] == [6 * 160, 8 * 160]
    assert codes(events) == CLEAN_EVENTS


@pytest.mark.parametrize("skew", [-275, -40, -3, 1, 7, 19, 20, 21, 83, 275])
def test_lanes_are_joined_and_their_skew_measured(skew: int) -> None:
    sent = side_by_side(*lanes(send([PACKET])), skew)
    words, events = decode(draw_lanes(*sent))
    assert [row for row in said(words) if row[0] != "STRAY"] == WHOLE  # behind the link is a filler
    assert ("skew", -1, 4 * skew) in codes(events)


def test_lanes_farther_apart_than_seven_columns_are_not_joined() -> None:
    words, events = decode(draw_lanes(*side_by_side(*lanes(send([PACKET])), 285)))
    assert words == []
    assert events[-1]["code"] == "not-bonded"


@pytest.mark.parametrize(
    ("skips", "event"), [(0, ("idle_removed", -1, 2)), (1, ("idle_removed", -1, 1)),
                         (3, ("idle_inserted", -1, 1)), (5, ("idle_inserted", -1, 3))],
)  # fmt: skip
def test_idles_that_clock_correction_put_in_or_took_out_are_counted(
    skips: int, event: tuple[str, int, int]
) -> None:
    words, events = decode(draw_lanes(*lanes(send([PACKET, PACKET], [-1, skips]))))
    assert said(words) == WHOLE * 2
    assert codes(events) == [*CLEAN_EVENTS, event]


def test_a_lane_that_loses_a_byte_slips_and_the_next_packet_is_whole_again() -> None:
    first, second = lanes(send([PACKET, PACKET, PACKET, PACKET]))
    at = 40 * 22 + 10  # within a body word of the first packet
    first, cut = side_by_side(first, second[:at] + second[at + 10 :])
    words, events = decode(draw_lanes(first, cut))
    assert ("misplaced-control", 1, 3) in codes(events)
    assert ("slip", 1, 3) in codes(events)
    assert said(words)[-5:] == WHOLE
    assert said(words) == LinkReader(first, cut).words


def test_a_lane_that_loses_a_bit_is_realigned() -> None:
    first, second = lanes(send([PACKET] * 6))
    first, cut = side_by_side(first, second[:900] + second[901:])
    words, events = decode(draw_lanes(first, cut))
    assert ("realigned", 1, 9) in codes(events)
    assert said(words) == LinkReader(first, cut).words


def test_a_lane_that_dies_gives_words_whose_bytes_are_marked_bad() -> None:
    first, second = lanes(send([PACKET]))
    dead = second[: 40 * 19] + "0" * (len(second) - 40 * 19)
    words, events = decode(draw_lanes(first, dead))
    assert [code for code, lane, _ in codes(events) if lane == 1][-2:] == ["sync_lost", "no-signal"]
    mask = 0x00FF00FF00FF00FF
    assert said(words) == [(kind, word & mask, 0xAA) for kind, word, _ in WHOLE]
    assert word_texts(words[0]).long.endswith("bytes not received: mask aa")


def test_words_outside_of_packets_and_ends_without_a_beginning() -> None:
    columns = [*send([PACKET]), data(7), control(), control("end"), control(following="credit")]
    columns += [control(), control(following="packet"), data(1), data(2), control("end")]
    columns += [control(following="packet"), data(1), data(2), data(3), control()]
    columns += [control(following="packet"), data(1), data(2), data(3)]
    words, _ = decode(draw_lanes(*lanes(columns)))
    assert said(words)[5:] == [
        ("STRAY", 7, 0),
        ("no-start", 0, 0),
        ("no-credit", 0, 0),
        ("HEAD", 1, 0),
        ("HEAD", 2, 0),
        ("short-packet", 0, 0),
        ("HEAD", 1, 0),
        ("HEAD", 2, 0),
        ("BODY", 3, 0),
        ("no-end", 0, 0),
        ("HEAD", 1, 0),
        ("HEAD", 2, 0),
        ("BODY", 3, 0),
        ("cut-packet", 0, 0),
    ]


def test_lanes_that_say_different_things_are_told() -> None:
    columns = send([PACKET])
    columns[12] = (control("skip")[0], control("align")[1])
    columns[14] = (control()[0], data(0)[1])
    events = decode(draw_lanes(*lanes(columns)))[1]
    assert [code for code, _, _ in codes(events)].count("lanes-disagree") == 2


def test_a_drift_of_the_sender_does_no_harm_and_the_rate_is_found() -> None:
    units = [PACKET, CREDIT] * 200
    for samples_a_bit, drift in ((3.3, 2e-4), (5.0, -5e-3)):
        sent = side_by_side(*lanes(send(units)), 9)
        words, events = decode(draw_lanes(*sent, samples_a_bit, drift=drift), bitrate=0)
        assert [row for row in said(words) if row[0] != "STRAY"] == [
            *WHOLE,
            ("CREDIT", CREDIT[0], 0),
        ] * 200
        wrong = {row["code"] for row in events if row["kind"] == "error"}
        assert wrong <= {"cut-symbol"}  # of the filler that lane 1 ends with


@pytest.mark.parametrize("block", range(8))
def test_a_hundred_damaged_links_read_as_the_formats_say(block: int) -> None:
    for seed in range(15 * block, 15 * block + 15):
        rng = np.random.default_rng(seed)
        units = [
            tuple(rng.integers(0, 1 << 63, int(rng.choice([1, 3, 5, 20])), np.int64).tolist())
            for _ in range(12)
        ]
        columns = send(units, rng.choice([-1, -1, -1, 0, 1, 2, 3], 12).tolist())
        for _ in range(int(rng.integers(0, 3))):  # columns that both lanes lose or double
            at = int(rng.integers(8, len(columns)))
            columns[at : at + 1] = [columns[at]] * int(rng.choice([0, 2]))
        first, second = (
            damaged(bits, rng, int(rng.integers(0, 12)), int(rng.choice([0, 0, 1, 2])))
            for bits in lanes(columns)
        )
        cut = int(rng.integers(400))
        skew = int(rng.integers(-60, 60))
        first, second = first[cut:], second[cut : len(second) - int(rng.integers(200))]
        first, second = side_by_side(first, second, skew)
        expected = LinkReader(first, second)
        words, events = decode(draw_lanes(first, second))
        assert said(words) == expected.words, seed
        told = [row["code"] for row in events]
        assert sorted(c for c in told if c != "skew") == sorted(expected.events), seed
        skews = [row["value"] // 4 for row in events if row["code"] == "skew"]
        assert skews == expected.skews, seed


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 16_000), max_size=10))
def test_rows_do_not_depend_on_where_pieces_end(seed: int, cuts: list[int]) -> None:
    rng = np.random.default_rng(seed)
    first, second = (
        damaged(bits, rng, 8, 2) for bits in lanes(send([PACKET, CREDIT] * 8, [-1, 1, 3, 2]))
    )
    second = second[:2000] + "0" * int(rng.integers(80)) + second[2000:]
    edges = draw_lanes(*side_by_side(first, second, int(rng.integers(-60, 60))))
    for options in ({"bitrate": 0}, {}):
        assert decode(*pieces(edges, cuts), **options) == decode(edges, **options)


def test_columns_before_the_first_align_column_count_up_to_8192() -> None:
    idles = [control()] * 9000
    columns = [*idles[:3], control(following="packet"), *map(data, PACKET), control("end"), *idles]
    columns += [control("align"), control("skip"), control("skip"), *send([PACKET])]
    edges = draw_lanes(*lanes(columns), 3)
    for cut in ([edges], pieces(edges, list(range(0, edges.end_sample, 100_000)))):
        words, events = decode(*cut, bitrate=333_333_333)
        assert said(words) == WHOLE  # the early packet is gone, and told
        assert ("not-bonded", -1, 3 + 1 + 5 + 1 + 9000 - 8192) in codes(events)


def test_every_event_has_words() -> None:
    for code in EVENT_TEXTS:
        row = {"source": "L0", "kind": "error", "code": code, "value": 3}
        assert code in event_texts(row).long
