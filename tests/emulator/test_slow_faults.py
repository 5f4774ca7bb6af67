"""The faults that slow a pair down or let counts slip, as docs/faults.md defines them: what the cards' own recordings
show, read through registers only.
"""

from __future__ import annotations

import zlib
from itertools import pairwise

import pytest

from freezeframe.capture.registers.layouts import (
    DESC_VALUE_LENGTH_MASK,
    DESC_VALUE_SEQ_LSB,
    DESC_VALUE_SEQ_MASK,
    Cause,
    CreditCode,
    DescCode,
    IrqCode,
    Kind,
    LinkCode,
    NoteCode,
    PressureCode,
)
from tests.emulator.reading import Card, causes, evidence, freeze, packets_of, pair, truth

US = 1_000_000
FREED_LSB, FREED_MASK = 16, 0x1FFF  # of a credit; 13 bits count the words of FORTH's FIFO
# Each seed with one load: the campaign has all of them.
every_load = pytest.mark.parametrize(
    ("seed", "load"), [(0, "light"), (1, "medium"), (2, "saturating")]
)
every_seed = pytest.mark.parametrize("seed", range(2))


def sum_of(card: Card, name: str) -> int:
    return sum(card.read(f"frozen_flow.{name}", flow) for flow in range(8))


@every_seed
def test_drifting_clocks_slip_both_lanes_at_the_interval_of_their_difference(seed: int) -> None:
    a, b = evidence("clock-drift", seed, "light")
    t = truth(a)
    slow, fast = sorted(nic.link.period_fs for nic in a.target.pair.nics)
    assert 80e-6 <= (fast - slow) / slow <= 200e-6
    code = LinkCode.UNDERFLOW if t["detail"]["what"] == "repeated" else LinkCode.OVERFLOW
    slips = [[r.cycle for r in b.events(Kind.LINK, code) if r.value == lane] for lane in (0, 1)]
    assert slips[0] == slips[1]
    every_us = t["detail"]["every_cycles"] * 12.8e-3
    for before, after in pairwise(slips[0]):
        assert (after - before) / 100 == pytest.approx(every_us, abs=0.05)
    name = "underflows" if code == LinkCode.UNDERFLOW else "overflows"
    lanes = [b.read(f"frozen.lane.{name}", lane) for lane in (0, 1)]
    assert lanes[0] == lanes[1] > 0
    assert b.counter("idles_inserted") == b.counter("idles_removed") == 0


@every_seed
def test_a_slip_moves_both_halves_of_every_later_word_of_the_packet(seed: int) -> None:
    a, b = evidence("clock-drift", seed)
    t = truth(a)
    place, what = t["detail"]["place"], t["detail"]["what"]
    (sent,) = [p for p in packets_of(a.words(1)) if p.seq == t["packet"]]
    words = [sent.header, sent.address, *sent.payload, sent.tail]
    came = [
        [p.header, p.address, *p.payload, p.tail]
        for p in packets_of(b.words(2))
        if [p.header, p.address, *p.payload][:place] == words[:place]
    ]
    moved = words[place - 1 : -1] if what == "repeated" else words[place + 1 :]
    assert came[0][: place + len(moved)] == words[:place] + moved
    assert len(came[0]) == len(words)
    assert t["word"] == (place - 2 if 2 <= place < len(words) - 1 else None)


def level_at(card: Card, cycle: int, master: list[tuple[int, int]]) -> int:
    """Return the words in B's incoming FIFO at a bus cycle, from its two taps and the frozen level."""
    level = card.read("frozen.rx_level")
    leaving = sum(1 for w in card.words(3) if w.cycle > cycle)
    entering = sum(1 for w in card.words(2) if in_bus_cycles(w.cycle, master) > cycle)
    return level + leaving - entering


def in_bus_cycles(cycle: int, pairs: list[tuple[int, int]]) -> float:
    (bus0, link0), (bus1, link1) = pairs
    return bus0 + (cycle - link0) * (bus1 - bus0) / (link1 - link0)


def toggles(card: Card) -> list[tuple[int, int]]:
    """Return (bus cycle, link cycle) of the first and the last common toggle of the time line."""
    found = []
    for which in ("first", "last"):
        numbers = [card.read(f"pair.{which}_number", domain) for domain in (0, 1)]
        cycles = [card.read(f"pair.{which}_lo", domain) for domain in (0, 1)]
        found.append((cycles[0] + (numbers[1] - numbers[0]) * 4096, cycles[1]))
    return found


@every_load
def test_coarse_credits_block_a_sender_whose_receiver_is_nearly_empty(seed: int, load: str) -> None:
    a, b = evidence("credit-too-coarse", seed, load)
    t = truth(a)
    freed = [
        r.value >> FREED_LSB & FREED_MASK
        for r in b.events(Kind.CREDIT, CreditCode.SENT)
        if r.flow == t["flow"]
    ]
    steps = [after - before & FREED_MASK for before, after in pairwise(freed)]
    # Half of the flow's share of 1024. A credit that waits for the link tells more, the next one less.
    assert sum(steps) >= 512 * len(steps) - 512
    begun = [r for r in a.events(Kind.PRESSURE, PressureCode.BEGIN) if r.flow == t["flow"]]
    assert begun
    assert b.counter("rx_fifo_overflows") == 0
    # A began to wait with so much freed at B and not told.
    state = b.flow(t["flow"])
    assert state["freed"] - state["reported"] & FREED_MASK < t["detail"]["unit_words"]


def test_when_coarse_credits_block_the_receivers_fifo_is_under_half_full() -> None:
    a, b = evidence("credit-too-coarse", 2, "saturating")
    clocks = [nic.clocks.bus for nic in a.target.pair.nics]
    begun = [r.cycle for r in a.events(Kind.PRESSURE, PressureCode.BEGIN)][-2:]
    assert begun
    oldest = max(b.words(2)[0].cycle * 1.28, b.words(3)[0].cycle)
    seen = 0
    for cycle in begun:
        here = clocks[1].cycle_at(clocks[0].edge_ps(cycle))
        if here > oldest + 100:
            assert 0 <= level_at(b, here, toggles(b)) < 1024
            seen += 1
    assert seen


@every_load
def test_optimism_exceeds_the_right_limit_and_not_only_across_the_wrap(
    seed: int, load: str
) -> None:
    a, b = evidence("credit-too-optimistic", seed, load)
    t = truth(a)
    flow = a.flow(t["flow"])
    outstanding = flow["sent"] - flow["credited"] & FREED_MASK
    assert flow["limit"] == 1024 < outstanding <= 1024 + t["detail"]["constant_words"]
    assert flow["sent"] > flow["credited"]  # no wrap between them
    assert b.counter("rx_fifo_overflows") > 0


@every_load
def test_a_storm_interrupts_for_every_notification_while_others_wait(seed: int, load: str) -> None:
    _, b = evidence("interrupt-storm", seed, load)
    raised = b.events(Kind.IRQ, IrqCode.RAISED)
    assert len([r for r in raised if r.value >= 2]) >= 3
    assert b.events(Kind.IRQ, IrqCode.MASKED) == []
    assert b.read("frozen.interrupt_mask") == 0


@every_load
def test_a_lost_interrupt_leaves_a_completion_until_the_next(seed: int, load: str) -> None:
    a, b = evidence("interrupt-lost", seed, load)
    t = truth(a)
    log = [r for r in b.records(4) if r.kind in (Kind.IRQ, Kind.NOTE)]
    (left,) = [
        k for k, r in enumerate(log) if r.kind == Kind.IRQ and r.code == IrqCode.ENABLED and r.value
    ]
    waiting, remote = log[left].value, (Kind.NOTE, NoteCode.REMOTE)
    noted = [r for r in log[:left] if (r.kind, r.code) == remote]
    assert (noted[-waiting].value, noted[-waiting].flow) == (t["packet"], t["flow"])
    raised = (Kind.IRQ, IrqCode.RAISED)
    after = [r for r in log[left + 1 :] if (r.kind, r.code) in (remote, raised)]
    if after:
        assert after[0].kind == Kind.NOTE  # no interrupt before the next notification
        assert (after[1].kind, after[1].value) == (Kind.IRQ, waiting + 1)
    else:
        assert b.read("frozen.completions_waiting") == waiting


@every_load
def test_short_transfers_are_most_messages_and_go_to_one_or_two_addresses(
    seed: int, load: str
) -> None:
    a, _ = evidence("short-transfers", seed, load)
    packets = packets_of(a.words(0))
    addresses = set(truth(a)["detail"]["addresses"])
    short = [p for p in packets if 1 <= len(p.payload) <= 2 and p.address in addresses]
    assert 1 <= len(addresses) <= 2
    assert len(short) > len(packets) / 2
    assert causes(a) == {Cause.HOST}


@every_load
def test_a_mishandled_retry_leaves_words_out_before_the_crc_is_made(seed: int, load: str) -> None:
    a, b = evidence("split-retry-mishandled", seed, load)
    t = truth(a)
    (entered,) = [p for p in packets_of(a.words(0)) if p.seq == t["packet"]]
    skipped = t["detail"]["skipped_words"]
    assert len(entered.payload) == entered.length - skipped
    assert entered.tail == zlib.crc32(b"".join(w.to_bytes(8, "little") for w in entered.payload))
    resumed = [
        r
        for r in a.events(Kind.DESC)
        if r.code in (DescCode.RETRIED, DescCode.DISCONNECTED)
        and r.value >> DESC_VALUE_SEQ_LSB & DESC_VALUE_SEQ_MASK == t["packet"]
    ]
    assert entered.length - (resumed[-1].value & DESC_VALUE_LENGTH_MASK) == t["word"]
    (came,) = [p for p in packets_of(b.words(2)) if p.seq == t["packet"]]
    assert (came.header, came.payload, came.tail) == (entered.header, entered.payload, entered.tail)
    assert (b.counter("length_errors"), b.counter("payload_errors")) == (1, 0)


@every_load
def test_a_miscounted_header_slips_the_counts_while_the_words_agree(seed: int, load: str) -> None:
    a, b = evidence("header-miscounted", seed, load)
    t = truth(a)
    sent, left = sum_of(a, "words_sent"), a.counter("tx_deq_words")
    received, entered = sum_of(b, "words_received"), b.counter("rx_enq_words")
    if t["device"] == "A":
        assert causes(b) == {Cause.RX_OVF}
        assert left - sent > 50 and t["flow"] is None
        assert received == entered
    else:
        assert causes(a) == {Cause.CREDIT_STALL}
        assert entered - received > 400
        assert sent == left == entered
        flow = a.flow(t["flow"])
        assert flow["sent"] - flow["credited"] & FREED_MASK > 400
        assert b.read("frozen.rx_level") == 0


def test_both_ends_are_hit_by_some_seed_of_a_miscounted_header() -> None:
    places = {truth(evidence("header-miscounted", seed)[0])["device"] for seed in range(2)}
    assert places == {"A", "B"}


@every_load
def test_a_clean_run_hints_at_none_of_them(seed: int, load: str) -> None:
    target, a, b = pair(seed=seed, load=load)
    target.advance(300 * US)
    freeze(a, target, 3000 * US)
    for card in (a, b):
        irq = card.events(Kind.IRQ)
        assert [r for r in irq if r.code == IrqCode.RAISED and r.value > 1] == []
        assert [r for r in irq if r.code == IrqCode.ENABLED and r.value] == []
        assert [
            r for r in card.events(Kind.LINK) if r.code in (LinkCode.UNDERFLOW, LinkCode.OVERFLOW)
        ] == []
        assert sum_of(card, "words_sent") == card.counter("tx_deq_words")
        assert sum_of(card, "words_received") == card.counter("rx_enq_words")
        for packet in packets_of(card.words(0)):
            assert packet.length == len(packet.payload)
        for number in range(8):
            flow = card.flow(number)
            assert flow["sent"] - flow["credited"] & FREED_MASK <= flow["limit"]
