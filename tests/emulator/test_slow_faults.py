"""The faults that slow a pair down or let counts slip, as docs/faults.md defines them: what the cards' own recordings
show, read through registers only.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.emulator.reading import (
    Card,
    Packet,
    Record,
    freeze,
    packets_of,
    pair,
    run_to_evidence,
)

HOST, HDR_CRC, PAY_CRC, LENGTH, STALL, RX_OVF, CROSS = 0, 2, 3, 4, 6, 7, 11
NOTE, IRQ, PRESSURE, LINK, DESC, CREDIT = 6, 7, 9, 10, 5, 4
RAISED, MASKED, ENABLED = 1, 2, 3
UNDERFLOW, OVERFLOW = 6, 7
RETRIED, DISCONNECTED = 4, 5
US = 1_000_000
LOADS = ("light", "medium", "saturating")
CAUSES: dict[str, tuple[set[int], str]] = {
    "clock-drift": ({PAY_CRC, HDR_CRC}, "B"),
    "credit-too-coarse": ({HOST}, "A"),
    "credit-too-optimistic": ({RX_OVF}, "B"),
    "interrupt-storm": ({HOST}, "A"),
    "interrupt-lost": ({HOST}, "A"),
    "short-transfers": ({HOST}, "A"),
    "split-retry-mishandled": ({LENGTH}, "B"),
}
every_load = pytest.mark.parametrize("load", LOADS)
every_seed = pytest.mark.parametrize("seed", range(2))


def truth(card: Card) -> dict[str, Any]:
    injections: list[dict[str, Any]] = card.target.pair.truth.to_json()["injections"]
    (injection,) = injections
    return injection


def causes(card: Card) -> set[int]:
    mask = card.read("ctl.causes")
    return {bit for bit in range(16) if mask >> bit & 1}


def events(card: Card, kind: int, code: int | None = None) -> list[Record]:
    return [r for r in card.records(4) if r.kind == kind and code in (None, r.code)]


def sum_of(card: Card, name: str) -> int:
    return sum(card.read(f"frozen_flow.{name}", flow) for flow in range(8))


@pytest.mark.parametrize("fault", CAUSES)
@every_load
def test_a_fault_freezes_for_what_the_table_says_at_every_load(fault: str, load: str) -> None:
    _, a, b = run_to_evidence(fault, 11, load)
    allowed, finder = CAUSES[fault]
    cards = {"A": a, "B": b}
    assert causes(cards.pop(finder)) <= allowed
    (other,) = cards.values()
    assert causes(other) == {CROSS}
    found = truth(a)
    assert (found["fault"], found["before_freeze"]) == (fault, True)


@every_seed
def test_drifting_clocks_slip_both_lanes_at_the_interval_of_their_difference(seed: int) -> None:
    target, a, b = run_to_evidence("clock-drift", seed, "light")
    t = truth(a)
    slow, fast = sorted(nic.link.period_fs for nic in target.pair.nics)
    assert 80e-6 <= (fast - slow) / slow <= 200e-6
    code = UNDERFLOW if t["detail"]["what"] == "repeated" else OVERFLOW
    slips = [[r.cycle for r in events(b, LINK, code) if r.value == lane] for lane in (0, 1)]
    assert slips[0] == slips[1]
    every_us = t["detail"]["every_cycles"] * 12.8e-3
    for before, after in pairwise(slips[0]):
        assert (after - before) / 100 == pytest.approx(every_us, abs=0.05)
    name = "underflows" if code == UNDERFLOW else "overflows"
    lanes = [b.read(f"frozen.lane.{name}", lane) for lane in (0, 1)]
    assert lanes[0] == lanes[1] > 0
    assert b.counter("idles_inserted") == b.counter("idles_removed") == 0


@every_seed
def test_a_slip_moves_both_halves_of_every_later_word_of_the_packet(seed: int) -> None:
    _, a, b = run_to_evidence("clock-drift", seed)
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


@every_seed
@every_load
def test_coarse_credits_block_a_sender_whose_receiver_is_nearly_empty(seed: int, load: str) -> None:
    _, a, b = run_to_evidence("credit-too-coarse", seed, load)
    t = truth(a)
    freed = [r.value >> 16 & 0x1FFF for r in events(b, CREDIT, 1) if r.flow == t["flow"]]
    steps = [after - before & 0x1FFF for before, after in pairwise(freed)]
    # Half of the flow's share of 1024. A credit that waits for the link tells more, the next one less.
    assert sum(steps) >= 512 * len(steps) - 512
    begun = [r for r in events(a, PRESSURE, 1) if r.flow == t["flow"]]
    assert begun
    assert b.counter("rx_fifo_overflows") == 0
    # A began to wait with so much freed at B and not told.
    state = b.flow(t["flow"])
    assert state["freed"] - state["reported"] & 0x1FFF < t["detail"]["unit_words"]


def test_when_coarse_credits_block_the_receivers_fifo_is_under_half_full() -> None:
    target, a, b = run_to_evidence("credit-too-coarse", 2, "saturating")
    clocks = [nic.bus.clock for nic in target.pair.nics]
    begun = [r.cycle for r in events(a, PRESSURE, 1)][-2:]
    assert begun
    oldest = max(b.words(2)[0].cycle * 1.28, b.words(3)[0].cycle)
    seen = 0
    for cycle in begun:
        here = clocks[1].cycle_at(clocks[0].edge_ps(cycle))
        if here > oldest + 100:
            assert 0 <= level_at(b, here, toggles(b)) < 1024
            seen += 1
    assert seen


@every_seed
@every_load
def test_optimism_exceeds_the_right_limit_and_not_only_across_the_wrap(
    seed: int, load: str
) -> None:
    _, a, b = run_to_evidence("credit-too-optimistic", seed, load)
    t = truth(a)
    flow = a.flow(t["flow"])
    outstanding = flow["sent"] - flow["credited"] & 0x1FFF
    assert flow["limit"] == 1024 < outstanding <= 1024 + t["detail"]["constant_words"]
    assert flow["sent"] > flow["credited"]  # no wrap between them
    assert b.counter("rx_fifo_overflows") > 0


@every_seed
@every_load
def test_a_storm_interrupts_for_every_notification_while_others_wait(seed: int, load: str) -> None:
    _, _, b = run_to_evidence("interrupt-storm", seed, load)
    raised = events(b, IRQ, RAISED)
    assert len([r for r in raised if r.value >= 2]) >= 3
    assert events(b, IRQ, MASKED) == []
    assert b.read("frozen.interrupt_mask") == 0


@every_seed
@every_load
def test_a_lost_interrupt_leaves_a_completion_until_the_next(seed: int, load: str) -> None:
    _, a, b = run_to_evidence("interrupt-lost", seed, load)
    t = truth(a)
    log = [r for r in b.records(4) if r.kind in (IRQ, NOTE)]
    (left,) = [k for k, r in enumerate(log) if r.kind == IRQ and r.code == ENABLED and r.value]
    waiting = log[left].value
    noted = [r for r in log[:left] if r.kind == NOTE and r.code == 2]
    assert (noted[-waiting].value, noted[-waiting].flow) == (t["packet"], t["flow"])
    after = [r for r in log[left + 1 :] if (r.kind, r.code) in ((NOTE, 2), (IRQ, RAISED))]
    if after:
        assert after[0].kind == NOTE  # no interrupt before the next notification
        assert (after[1].kind, after[1].value) == (IRQ, waiting + 1)
    else:
        assert b.read("frozen.completions_waiting") == waiting


@every_seed
@every_load
def test_short_transfers_are_most_messages_and_go_to_one_or_two_addresses(
    seed: int, load: str
) -> None:
    _, a, _ = run_to_evidence("short-transfers", seed, load)
    packets: list[Packet] = packets_of(a.words(0))
    addresses = set(truth(a)["detail"]["addresses"])
    short = [p for p in packets if 1 <= len(p.payload) <= 2 and p.address in addresses]
    assert 1 <= len(addresses) <= 2
    assert len(short) > len(packets) / 2
    assert causes(a) == {HOST}


@every_seed
@every_load
def test_a_mishandled_retry_leaves_words_out_before_the_crc_is_made(seed: int, load: str) -> None:
    import zlib

    _, a, b = run_to_evidence("split-retry-mishandled", seed, load)
    t = truth(a)
    (entered,) = [p for p in packets_of(a.words(0)) if p.seq == t["packet"]]
    skipped = t["detail"]["skipped_words"]
    assert len(entered.payload) == entered.length - skipped
    assert entered.tail == zlib.crc32(b"".join(w.to_bytes(8, "little") for w in entered.payload))
    told = [
        r
        for r in events(a, DESC)
        if r.code in (RETRIED, DISCONNECTED) and r.value >> 20 & 0xFFFF == t["packet"]
    ]
    assert entered.length - (told[-1].value & 0x3FF) == t["word"]
    (came,) = [p for p in packets_of(b.words(2)) if p.seq == t["packet"]]
    assert (came.header, came.payload, came.tail) == (entered.header, entered.payload, entered.tail)
    assert (b.counter("length_errors"), b.counter("payload_errors")) == (1, 0)


@every_seed
@every_load
def test_a_miscounted_header_slips_the_counts_while_the_words_agree(seed: int, load: str) -> None:
    _, a, b = run_to_evidence("header-miscounted", seed, load)
    t = truth(a)
    sent, left = sum_of(a, "words_sent"), a.counter("tx_deq_words")
    received, entered = sum_of(b, "words_received"), b.counter("rx_enq_words")
    if t["device"] == "A":
        assert causes(b) == {RX_OVF}
        assert left - sent > 50 and t["flow"] is None
        assert received == entered
    else:
        assert causes(a) == {STALL}
        assert entered - received > 400
        assert sent == left == entered
        flow = a.flow(t["flow"])
        assert flow["sent"] - flow["credited"] & 0x1FFF > 400
        assert b.read("frozen.rx_level") == 0


def test_both_ends_are_hit_by_some_seed_of_a_miscounted_header() -> None:
    places = {truth(run_to_evidence("header-miscounted", seed)[1])["device"] for seed in range(2)}
    assert places == {"A", "B"}


@pytest.mark.parametrize("seed", range(3))
@every_load
def test_a_clean_run_hints_at_none_of_them(seed: int, load: str) -> None:
    target, a, b = pair(seed=seed, load=load)
    target.advance(300 * US)
    freeze(a)
    assert target.run_until_frozen(3000 * US)
    for card in (a, b):
        irq = events(card, IRQ)
        assert [r for r in irq if r.code == RAISED and r.value > 1] == []
        assert [r for r in irq if r.code == ENABLED and r.value] == []
        assert [r for r in events(card, LINK) if r.code in (UNDERFLOW, OVERFLOW)] == []
        assert sum_of(card, "words_sent") == card.counter("tx_deq_words")
        assert sum_of(card, "words_received") == card.counter("rx_enq_words")
        for packet in packets_of(card.words(0)):
            assert packet.length == len(packet.payload)
        for number in range(8):
            flow = card.flow(number)
            assert flow["sent"] - flow["credited"] & 0x1FFF <= flow["limit"]
