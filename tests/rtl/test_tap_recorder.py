"""ff_tap_recorder: rules 1 to 5 and 7 of docs/formats.md section 2, against a reading of the rules cycle by cycle."""

from __future__ import annotations

import random
from typing import Any

import cocotb

from tests.emulator.cycle_by_cycle import Cause, Closed, follow_tap
from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

INPUTS = (
    "tap_valid", "tap_kind", "tap_data", "now", "arm", "triggered_next", "triggered", "causes", "since", "drain",
    "cfg_kinds", "cfg_post",
)  # fmt: skip
OUTPUTS = (
    "word_valid", "word_kind", "word_data", "wr_en", "wr_slot", "wr_record", "stat_write_ptr", "stat_wrapped",
    "stat_stored", "stat_offered", "stat_closed",
)  # fmt: skip
DRAIN = 16
ALL_KINDS = 0xFFFF
HEAD, BODY, TAIL, MARK, TIME = 1, 2, 3, 13, 15


test_the_recorder_follows_the_rules = in_icarus(
    "ff_tap_recorder",
    __name__,
    {"DEPTH": 16, "POST_W": 4, "COUNT_W": 32},
    {"DEPTH": 16384, "POST_W": 32, "COUNT_W": 32},
)


async def _record(
    dut: Any, words: dict[int, tuple[int, int]], arm: int, cause: Cause, kinds: int = ALL_KINDS
) -> Closed:
    """Play words of tap-register cycles and one cause; return what was written since the arm, and when it closed."""
    block = await Block(dut, INPUTS, OUTPUTS).start(cfg_kinds=kinds, cfg_post=cause.post)
    written: list[tuple[int, int, int]] = []
    slot = 0
    for cycle in range(1, cause.cycle + (cause.post + 3) * DRAIN + 40):
        since = max(0, cycle - cause.cycle)
        after = cycle > cause.cycle
        told = await block.step(
            now=cycle, arm=int(cycle == arm), triggered_next=int(cycle >= cause.cycle), triggered=int(after),
            causes=cause.mask if after else 0, since=since,
            drain=int(after and since % DRAIN == 0), tap_valid=int(cycle + 1 in words),
            tap_kind=words.get(cycle + 1, (0, 0))[0], tap_data=words.get(cycle + 1, (0, 0))[1],
        )  # fmt: skip
        if cycle <= arm:
            continue
        assert told["word_valid"] == (cycle in words)
        assert told["stat_write_ptr"] == slot % len_of(dut)
        assert told["stat_wrapped"] == (slot >= len_of(dut))
        if told["wr_en"]:
            assert told["wr_slot"] == slot % len_of(dut)
            slot += 1
            record = told["wr_record"]
            written.append((record >> 68, record >> 64 & 15, record & (1 << 64) - 1))
        if told["stat_closed"]:
            assert told["stat_stored"] == slot
            return Closed(written, cycle, told["stat_offered"])
    return Closed(written, 0)


def len_of(dut: Any) -> int:
    return 1 << len(dut.wr_slot)


@cocotb.test()
async def a_time_record_comes_14_cycles_after_the_last_word_and_then_none(dut: Any) -> None:
    closed = await _record(dut, {5: (HEAD, 0xA), 40: (TAIL, 0xB)}, 2, Cause(50, 1, 0, DRAIN))
    assert closed.records == [
        (15, HEAD, 0xA), (14, TIME, 19), (15, TAIL, 0xB), (11, MARK, 1 | 1 << 16), (1, TIME, 52),
    ]  # fmt: skip
    assert (closed.offered, closed.closed) == (2, 53)


@cocotb.test()
async def a_word_of_cycle_14_wins_and_no_time_is_written(dut: Any) -> None:
    closed = await _record(dut, {5: (HEAD, 1), 19: (BODY, 2)}, 2, Cause(19, 1, 0, DRAIN))
    assert closed.records == [(15, HEAD, 1), (14, BODY, 2), (1, MARK, 1 | 1 << 16), (1, TIME, 21)]


@cocotb.test()
async def a_word_of_the_arms_cycle_is_not_recorded_and_one_of_the_next_is(dut: Any) -> None:
    closed = await _record(dut, {6: (HEAD, 1), 7: (BODY, 2)}, 6, Cause(8, 4, 0, DRAIN))
    assert closed.records == [(15, BODY, 2), (2, MARK, 4 | 1 << 16), (1, TIME, 10)]


@cocotb.test()
async def kinds_that_are_not_wanted_are_neither_stored_nor_offered_and_do_not_stop_time(
    dut: Any,
) -> None:
    words = {5: (HEAD, 1), 6: (BODY, 2), 19: (BODY, 3), 21: (TAIL, 4)}
    closed = await _record(dut, words, 2, Cause(22, 1, 0, DRAIN), kinds=1 << HEAD | 1 << TAIL)
    assert closed.records[:3] == [(15, HEAD, 1), (14, TIME, 19), (2, TAIL, 4)]
    assert closed.offered == 2


@cocotb.test()
async def random_words_and_causes_are_recorded_as_the_rules_say(dut: Any) -> None:
    for seed in range(25):
        draw = random.Random(seed)
        words, cycle = {}, draw.randrange(1, 20)
        while cycle < 400:
            for _ in range(draw.choice([1, 2, 20])):
                words[cycle] = (draw.randrange(1, 4), draw.getrandbits(64))
                cycle += 1
            cycle += draw.choice([0, 1, 12, 13, 14, 15, 16, 60])
        arm = draw.randrange(1, 60)
        cause = Cause(
            arm + draw.randrange(1, 250),
            draw.getrandbits(12) | 1,
            draw.choice([0, 1, 2, 7, 14]),
            DRAIN,
        )
        seen = await _record(dut, words, arm, cause)
        expected = follow_tap(words, arm, cause)
        assert seen.records == expected.records, seed
        assert seen.closed == expected.closed, seed
        assert seen.offered == sum(kind in (HEAD, BODY, TAIL) for _, kind, _ in expected.records), (
            seed
        )


@cocotb.test()
async def reset_ends_a_recording_and_nothing_is_written_until_the_next_arm(dut: Any) -> None:
    block = await Block(dut, INPUTS, OUTPUTS).start(cfg_kinds=ALL_KINDS, cfg_post=3)
    await block.step(arm=1)
    for _ in range(5):
        await block.step(tap_valid=1, tap_kind=BODY, tap_data=7)
    told = await block.step(tap_valid=1, tap_kind=BODY, tap_data=7)
    assert told["wr_en"] == 1
    dut.rst.value = 1
    await block.step(tap_valid=1, tap_kind=BODY, tap_data=7)
    dut.rst.value = 0
    await block.step(tap_valid=1, tap_kind=BODY, tap_data=7)
    for _ in range(20):
        told = await block.step(tap_valid=1, tap_kind=BODY, tap_data=7)
        assert (told["wr_en"], told["stat_stored"], told["stat_closed"]) == (0, 0, 0)
