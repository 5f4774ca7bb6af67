"""Etherbone packets, byte for byte (docs/formats.md, section 9)."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freezeframe.capture.targets.base import Words
from freezeframe.capture.targets.etherbone_codec import (
    PROBE,
    PROBE_REPLY,
    Malformed,
    Record,
    decode_reply,
    decode_request,
    encode_reads,
    encode_reply,
    encode_writes,
    is_probe_reply,
    packet_length_B,
)

READ = bytes.fromhex("4e6f104400000000 000f0002 00000007 00000010 00000014")
WRITE = bytes.fromhex("4e6f104400000000 000f0100 00000020 11223344")
REPLY = bytes.fromhex("4e6f104400000000 000f0200 00000007 46525a46 00010000")


def u32(*words: int) -> Words:
    return np.array(words, np.uint32)


def encode_records(records: list[Record]) -> bytes:
    """Return one packet of several records, each with data, addresses, or both: as other programs send them."""
    packet = bytes.fromhex("4e6f104400000000")
    for record in records:
        writes, reads = record.data, record.addresses
        packet += struct.pack(">I", 0x000F0000 | len(writes) << 8 | len(reads))
        if len(writes):
            packet += struct.pack(">I", record.base) + writes.astype(">u4").tobytes()
        if len(reads):
            packet += struct.pack(">I", record.return_address) + reads.astype(">u4").tobytes()
    return packet


def test_a_read_of_two_words_has_the_golden_bytes() -> None:
    assert [bytes(p) for p in encode_reads(u32(0x10, 0x14), u32(7), 2)] == [READ]


def test_a_write_has_the_golden_bytes() -> None:
    assert encode_writes(0x20, u32(0x11223344)) == [WRITE]


def test_a_probe_and_its_answer_have_the_golden_bytes() -> None:
    assert bytes.fromhex("4e6f114400000000") == PROBE
    assert bytes.fromhex("4e6f124400000000") == PROBE_REPLY


def test_an_answer_has_the_golden_bytes() -> None:
    assert encode_reply([(7, u32(0x46525A46, 0x00010000))]) == REPLY


def test_a_golden_read_gives_its_id_and_addresses() -> None:
    (record,) = decode_request(READ) or []
    assert (record.return_address, record.addresses.tolist()) == (7, [0x10, 0x14])
    assert record.data.tolist() == []


def test_a_golden_write_gives_its_address_and_data() -> None:
    (record,) = decode_request(WRITE) or []
    assert (record.base, record.data.tolist()) == (0x20, [0x11223344])
    assert record.addresses.tolist() == []


def test_a_golden_answer_gives_its_id_and_words() -> None:
    reply = decode_reply(REPLY)
    assert (reply.id, reply.words.tolist()) == (7, [0x46525A46, 0x00010000])


def test_a_list_is_cut_into_bursts_and_the_rest() -> None:
    packets = [bytes(p) for p in encode_reads(u32(0, 4, 8, 12, 16), u32(1, 2, 3), 2)]
    assert packets == [
        bytes.fromhex("4e6f104400000000 000f0002 00000001 00000000 00000004"),
        bytes.fromhex("4e6f104400000000 000f0002 00000002 00000008 0000000c"),
        bytes.fromhex("4e6f104400000000 000f0001 00000003 00000010"),
    ]


def test_no_addresses_make_no_packet() -> None:
    assert encode_reads(u32(), u32(), 255) == []
    assert encode_writes(0, u32()) == []


def test_a_long_write_goes_on_where_the_packet_before_ended() -> None:
    assert encode_writes(0x20, u32(1, 2, 3), burst=2) == [
        bytes.fromhex("4e6f104400000000 000f0200 00000020 00000001 00000002"),
        bytes.fromhex("4e6f104400000000 000f0100 00000028 00000003"),
    ]


@pytest.mark.parametrize("burst", [0, 256])
def test_a_burst_that_one_byte_cannot_count_is_refused(burst: int) -> None:
    with pytest.raises(ValueError, match=r"is out of range \(1\.\.255\)"):
        encode_reads(u32(0), u32(1), burst)
    with pytest.raises(ValueError, match=r"is out of range \(1\.\.255\)"):
        encode_writes(0, u32(1), burst)


def test_one_packet_may_hold_several_records_with_writes_and_reads() -> None:
    packet = encode_records([Record(0x20, u32(5), 9, u32(0x24)), Record(0, u32(), 10, u32(0x28))])
    assert packet == bytes.fromhex(
        "4e6f104400000000 000f0101 00000020 00000005 00000009 00000024 000f0001 0000000a 00000028"
    )
    first, second = decode_request(packet) or []
    assert (first.base, first.data.tolist()) == (0x20, [5])
    assert (first.return_address, first.addresses.tolist()) == (9, [0x24])
    assert (second.return_address, second.addresses.tolist()) == (10, [0x28])


@pytest.mark.parametrize(
    "packet",
    ["4e6f114400000000", "4e6f114400000000 00000000", "4e6f154400000000"],
    ids=["bare", "padded as LiteX does", "with the no-reads flag"],
)
def test_a_probe_is_no_list_of_records(packet: str) -> None:
    assert decode_request(bytes.fromhex(packet)) is None


@pytest.mark.parametrize(
    ("packet", "why"),
    [
        ("", "0 B is too short for a packet header"),
        ("4e6f1044000000", "7 B is too short for a packet header"),
        ("4e6f104400000000", "no record"),
        ("4e70104400000000 000f0001 00000007 00000010", "magic 0x4e70, expected 0x4e6f"),
        ("4e6f204400000000 000f0001 00000007 00000010", "version 1 and 32-bit"),
        ("4e6f108400000000 000f0001 00000007 00000010", "version 1 and 32-bit"),
        ("4e6f104800000000 000f0001 00000007 00000010", "version 1 and 32-bit"),
        ("4e6f124400000000", "an answer to a probe, sent to a server"),
        ("4e6f104400000000 000f00", "3 B at byte 8 are too short for a record header"),
        ("4e6f104400000000 000f0002 00000007 00000010", "needs 16 B and 12 B are left"),
        ("4e6f104400000000 000f00ff 00000007 00000010", "needs 1028 B and 12 B are left"),
        ("4e6f104400000000 000f0200 00000020 11223344", "needs 16 B and 12 B are left"),
        ("4e6f104400000000 000f0001 00000007 00000010 00", "1 B at byte 20 are too short"),
        ("4e6f104400000000 000f0001 00000007 00000010 000f0001", "needs 12 B and 4 B are left"),
        ("4e6f104400000000 020f0001 00000007 00000010", "FIFO and configuration accesses"),
        ("4e6f104400000000 00070100 00000020 11223344", "only whole words can be accessed"),
    ],
    ids=lambda value: value[-30:] if " " in value else None,
)
def test_a_malformed_request_is_refused_whole_and_says_why(packet: str, why: str) -> None:
    with pytest.raises(Malformed, match=why):
        decode_request(bytes.fromhex(packet))


@pytest.mark.parametrize(
    ("packet", "why"),
    [
        ("4e6f104400000000 000f0000 00000007", "16 B is too short"),
        ("4e6f104400000000 000f0100 00000007 1122", "18 B is too short"),
        ("4e6f104400000000 000f0200 00000007 11223344", "20 B for 2 words, expected 24 B"),
        ("4e6f104400000000 000f0100 00000007 11223344 55667788", "24 B for 1 words, expected 20 B"),
        ("4e6f104400000000 000f0101 00000007 11223344", "is not that of an answer"),
        ("4e6f104400000000 010f0100 00000007 11223344", "is not that of an answer"),
        ("4e6f104400000000 000e0100 00000007 11223344", "is not that of an answer"),
        ("4e6f124400000000 000f0100 00000007 11223344", "packet header 0x4e6f1244"),
        ("4e6e104400000000 000f0100 00000007 11223344", "packet header 0x4e6e1044"),
    ],
)
def test_what_is_not_exactly_an_answer_is_refused(packet: str, why: str) -> None:
    with pytest.raises(Malformed, match=why):
        decode_reply(bytes.fromhex(packet))


@pytest.mark.parametrize(
    ("packet", "is_one"),
    [
        ("4e6f124400000000", True),
        ("4e6f164400000000", True),
        ("4e6f124400000000 00000000", True),
        ("4e6f124400000000 00000001", False),
        ("4e6f104400000000", False),
        ("4e6f1244000000", False),
        ("", False),
    ],
)
def test_the_answer_to_a_probe_is_told_from_everything_else(packet: str, is_one: bool) -> None:
    assert is_probe_reply(bytes.fromhex(packet)) is is_one


def test_the_length_of_a_packet_in_a_stream_follows_from_its_first_12_bytes() -> None:
    for packet in (READ, WRITE, REPLY):
        assert packet_length_B(packet[:12]) == len(packet)
    with pytest.raises(Malformed, match="not the first bytes of a packet"):
        packet_length_B(REPLY[4:16])


words_ = st.lists(st.integers(0, 0xFFFFFFFF), max_size=255).map(lambda w: np.array(w, np.uint32))
records_ = st.builds(Record, st.integers(0, 0xFFFFFFFF), words_, st.integers(0, 0xFFFFFFFF), words_)


@given(st.lists(records_, min_size=1, max_size=4))
def test_every_request_comes_back_as_it_was(records: list[Record]) -> None:
    found = decode_request(encode_records(records))
    assert found is not None
    assert len(found) == len(records)
    for got, want in zip(found, records, strict=True):
        assert got.data.tolist() == want.data.tolist()
        assert got.addresses.tolist() == want.addresses.tolist()
        assert not len(want.data) or got.base == want.base
        assert not len(want.addresses) or got.return_address == want.return_address


@given(st.binary(max_size=80))
def test_no_bytes_raise_anything_but_malformed(noise: bytes) -> None:
    for start in (b"", READ[:2], READ[:8], READ[:12]):
        for decode in (decode_request, decode_reply, is_probe_reply):
            try:
                decode(start + noise)
            except Malformed as error:
                assert str(error)


@given(st.integers(0, 8 * len(READ) - 1))
def test_a_flipped_bit_never_turns_a_read_into_a_write(bit: int) -> None:
    altered = bytearray(READ)
    altered[bit // 8] ^= 1 << bit % 8
    try:
        records = decode_request(bytes(altered)) or []
    except Malformed:
        return
    assert [len(record.data) for record in records] == [0] * len(records)
