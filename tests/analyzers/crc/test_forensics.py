"""What explains a wrong CRC, where, and how well: against the standard library's CRCs and by brute force."""

from __future__ import annotations

import binascii
import itertools
import random
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.analyzers.crc.forensics import Explanation, Forensics, examine, examine_frame
from freezeframe.analyzers.declarations import CRC
from freezeframe.analyzers.view import CaptureView
from freezeframe.decoders.crc import (
    CRC16_IBM_3740,
    CRC32_ISO_HDLC,
    Crc,
    bit_effects,
    prefixes,
    reverse_bits,
    rewound,
)
from tests.analyzers.bench_pair import Pair

# Parameters and check values (CRC of "123456789") as G. Cook's catalogue of parametrised CRC algorithms gives them.
CATALOGUE = [
    (Crc("CRC-5/USB", 5, 0x05, 0x1F, True, True, 0x1F), 0x19),
    (Crc("CRC-8/SMBUS", 8, 0x07, 0x00, False, False, 0x00), 0xF4),
    (Crc("CRC-12/UMTS", 12, 0x80F, 0x000, False, True, 0x000), 0xDAF),
    (Crc("CRC-16/ARC", 16, 0x8005, 0x0000, True, True, 0x0000), 0xBB3D),
    (CRC16_IBM_3740, 0x29B1),
    (Crc("CRC-24/OPENPGP", 24, 0x864CFB, 0xB704CE, False, False, 0), 0x21CF02),
    (CRC32_ISO_HDLC, 0xCBF43926),
    (Crc("CRC-32/BZIP2", 32, 0x04C11DB7, 0xFFFFFFFF, False, False, 0xFFFFFFFF), 0xFC891918),
    (Crc("CRC-64/XZ", 64, 0x42F0E1EBA9EA3693, (1 << 64) - 1, True, True, (1 << 64) - 1), 0x995DC9BBDF1939FA),
    (Crc("CRC-64/ECMA-182", 64, 0x42F0E1EBA9EA3693, 0, False, False, 0), 0x6C40DF5F0B497347),
]  # fmt: skip
SPECS = pytest.mark.parametrize(("crc", "check"), CATALOGUE, ids=lambda x: getattr(x, "name", None))


def message(length: int, seed: int = 7) -> bytearray:
    return bytearray(random.Random(seed).randbytes(length))


def best(found: Forensics) -> Explanation:
    return found.explanations[0]


def kinds(found: Forensics) -> list[str]:
    return [explanation.kind for explanation in found.explanations]


@SPECS
def test_the_value_is_that_of_the_catalogue(crc: Crc, check: int) -> None:
    assert crc.of(b"123456789") == check
    assert crc.value(crc.register(check)) == check


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=300))
def test_the_two_crcs_of_a_link_packet_are_those_of_the_standard_library(data: bytes) -> None:
    assert CRC32_ISO_HDLC.of(data) == zlib.crc32(data)
    assert CRC16_IBM_3740.of(data) == binascii.crc_hqx(data, 0xFFFF)


@SPECS
def test_flipping_a_bit_changes_the_register_as_the_table_says(crc: Crc, check: int) -> None:
    data = message(20)
    whole = int(prefixes(crc, bytes(data))[-1])
    effects = bit_effects(crc, 20)
    for byte, bit in itertools.product(range(20), range(8)):
        damaged = bytearray(data)
        damaged[byte] ^= 1 << bit
        assert int(prefixes(crc, bytes(damaged))[-1]) ^ whole == int(effects[19 - byte, bit])


@SPECS
def test_rewinding_undoes_zero_bits(crc: Crc, check: int) -> None:
    begin = crc.register(check)
    after = int(prefixes(crc, bytes(4), first=begin)[-1])
    assert int(rewound(crc, after, 32)[32]) == begin


def test_a_right_crc_has_nothing_to_explain() -> None:
    data = bytes(message(64))
    found = examine(data, zlib.crc32(data), CRC32_ISO_HDLC)
    assert (found.good, found.explanations, found.equally_good) == (True, (), 0)


@SPECS
def test_one_flipped_bit_is_found_under_any_crc(crc: Crc, check: int) -> None:
    data = message(3 if crc.width < 12 else 40)
    right = crc.of(bytes(data))
    data[1] ^= 0x20
    found = examine(bytes(data), right, crc)
    (one,) = [e for e in found.explanations if e.kind == "one-bit"]
    assert (1, 5) in [pair for place in one.places for pair in place.bits]


def test_how_much_an_explanation_is_worth_is_the_number_tried_over_the_values_of_the_crc() -> None:
    data = message(4096)
    right = zlib.crc32(data)
    data[100] ^= 8
    found = examine(bytes(data), right, CRC32_ISO_HDLC, length_error_B=0)
    assert kinds(found) == ["one-bit"]
    assert best(found).by_chance == pytest.approx(8e-6, rel=0.05)
    assert (best(found).certain, found.equally_good) == (True, 1)
    assert best(found).places[0].bits == ((100, 3),)


def test_two_bits_of_4_KB_are_found_and_are_worth_one_in_eight() -> None:
    data = message(4096)
    right = zlib.crc32(data)
    data[100] ^= 8
    data[3000] ^= 1
    found = examine(bytes(data), right, CRC32_ISO_HDLC, length_error_B=0)
    assert kinds(found) == ["two-bits"]
    assert best(found).by_chance == pytest.approx(1 / 8, rel=0.02)
    assert not best(found).certain


def test_two_bits_of_one_word_are_told_from_two_anywhere_and_are_worth_more() -> None:
    data = message(4096)
    right = zlib.crc32(data)
    data[800] ^= 8
    data[807] ^= 1
    found = examine(bytes(data), right, CRC32_ISO_HDLC, length_error_B=0)
    assert best(found).kind == "two-bits-one-word"
    assert best(found).by_chance == pytest.approx(2.4e-4, rel=0.02)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 12), st.integers(0, 1 << 32))
def test_every_pair_of_bits_that_fits_is_found_and_no_other(length: int, seed: int) -> None:
    data = message(length, seed)
    received = random.Random(seed).getrandbits(16)
    found = examine(bytes(data), received, CRC16_IBM_3740, word_B=4)
    expected = set()
    for a, b in itertools.combinations(range(8 * length), 2):
        damaged = bytearray(data)
        damaged[a // 8] ^= 1 << a % 8
        damaged[b // 8] ^= 1 << b % 8
        if binascii.crc_hqx(damaged, 0xFFFF) == received:
            expected.add((divmod(a, 8), divmod(b, 8)))
    two = [e for e in found.explanations if e.kind.startswith("two-bits")]
    assert sum(e.fits for e in two) == len(expected)
    if all(e.fits <= 16 for e in two):
        assert {place.bits for e in two for place in e.places} == expected


@pytest.mark.parametrize(
    "crc", [crc for crc, _ in CATALOGUE if crc.width >= 24], ids=lambda crc: crc.name
)
def test_a_burst_is_found_with_its_first_and_last_bit(crc: Crc) -> None:
    data = message(40)
    right = crc.of(bytes(data))
    data[20] ^= 0b00011011 if crc.refin else 0b11011000
    found = examine(bytes(data), right, crc, length_error_B=0)
    assert best(found).kind == "burst"
    assert "a burst of 5 bits" in best(found).text
    wanted = {0, 1, 3, 4} if crc.refin else {3, 4, 6, 7}
    assert set(best(found).places[0].bits) == {(20, bit) for bit in wanted}


@pytest.mark.parametrize(
    ("kind", "size", "at"), [("byte-swap", 1, 101), ("half-swap", 4, 96), ("word-swap", 8, 96)]
)
def test_neighbours_that_were_swapped_are_placed(kind: str, size: int, at: int) -> None:
    data = message(512)
    right = zlib.crc32(data)
    data[at : at + 2 * size] = data[at + size : at + 2 * size] + data[at : at + size]
    found = examine(bytes(data), right, CRC32_ISO_HDLC)
    assert (best(found).kind, best(found).places[0].byte) == (kind, at)


def test_lanes_in_the_wrong_order_and_a_turned_lane_are_told_with_the_word_it_began() -> None:
    data = message(256)
    right = zlib.crc32(data)
    swapped = bytes(data[i ^ 1] for i in range(256))
    found = examine(swapped, right, CRC32_ISO_HDLC)
    assert best(found).kind == "order"
    assert best(found).places[0].text == "the two lanes swapped (even and odd bytes)"
    turned = bytearray(data)
    for word in range(10, 32):
        lane = data[8 * word : 8 * word + 8 : 2]
        turned[8 * word : 8 * word + 8 : 2] = lane[1:] + lane[:1]
    found = examine(bytes(turned), right, CRC32_ISO_HDLC)
    assert best(found).places[0].text == "lane 0 turned by 1 B in every word, from word 10 on"


def test_a_repeated_word_is_placed_by_the_crc() -> None:
    data = message(800)
    found = examine(bytes(data[:408] + data[400:]), zlib.crc32(data), CRC32_ISO_HDLC)
    assert (best(found).kind, best(found).places[0].text) == (
        "word-repeated",
        "word 51, without which the CRC is right",
    )
    assert best(found).certain


def test_a_foreign_word_is_placed_where_it_was_put_in() -> None:
    data = message(800)
    found = examine(bytes(data[:400] + b"intruder" + data[400:]), zlib.crc32(data), CRC32_ISO_HDLC)
    assert (best(found).kind, best(found).places[0].byte) == ("word-put-in", 400)


def test_a_lost_word_fits_at_every_place_and_that_is_said_as_a_number() -> None:
    data = message(800)
    short = bytes(data[:400] + data[408:])
    found = examine(short, zlib.crc32(data), CRC32_ISO_HDLC, length_error_B=-8)
    assert kinds(found) == ["word-lost"]
    assert best(found).fits == 100 << 32
    assert "the CRC does not say where" in best(found).text
    assert found.equally_good == 100 << 32


def test_a_lost_word_that_equalled_its_neighbour_or_was_zero_is_placed() -> None:
    for word in (b"repeated", bytes(8)):
        data = message(160) + b"repeated" + word + message(160)
        found = examine(bytes(data[:168] + data[176:]), zlib.crc32(data), CRC32_ISO_HDLC)
        assert best(found).kind == "word-lost-equal"
        assert 168 in [place.byte for place in best(found).places]


def test_what_was_cut_or_stands_around_the_message_is_told_with_the_byte() -> None:
    data = bytes(message(100))
    behind = examine(data + b"foreign", zlib.crc32(data), CRC32_ISO_HDLC)
    assert (best(behind).kind, best(behind).places[0].byte) == ("extended", 100)
    before = examine(b"foreign" + data, zlib.crc32(data), CRC32_ISO_HDLC)
    assert (best(before).kind, best(before).places[0].byte) == ("cut", 7)


@pytest.mark.parametrize(
    ("received", "text"),
    [
        (zlib.crc32(b"abcdefgh", 0xFFFFFFFF), "initial value 0x0 instead of 0xffffffff"),
        (zlib.crc32(b"abcdefgh") ^ 0xFFFFFFFF, "final exclusive-or 0x0 instead of 0xffffffff"),
        (reverse_bits(zlib.crc32(b"abcdefgh"), 32), "the result's bits in reverse order"),
        (int.from_bytes(zlib.crc32(b"abcdefgh").to_bytes(4, "little"), "big"), "its bytes in reverse order"),
        (0xB0FAD2C3, ""),
    ],
    ids=["init", "xorout", "refout", "bytes", "other"],
)  # fmt: skip
def test_a_crc_made_another_way_is_recognized(received: int, text: str) -> None:
    found = examine(b"abcdefgh", received, CRC32_ISO_HDLC)
    made = [e for e in found.explanations if e.kind == "wrong-crc"]
    assert [e.places[0].text for e in made] == ([text] if text else [])


def test_the_crc_of_a_neighbour_is_recognized_by_name() -> None:
    data, other = bytes(message(80)), bytes(message(88, 9))
    found = examine(
        data, zlib.crc32(other), CRC32_ISO_HDLC, neighbours=[("the packet before", other)]
    )
    assert best(found).places[0].text == "it is the CRC of the packet before"


def test_a_bit_of_the_crc_itself_is_not_looked_for_in_the_message() -> None:
    data = bytes(message(800))
    found = examine(data, zlib.crc32(data) ^ 0x400, CRC32_ISO_HDLC)
    assert (best(found).kind, best(found).places[0].text) == ("crc-itself", "bit 10 of the CRC")


def test_random_damage_seldom_has_an_explanation_that_is_called_certain() -> None:
    wrong = 0
    for seed in range(60):
        data = message(512, seed)
        right = zlib.crc32(data)
        for at in range(100, 140):
            data[at] ^= random.Random(seed * 99 + at).randrange(1, 256)
        found = examine(bytes(data), right, CRC32_ISO_HDLC, length_error_B=0)
        wrong += any(e.certain for e in found.explanations)
    assert wrong <= 1  # all certain kinds together: fewer than one message in a thousand


def test_an_ethernet_frame_is_examined_with_its_fcs_as_it_stands_on_the_wire() -> None:
    frame = message(60) + bytearray(4)
    frame[60:] = zlib.crc32(frame[:60]).to_bytes(4, "little")
    assert examine_frame(bytes(frame), CRC32_ISO_HDLC).good
    frame[14] ^= 0x80
    assert best(examine_frame(bytes(frame), CRC32_ISO_HDLC)).places[0].bits == ((14, 7),)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: Crc("x", 2, 1, 0, True, True, 0), "x: a width of 2 bits; 3 to 64 can be examined"),
        (lambda: Crc("x", 8, 0x107, 0, True, True, 0), "x: poly 0x107 does not fit 8 bits"),
        (lambda: Crc("x", 8, 0x06, 0, True, True, 0), "x: polynomial 0x6 is even"),
        (lambda: examine(b"", 1 << 16, CRC16_IBM_3740), "a CRC of 0x10000 does not fit 16 bits"),
        (lambda: examine(bytes(1 << 18), 0, CRC32_ISO_HDLC), r"a message of 262,144 B; up to"),
        (lambda: examine_frame(b"abc", CRC32_ISO_HDLC), "a frame of 3 B is shorter than its CRC of 4 B"),
    ],
)  # fmt: skip
def test_what_cannot_be_examined_is_refused_in_words(call: object, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call()  # type: ignore[operator]


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9])
def test_messages_shorter_than_anything_are_examined_too(length: int) -> None:
    data = bytes(message(length))
    found = examine(data, zlib.crc32(data) ^ 0x1234567, CRC32_ISO_HDLC)
    assert not found.good
    found.to_json()


# ---- packets of a capture


def test_the_bad_packets_of_a_capture_stand_once_with_their_explanation_and_what_upstream_has(
    tmp_path: Path,
) -> None:
    pair = Pair()
    sent = pair.traffic(20)
    for words in sent[11].from_tap("tx_deq"):
        del words[6]
    for words in sent[14].from_tap("rx_enq"):
        words[5] = (2, words[5][1] ^ 0x10)
    for words in sent[15].from_tap("rx_enq"):
        words[0] = (1, words[0][1] ^ 1 << 35)
    sent[16].rx_deq.insert(8, sent[16].rx_deq[7])
    result = CRC.run(CaptureView(pair.write(tmp_path / "pair.ff")))
    bad = result.tables["bad"]
    assert bad[["source", "packet", "crc", "best", "upstream"]].to_dict("records") == [
        {"source": "A.tx_deq", "packet": 111, "crc": "payload", "best": "word-lost",
         "upstream": "against A.tx_enq: word 4 omitted"},
        {"source": "B.rx_enq", "packet": 114, "crc": "payload", "best": "one-bit",
         "upstream": "against A.tx_deq: word 3 altered"},
        {"source": "B.rx_enq", "packet": 115 ^ 8, "crc": "header", "best": "one-bit",
         "upstream": "against A.tx_deq: HEAD or TAIL altered"},
        {"source": "B.rx_deq", "packet": 116, "crc": "payload", "best": "word-repeated",
         "upstream": "against B.rx_enq: word 6 duplicated"},
    ]  # fmt: skip
    explanations = result.tables["explanations"]
    assert explanations.loc[explanations["bad"] == 1, "place"].tolist() == ["bit 4 of word 3"]
    header = explanations[(explanations["bad"] == 2) & (explanations["kind"] == "one-bit")]
    assert header["place"].tolist() == ["bit 3 of the header's seq"]
    assert result.figure("B.rx_enq.payload_bad").value == 2
    assert "random damage would pass for it once in" in result.notes[1]
    result.to_json()


def test_a_clean_capture_has_no_wrong_crc(tmp_path: Path) -> None:
    pair = Pair()
    pair.traffic(5)
    result = CRC.run(CaptureView(pair.write(tmp_path / "pair.ff")))
    assert result.tables["bad"].empty
    assert result.notes == ("Every CRC that was wholly recorded is right.",)
