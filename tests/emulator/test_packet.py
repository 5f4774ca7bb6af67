"""Packets and the checks a receiver makes, against CRCs computed bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freezeframe.emulator.packet import inspect, make_packet, raw_packet

HEAD, BODY, TAIL = 1, 2, 3


def crc16(data: bytes) -> int:
    crc = 0xFFFF
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


def crc32(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xEDB88320 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def test_the_bitwise_crcs_of_this_test_are_the_catalogued_ones() -> None:
    assert (crc16(b"123456789"), crc32(b"123456789")) == (0x29B1, 0xCBF43926)


def test_a_packet_is_these_words() -> None:
    packet = make_packet(1, 2, 5, 0x1234, 0xDEADBEEF, np.array([0x0807060504030201], np.uint64))
    header = 1 | 2 << 4 | 5 << 8 | 1 << 16 | 0x1234 << 32
    covered = header.to_bytes(8, "little")[:6] + (0xDEADBEEF).to_bytes(8, "little")
    assert packet.words.tolist() == [
        header | crc16(covered) << 48,
        0xDEADBEEF,
        0x0807060504030201,
        crc32(bytes([1, 2, 3, 4, 5, 6, 7, 8])),
    ]
    assert packet.kinds.tolist() == [HEAD, HEAD, BODY, TAIL]


def test_an_empty_payload_has_crc_0_and_is_good() -> None:
    packet = make_packet(2, 0, 0, 0, 0, np.empty(0, np.uint64))
    assert packet.words[-1] == 0
    assert not inspect(packet.words, packet.kinds).bad


@given(
    st.lists(st.integers(0, (1 << 64) - 1), max_size=12), st.integers(0, 127), st.integers(0, 65535)
)
def test_a_packet_as_made_passes_every_check(payload: list[int], flow: int, seq: int) -> None:
    packet = make_packet(1, 0, flow, seq, 8, np.array(payload, np.uint64))
    verdict = inspect(packet.words, packet.kinds)
    assert not verdict.bad
    assert verdict.payload_at == len(payload) + 2
    assert verdict.header is not None
    assert (verdict.header.flow, verdict.header.seq, verdict.header.length) == (
        flow,
        seq,
        len(payload),
    )


PACKET = make_packet(1, 0, 3, 9, 8, np.arange(1, 6, dtype=np.uint64))


def altered(how: str) -> tuple[np.ndarray, np.ndarray]:
    words, kinds = PACKET.words.copy(), PACKET.kinds.copy()
    if how == "payload bit":
        words[4] ^= np.uint64(1)
    elif how == "header bit":
        words[0] ^= np.uint64(1 << 33)
    elif how == "word omitted":
        words, kinds = np.delete(words, 3), np.delete(kinds, 3)
    elif how == "word repeated":
        words, kinds = np.insert(words, 3, words[3]), np.insert(kinds, 3, kinds[3])
    elif how == "second HEAD lost":
        words, kinds = np.delete(words, 1), np.delete(kinds, 1)
    elif how == "cut before the tail":
        words, kinds = words[:-1], kinds[:-1]
    elif how == "first word only":
        words, kinds = words[:1], kinds[:1]
    return words, kinds


@pytest.mark.parametrize(
    ("how", "header_bad", "at", "payload_bad", "length_bad"),
    [
        ("nothing", False, 7, False, False),
        ("payload bit", False, 7, True, False),
        ("header bit", True, None, False, False),
        ("word omitted", False, 6, True, True),
        ("word repeated", False, 7, True, True),
        ("second HEAD lost", True, None, False, False),
        ("cut before the tail", False, None, False, False),
        ("first word only", True, None, False, False),
    ],
)
def test_payload_and_length_are_judged_at_the_tail_or_where_it_should_have_been(
    how: str, header_bad: bool, at: int | None, payload_bad: bool, length_bad: bool
) -> None:
    verdict = inspect(*altered(how))
    assert verdict.header_bad == header_bad
    assert verdict.payload_at == at
    assert (verdict.payload_bad, verdict.length_bad) == (payload_bad, length_bad)


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_a_raw_packet_keeps_every_word_and_frames_what_there_is(count: int) -> None:
    packet = raw_packet(list(range(count)))
    assert packet.words.tolist() == list(range(count))
    assert (
        packet.kinds.tolist() == [HEAD, HEAD, BODY, BODY, TAIL][:count]
        if count in (1, 2)
        else ([HEAD, HEAD, *[BODY] * (count - 3), TAIL])
    )
