"""Packets from words, and both CRC verdicts of each (docs/formats.md sections 3 and 8)."""

from __future__ import annotations

import binascii
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from freezeframe.decoders.trace.crc_kernels import crc16_header, crc32
from freezeframe.decoders.trace.framing import FALSE, TRUE, UNKNOWN, frame_records
from tests.decoders.trace import reference_reader
from tests.decoders.trace.recorder_model import BODY, HEAD, TAIL, TIME

# The golden packet of docs/formats.md section 3: RDMA_WRITE, flow 3, seq 7, dest 0x1000, payload 1, 2.
H, A, P, Q, T = 0x30C5_0007_0002_0301, 0x1000, 1, 2, 0x00F6_DDB9
PACKET = [(HEAD, H), (HEAD, A), (BODY, P), (BODY, Q), (TAIL, T)]


def raw(words: Iterable[tuple[int, int]]) -> list[bytes]:
    return [data.to_bytes(8, "little") + bytes([kind | 0x10]) for kind, data in words]


def frame(words: Iterable[tuple[int, int]], gaps: Sequence[int] = ()) -> list[dict[str, Any]]:
    records = np.frombuffer(b"".join(raw(words)), np.uint8).reshape(-1, 9)
    found = frame_records(records, gaps)
    names = found.dtype.names
    assert names
    return [dict(zip(names, row, strict=True)) for row in found.tolist()]


def verdicts(packet: dict[str, Any]) -> tuple[int, int, int, int]:
    return packet["header_ok"], packet["payload_ok"], packet["length_ok"], packet["whole"]


def test_the_golden_packet_passes_the_bitwise_crcs() -> None:
    covered = H.to_bytes(8, "little")[:6] + A.to_bytes(8, "little")
    assert reference_reader.bitwise_crc16(covered) == 0x30C5
    payload = P.to_bytes(8, "little") + Q.to_bytes(8, "little")
    assert reference_reader.bitwise_crc32(payload) == 0x00F6_DDB9


def test_the_crc_tables_are_those_of_the_named_crcs() -> None:
    words = np.frombuffer(b"123456789abcdefg" * 9 + b"12345678", np.uint64)
    for count in range(len(words) + 1):
        assert crc32(words[:count]) == zlib.crc32(words[:count].tobytes())
    generator = np.random.default_rng(3)
    for header, address in generator.integers(0, 1 << 63, (50, 2), dtype=np.uint64):
        covered = header.tobytes()[:6] + address.tobytes()
        assert crc16_header(header, address) == binascii.crc_hqx(covered, 0xFFFF)


def test_a_good_packet_passes_every_check() -> None:
    (packet,) = frame(PACKET)
    assert verdicts(packet) == (TRUE, TRUE, TRUE, TRUE)
    assert (packet["header"], packet["address"]) == (H, A)
    assert (packet["body_words"], packet["first_word"], packet["end_word"]) == (2, 0, 5)
    assert (packet["first_record"], packet["last_record"]) == (0, 4)


def test_records_that_are_not_words_do_not_disturb_a_packet() -> None:
    words = [(TIME, 5), *PACKET[:3], (TIME, 9), (0, 1), (11, 2), *PACKET[3:], (13, 0), (TIME, 9)]
    (packet,) = frame(words)
    assert verdicts(packet) == (TRUE, TRUE, TRUE, TRUE)
    assert (packet["first_record"], packet["last_record"]) == (1, 8)
    assert (packet["first_word"], packet["end_word"]) == (0, 5)


def test_an_omitted_payload_word_makes_payload_and_length_wrong() -> None:
    (packet,) = frame(PACKET[:2] + PACKET[3:])
    assert verdicts(packet) == (TRUE, FALSE, FALSE, TRUE)
    assert packet["body_words"] == 1


def test_a_payload_word_twice_makes_payload_and_length_wrong() -> None:
    (packet,) = frame(PACKET[:3] + PACKET[2:])
    assert verdicts(packet) == (TRUE, FALSE, FALSE, TRUE)
    assert packet["body_words"] == 3


def test_one_payload_bit_is_seen_by_the_payload_crc_alone() -> None:
    (packet,) = frame([*PACKET[:2], (BODY, P ^ 1 << 63), *PACKET[3:]])
    assert verdicts(packet) == (TRUE, FALSE, TRUE, TRUE)


@pytest.mark.parametrize("bit", [0, 7, 8, 15, 16, 25, 31, 47, 48, 63])
def test_every_header_bit_is_covered_even_those_of_no_field(bit: int) -> None:
    (packet,) = frame([(HEAD, H ^ 1 << bit), *PACKET[1:]])
    assert packet["header_ok"] == FALSE
    assert packet["header"] == H ^ 1 << bit, "fields are as read"
    assert packet["payload_ok"] == TRUE


def test_reserved_bits_of_a_tail_are_ignored() -> None:
    (packet,) = frame([*PACKET[:4], (TAIL, T | 0xFFFFFFFF << 32)])
    assert packet["payload_ok"] == TRUE


def test_a_packet_without_payload_has_the_crc_0() -> None:
    header = 0x0000_0007_0000_0301
    crc = binascii.crc_hqx(header.to_bytes(8, "little")[:6] + A.to_bytes(8, "little"), 0xFFFF)
    words = [(HEAD, header | crc << 48), (HEAD, A), (TAIL, 0)]
    assert verdicts(frame(words)[0]) == (TRUE, TRUE, TRUE, TRUE)
    assert frame([*words[:2], (TAIL, 1)])[0]["payload_ok"] == FALSE


def test_a_first_packet_whose_header_was_overwritten_is_not_judged_by_what_is_gone() -> None:
    cut_in_body, *_ = frame(PACKET[3:] + PACKET)
    assert verdicts(cut_in_body) == (UNKNOWN, UNKNOWN, UNKNOWN, FALSE)
    cut_in_header, *_ = frame(PACKET[1:] + PACKET)
    assert verdicts(cut_in_header) == (UNKNOWN, TRUE, UNKNOWN, FALSE), "the payload is all there"
    assert (cut_in_header["address_read"], cut_in_header["address"]) == (1, A)
    tail_alone, good = frame(PACKET[4:] + PACKET)
    assert verdicts(tail_alone) == (UNKNOWN, UNKNOWN, UNKNOWN, FALSE)
    assert verdicts(good) == (TRUE, TRUE, TRUE, TRUE)


def test_a_last_packet_cut_by_the_freeze_is_judged_as_far_as_it_goes() -> None:
    assert verdicts(frame(PACKET[:4])[0]) == (TRUE, UNKNOWN, UNKNOWN, FALSE)
    assert verdicts(frame([*PACKET[:4], (BODY, 3)])[0]) == (TRUE, UNKNOWN, FALSE, FALSE)
    _, head = frame([*PACKET, PACKET[0]])
    assert verdicts(head) == (UNKNOWN, UNKNOWN, UNKNOWN, FALSE)
    assert (head["header_read"], head["header"]) == (1, H)


def test_a_gap_cuts_a_packet_into_two_that_are_not_whole() -> None:
    before, after, good = frame(PACKET + PACKET, gaps=[3])
    assert verdicts(before) == (TRUE, UNKNOWN, UNKNOWN, FALSE)
    assert verdicts(after) == (UNKNOWN, UNKNOWN, UNKNOWN, FALSE)
    assert verdicts(good) == (TRUE, TRUE, TRUE, TRUE)
    assert [p["end_word"] for p in (before, after, good)] == [3, 5, 10]


def test_gaps_are_taken_in_any_order_twice_and_beyond_the_end() -> None:
    assert frame(PACKET, gaps=[5, 4, 3, 3, 0, 99, -1]) == frame(PACKET, gaps=[0, 3, 4])


def test_a_head_after_body_begins_a_packet_and_the_missing_tail_is_a_length_error() -> None:
    first, second = frame(PACKET[:4] + PACKET)
    assert verdicts(first) == (TRUE, UNKNOWN, FALSE, TRUE)
    assert verdicts(second) == (TRUE, TRUE, TRUE, TRUE)


def test_words_after_a_tail_are_a_packet_without_header() -> None:
    good, twice = frame([*PACKET, PACKET[4]])
    assert verdicts(good) == (TRUE, TRUE, TRUE, TRUE)
    assert verdicts(twice) == (FALSE, FALSE, UNKNOWN, TRUE)
    _, headless = frame(PACKET + PACKET[2:])
    assert verdicts(headless) == (FALSE, TRUE, UNKNOWN, TRUE)
    assert headless["header_read"] == headless["address_read"] == 0


def test_of_a_lone_head_the_header_is_told_from_the_address() -> None:
    _, no_address = frame(PACKET + PACKET[:1] + PACKET[2:])
    assert (no_address["header_read"], no_address["address_read"]) == (1, 0)
    assert verdicts(no_address) == (FALSE, TRUE, TRUE, TRUE)
    _, no_header = frame(PACKET + PACKET[1:])
    assert (no_header["header_read"], no_header["address_read"]) == (0, 1)
    assert verdicts(no_header) == (FALSE, TRUE, UNKNOWN, TRUE)


def test_a_lone_header_that_the_freeze_cut_fits_up_to_its_length() -> None:
    for bodies, read in ((0, 1), (1, 1), (2, 1), (3, 0)):
        _, cut = frame([*PACKET, PACKET[0], *[(BODY, 1)] * bodies])
        assert cut["header_read"] == read


@pytest.mark.parametrize("twice", [0, 1], ids=["header", "address"])
def test_of_three_heads_the_two_that_pass_are_read_and_the_header_is_bad(twice: int) -> None:
    packet, after = frame(PACKET[: twice + 1] + PACKET[twice:] + PACKET)
    assert (packet["header"], packet["address"], packet["heads"]) == (H, A, 3)
    assert verdicts(packet) == (FALSE, TRUE, TRUE, TRUE)
    assert verdicts(after) == (TRUE, TRUE, TRUE, TRUE)


def test_a_foreign_head_between_header_and_address_is_passed_over() -> None:
    packet, _ = frame([PACKET[0], (HEAD, 0x5555), *PACKET[1:], *PACKET])
    assert (packet["header"], packet["address"]) == (H, A)


def test_a_header_that_passes_begins_a_packet_even_after_a_header_without_the_rest() -> None:
    first, second = frame(PACKET[:2] + PACKET)
    assert verdicts(first) == (TRUE, UNKNOWN, FALSE, TRUE)
    assert (first["end_word"], second["first_word"]) == (2, 2)
    assert (first["last_record"], second["first_record"]) == (1, 2)
    assert verdicts(second) == (TRUE, TRUE, TRUE, TRUE)


def test_no_records_are_no_packets() -> None:
    assert frame([]) == []
    assert frame([(TIME, 1), (13, 0)]) == []


def test_more_packets_than_were_expected_are_all_found() -> None:
    tails = frame([(TAIL, 0)] * 30_000)
    assert len(tails) == 30_000
    assert [t["first_word"] for t in tails] == list(range(30_000))


def test_a_packet_that_is_open_when_the_rows_run_out_goes_on() -> None:
    # More packets than records / 3 at the start of a block: the kernel stops there and is called again.
    payload = list(range(12_000))
    crc = zlib.crc32(np.array(payload, np.uint64).tobytes())
    long = [*PACKET[:2], *((BODY, word) for word in payload), (TAIL, crc)]
    *tails, packet, last = frame([(TAIL, 0)] * 8000 + long + PACKET)
    assert len(tails) == 8000
    assert (packet["body_words"], packet["first_word"], packet["header"]) == (12_000, 8000, H)
    assert verdicts(packet) == (TRUE, TRUE, FALSE, TRUE)
    assert verdicts(last) == (TRUE, TRUE, TRUE, TRUE)


def test_a_packet_across_many_blocks_is_one_packet() -> None:
    payload = list(range(20_001))
    crc = zlib.crc32(np.array(payload, np.uint64).tobytes())
    words = [*PACKET, *PACKET[:2], *((BODY, w) for w in payload), (TAIL, crc), *PACKET]
    _, long, last = frame(words)
    assert (long["body_words"], long["payload_ok"], long["length_ok"]) == (20_001, TRUE, FALSE)
    assert verdicts(last) == (TRUE, TRUE, TRUE, TRUE)


_FLAG = {None: UNKNOWN, True: TRUE, False: FALSE}


def same_as_reference(words: list[tuple[int, int]], gaps: Sequence[int]) -> None:
    found, expected = frame(words, gaps), reference_reader.packets(raw(words), gaps)
    assert len(found) == len(expected)
    word_of = np.cumsum([1 <= kind <= 3 for kind, _ in words]) - 1
    for ours, theirs in zip(found, expected, strict=True):
        assert ours["header_ok"] == _FLAG[theirs.header_ok]
        assert ours["payload_ok"] == _FLAG[theirs.payload_ok]
        assert ours["length_ok"] == _FLAG[theirs.length_ok]
        assert ours["whole"] == theirs.whole
        assert (ours["header"] if ours["header_read"] else None) == theirs.header
        assert (ours["address"] if ours["address_read"] else None) == theirs.address
        assert ours["body_words"] == len(theirs.payload)
        assert ours["heads"] == len(theirs.heads)
        assert (ours["first_record"], ours["last_record"]) == (
            theirs.records[0],
            theirs.records[-1],
        )
        assert ours["first_word"] == word_of[theirs.records[0]]
        assert ours["end_word"] == word_of[theirs.records[-1]] + 1


@st.composite
def wire_words(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Return packets with words left out, doubled, swapped and altered, and foreign records between."""
    words: list[tuple[int, int]] = []
    for seq in range(draw(st.integers(0, 5))):
        length = draw(st.one_of(st.integers(0, 3), st.sampled_from([16, 63, 512])))
        said = draw(st.sampled_from([length] * 4 + [0, 1, 511, 1023]))
        head = draw(st.integers(1, 4)) | draw(st.integers(0, 127)) << 8 | said << 16 | seq << 32
        dest = draw(st.integers(0, (1 << 64) - 1))
        crc = binascii.crc_hqx(head.to_bytes(8, "little")[:6] + dest.to_bytes(8, "little"), 0xFFFF)
        generator = np.random.default_rng(draw(st.integers(0, 99)))
        payload = generator.integers(0, 1 << 64, length, dtype=np.uint64)
        words += [(HEAD, head | crc << 48), (HEAD, dest)]
        words += [(BODY, int(word)) for word in payload]
        words.append((TAIL, zlib.crc32(payload.tobytes())))
    for _ in range(draw(st.integers(0, 4))):
        if not words:
            break
        at = draw(st.integers(0, len(words) - 1))
        match draw(st.sampled_from(["omit", "double", "swap", "flip", "kind", "cut", "foreign"])):
            case "omit":
                del words[at]
            case "double":
                words.insert(at, words[at])
            case "swap":
                words[at], words[at - 1] = words[at - 1], words[at]
            case "flip":
                words[at] = (words[at][0], words[at][1] ^ 1 << draw(st.integers(0, 63)))
            case "kind":
                words[at] = (draw(st.integers(0, 15)), words[at][1])
            case "cut":
                words = words[at:]
            case "foreign":
                words.insert(at, (draw(st.sampled_from([0, 4, 11, 13, 15])), 1))
    return words


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(words=wire_words(), data=st.data())
def test_damaged_traffic_is_framed_as_by_the_reference(
    words: list[tuple[int, int]], data: st.DataObject
) -> None:
    gaps = data.draw(st.lists(st.integers(0, len(words)), max_size=3))
    same_as_reference(words, gaps)


@settings(max_examples=300, deadline=None)
@given(
    kinds=st.lists(st.sampled_from([HEAD, HEAD, HEAD, BODY, TAIL, TIME, 0]), max_size=40),
    picks=st.lists(st.sampled_from([H, A, P, Q, T, 0, 1 << 16 | 1]), min_size=40, max_size=40),
    gaps=st.lists(st.integers(0, 40), max_size=3),
)
def test_shuffled_words_are_framed_as_by_the_reference(
    kinds: list[int], picks: list[int], gaps: list[int]
) -> None:
    same_as_reference(list(zip(kinds, picks, strict=False)), gaps)
