"""Provocations and triggers: what a host may do to a card by writing registers, and that it shows in the recording."""

from __future__ import annotations

import binascii
import itertools
import zlib

import pytest

from tests.emulator.reading import Card, arm, freeze, packets_of, pair
from tests.rtl.link_packets import splitmix64

US = 1_000_000
TRIGGERED, FROZEN = 2, 3
TRIGGER, HDR_CRC, CREDIT_STALL, SEQUENCE = 1 << 1, 1 << 2, 1 << 6, 1 << 10
PATTERN, INJECTED = 4, 8
QUIET = 17  # a seed with light traffic from A and hosts that never stop


def set_traffic(card: Card, length: int, flow: int = 0, on: int = 1) -> None:
    card.write("provoke.traffic", on | flow << 8 | length << 16)


def test_pattern_packets_have_the_words_that_seed_and_number_give() -> None:
    target, a, b = pair(seed=QUIET)
    a.write("provoke.traffic_seed", 0xABCD)
    a.write("provoke.traffic_gap", 2000)
    set_traffic(a, 5)
    target.advance(200 * US)
    freeze(a, target, 5000 * US)
    for card, tap in ((a, 0), (b, 3)):
        packets = [p for p in packets_of(card.words(tap)) if p.header >> 4 & PATTERN]
        assert len(packets) >= 5
        numbers = []
        for packet in packets:
            number = next(
                n for n in range(200) if splitmix64(0xABCD << 32 ^ n << 10) == packet.payload[0]
            )
            numbers.append(number)
            assert packet.payload == [splitmix64(0xABCD << 32 ^ number << 10 ^ i) for i in range(5)]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def test_pattern_traffic_can_be_switched_off() -> None:
    target, a, _ = pair(seed=QUIET)
    set_traffic(a, 8)
    target.advance(50 * US)
    set_traffic(a, 8, on=0)
    target.advance(20 * US)
    posted = target.pair.nics[0].pattern.number
    assert posted > 0
    target.advance(100 * US)
    assert target.pair.nics[0].pattern.number == posted


def test_a_stopped_receive_dma_takes_no_words_and_goes_on_where_it_stood() -> None:
    target, a, b = pair(seed=3)
    target.advance(50 * US)
    b.write("provoke.rx_dma", 1)
    target.advance(5 * US)
    stored = b.read("memory.offered", 3)
    target.advance(60 * US)
    assert b.read("memory.offered", 3) == stored
    assert b.read("memory.offered", 2) > stored
    b.write("provoke.rx_dma", 0)
    target.advance(60 * US)
    assert b.read("memory.offered", 3) > stored
    assert a.state == b.state == 1


def test_a_receive_dma_that_stays_stopped_ends_in_a_credit_stall_of_the_sender() -> None:
    target, a, b = pair(seed=3)
    b.write("provoke.rx_dma", 1)
    assert target.run_until_frozen(5000 * US)
    assert a.read("ctl.causes") == CREDIT_STALL
    assert a.read("frozen.stalled_flows") != 0
    # No packet that was waiting would have fitted: less is free than the largest has words.
    assert (
        2048 - 515 - 64 <= b.read("frozen.rx_level") <= 2048
        or b.read("frozen.rx_level") >= 1024 - 515
    )


def test_a_stall_limit_of_0_never_freezes() -> None:
    target, a, b = pair(seed=3)
    a.write("ctl.stall_limit", 0)
    b.write("provoke.rx_dma", 1)
    assert not target.run_until_frozen(1500 * US)


def inject(card: Card, words: list[int], token: int) -> None:
    start = card.window("inject_buffer")
    halves = [half for word in words for half in (word & 0xFFFFFFFF, word >> 32)]
    card.target.write(start, halves)
    assert card.target.read(range(start, start + 4 * len(halves), 4)).tolist() == halves
    card.write("provoke.inject", token & 0xFFFF | len(words) << 16)


def hand_built(payload: list[int], seq: int, good: bool = True) -> list[int]:
    header = 1 | INJECTED << 4 | 0 << 8 | len(payload) << 16 | seq << 32
    address = 0x1000
    covered = header.to_bytes(8, "little")[:6] + address.to_bytes(8, "little")
    crc = binascii.crc_hqx(covered, 0xFFFF) ^ (not good)
    tail = zlib.crc32(b"".join(w.to_bytes(8, "little") for w in payload))
    return [header | crc << 48, address, *payload, tail]


def test_an_injected_packet_arrives_as_it_stands_and_the_traffic_goes_on() -> None:
    target, a, b = pair(seed=3)
    target.advance(30 * US)
    words = hand_built([0x1111, 0x2222, 0x3333], seq=0x7777)
    inject(a, words, token=1)
    assert a.read("provoke.inject_count") == 1
    target.advance(40 * US)
    assert (a.state, b.state) == (1, 1)
    freeze(a, target, 5000 * US)
    for card, tap in ((a, 0), (a, 1), (b, 2), (b, 3)):
        found = [p for p in packets_of(card.words(tap)) if p.seq == 0x7777]
        assert [[p.header, p.address, *p.payload, p.tail] for p in found] == [words]


def test_a_doubled_or_stale_inject_sends_nothing() -> None:
    _, a, _ = pair(seed=3)
    inject(a, hand_built([1], 1), token=1)
    for token, words in ((1, 4), (0, 4), (3, 4), (2, 0)):
        a.write("provoke.inject", token | words << 16)
    assert a.read("provoke.inject_count") == 1


def test_an_injected_bad_header_freezes_the_receiver() -> None:
    target, a, b = pair(seed=3)
    target.advance(30 * US)
    inject(a, hand_built([1, 2], 5, good=False), token=1)
    assert target.run_until_frozen(5000 * US)
    assert b.read("ctl.causes") == HDR_CRC
    assert b.counter("header_errors") == 1


def test_a_trigger_on_a_tap_is_a_cause_in_the_cycle_after_its_word() -> None:
    target, a, _b = pair(seed=3)
    target.advance(20 * US)
    a.write("trigger.term.kinds", 0, 1 << 1)  # HEAD
    a.write("trigger.term.value_hi", 0, 20)  # sequence number 20
    a.write("trigger.term.mask_hi", 0, 0xFFFF)
    a.write("trigger.term.value_lo", 0, 1)  # RDMA write
    a.write("trigger.term.mask_lo", 0, 0xF)
    a.write("trigger.config", 1 | 1 << 4)  # tx_deq
    assert target.run_until_frozen(8000 * US)
    assert a.read("ctl.causes") == TRIGGER
    words = a.records(1)
    mark = words[-2]
    fired = mark.cycle - (mark.data >> 16 & 0xFFFFFFFF) - 1
    word = next(r for r in words if r.cycle == fired)
    assert (word.kind, word.data >> 32 & 0xFFFF) == (1, 20)
    # post counts 64 records after the cause's cycle
    assert sum(r.cycle > fired + 1 for r in words) <= 64 + 2


def test_a_trigger_fires_once_an_arm_and_again_after_the_next() -> None:
    target, a, b = pair(seed=3)
    a.write("trigger.term.kinds", 0, 1 << 3)  # any TAIL
    a.write("trigger.config", 1)
    for generation in (1, 2):
        assert target.run_until_frozen(8000 * US)
        assert (a.read("ctl.generation"), a.read("ctl.causes")) == (generation, TRIGGER)
        for card in (a, b):
            arm(card)


def test_switching_a_trigger_off_in_time_leaves_the_card_armed() -> None:
    target, a, _ = pair(seed=3)
    a.write("trigger.term.kinds", 0, 1 << 3)
    a.write("trigger.config", 1)
    a.write("trigger.config", 0)
    target.advance(100 * US)
    assert a.state == 1


def test_kinds_switched_off_are_not_recorded_from_then_on() -> None:
    target, a, _ = pair(seed=3)
    a.write("ctl.kinds", 0, 1 << 1)
    target.advance(80 * US)
    freeze(a, target, 5000 * US)
    assert {r.kind for r in a.records(0)} == {1, 13, 15}


@pytest.mark.parametrize("seed", [3, 5])
def test_interrupts_come_once_for_completions_that_wait_together(seed: int) -> None:
    target, a, b = pair(seed=seed)
    target.advance(300 * US)
    freeze(a, target, 5000 * US)
    for card in (a, b):
        events = [r for r in card.records(4) if r.kind == 7]
        codes = [r.code for r in events]
        for before, behind in itertools.pairwise(codes):
            assert (before, behind) in {(1, 2), (2, 3), (3, 1)}  # raised, masked, enabled, raised
        assert card.counter("interrupts") <= card.counter("notifications")
