"""Encoders of records, packets, credits and events, against literal bytes and bitwise CRCs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freezeframe.capture.registers.layouts import (
    CREDIT,
    DESC_VALUE,
    DESCRIPTOR,
    EVENT,
    HEADER,
    STATE_VALUE,
    CreditCode,
    EventSource,
    Kind,
    PacketType,
)
from freezeframe.decoders.trace import encode
from tests.decoders.trace import reference_reader

words = st.integers(0, (1 << 64) - 1)


def test_crc_check_values_are_those_of_the_catalogue() -> None:
    assert encode.crc16_ibm3740(b"123456789") == 0x29B1
    assert encode.crc32_iso_hdlc(b"123456789") == 0xCBF43926
    assert encode.crc16_ibm3740(b"") == 0xFFFF
    assert encode.crc32_iso_hdlc(b"") == 0


@given(st.binary(max_size=40), st.integers(0, 40))
def test_crcs_equal_the_bitwise_ones_whole_and_in_pieces(data: bytes, cut: int) -> None:
    crc16, crc32 = encode.crc16_ibm3740(data), encode.crc32_iso_hdlc(data)
    assert crc16 == reference_reader.bitwise_crc16(data)
    assert crc32 == reference_reader.bitwise_crc32(data)
    assert encode.crc16_ibm3740(data[cut:], encode.crc16_ibm3740(data[:cut])) == crc16
    assert encode.crc32_iso_hdlc(data[cut:], encode.crc32_iso_hdlc(data[:cut])) == crc32


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (encode.record(0x0102030405060708, Kind.BODY, 1), "0807060504030201 12"),
        (encode.time_record(0x1_0000_0001, 14), "0100000001000000 ef"),
        (encode.mark_record(1 << 3, 5, 2), "0800050000000000 2d"),
        (encode.loss_record(300, 0), "2c01000000000000 0e"),
    ],
    ids=["BODY", "TIME", "MARK", "LOSS"],
)
def test_a_record_is_nine_bytes_data_first(made: bytes, expected: str) -> None:
    assert made == bytes.fromhex(expected)


def test_the_golden_packet() -> None:
    packet = encode.packet_words(PacketType.RDMA_WRITE, 3, 7, 0x1000, [1, 2])
    assert packet == [
        (Kind.HEAD, 0x30C5_0007_0002_0301),
        (Kind.HEAD, 0x1000),
        (Kind.BODY, 1),
        (Kind.BODY, 2),
        (Kind.TAIL, 0x00F6_DDB9),
    ]


def test_the_tail_of_an_empty_payload_is_0() -> None:
    assert encode.packet_words(PacketType.INTERRUPT, 0, 0, 0, [])[-1] == (Kind.TAIL, 0)


@given(
    type=st.integers(1, 3),
    flags=st.integers(0, 15),
    flow=st.integers(0, 127),
    seq=st.integers(0, 65535),
    dest=words,
    length=st.integers(0, 512),
)
def test_a_header_reads_back_and_its_crc_is_the_bitwise_one(
    type: int, flags: int, flow: int, seq: int, dest: int, length: int
) -> None:
    header, address = encode.header_words(type, flow, length, seq, dest, flags=flags)
    assert address == dest
    covered = header.to_bytes(8, "little")[:6] + dest.to_bytes(8, "little")
    assert HEADER.unpack(header) == {
        "type": type,
        "flags": flags,
        "flow": flow,
        "length": length,
        "seq": seq,
        "crc": reference_reader.bitwise_crc16(covered),
    }


@given(flow=st.integers(0, 127), freed=st.integers(0, (1 << 24) - 1), flags=st.integers(0, 15))
def test_a_credit_reads_back_with_odd_parity_and_its_crc(flow: int, freed: int, flags: int) -> None:
    word = encode.credit_word(flow, freed, flags)
    fields = CREDIT.unpack(word)
    assert (fields["type"], fields["flow"], fields["freed"]) == (PacketType.CREDIT, flow, freed)
    assert bin(word & (1 << 48) - 1).count("1") % 2 == 1
    assert fields["crc"] == reference_reader.bitwise_crc16(word.to_bytes(8, "little")[:6])
    assert encode.credit_parity_ok(word)
    assert encode.credit_parity_ok(word & (1 << 40) - 1), "bits 0-39 are what an event keeps"
    assert encode.credit_crc_ok(word)


@given(flow=st.integers(0, 127), freed=st.integers(0, 1 << 20), bit=st.integers(0, 47))
def test_any_flipped_bit_of_a_credit_is_seen_by_parity_and_by_crc(
    flow: int, freed: int, bit: int
) -> None:
    damaged = encode.credit_word(flow, freed) ^ 1 << bit
    assert not encode.credit_parity_ok(damaged)
    assert not encode.credit_crc_ok(damaged)


def test_the_golden_credit() -> None:
    assert encode.credit_word(3, 100) == 0x5790_0000_0064_8304


@pytest.mark.parametrize(
    "made",
    [
        encode.words_to_bytes(encode.header_words(1, 3, 2, 7, 0x1000)),
        encode.words_to_bytes([encode.tail_word([1, 2])]),
        encode.words_to_bytes([encode.credit_word(3, 100)]),
        encode.time_record(0x1_0000_0001, 14),
    ],
    ids=["header and address", "tail", "credit", "TIME"],
)
def test_the_page_on_formats_has_the_bytes_that_are_made(made: bytes) -> None:
    page = (Path(__file__).parents[3] / "docs" / "formats.md").read_text()
    pieces = [made.hex()] if len(made) < 16 else [made[:8].hex(), made[8:].hex()]
    assert all(f"`{piece}`" in page for piece in pieces)


def test_events_and_their_values_read_back() -> None:
    value = encode.desc_value(length=512, type=PacketType.RDMA_WRITE, flags=3, seq=0xBEEF)
    assert DESC_VALUE.unpack(value) == {"length": 512, "type": 1, "flags": 3, "seq": 0xBEEF}
    data = encode.event_data(EventSource.TX_DMA, 2, value, flow=5)
    # code, source, flow; then 40 bits: seq from bit 20, flags from 16, type from 10, length.
    assert data == 0x02_01_05 << 40 | 0xBEEF << 20 | 3 << 16 | 1 << 10 | 512
    assert EVENT.unpack(data) == {"value": value, "flow": 5, "source": 1, "code": 2}
    assert STATE_VALUE.unpack(encode.state_value(new=6, old=3)) == {"new": 6, "old": 3}
    credit = encode.credit_word(9, 77) & (1 << 40) - 1
    event = encode.event_data(EventSource.RX_LINK, CreditCode.TAKEN, credit, flow=9)
    assert EVENT.unpack(event)["value"] == credit


def test_a_descriptor_reads_back_from_its_four_words() -> None:
    made = encode.descriptor_words(
        src=0x1122334455667788, dest=0x99AABBCC, length=3, flags=1, flow=7
    )
    assert made == (0x55667788, 0x11223344, 0x99AABBCC, 3 | 1 << 12 | 7 << 16)
    whole = sum(word << 32 * i for i, word in enumerate(made))
    assert DESCRIPTOR.unpack(whole)["src"] == 0x1122334455667788


def test_splitmix64_gives_the_published_sequence_for_seed_0() -> None:
    gamma = 0x9E3779B97F4A7C15
    made = [encode.splitmix64(i * gamma & (1 << 64) - 1) for i in range(3)]
    assert made == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_a_pattern_word_is_splitmix64_of_seed_packet_and_index() -> None:
    assert encode.pattern_payload(0, 0, 1) == [0xE220A8397B1DCDAF]
    made = encode.pattern_payload(5, 9, 3)
    assert made[2] == encode.splitmix64(5 << 32 ^ 9 << 10 ^ 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: encode.record(1 << 64, 2, 1), r"record\.data.*does not fit 64 bits"),
        (lambda: encode.record(0, 16, 1), r"record\.kind: 16 does not fit 4 bits"),
        (lambda: encode.record(0, 2, 16), r"record\.dt: 16 does not fit 4 bits"),
        (lambda: encode.header_words(1, 0, 513, 0, 0), r"513 words; a packet carries 0\.\.512"),
        (lambda: encode.header_words(1, 128, 0, 0, 0), r"header\.flow: 128 does not fit 7 bits"),
        (lambda: encode.credit_word(0, 1 << 24), r"credit\.freed"),
        (lambda: encode.words_to_bytes([-1]), r"does not fit 64 bits"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=message):
        call()
