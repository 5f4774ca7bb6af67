"""Workloads and the cards they are for: what the FORTH paper measured, out of the mechanisms, read through registers.

Source: FORTH, sections 2.6, 4.3, 4.4; the numbers are those of the paper where the mechanism gives them.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import mean

import pytest

from freezeframe.capture.errors import InputError
from freezeframe.emulator.profile import load_profile
from freezeframe.emulator.target import EmulatorTarget
from tests.emulator.reading import Card, Record, freeze, pair

US = 1_000_000
POSTED, STARTED, DONE, POSTING, REQUESTED = 1, 2, 3, 6, 7
TX_DMA, SPLIT_WAIT, DATA = 0, 2, 3


def run(profile: str, workload: str, us: int = 250) -> tuple[EmulatorTarget, Card, Card]:
    target, a, b = pair(seed=1, profile=profile, workload=workload)
    target.advance(us * US)
    freeze(a, target, 5000 * US)
    return target, a, b


def steps(card: Card) -> list[dict[int, int]]:
    """Return for each descriptor that is whole in the log the cycle of each of its DESC events."""
    found: dict[int, dict[int, int]] = {}
    for record in card.records(4):
        if record.kind == 5:
            found.setdefault(record.value >> 20 & 0xFFFF, {}).setdefault(record.code, record.cycle)
    return [codes for codes in found.values() if {POSTING, POSTED, REQUESTED, DONE} <= codes.keys()]


def bodies(card: Card, memory: int) -> list[Record]:
    return [word for word in card.words(memory) if word.kind == 2]


def test_four_single_writes_of_ten_cycles_post_a_descriptor() -> None:
    _, a, _ = run("forth-uncombined", "single-8B")
    found = steps(a)
    assert len(found) > 5
    assert {codes[POSTED] - codes[POSTING] for codes in found} == {40}  # 400 ns


def test_a_combining_buffer_posts_one_descriptor_in_90_ns_and_two_in_110() -> None:
    _, a, _ = run("forth-combining", "single-8B")
    assert {codes[POSTED] - codes[POSTING] for codes in steps(a)} == {9}
    _, a, _ = run("forth-combining", "pair-8B")
    found = steps(a)
    assert {codes[POSTED] - codes[POSTING] for codes in found} == {11}
    begun = [codes[POSTING] for codes in found]
    assert begun[0::2] == begun[1::2] or begun[1::2][:-1] == begun[2::2][: len(begun[1::2]) - 1]


def test_a_read_of_4_KiB_takes_512_of_577_cycles() -> None:
    _, a, _ = run("forth-uncombined", "stream-4KiB", 200)
    asked = [codes[REQUESTED] for codes in steps(a)]
    data = bodies(a, 0)
    spans = []
    for cycle in asked:
        mine = [word.cycle for word in data if cycle < word.cycle <= cycle + 600][:512]
        if len(mine) == 512 and mine[-1] - mine[0] == 511:
            spans.append((mine[0] - cycle, mine[-1] + 1 - cycle))
    assert len(spans) >= 3
    assert 576 <= mean(whole for _, whole in spans) <= 578
    assert all(8 + 45 <= first <= 8 + 60 for first, _ in spans)  # 8 + 57


def test_eight_bytes_come_after_a_split_of_about_46_cycles() -> None:
    _, a, _ = run("forth-uncombined", "single-8B")
    asked = [codes[REQUESTED] for codes in steps(a)]
    words = [word.cycle for word in bodies(a, 0)]
    first = [min(cycle for cycle in words if cycle > at) - at for at in asked]
    assert 45 <= mean(first) - 8 <= 47


def test_the_second_of_two_combined_messages_is_asked_for_while_the_first_is_waited_for() -> None:
    _, a, _ = run("forth-combining", "pair-8B")
    found = steps(a)
    pairs = [(x, y) for x, y in pairwise(found) if x[POSTING] == y[POSTING]]
    assert pairs
    for first, second in pairs:
        assert second[REQUESTED] - first[REQUESTED] == 8
        assert second[REQUESTED] < first[DONE] < second[DONE]


def sent_words(profile: str, workload: str) -> tuple[int, int]:
    """Return words through A's tx_deq in 400 us, and link cycles in which a packet waited for credit."""
    target = EmulatorTarget(profile, seed=1, workload=workload)
    target.advance(100 * US)
    nic = target.pair.nics[0]
    words, waited = (
        nic.taps[1].words.at(nic.link.cycle_at(nic.now_ps)),
        nic.tx_link.pressure_at(nic.now_ps),
    )
    target.advance(400 * US)
    return (
        nic.taps[1].words.at(nic.link.cycle_at(nic.now_ps)) - words,
        nic.tx_link.pressure_at(nic.now_ps) - waited,
    )


def test_finer_credits_give_10_to_15_percent_and_no_waits_are_left() -> None:
    coarse, waited = sent_words("forth-coarse", "stream-4KiB")
    fine, waited_less = sent_words("forth-fine", "stream-4KiB")
    assert 1.09 <= fine / coarse <= 1.15
    assert waited > 2000 and waited_less == 0


def answered(workload: str) -> int:
    """Return the interrupts' completions at A in 1,000 us: one for each request that was answered."""
    target = EmulatorTarget("forth-uncombined", seed=1, workload=workload)
    target.advance(100 * US)
    before = target.pair.nics[1].counts["descriptors"]
    target.advance(1000 * US)
    posted = target.pair.nics[1].counts["descriptors"] - before
    return posted // 2 if workload == "io-head-tail" else posted


def test_pending_flags_in_place_of_head_and_tail_give_up_to_10_percent() -> None:
    gain = answered("io-pending-flags") / answered("io-head-tail")
    assert 1.04 <= gain <= 1.10


def test_requests_that_are_open_never_exceed_the_window() -> None:
    target = EmulatorTarget("forth-uncombined", seed=2, workload="io-pending-flags")
    most = 0
    for _ in range(200):
        target.advance(1 * US)
        host = target.pair.nics[0].host
        most = max(most, host._open)
        assert 0 <= host._open <= host.sending.window
    assert most == target.pair.nics[0].host.sending.window


def test_the_silent_host_of_a_workload_posts_nothing() -> None:
    _, _, b = run("forth-uncombined", "stream-4KiB", 60)
    assert b.counter("descriptors") == 0


def test_the_same_seed_gives_the_same_bits_with_several_reads_waiting() -> None:
    def bits(seed: int) -> list[bytes]:
        target, a, b = pair(seed=seed, profile="forth-combining", load="saturating")
        target.advance(100 * US)
        freeze(a, target, 5000 * US)
        return [card.memory_bytes(memory) for card in (a, b) for memory in range(5)]

    assert bits(4) == bits(4) != bits(5)


def test_a_workload_is_refused_beside_a_load_or_a_fault_or_when_unknown() -> None:
    with pytest.raises(
        InputError, match=r"workload 'x' does not exist; there are single-8B, single-4KiB"
    ):
        EmulatorTarget(workload="x")
    with pytest.raises(InputError, match="it has no load and no fault"):
        EmulatorTarget(workload="pair-8B", load="light")
    with pytest.raises(InputError, match="it has no load and no fault"):
        EmulatorTarget(fault="clock-drift", workload="pair-8B")
    with pytest.raises(
        InputError, match="load 'heavy' does not exist; there are light, medium, sat"
    ):
        EmulatorTarget(load="heavy")


def test_the_variants_differ_from_forth_in_what_they_say() -> None:
    forth, single = load_profile("forth"), load_profile("forth-uncombined")
    combining, coarse = load_profile("forth-combining"), load_profile("forth-coarse")
    assert (single.clocks_bus_hz, single.fifo_rx_words) == (
        forth.clocks_bus_hz,
        forth.fifo_rx_words,
    )
    assert (single.host_combining_words, combining.host_combining_words) == (0, 8)
    assert combining.combined_descriptors == 2
    assert coarse.flows_credit_unit_words > load_profile("forth-fine").flows_credit_unit_words
    assert len({p.digest for p in (forth, single, combining, coarse)}) == 4
