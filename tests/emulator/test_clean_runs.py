"""Runs without a fault: everything that arrives is what was sent, credits are conserved, and nothing freezes
by itself.
"""

from __future__ import annotations

import binascii
import itertools
import zlib

import pytest

from freezeframe.capture.registers.layouts import Cause, CreditCode, Kind
from tests.emulator.reading import Card, Packet, causes, freeze, packets_of, pair

US = 1_000_000
SEEDS = range(3)


@pytest.fixture(scope="module", params=SEEDS)
def cards(request: pytest.FixtureRequest) -> tuple[Card, Card]:
    """Both cards after 250 us of traffic and a freeze by the host."""
    target, a, b = pair(seed=request.param)
    target.advance(250 * US)
    freeze(a, target, 3000 * US)
    return a, b


def checks_out(packet: Packet) -> bool:
    head = (packet.header & 0xFFFFFFFFFFFF).to_bytes(6, "little")
    head += packet.address.to_bytes(8, "little")
    payload = b"".join(word.to_bytes(8, "little") for word in packet.payload)
    return (
        binascii.crc_hqx(head, 0xFFFF) == packet.header >> 48
        and zlib.crc32(payload) == packet.tail
        and packet.length == len(packet.payload)
    )


def test_every_packet_at_every_tap_has_good_crcs_and_its_length(cards: tuple[Card, Card]) -> None:
    seen = 0
    for card in cards:
        for tap in range(4):
            packets = packets_of(card.words(tap))
            assert [p.seq for p in packets if not checks_out(p)] == []
            seen += len(packets)
    assert seen > 8


def test_sequence_numbers_count_the_packets_of_each_tap(cards: tuple[Card, Card]) -> None:
    for card in cards:
        for tap in range(4):
            numbers = [p.seq for p in packets_of(card.words(tap))]
            assert numbers == list(range(numbers[0], numbers[0] + len(numbers)) if numbers else [])


def test_what_passes_one_tap_passes_the_next_unchanged(cards: tuple[Card, Card]) -> None:
    a, b = cards
    for sender, receiver in ((a, b), (b, a)):
        path = [(sender, 0), (sender, 1), (receiver, 2), (receiver, 3)]
        streams = [{p.seq: p for p in packets_of(card.words(tap))} for card, tap in path]
        for before, after in itertools.pairwise(streams):
            for seq in before.keys() & after.keys():
                assert (before[seq].header, before[seq].address) == (
                    after[seq].header,
                    after[seq].address,
                )
                assert before[seq].payload == after[seq].payload


def frozen_ns(card: Card) -> int:
    """Return the moment of freezing by the master's clock, to a microsecond: clocks differ by 100 ppm at most."""
    cycle = card.read("frozen.freeze_cycle_lo") | card.read("frozen.freeze_cycle_hi") << 32
    number, own = card.read("pair.last_number", 0), card.read("pair.last_lo", 0)
    return number * 40_960 + (cycle - own) * 10


def test_credits_are_conserved(cards: tuple[Card, Card]) -> None:
    a, b = cards
    mask = (1 << (a.read("id.flows") >> 8 & 0xFF)) - 1
    for sender, receiver in ((a, b), (b, a)):
        for number in range(8):
            out, back = sender.flow(number), receiver.flow(number)
            limit = out["limit"]
            assert out["sent"] == out["words_sent"] & mask
            assert out["sent"] - out["credited"] & mask <= limit
            # In the order in which words pass, no count is ahead of the one before it, and none by more than the limit.
            assert back["received"] - back["freed"] & mask <= limit
            assert back["freed"] - back["reported"] & mask <= limit
            if frozen_ns(sender) + 2000 < frozen_ns(receiver):
                # All that left a card before it was held has arrived, to the word.
                assert back["received"] == out["sent"]
                assert back["reported"] - out["credited"] & mask <= limit
            elif frozen_ns(receiver) + 2000 < frozen_ns(sender):
                assert out["sent"] - back["received"] & mask <= limit
                assert out["credited"] == back["reported"]


def test_frozen_levels_are_what_the_counters_say(cards: tuple[Card, Card]) -> None:
    for card in cards:
        entered, left = card.counter("tx_enq_words"), card.counter("tx_deq_words")
        assert card.read("frozen.tx_level") == entered - left
        received, taken = card.counter("rx_enq_words"), card.counter("rx_deq_words")
        assert card.read("frozen.rx_level") == received - taken
        assert sum(card.flow(n)["words_sent"] for n in range(8)) == left
        for name in ("header_errors", "payload_errors", "length_errors", "parity_errors", "drops"):
            assert card.counter(name) == 0


def test_every_credit_event_has_odd_parity(cards: tuple[Card, Card]) -> None:
    for card in cards:
        credits = card.events(Kind.CREDIT)
        assert [r for r in credits if r.value.bit_count() % 2 == 0] == []
        assert {r.code for r in credits} <= {CreditCode.SENT, CreditCode.TAKEN}


def test_the_recording_ends_with_mark_and_time_in_every_memory(cards: tuple[Card, Card]) -> None:
    for card in cards:
        for memory in range(5):
            *_, mark, time = card.records(memory)
            assert (mark.kind, time.kind, time.dt) == (Kind.MARK, Kind.TIME, 1)
            assert mark.data & 0xFFFF == card.read("ctl.causes")


def test_offered_is_stored_and_lost(cards: tuple[Card, Card]) -> None:
    for card in cards:
        for memory in range(5):
            if card.read("memory.status", memory) & 1:
                continue  # only while nothing was overwritten can the records be counted
            own = (Kind.MARK, Kind.LOSS, Kind.TIME)
            real = [r for r in card.records(memory) if r.kind not in own]
            lost = card.read("memory.lost", memory)
            assert card.read("memory.offered", memory) == len(real) + lost
            assert card.read("memory.stored", memory) == len(card.records(memory))


def test_one_word_crosses_the_link_in_the_latency_by_the_time_pairs(
    cards: tuple[Card, Card],
) -> None:
    def master_ns(card: Card, cycle: int) -> float:
        (n0, c0), (n1, c1) = (
            (
                card.read(f"pair.{which}_number", 1),
                card.read(f"pair.{which}_lo", 1) | card.read(f"pair.{which}_hi", 1) << 32,
            )
            for which in ("first", "last")
        )
        assert card.read("pair.status", 1) == 3
        return (n0 + (cycle - c0) * (n1 - n0) / (c1 - c0)) * 4096 * 10.0

    a, b = cards
    for sender, receiver in ((a, b), (b, a)):
        leaving = {p.seq: p.cycle for p in packets_of(sender.words(1))}
        arriving = {p.seq: p.cycle for p in packets_of(receiver.words(2))}
        delays = [
            master_ns(receiver, arriving[seq]) - master_ns(sender, leaving[seq])
            for seq in leaving.keys() & arriving.keys()
        ]
        # 320 ns of latency, 4 to 5 link cycles of synchronization FIFO, two domains dated to 13 ns each.
        assert all(320 + 3 * 12.8 - 40 < delay < 320 + 6 * 12.8 + 40 for delay in delays)


@pytest.mark.parametrize(("seed", "stalls"), [(20, False), (2, False), (1, True), (9, True)])
def test_a_clean_run_freezes_by_nothing_but_a_host_that_stops_too_long(
    seed: int, stalls: bool
) -> None:
    target, a, b = pair(seed=seed)
    target.advance(400 * US)
    assert causes(a) | causes(b) == ({Cause.CREDIT_STALL, Cause.CROSS} if stalls else set())
    long_ps = 20_000 * 12_800
    stops = [length for nic in target.pair.nics for _, length in nic.host.receiving.stops]
    assert max(stops, default=0) > long_ps or not stalls


def test_a_fault_free_pair_uses_every_tap_in_both_directions() -> None:
    target, *cards = pair(seed=3)
    target.advance(300 * US)
    assert all(card.read("memory.stored", tap) > 0 for card in cards for tap in range(4))
