"""Arming, freezing, causes and standing still, through the registers of an emulated pair."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from tests.emulator.reading import Card, arm, freeze, pair, profile_like_forth, run_to_freeze

US = 1_000_000
IDLE, ARMED, TRIGGERED, FROZEN = range(4)
HOST, CREDIT_STALL, SEQUENCE, CROSS = 1 << 0, 1 << 6, 1 << 10, 1 << 11
ARM, FREEZE = 0x4152 << 16, 0x465A << 16


def everything(card: Card) -> list[bytes]:
    return [card.memory_bytes(memory) for memory in range(5)]


def test_a_card_records_from_power_up_as_generation_1() -> None:
    _, a, b = pair()
    for card in (a, b):
        assert (card.state, card.read("ctl.generation")) == (ARMED, 1)
        assert [card.read("ctl.post", m) for m in range(5)] == [64] * 5
        assert card.read("ctl.cause_mask") == 0xFFF & ~(1 << 9)  # all but sync-unf
        assert card.read("ctl.stall_limit") == 20_000


@pytest.mark.parametrize(
    "value",
    [ARM | 1, ARM | 3, 0x4153 << 16 | 2, 2, FREEZE | 2],
    ids=["this generation", "a later one", "wrong key", "no key", "freeze's key"],
)
def test_an_arm_that_does_not_match_has_no_effect(value: int) -> None:
    target, a, _ = pair(seed=1)
    target.advance(100 * US)
    stored = a.read("memory.stored", 0)
    a.write("ctl.arm", value)
    assert (a.read("ctl.generation"), a.read("memory.stored", 0)) == (1, stored)


def test_a_doubled_arm_counts_once() -> None:
    _, a, _ = pair()
    a.write("ctl.arm", ARM | 2)
    a.write("ctl.arm", ARM | 2)
    assert a.read("ctl.generation") == 2


@pytest.mark.parametrize("value", [FREEZE | 0, FREEZE | 2, ARM | 1, 1])
def test_a_freeze_that_does_not_match_has_no_effect(value: int) -> None:
    _, a, _ = pair()
    a.write("ctl.freeze", value)
    assert a.state == ARMED


def test_a_late_freeze_of_the_generation_before_has_no_effect() -> None:
    _, a, _ = pair()
    arm(a)
    a.write("ctl.freeze", FREEZE | 1)
    assert a.state == ARMED
    freeze(a)
    assert a.state == TRIGGERED


def test_the_state_goes_from_armed_over_triggered_to_frozen_and_both_cards_are_held() -> None:
    target, a, b = pair(seed=2)
    target.advance(50 * US)
    freeze(a)
    assert (a.state, b.state) == (TRIGGERED, ARMED)
    target.advance(US)
    assert b.state == TRIGGERED
    assert target.run_until_frozen(3000 * US)
    for card in (a, b):
        assert card.read("ctl.state") == FROZEN | 1 << 4 | 0b11111 << 8
    assert (a.read("ctl.causes"), b.read("ctl.causes")) == (HOST, CROSS)


def test_the_cross_freeze_comes_after_its_latency_and_a_crossing() -> None:
    target, a, b = pair(seed=2)
    target.advance(50 * US)
    freeze(a, target, 3000 * US)
    clock_a, clock_b = (nic.bus.clock for nic in target.pair.nics)
    at_a = clock_a.edge_ps(a.read("ctl.cause_cycle_lo"))
    at_b = clock_b.edge_ps(b.read("ctl.cause_cycle_lo"))
    assert 32 + 2 - 0.1 < (at_b - at_a) / 10_000 < 32 + 3 + 0.1


def test_the_first_cause_is_kept() -> None:
    _, a, b = run_to_freeze("word-omitted", 3)
    before = (b.read("ctl.causes"), b.read("ctl.cause_cycle_lo"))
    freeze(b)
    assert (b.read("ctl.causes"), b.read("ctl.cause_cycle_lo")) == before
    assert a.read("ctl.causes") == CROSS


def test_a_masked_cause_does_not_freeze_and_a_masked_cross_leaves_the_other_card_running() -> None:
    target, a, b = pair("payload-bit-flip", 3)
    b.write("ctl.cause_mask", 0xFFF & ~(1 << 3))
    a.write("ctl.cause_mask", 0)
    assert not target.run_until_frozen(1500 * US)
    assert target.pair.truth.injections
    assert (a.state, b.state) == (ARMED, ARMED)
    freeze(b)
    target.advance(1500 * US)
    assert (a.state, b.state) == (ARMED, FROZEN)


def test_a_frozen_memory_never_changes_and_its_crc_table_grows_ready() -> None:
    target, a, b = run_to_freeze("word-duplicated", 2)
    before = [everything(card) for card in (a, b)]
    ready = [a.read("memory.status", m) >> 16 for m in range(5)]
    assert ready[0] <= 1
    chunk_ps = 256 * 9 * 10_000
    target.advance(chunk_ps + chunk_ps // 100)
    assert a.read("memory.status", 0) >> 16 in (1, 2)
    target.advance(40 * chunk_ps)
    assert [a.read("memory.status", m) >> 16 for m in range(5)] == [8] * 5
    assert [everything(card) for card in (a, b)] == before
    for card, memories in zip((a, b), before, strict=True):
        for memory, raw in enumerate(memories):
            for chunk in range(8):
                entry = card.window("crc_table") + 4 * (64 * memory + chunk)
                expected = zlib.crc32(raw[chunk * 2304 : (chunk + 1) * 2304])
                assert int(card.target.read([entry])[0]) == expected


def test_everything_that_stands_still_reads_the_same_for_ever() -> None:
    target, a, b = run_to_freeze("header-corrupted", 1)
    live = ("snapshot", "ctl.snapshot_seq", "id.bus_errors", "memory.status", "id.bus_error_addr")
    from freezeframe.capture.registers.map_table import REGISTERS

    def dump(card: Card) -> list[int]:
        names = [
            r
            for r in REGISTERS
            if "r" in r.access and not r.skip_dump and not r.name.startswith(live)
        ]
        return [card.read(r.name, *(0 for _ in r.dims)) for r in names]

    before = [dump(card) for card in (a, b)]
    target.advance(5000 * US)
    assert [dump(card) for card in (a, b)] == before


def test_without_hold_the_card_goes_on_but_the_recording_stays() -> None:
    target, a, b = pair(seed=2)
    for card in (a, b):
        card.write("ctl.options", 0)
    target.advance(50 * US)
    freeze(a, target, 3000 * US)
    assert [card.read("ctl.state") >> 4 & 1 for card in (a, b)] == [0, 0]
    before = [everything(card) for card in (a, b)]
    words = a.counter("tx_enq_words")
    target.advance(400 * US)
    assert [everything(card) for card in (a, b)] == before
    assert a.counter("tx_enq_words") == words
    bank = a.read("ctl.snapshot_seq") & 1
    assert a.read("snapshot.tx_enq_words.lo", bank) > words


def test_a_rearmed_card_stays_held_until_the_other_is_armed_too() -> None:
    target, a, b = run_to_freeze("payload-bit-flip", 5)
    arm(b)
    assert [card.read("ctl.state") >> 4 & 1 for card in (a, b)] == [1, 1]
    arm(a)
    assert [card.read("ctl.state") >> 4 & 1 for card in (a, b)] == [0, 0]
    target.advance(100 * US)
    assert a.read("memory.stored", 0) > 0


def test_a_rearm_does_not_touch_a_card_that_was_never_held() -> None:
    target, a, b = pair(seed=2)
    for card in (a, b):
        card.write("ctl.options", 0)
    target.advance(50 * US)
    freeze(a, target, 3000 * US)
    for card in (a, b):
        arm(card)
    assert target.pair.runs == 1
    target.advance(200 * US)
    assert a.read("memory.stored", 0) > 0


def test_a_stall_that_is_over_the_limit_freezes_when_its_cause_is_let_through() -> None:
    target, a, b = pair("credit-lost", 3)
    for card in (a, b):
        card.write("ctl.cause_mask", 0xFFF & ~(1 << 6))
    assert not target.run_until_frozen(3000 * US)
    a.write("ctl.cause_mask", 0xFFF)
    assert target.run_until_frozen(3000 * US)
    assert a.read("ctl.causes") == 1 << 6


def test_a_limit_set_during_a_wait_holds_for_that_wait() -> None:
    target, a, b = pair("credit-lost", 3)
    for card in (a, b):
        card.write("ctl.stall_limit", 0)
    assert not target.run_until_frozen(3000 * US)
    a.write("ctl.stall_limit", 1000)
    assert target.run_until_frozen(3000 * US)
    assert a.read("ctl.causes") == 1 << 6


def test_a_flow_is_stalled_by_the_limit_that_stands_not_by_one_that_stood() -> None:
    for limit, stalled in ((1000, True), (1 << 30, False), (0, False)):
        target, a, b = pair("credit-lost", 3)
        for card in (a, b):
            card.write("ctl.cause_mask", 0xFFF & ~(1 << 6))
        assert not target.run_until_frozen(3000 * US)  # far over the limit of 20,000 cycles
        a.write("ctl.stall_limit", limit)
        target.advance(US)
        freeze(a, target, 3000 * US)
        assert (a.read("frozen.stalled_flows") != 0) == stalled, limit


def test_after_a_rearm_the_pair_starts_anew_and_a_fault_strikes_once_more() -> None:
    target, a, b = run_to_freeze("payload-bit-flip", 5)
    time_before = a.read("frozen.freeze_cycle_lo")
    arm(b)
    target.advance(20 * US)
    assert (a.state, b.state, b.read("memory.stored", 0)) == (FROZEN, ARMED, 0)  # no link yet
    arm(a)
    assert target.run_until_frozen(20_000 * US)
    assert [i.generation for i in target.pair.truth.injections] == [1, 2]
    assert a.read("frozen.freeze_cycle_lo") > time_before
    assert a.read("ctl.generation") == b.read("ctl.generation") == 2
    assert b.read("ctl.causes") == 1 << 3
    first = target.pair.truth.injections[0]
    second = target.pair.truth.injections[1]
    assert (first.packet, first.word, first.detail) != (second.packet, second.word, second.detail)


@pytest.mark.parametrize("fault", ["lane-misaligned", "credit-lost", "wrap-unhandled"])
def test_a_lasting_fault_starts_again_with_each_rearm(fault: str) -> None:
    target, a, b = run_to_freeze(fault, 0)
    causes = (a.read("ctl.causes"), b.read("ctl.causes"))
    for card in (a, b):
        arm(card)
    assert target.run_until_frozen(20_000 * US)
    assert (a.read("ctl.causes") != CROSS) == (causes[0] != CROSS)
    assert [i.generation for i in target.pair.truth.injections] == [1, 2]


def test_an_arm_in_the_middle_of_traffic_records_from_the_next_cycle_on() -> None:
    target, a, _ = pair(seed=2)
    target.advance(60 * US)
    cycle = target.pair.nics[0].bus.clock.cycle_at(target.now_ps)
    arm(a)
    target.advance(30 * US)
    freeze(a, target, 3000 * US)
    words = a.words(0)
    assert words
    assert words[0].cycle > cycle
    assert a.records(0)[0].dt == 15


def test_a_freeze_right_behind_an_arm_closes_every_memory() -> None:
    target, a, b = pair(seed=2)
    target.advance(60 * US)
    arm(a)
    freeze(a, target, 3000 * US)
    assert (a.read("ctl.causes"), b.read("ctl.causes")) == (HOST, CROSS)


def test_post_0_closes_at_once_and_a_large_post_records_on() -> None:
    for post in (0, 500):
        target, a, _ = pair(seed=3)
        for memory in range(5):
            a.write("ctl.post", memory, post)
        target.advance(100 * US)
        freeze(a, target, 10_000 * US)
        cause = a.read("ctl.cause_cycle_lo")
        *after, mark, _ = [r for r in a.records(4) if r.cycle > cause]
        drained = (mark.cycle - 1 - cause) // 1024
        assert post <= len(after) + drained <= post + 2  # two events may share the last cycle


def test_in_select_mode_the_one_memory_stands_for_the_tap_that_was_selected_at_arm(
    tmp_path: Path,
) -> None:
    profile = profile_like_forth(
        tmp_path / "select.toml", mode=('mode = "quad"', 'mode = "select"')
    )
    target, a, b = pair(seed=3, profile=profile)
    assert a.read("id.trace") & 15 == 0
    a.write("ctl.options", 1 | 1 << 4)  # hold; tx_deq
    arm(a)
    target.advance(100 * US)
    freeze(a, target, 3000 * US)
    link = target.pair.nics[0].link
    words = [r for r in a.records(1) if r.kind in (1, 2, 3)]
    assert words
    # tx_deq is in the link domain: its cycles run slower than the bus's.
    assert words[-1].cycle <= link.cycle_at(target.now_ps) < 0.8 * a.read("frozen.freeze_cycle_lo")
    assert [m for m in range(5) if a.read("memory.stored", m)] == [1, 4]
    assert [m for m in range(5) if b.read("memory.stored", m)] == [0, 4]
    errors = a.read("id.bus_errors")
    assert int(target.read([a.window("trace_tx_enq")])[0]) == 0xFFFFFFFF
    assert a.read("id.bus_errors") == errors + 1
    assert len(a.memory_bytes(4)) == 9 * 2048


def test_a_trigger_logs_its_step_and_its_firing_as_user_events_of_the_recorder() -> None:
    target, a, _ = pair(seed=4)
    a.write("trigger.term.kinds", 0, 1 << 1)  # any HEAD at tx_enq, then a TAIL
    a.write("trigger.term.kinds", 1, 1 << 3)
    a.write("trigger.config", 1 | 1 << 9)
    while a.state != FROZEN:
        target.advance(100 * US)
    events = [record for record in a.records(4) if record.kind == 12]
    assert [(event.code, event.source, event.value) for event in events] == [
        (1, 5, 0),
        (2, 5, 0),
    ]
    cause = a.read("ctl.cause_cycle_lo")
    assert a.read("ctl.causes") == 1 << 1
    assert events[1].cycle == cause  # the word of cycle t: event and cause in t + 1
