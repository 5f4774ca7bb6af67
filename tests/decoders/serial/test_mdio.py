"""MDIO: literal bits in, literal fields out; every error is a row; pieces of any size give the
same."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.capture.files.edges import EdgeReducer, Edges
from freezeframe.decoders.serial.mdio import MDIO
from freezeframe.decoders.serial.mdio_code import mdio_texts
from freezeframe.decoders.serial.mdio_encode import MdioFrame, encode_frames
from tests.decoders.pieces import assert_same_in_pieces, rows_of
from tests.decoders.serial.mdio_bus import Bus, frame_bits, random_capture

PREAMBLE = "1" * 32
RATE_HZ = 10_000_000


def edges_of(samples: bytes) -> Edges:
    sample, value = EdgeReducer(1, [0, 1]).feed(samples)
    return Edges(sample, value, ("MDC", "MDIO"), RATE_HZ, 0, len(samples))


def clocked(bits: str) -> Edges:
    """Ten samples a bit: 5 low, 5 high; bit i is sampled at 10 * i + 5."""
    bus = Bus(random.Random(0), low=(5, 5), high=(5, 5))
    bus.clock(bits)
    return edges_of(bytes(bus.samples))


def decode(edges: Edges, **options: Any) -> list[dict[str, Any]]:
    return rows_of(MDIO, edges, **options)[0]


def test_a_clause_22_read_gives_its_fields_and_places() -> None:
    # 802.3 22.2.4.5: ST 01, OP 10, PHYAD 00001, REGAD 00010, TA, 16 data bits.
    (row,) = decode(clocked(PREAMBLE + "01100000100010100000000000000111"))
    assert row == {
        "t_ps": 500_000,
        "source": "MDIO",
        "kind": "frame",
        "t_end_ps": 64_500_000,
        "error": "",
        "clause": 22,
        "op": "read",
        "phy": 1,
        "reg": 2,
        "address": -1,
        "data": 7,
        "ta": 2,
        "ta_ok": True,
        "preamble": 32,
        "sample": 5,
        "st_sample": 325,
        "op_sample": 345,
        "phy_sample": 365,
        "reg_sample": 415,
        "ta_sample": 465,
        "data_sample": 485,
        "end_sample": 645,
    }


@pytest.mark.parametrize(
    ("clause", "bits", "op"),
    [
        (22, "01", "write"),
        (22, "10", "read"),
        (45, "00", "address"),
        (45, "01", "write"),
        (45, "10", "post-read-increment"),
        (45, "11", "read"),
    ],
)
def test_operations_are_those_of_the_clause(clause: int, bits: str, op: str) -> None:
    (row,) = decode(clocked(PREAMBLE + frame_bits(clause, bits, 31, 0, 0xBEEF)))
    assert (row["clause"], row["op"], row["phy"], row["reg"]) == (clause, op, 31, 0)
    assert (row["data"], row["error"]) == (0xBEEF, "")


def test_the_register_address_of_clause_45_is_remembered_for_each_device() -> None:
    frames = [
        (frame_bits(45, "11", 2, 1, 0x0001), -1),
        (frame_bits(45, "00", 2, 1, 0x1000), 0x1000),
        (frame_bits(45, "00", 2, 3, 0xFFFF), 0xFFFF),
        (frame_bits(45, "10", 2, 1, 0x0002), 0x1000),
        (frame_bits(45, "01", 2, 1, 0x0003), 0x1001),
        # 45.3: the address 65 535 stays.
        (frame_bits(45, "10", 2, 3, 0x0004), 0xFFFF),
        (frame_bits(45, "11", 2, 3, 0x0005), 0xFFFF),
        (frame_bits(45, "11", 3, 1, 0x0006), -1),
    ]
    rows = decode(clocked("".join(PREAMBLE + bits for bits, _ in frames)))
    assert [row["address"] for row in rows] == [address for _, address in frames]


@pytest.mark.parametrize(
    ("clause", "op", "ta", "ok"),
    [
        (22, "01", "10", True),
        (22, "01", "00", False),
        (22, "01", "11", False),
        (22, "01", "01", False),
        (22, "10", "10", True),
        (22, "10", "00", True),
        (22, "10", "11", False),
        (22, "10", "01", False),
        (45, "00", "00", False),
        (45, "11", "00", True),
        (45, "10", "11", False),
    ],
)
def test_the_first_turnaround_bit_floats_in_a_read_and_is_driven_in_a_write(
    clause: int, op: str, ta: str, ok: bool
) -> None:
    rows = decode(clocked(PREAMBLE + frame_bits(clause, op, 1, 1, 0, ta=ta)))
    assert (rows[0]["ta"], rows[0]["ta_ok"]) == (int(ta, 2), ok)
    errors = [(row["error"], row["sample"], row["end_sample"]) for row in rows[1:]]
    assert errors == ([] if ok else [("bad-turnaround", 465, 485)])


def test_a_short_preamble_is_an_error_beside_the_frame() -> None:
    rows = decode(clocked("1" * 31 + frame_bits(22, "10", 1, 2, 3)))
    assert [(row["kind"], row["error"]) for row in rows] == [
        ("frame", ""),
        ("error", "short-preamble"),
    ]
    assert (rows[0]["preamble"], rows[0]["data"]) == (31, 3)
    assert (rows[1]["sample"], rows[1]["end_sample"], rows[1]["phy"]) == (5, 315, 1)


def test_fewer_than_17_ones_start_no_frame() -> None:
    # 16 ones can be the data of a frame whose beginning is not in the capture.
    rows = decode(clocked("1" * 16 + "0" + "1"))
    assert [(row["error"], row["sample"], row["end_sample"]) for row in rows] == [
        ("illegal-bus", 5, 175)
    ]
    assert rows[0]["phy"] == -1
    assert rows[0]["ta_ok"] is None


def test_with_preamble_suppression_one_idle_bit_is_enough() -> None:
    bits = PREAMBLE + "".join(frame_bits(22, "10", 1, reg, reg) + "1" for reg in (1, 2, 3))
    rows = decode(clocked(bits), min_preamble=1, full_preamble=1)
    assert [(row["reg"], row["data"], row["preamble"]) for row in rows] == [
        (1, 1, 32),
        (2, 2, 1),
        (3, 3, 1),
    ]


@pytest.mark.parametrize("op", ["00", "11"])
def test_operations_00_and_11_are_errors_in_clause_22(op: str) -> None:
    rows = decode(clocked(PREAMBLE + frame_bits(22, op, 1, 2, 3)))
    assert rows[0]["op"] == f"reserved-{op}"
    assert [(row["error"], row["sample"]) for row in rows[1:]] == [("bad-op", 345)]


def test_all_errors_of_one_frame_stand_after_it_in_order() -> None:
    rows = decode(clocked("1" * 20 + frame_bits(22, "11", 1, 2, 3, ta="11")))
    assert [row["error"] for row in rows] == ["", "short-preamble", "bad-op", "bad-turnaround"]
    assert [row["t_ps"] for row in rows] == sorted(row["t_ps"] for row in rows)


def test_a_frame_of_the_other_clause_is_an_error_where_one_is_expected() -> None:
    bits = PREAMBLE + frame_bits(45, "00", 1, 2, 3) + PREAMBLE + frame_bits(22, "10", 1, 2, 3)
    rows = decode(clocked(bits), clause="22")
    assert [(row["error"], row["clause"]) for row in rows] == [("other-clause", 45), ("", 22)]


@pytest.mark.parametrize(
    ("bits", "known"),
    [
        (1, {}),
        (2, {"clause": 22}),
        (4, {"clause": 22, "op": "read"}),
        (9, {"clause": 22, "op": "read", "phy": 5}),
        (14, {"clause": 22, "op": "read", "phy": 5, "reg": 17}),
        (16, {"clause": 22, "op": "read", "phy": 5, "reg": 17, "ta": 2}),
        (31, {"clause": 22, "op": "read", "phy": 5, "reg": 17, "ta": 2}),
    ],
)
def test_a_frame_that_the_capture_cuts_keeps_the_fields_that_are_whole(
    bits: int, known: dict[str, Any]
) -> None:
    edges = clocked(PREAMBLE + frame_bits(22, "10", 5, 17, 0xFFFF)[:bits])
    (row,) = decode(edges)
    assert (row["kind"], row["error"]) == ("error", "cut-frame")
    assert (row["sample"], row["end_sample"]) == (5, edges.end_sample)
    unknown = {"clause": -1, "op": "", "phy": -1, "reg": -1, "ta": -1, "data": -1}
    assert {name: row[name] for name in unknown} == unknown | known


def test_a_bus_that_stays_low_is_one_error_until_the_end() -> None:
    edges = clocked("0" * 50)
    assert [(row["error"], row["sample"], row["end_sample"]) for row in decode(edges)] == [
        ("illegal-bus", 5, 500)
    ]


def test_an_idle_bus_gives_nothing() -> None:
    assert decode(clocked("1" * 100_000)) == []


def test_a_clock_that_is_high_at_the_start_has_not_risen() -> None:
    bus = Bus(random.Random(0), low=(5, 5), high=(5, 5))
    bus.samples += bytes([0b01]) * 5
    bus.clock(PREAMBLE + frame_bits(22, "10", 1, 2, 3))
    (row,) = decode(edges_of(bytes(bus.samples)))
    assert (row["preamble"], row["data"]) == (32, 3)


def test_a_clock_that_stops_after_the_last_bit_does_not_lengthen_it() -> None:
    bus = Bus(random.Random(0), low=(5, 5), high=(5, 5))
    bus.clock(PREAMBLE + frame_bits(22, "10", 1, 2, 3))
    bus.idle(10_000)
    (row,) = decode(edges_of(bytes(bus.samples)))
    assert row["end_sample"] == 635 + 10


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), cuts=st.lists(st.integers(0, 20_000), max_size=20))
def test_a_stream_in_pieces_gives_the_rows_of_the_whole(seed: int, cuts: list[int]) -> None:
    assert_same_in_pieces(MDIO, edges_of(random_capture(seed)), cuts)


FRAMES = st.one_of(
    st.builds(
        MdioFrame,
        clause=st.just(22),
        op=st.sampled_from(["read", "write"]),
        phy=st.integers(0, 31),
        reg=st.integers(0, 31),
        data=st.integers(0, 0xFFFF),
        preamble=st.integers(17, 70),
    ),
    st.builds(
        MdioFrame,
        clause=st.just(45),
        op=st.sampled_from(["address", "read", "write", "post-read-increment"]),
        phy=st.integers(0, 31),
        reg=st.integers(0, 31),
        data=st.integers(0, 0xFFFF),
        preamble=st.integers(32, 40),
    ),
)


@settings(max_examples=50, deadline=None)
@given(frames=st.lists(FRAMES, max_size=8), half=st.integers(1, 9), idle=st.integers(0, 3))
def test_what_is_encoded_is_decoded(frames: list[MdioFrame], half: int, idle: int) -> None:
    edges = encode_frames(frames, samplerate_hz=RATE_HZ, half_period_samples=half, idle_bits=idle)
    rows = [row for row in decode(edges) if row["kind"] == "frame"]
    assert [
        (row["clause"], row["op"], row["phy"], row["reg"], row["data"], row["ta"]) for row in rows
    ] == [(f.clause, f.op, f.phy, f.reg, f.data, f.ta) for f in frames]
    # Ones after a frame count as part of the next preamble.
    assert [row["preamble"] for row in rows] == [
        f.preamble + (idle if number else 0) for number, f in enumerate(frames)
    ]


def test_the_encoder_draws_the_bits_that_the_standard_draws() -> None:
    frame = MdioFrame(22, "read", 1, 2, 7, preamble=2)
    edges = encode_frames([frame], samplerate_hz=RATE_HZ, half_period_samples=1, idle_bits=0)
    levels = np.zeros(edges.end_sample, dtype=np.uint64)
    for begin, end, value in zip(
        edges.sample, [*edges.sample[1:], edges.end_sample], edges.value, strict=True
    ):
        levels[begin:end] = value
    mdc, mdio = levels & 1, levels >> 1
    assert "".join(map(str, mdc)) == "0" + "01" * 34 + "0"
    assert "".join(map(str, mdio[2::2])) == "11" + "01100000100010100000000000000111"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"phy": 32}, r"phy 32 does not fit 5 bits \(0\.\.31\)"),
        ({"data": -1}, r"data -1 does not fit 16 bits"),
        ({"op": "address"}, "clause 22 has no operation 'address'"),
        ({"clause": 23}, "clause 23 has no operation 'read'"),
        ({"preamble": -1}, "preamble of -1 bits"),
    ],
)
def test_a_frame_that_cannot_be_sent_is_refused(change: dict[str, Any], says: str) -> None:
    fields: dict[str, Any] = {"clause": 22, "op": "read", "phy": 1, "reg": 2, "data": 3}
    with pytest.raises(ValueError, match=says):
        MdioFrame(**(fields | change))


def test_a_row_is_put_into_short_normal_and_long_words() -> None:
    (row,) = decode(clocked(PREAMBLE + frame_bits(22, "10", 1, 0, 0x3100)))
    assert mdio_texts(row) == (
        "R 0x3100",
        "read PHY 1 register 0 control -> 0x3100",
        "clause 22 read PHY 1 register 0 control -> 0x3100, preamble 32 bits",
    )


def test_an_error_is_put_into_words_that_say_where() -> None:
    rows = decode(clocked(PREAMBLE + frame_bits(45, "11", 4, 3, 0xFFFF, ta="11")))
    assert mdio_texts(rows[1]).normal == "bad-turnaround"
    assert "port 4 device 3 PCS unknown address" in mdio_texts(rows[1]).long
    assert "turnaround 11 is wrong" in mdio_texts(rows[0]).long
