"""SCI packets on a back-side link: literal bytes in, literal fields out; cut, lying and damaged ones are told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.capture.card.reading import read_card
from freezeframe.decoders.bus.parallel_tables import item_schema
from freezeframe.decoders.sci import layout
from freezeframe.decoders.sci.sci import SCI
from freezeframe.decoders.sci.sci_code import packet_texts
from tests.decoders.pieces import assert_same_in_pieces, rows_of

# A dmove64 of one word: 0xddccbbaa at word 3 of block 0x100040, tag 5, transaction 9, from node 4 to node 8.
DMOVE = bytes.fromhex(
    "b5 09 0050"  # mark, queue and buffer, 80 B of SCI
    "0008 0032 0004 0149"  # target, command, source, tag 5 << 6 | transaction 9
    "3200 0010 0040"  # words 3 to 4 << 39, address
    + "00000000" * 3 + "aabbccdd" + "00000000" * 12
)  # fmt: skip
RESPONSE = bytes.fromhex("b549 0010 0004 0040 0008 0149 0000 0000 0001")  # status refused


def crc_bit_by_bit(data: bytes) -> int:
    """CRC of x^16 + x^12 + x^5 + 1, preset to ones, written from its definition."""
    register = 0xFFFF
    for byte in data:
        for bit in range(7, -1, -1):
            feedback = (register >> 15) ^ (byte >> bit & 1)
            register = (register << 1 & 0xFFFF) ^ (0x1021 if feedback else 0)
    return register


def whole(packet: bytes) -> bytes:
    return packet + crc_bit_by_bit(packet[4:]).to_bytes(2, "big") + bytes(4)


def items(data: bytes, order: str = "little") -> pa.Table:
    words = [int.from_bytes(data[at : at + 8], order) for at in range(0, len(data), 8)]  # type: ignore[arg-type]
    signed = [word - (1 << 64) * (word >> 63) for word in words]
    count = len(signed)
    columns = {
        "t_ps": [30_000 * n for n in range(count)], "source": ["CLK"] * count, "kind": ["item"] * count,
        "t_end_ps": [30_000 * (n + 1) for n in range(count)], "error": [None] * count, "value": signed,
        "bits": [64] * count, "sample": list(range(count)), "end_sample": list(range(1, count + 1)),
    }  # fmt: skip
    return pa.Table.from_pydict(columns, schema=item_schema())


def decode(table: pa.Table, **options: Any) -> list[dict[str, Any]]:
    return rows_of(SCI, table, **options)[0]


def test_a_dmove_of_one_word_has_the_fields_that_stand_in_its_bytes() -> None:
    (row,) = decode(items(whole(DMOVE)))
    assert row["kind"] == "packet"
    assert (row["queue"], row["command"], row["status"]) == ("request", "dmove64", "")
    assert (row["target_node"], row["source_node"]) == (8, 4)
    assert (row["transaction"], row["tag"], row["buffer"]) == (9, 5, 9)
    assert (row["start"], row["end"], row["address"]) == (3, 4, 0x100040)
    assert row["body"] == bytes.fromhex("aabbccdd")
    assert (row["wire_B"], row["t_ps"], row["t_end_ps"]) == (88, 0, 330_000)
    assert packet_texts(row).normal == "dmove64 id 9 to 0x0008 4 B at 0x100040"


def test_a_response_has_its_status_where_a_request_has_the_end_of_its_address() -> None:
    (row,) = decode(items(whole(RESPONSE)))
    assert (row["kind"], row["queue"], row["command"]) == ("packet", "response", "response00")
    assert (row["status"], row["transaction"], row["wire_B"]) == ("refused", 9, 24)


def test_the_encoder_gives_these_bytes() -> None:
    header = layout.Header(0, 9, 8, 0x32, 4, 5, 9, 3, 4, 0x100040)
    assert layout.encode(header, DMOVE[18:]) == whole(DMOVE)


def test_a_packet_of_64_bytes_is_the_eleven_words_that_sixteen_cycles_have_room_for() -> None:
    assert len(whole(DMOVE)) == 14 + 64 + 2 + 8 == 88
    assert 3 + len(whole(DMOVE)) // 8 + 2 == 16


def test_the_other_byte_of_a_word_may_be_the_first() -> None:
    assert decode(items(whole(DMOVE), "big"), first_byte="high") == decode(items(whole(DMOVE)))


@pytest.mark.parametrize(
    ("at", "bit", "says"),
    [(40, 0, "CRC"), (7, 4, "command 0x22 is none of those known"), (12, 7, "words 11..4 are no range")],
)  # fmt: skip
def test_a_flipped_bit_is_told_and_the_packet_behind_it_is_read(
    at: int, bit: int, says: str
) -> None:
    damaged = bytearray(whole(DMOVE))
    damaged[at] ^= 1 << bit
    if at == 7:
        says = "command 0x22" if 0x22 not in layout.COMMANDS.values() else "CRC"
    first, second = decode(items(bytes(damaged) + whole(RESPONSE)))
    assert first["kind"] == "error" and says in first["error"]
    assert second["kind"] == "packet"


def test_a_length_that_no_packet_has_is_told_and_the_next_mark_begins_anew() -> None:
    lying = bytearray(whole(RESPONSE))
    lying[2:4] = (0x4000).to_bytes(2, "big")
    rows = decode(items(bytes(lying) + whole(DMOVE)))
    assert [row["error"] for row in rows] == [
        "says 16392 B, which no packet has", "no beginning", "",
    ]  # fmt: skip
    assert rows[-1]["command"] == "dmove64"


def test_words_before_the_first_mark_are_one_row_and_no_packet() -> None:
    rows = decode(items(bytes(16) + whole(RESPONSE)))
    assert [(row["kind"], row["error"], row["wire_B"]) for row in rows] == [
        ("error", "no beginning", 16), ("packet", "", 24),
    ]  # fmt: skip


def test_a_packet_that_the_capture_cuts_is_told_with_what_is_there() -> None:
    (row,) = decode(items(whole(DMOVE)[:24]))
    assert (row["kind"], row["error"]) == ("error", "cut by the end of the capture")
    assert (row["command"], row["address"], row["wire_B"]) == ("dmove64", 0x100040, 24)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"transaction": 64}, "transaction 64: it has 6 bits"),
        ({"address": 1 << 39}, f"address {1 << 39}: it has 39 bits"),
        ({"start": 4}, "words 4..4 of a body of 16"),
        ({"end": 17}, "words 3..17 of a body of 16"),
        ({"command": 0x40}, "a body of 64 B; response00 has 0 B"),
    ],
)  # fmt: skip
def test_a_packet_that_cannot_be_is_not_encoded(change: dict[str, int], problem: str) -> None:
    header = layout.Header(0, 9, 8, 0x32, 4, 5, 9, 3, 4, 0x100040)._replace(**change)
    with pytest.raises(ValueError, match=problem):
        layout.encode(header, bytes(64))


@given(st.data())
def test_every_pair_of_pointers_comes_back_with_the_words_between_them(data: st.DataObject) -> None:
    words = data.draw(st.sampled_from([4, 16]))
    start = data.draw(st.integers(0, words - 1))
    end = data.draw(st.integers(start + 1, words))
    body = data.draw(st.binary(min_size=4 * words, max_size=4 * words))
    command = {4: "nwrite16", 16: "nwrite64"}[words]
    header = layout.Header(0, 1, 2, layout.COMMANDS[command], 3, 4, 5, start, end, 64)
    (row,) = decode(items(layout.encode(header, body)))
    assert (row["kind"], row["start"], row["end"]) == ("packet", start, end)
    assert row["body"] == body[4 * start : 4 * end]


@settings(max_examples=200)
@given(st.binary(max_size=400), st.lists(st.integers(0, 50), max_size=4))
def test_any_bytes_in_pieces_of_any_size_give_the_same_rows_and_lose_none(
    junk: bytes, cuts: list[int]
) -> None:
    data = junk[: len(junk) // 8 * 8] + whole(DMOVE) + junk[: len(junk) // 16 * 8]
    table = items(data)
    rows = decode(table)
    assert_same_in_pieces(SCI, table, cuts)
    assert b"".join(row["data"] for row in rows) == data
    assert np.all(np.diff([row["sample"] for row in rows]) > 0)


def test_the_card_file_has_every_field_where_the_layout_has_it() -> None:
    said = read_card("pci-sci").format["sci"]
    assert {n: (f.at_bit, f.bits) for n, f in said.field.items()} == {
        n: (f.at_bit, f.bits) for n, f in layout.FIELDS.items()
    }
    assert said.field["command"].names == layout.COMMANDS
    assert said.field["queue"].names == layout.QUEUES
    assert said.field["status"].names == layout.STATUS
    assert said.field["mark"].constant == layout.MARK
    for name, field in layout.FIELDS.items():
        assert field.origin in said.field[name].doc, name


def test_fields_cover_the_header_once_but_for_the_status_of_a_response() -> None:
    covered = sorted(
        bit for name, f in layout.FIELDS.items() if name != "status"
        for bit in range(f.at_bit, f.at_bit + f.bits)
    )  # fmt: skip
    assert covered == list(range(8 * layout.BODY_AT))
